"""Hand records, `holecard-hand/1`: one round as a JSON object that outsiders can read and write (DESIGN §9).

Owns the format: reading it strictly and writing it. Promises that an unknown key, a float, a card too often or a wager
out of range is refused with the field's path, never ignored. Playing a record is `hand_record_play`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from services.game.cards import Card
from services.game.house_rules import HouseRules
from services.game.rejections import Rejection
from services.game.rule_options import (
    DealerBlackjackTakes,
    DoubleOn,
    HoleCard,
    InsuranceRule,
    Limits,
    Soft17,
    Surrender,
)

FORMAT: Final = "holecard-hand/1"
LARGEST_WAGER_CENTS: Final = 100_000_000_000
"""A thousand million in whole money; more is taken for a mistake."""
MOST_DECKS: Final = 16

DOES: Final = ("hit", "stand", "double", "split", "surrender", "insure", "decline-insurance")
"""What a player may do in a record."""

NOTES: Final = ("order", "money", "insurance_not_offered_to_blackjack", "engine_mode")
"""Fields that describe where a record came from; readers ignore them."""

_FIELDS: Final = ("format", "id", "engine", "rules", "cards", "seats", "actions", "expect", *NOTES)
_WORDS: Final[dict[str, dict[str, object]]] = {
    "soft17": {word.value: word for word in Soft17},
    "double_on": {"any": DoubleOn.ANY_TWO, "9-11": DoubleOn.NINE_TO_ELEVEN, "10-11": DoubleOn.TEN_ELEVEN},
    "surrender": {"none": Surrender.NONE, "late": Surrender.LATE, "early": Surrender.EARLY},
    "peek": {"ace-ten": HoleCard.PEEK_ACE_TEN, "ace": HoleCard.PEEK_ACE, "none": HoleCard.NO_PEEK},
    "dealer_blackjack_takes": {word.value: word for word in DealerBlackjackTakes},
}
_SWITCHES: Final = ("double_after_split", "resplit_aces", "hit_split_aces", "insurance")
_RULE_KEYS: Final = ("decks", "blackjack_pays", "max_hands", *_WORDS, *_SWITCHES)


class HandRecordRefused(Rejection):
    """A hand record that cannot be read or played; `field` is the path of what is wrong, for example `seats[0].wager`."""

    rule = "DESIGN §9"
    remedy = "Correct the record as hands/README.md defines it."

    def __init__(self, message: str, field: str) -> None:
        super().__init__(f"{field}: {message}" if field else message, field=field)
        self.field = field


@dataclass(frozen=True, slots=True)
class SeatWager:
    """A seat's wagers in cents; `side` by the kind's name."""

    seat: int
    wager_cents: int
    side: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class RecordedAction:
    """One decision: `hand` counts from 0 in playing order, `do` is one of `DOES`."""

    seat: int
    hand: int
    do: str


@dataclass(frozen=True, slots=True)
class HandRecord:
    """A record that was read: cards in shoe order, seats in dealing order, actions in the order taken."""

    source: Mapping[str, Any]
    rules: HouseRules
    cards: tuple[Card, ...]
    seats: tuple[SeatWager, ...]
    actions: tuple[RecordedAction, ...]

    @property
    def expect(self) -> Mapping[str, Any] | None:
        """The result that the record claims, None when it claims none."""
        expect: Mapping[str, Any] | None = self.source.get("expect")
        return expect


def read_record(text: str, house: HouseRules) -> HandRecord:
    """Read one record from JSON text; `house` gives what its rules leave out. Raises `HandRecordRefused`."""
    try:
        content = json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
    except (ValueError, RecursionError) as broken:
        raise HandRecordRefused(f"not JSON: {str(broken)[:100]}", "") from broken
    source = _known(content, _FIELDS, "")
    _check_head(source)
    rules = _rules_of(house, tuple(sorted(_rule_choices(source["rules"]).items())))
    return HandRecord(
        source=source,
        rules=rules,
        cards=_cards(source["cards"], rules.decks),
        seats=_seats(source["seats"], rules.max_seats),
        actions=tuple(
            [_action(entry, f"actions[{at}]") for at, entry in enumerate(_list(source["actions"], "actions"))]
        ),
    )


def written(record: HandRecord, result: Mapping[str, Any]) -> dict[str, Any]:
    """Give the record in its own shape, with `result` as what is expected."""
    return {**{key: value for key, value in record.source.items() if key != "expect"}, "expect": dict(result)}


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise HandRecordRefused("the key stands twice", twice)
    return found


def _no_constant(word: str) -> object:
    raise HandRecordRefused(f"{word} is no number of a record", "")


def _known(content: object, fields: tuple[str, ...], path: str) -> Mapping[str, Any]:
    """Refuse everything but an object with these keys."""
    if not isinstance(content, dict):
        raise HandRecordRefused("must be an object", path)
    for key in content:
        if key not in fields:
            raise HandRecordRefused(f"unknown key; the keys are {', '.join(fields)}", f"{path}.{key}" if path else key)
    return content


def _check_head(source: Mapping[str, Any]) -> None:
    for name in ("format", "rules", "cards", "seats", "actions"):
        if name not in source:
            raise HandRecordRefused("is missing", name)
    if source["format"] != FORMAT:
        raise HandRecordRefused(f"must be {FORMAT!r}, not {source['format']!r:.40}", "format")
    for name in ("id", "engine"):
        if name in source and not isinstance(source[name], str):
            raise HandRecordRefused("must be text", name)


def _list(value: object, path: str) -> list[Any]:
    if not isinstance(value, list):
        raise HandRecordRefused("must be a list", path)
    return value


def whole(value: object, path: str, least: int, most: int) -> int:
    """Read an integer in range; a float is refused even when it is whole, since money is never a float (DESIGN §7)."""
    if type(value) is not int:
        raise HandRecordRefused(f"must be a whole number, not {value!r:.40}", path)
    if not least <= value <= most:
        raise HandRecordRefused(f"must be {least} to {most}, not {value!r:.40}", path)
    return value


def _cards(value: object, decks: int) -> tuple[Card, ...]:
    cards: list[Card] = []
    seen: dict[Card, int] = {}
    for at, text in enumerate(_list(value, "cards")):
        path = f"cards[{at}]"
        if not isinstance(text, str):
            raise HandRecordRefused(f"must be a card's text, not {text!r:.40}", path)
        try:
            card = Card.parse(text)
        except Rejection as unknown:
            raise HandRecordRefused(unknown.message, path) from unknown
        seen[card] = seen.get(card, 0) + 1
        if seen[card] > decks:
            raise HandRecordRefused(f"{card} comes {seen[card]} times out of {decks} deck(s)", path)
        cards.append(card)
    return tuple(cards)


def _seats(value: object, max_seats: int) -> tuple[SeatWager, ...]:
    seats: list[SeatWager] = []
    for at, entry in enumerate(_list(value, "seats")):
        path = f"seats[{at}]"
        found = _known(entry, ("seat", "wager", "side"), path)
        for name in ("seat", "wager"):
            if name not in found:
                raise HandRecordRefused("is missing", f"{path}.{name}")
        seat = whole(found["seat"], f"{path}.seat", 1, max_seats)
        if seats and seat <= seats[-1].seat:
            raise HandRecordRefused("seats stand once each, in dealing order from 1 up", f"{path}.seat")
        wager = whole(found["wager"], f"{path}.wager", 1, LARGEST_WAGER_CENTS)
        side = found.get("side", {})
        if not isinstance(side, dict):
            raise HandRecordRefused("must be an object", f"{path}.side")
        extra = tuple([(k, whole(v, f"{path}.side.{k}", 1, LARGEST_WAGER_CENTS)) for k, v in side.items()])
        seats.append(SeatWager(seat, wager, extra))
    if not seats:
        raise HandRecordRefused("a round needs a seat with a wager", "seats")
    return tuple(seats)


def _action(entry: object, path: str) -> RecordedAction:
    found = _known(entry, ("seat", "hand", "do"), path)
    for name in ("seat", "hand", "do"):
        if name not in found:
            raise HandRecordRefused("is missing", f"{path}.{name}")
    if found["do"] not in DOES:
        raise HandRecordRefused(f"must be one of {', '.join(DOES)}, not {found['do']!r:.40}", f"{path}.do")
    return RecordedAction(
        whole(found["seat"], f"{path}.seat", 1, 99), whole(found["hand"], f"{path}.hand", 0, 99), found["do"]
    )


def _rule_choices(value: object) -> dict[str, object]:
    """Check the rules' keys and turn their words into the house rules' fields."""
    found = _known(value, _RULE_KEYS, "rules")
    choices: dict[str, object] = {}
    for key, word in found.items():
        path = f"rules.{key}"
        if key in _WORDS:
            choices["hole_card" if key == "peek" else key] = _choice(_WORDS[key], word, path)
        elif key in _SWITCHES:
            choices[key] = _switch(word, path)
        elif key == "decks":
            choices[key] = whole(word, path, 1, MOST_DECKS)
        elif key == "max_hands":
            choices[key] = whole(word, path, 1, 9)
        else:
            choices[key] = _ratio(word, path)
    if "insurance" in choices:
        choices["insurance"] = InsuranceRule.UP_TO_HALF if choices["insurance"] else InsuranceRule.OFF
    return choices


def _choice(words: Mapping[str, object], word: object, path: str) -> object:
    if not isinstance(word, str) or word not in words:
        raise HandRecordRefused(f"must be one of {', '.join(words)}, not {word!r:.40}", path)
    return words[word]


def _switch(word: object, path: str) -> bool:
    if not isinstance(word, bool):
        raise HandRecordRefused(f"must be true or false, not {word!r:.40}", path)
    return word


def _ratio(word: object, path: str) -> Fraction:
    parts = word.split(":") if isinstance(word, str) else []
    if len(parts) != 2 or not all(part.isascii() and part.isdigit() and len(part) < 5 and int(part) for part in parts):
        raise HandRecordRefused(f'must be odds like "3:2", not {word!r:.40}', path)
    return Fraction(int(parts[0]), int(parts[1]))


@lru_cache(maxsize=512)
def _rules_of(house: HouseRules, choices: tuple[tuple[str, Any], ...]) -> HouseRules:
    """The house's rules with the record's choices; any whole number of cents may be wagered in a record."""
    changes: dict[str, Any] = dict(choices)
    changes["limits"] = Limits(minimum_cents=1, maximum_cents=LARGEST_WAGER_CENTS, increment_cents=1)
    hits = changes.get("hit_split_aces", house.hit_split_aces)
    # The format has no key for it: where split aces play on, they double like any hand that was split.
    changes["double_after_split_aces"] = hits and changes.get("double_after_split", house.double_after_split)
    try:
        return replace(house, **changes)
    except Rejection as unlawful:
        raise HandRecordRefused(unlawful.message, "rules") from unlawful
