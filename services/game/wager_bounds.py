"""The bounds of a game's wagers and of its main wager's pay, as a rule set declares them.

Owns the checks of `WagerKind` and `PayRule` lists. Promises that under a list that passed, every result has a pay and
every wager something that decides it. Reads only.
"""

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain
from typing import Final

from services.game.rule_rejections import PayRulesContradict, WagerKindsContradict
from services.game.wager_kinds import EVALUATORS, MAIN, STANDARD_WAGER_KINDS, MainResult, Moment, PayRule, WagerKind

_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,39}")
_MOST_KINDS: Final = 32
_MOST_PAY_RULES: Final = 128
_HIGHEST_NET: Final = Fraction(1000)
_MOMENTS: Final = tuple(Moment)

_PLAIN_NETS: Final[dict[MainResult, tuple[Fraction, Fraction, str]]] = {
    MainResult.NATURAL_TIE: (Fraction(-1), _HIGHEST_NET, "30-808"),
    MainResult.EVEN_MONEY: (Fraction(1), Fraction(1), "30-812"),
    MainResult.WIN: (Fraction(1), _HIGHEST_NET, "30-810"),
    MainResult.TIE: (Fraction(-1), Fraction(1), "30-808"),
    MainResult.LOSE: (Fraction(-1), Fraction(-1), "30-807"),
    MainResult.BUST: (Fraction(-1), Fraction(-1), "30-807"),
    MainResult.SURRENDER: (Fraction(-1, 2), Fraction(-1, 2), "30-829"),
}
"""The least and highest gain of each result's rule without conditions, and the section for it; a natural has its odds."""


_BY_RULE: Final = {
    kind.name: (kind, section)
    for kind, section in zip(STANDARD_WAGER_KINDS, ("30-807", "30-812", "30-813", "30-814"), strict=True)
}
"""The wagers that Rule 8 itself defines, and where. A house narrows them by its options, never here."""


def check_wager_kinds(kinds: tuple[WagerKind, ...]) -> None:
    """Raise `WagerKindsContradict` unless the wagers of Rule 8 are all there and each comes after the one it requires."""
    if not kinds or kinds[0].name != MAIN:
        raise WagerKindsContradict("the first wager kind is main: it is the only one that needs no other")
    if len(kinds) > _MOST_KINDS:
        raise WagerKindsContradict(f"{len(kinds)} wager kinds are declared, at most {_MOST_KINDS} are allowed")
    earlier: set[str] = set()
    for kind in kinds:
        for reason in chain(_misbounded(kind), _misdeclared(kind, earlier)):
            raise WagerKindsContradict(f"wager kind {kind.name!r:.60} {reason}", kind=kind.name[:60])
        earlier.add(kind.name)
    for name, (_, section) in _BY_RULE.items():
        if name not in earlier:
            raise WagerKindsContradict(f"wager kind {name} of {section} is not declared", kind=name)


def _misdeclared(kind: WagerKind, earlier: set[str]) -> Iterator[str]:
    """Name what is wrong with the declaration of one wager kind, worst first."""
    if not _NAME.fullmatch(kind.name):
        yield "has no lawful name: a-z, 0-9 and hyphens, at most 40"
    if kind.name in earlier:
        yield "is declared twice"
    if kind.name == MAIN and (kind.requires or kind.minimum_cents or kind.maximum_cents):
        yield "requires nothing, and its limits stand in [limits]"
    if kind.name == MAIN and kind.placed_at is not Moment.BETTING:
        yield "is placed before the first card, at betting (30-807)"
    if kind.name != MAIN and kind.requires not in earlier:
        yield f"requires {kind.requires!r:.60}, which is not declared before it"
    if kind.name in _BY_RULE and kind != _BY_RULE[kind.name][0]:
        yield f"is not as {_BY_RULE[kind.name][1]} has it"
    if kind.resolved_by not in EVALUATORS:
        yield f"is resolved by {kind.resolved_by!r:.60}; there are {', '.join(sorted(EVALUATORS))}"
    if _MOMENTS.index(kind.placed_at) > _MOMENTS.index(kind.resolved_at):
        yield "would be resolved before it is placed"


def _misbounded(kind: WagerKind) -> Iterator[str]:
    """Name what is wrong with the amounts of one wager kind."""
    if not kind.requires and (kind.least, kind.most) != (None, None):
        yield "is bounded by a share of a wager that it does not require"
    if (kind.least is not None and kind.least < 0) or (kind.most is not None and kind.most <= 0):
        yield "has a share below nothing"
    if kind.least is not None and kind.most is not None and kind.least > kind.most:
        yield "must be more than it may be"
    if not 0 <= kind.minimum_cents <= (kind.maximum_cents or kind.minimum_cents):
        yield "has limits that are not 0 <= minimum <= maximum"


def check_main_pays(pays: tuple[PayRule, ...]) -> None:
    """Raise `PayRulesContradict` unless each result has one rule without conditions, the last of its rules."""
    if len(pays) > _MOST_PAY_RULES:
        raise PayRulesContradict(f"{len(pays)} pay rules are declared, at most {_MOST_PAY_RULES} are allowed")
    settled: set[MainResult] = set()
    for rule in pays:
        if rule.result in settled:
            raise _contradiction(rule, "comes after a rule without conditions and so can never be reached")
        if rule.net is None and rule.result is not MainResult.NATURAL:
            raise _contradiction(rule, "has no net; only a natural may leave it to blackjack_pays")
        if rule.net is not None and not -1 <= rule.net <= _HIGHEST_NET:
            raise _contradiction(rule, f"has a net that is not -1:1 to {_HIGHEST_NET}:1")
        if rule.is_plain:
            _check_plain(rule)
            settled.add(rule.result)
    for result in MainResult:
        if result not in settled:
            raise PayRulesContradict(
                f"no pay rule without conditions says what {result.value} brings", result=result.value
            )


def _check_plain(rule: PayRule) -> None:
    if rule.result is MainResult.NATURAL:
        if rule.net is not None:
            # Otherwise the notice of 30-803(3)(b) would post other odds than are paid.
            raise _contradiction(rule, "has a net of its own; blackjack_pays says it, at least 6:5 (30-810)")
        return
    least, most, section = _PLAIN_NETS[rule.result]
    if rule.net is not None and not least <= rule.net <= most:
        raise _contradiction(rule, f"has a net outside {least} to {most} ({section})")


def _contradiction(rule: PayRule, reason: str) -> PayRulesContradict:
    return PayRulesContradict(f"the pay rule for {rule.result.value} {reason}", result=rule.result.value)
