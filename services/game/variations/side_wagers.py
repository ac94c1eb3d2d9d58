"""The side wagers that come with the product, as data files: what each is called, who judges it, what it pays.

Owns reading and checking the files. A pay table names awards of its evaluator and what each pays; an award that it leaves
out loses with that table.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Any, Final

from services.game.rule_rejections import RuleFileRefused
from services.game.variations.pair_wagers import PAIR_EVALUATORS
from services.game.variations.seen import Evaluator
from services.game.variations.up_card_wagers import UP_CARD_EVALUATORS

EVALUATORS: Final[Mapping[str, Evaluator]] = {one.name: one for one in (*PAIR_EVALUATORS, *UP_CARD_EVALUATORS)}
"""Every evaluator by its name."""
_ODDS: Final = re.compile(r"([0-9]{1,7}):([1-9][0-9]{0,3})")
_KEYS: Final = frozenset({"name", "title", "section", "confidence", "evaluator", "decks", "paytables"})


class Confidence(StrEnum):
    """How sure the source of a game's rules and pays is; a reconstruction is labelled wherever a person sees it."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    RECONSTRUCTION = "reconstruction"


class SideWagerRefused(RuleFileRefused):
    """A side wager's file that cannot be followed; the message names the key."""

    rule = "30-804"
    remedy = "Correct the file: name an evaluator that exists, its awards, and odds such as 25:1."


class UnknownSideWager(SideWagerRefused):
    """No side wager, or no pay table of it, has this name; the message lists those there are."""

    remedy = "Choose one of the names in the message."


@dataclass(frozen=True, slots=True)
class SideWager:
    """One side wager: its `section` of Rule 8 ("" for none), the deck counts it is offered with, its pay tables by name."""

    name: str
    title: str
    section: str
    confidence: Confidence
    evaluator: Evaluator
    decks: tuple[int, ...]
    paytables: Mapping[str, Mapping[str, Fraction]]

    def paytable(self, name: str) -> Mapping[str, Fraction]:
        """The pays of that table, by award, as gains for one staked; raises UnknownSideWager."""
        if name not in self.paytables:
            raise UnknownSideWager(f"{self.title} has no pay table {name!r:.40}; it has {', '.join(self.paytables)}")
        return self.paytables[name]


def read_side_wager(text: str) -> SideWager:
    """Read a side wager from TOML; raises SideWagerRefused."""
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
        raise SideWagerRefused(f"the side wager's file is not TOML: {error}") from error
    if content.keys() != _KEYS:
        odd = sorted(content.keys() ^ _KEYS)
        raise SideWagerRefused(
            f"a side wager has the keys {', '.join(sorted(_KEYS))}; wrong or missing: {', '.join(odd)}"
        )
    evaluator = EVALUATORS.get(str(content["evaluator"]))
    if evaluator is None:
        raise SideWagerRefused(f"there is no evaluator {content['evaluator']!r:.40}; there are {', '.join(EVALUATORS)}")
    if content["confidence"] not in set(Confidence):
        raise SideWagerRefused(f"confidence is one of {', '.join(Confidence)}, not {content['confidence']!r:.40}")
    tables = {name: _pays(name, pays, evaluator) for name, pays in _tables(content["paytables"]).items()}
    return SideWager(
        str(content["name"]),
        str(content["title"]),
        str(content["section"]),
        Confidence(content["confidence"]),
        evaluator,
        _decks(content["decks"]),
        tables,
    )


def _tables(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or not value:
        raise SideWagerRefused("a side wager has at least one pay table, each begun by [paytables.NAME]")
    return value


def _decks(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list) or not value or not all(type(one) is int and 1 <= one <= 8 for one in value):
        raise SideWagerRefused("decks is a list of the deck counts it is offered with, each 1 to 8")
    return tuple(value)


def _pays(table: str, pays: Any, evaluator: Evaluator) -> dict[str, Fraction]:
    if not isinstance(pays, dict):
        raise SideWagerRefused(f"pay table {table} is a table of awards and odds")
    found = {}
    for award, odds in pays.items():
        matched = _ODDS.fullmatch(odds) if isinstance(odds, str) else None
        if award not in evaluator.awards or matched is None:
            raise SideWagerRefused(
                f"pay table {table}: {award} = {odds!r:.40}; the awards are {', '.join(evaluator.awards)}, with odds as 25:1"
            )
        found[award] = Fraction(int(matched[1]), int(matched[2]))
    return found


@cache
def side_wager_names() -> tuple[str, ...]:
    """The names of all side wagers, in alphabetical order."""
    return tuple(sorted(entry.name[:-5] for entry in _files() if entry.name.endswith(".toml")))


@cache
def side_wager(name: str) -> SideWager:
    """The side wager of that name, however its words are joined; raises UnknownSideWager."""
    plain = re.sub(r"[ _']+", "-", name.strip().lower()).replace("-s-", "s-")
    if plain not in side_wager_names():
        raise UnknownSideWager(f"there is no side wager {name!r:.40}; there are {', '.join(side_wager_names())}")
    return read_side_wager(files(f"{__package__}.files").joinpath(f"{plain}.toml").read_text(encoding="utf-8"))


def _files() -> list[Any]:
    return list(files(f"{__package__}.files").iterdir())
