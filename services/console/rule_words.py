"""A rule set for readers: the nine notices, what stands on the cloth, every option by name.

Owns which facts of a rule set are shown and how options are written. Works from the canonical text in the log, so that
a round shows the rules it was dealt under. Judges nothing.
"""

import dataclasses
from enum import Enum
from fractions import Fraction
from functools import lru_cache

from services.console.views import RulesView
from services.game.notices import notices, spoken_odds
from services.game.rejections import Rejection
from services.game.rules import HouseRules, InsuranceRule, Soft17, recorded_rules

_BESIDE = frozenset({"name", "version", "digest", "wager_kinds", "main_pays"})


@lru_cache(maxsize=64)
def rules_view(text: str, name: str = "", version: int = 0, digest: str = "") -> RulesView | None:
    """The rule set of a canonical text; only its name where the text cannot be read; None where nothing is known."""
    try:
        rules = recorded_rules(text) if text else None
    except Rejection:
        rules = None
    if rules is None:
        return RulesView(name, version, digest) if name else None
    return RulesView(
        rules.name,
        rules.version,
        digest or rules.digest,
        tuple(notice.text for notice in notices(rules)),
        tuple(_options(rules)),
        lettering(rules),
    )


def lettering(rules: HouseRules) -> str:
    """What the cloth says."""
    soft17 = "hits soft 17" if rules.soft17 is Soft17.HIT else "stands on all 17s"
    words = [f"Blackjack pays {spoken_odds(rules.blackjack_pays)}", f"Dealer {soft17}"]
    if rules.insurance is not InsuranceRule.OFF:
        words.append(f"Insurance pays {spoken_odds(rules.insurance_pays)}")
    return " · ".join(words)


def _options(rules: HouseRules) -> list[tuple[str, str]]:
    options = []
    for field in dataclasses.fields(rules):
        value = getattr(rules, field.name)
        if field.name in _BESIDE:
            continue
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            options += [
                (f"{field.name}: {part.name}", _written(getattr(value, part.name)))
                for part in dataclasses.fields(value)
            ]
        else:
            options.append((field.name, _written(value)))
    return options


def _written(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Fraction):
        return f"{value.numerator}:{value.denominator}"
    if isinstance(value, Enum):
        return str(value.value)
    return str(value) or "none"
