"""What a search for rounds asks, as conditions on the read model's rows.

Owns which rounds fit. Promises that a question that nothing could ever fit, for a slip in a word, a day, a card or a pair of
bounds, is refused with the reason and never answered by "none": an investigation must not end at a typing error.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

from sqlalchemy import and_, exists, func, or_

from services.game.cards import Card
from services.game.rejections import Rejection
from services.surveillance import schema
from services.surveillance.replies import ListRounds
from services.surveillance.round_facts import Outcome

VOIDED = "voided"
OUTCOMES = (*(outcome.value for outcome in Outcome), VOIDED)
"""What a hand can have come to; voided is that it, or its whole round, was called off (30-828)."""

RANKS = "23456789TJQKA"
MOST_CARDS = 21
_FLOOR = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_TABLE = re.compile(_FLOOR.pattern + r"/[A-Za-z0-9][A-Za-z0-9-]{0,39}")


class SearchNotUnderstood(Rejection):
    """A word, day, card, seat or pair of bounds that no round can fit."""

    rule = "surveillance"
    remedy = "Correct it, or leave it out to ask for all."


def conditions(table: str, query: ListRounds) -> list[Any]:
    """The conditions on `schema.rounds` that a round must fit; raises SearchNotUnderstood."""
    _check(table, query)
    rounds = schema.rounds.c
    found: list[Any] = [
        column == value
        for column, value in (
            (rounds.table_key, table),
            (rounds.floor, query.floor),
            (rounds.gaming_day, query.gaming_day),
        )
        if value
    ]
    if query.from_time_us:
        found.append(rounds.opened_time_us >= query.from_time_us)
    if query.to_time_us:
        found.append(rounds.opened_time_us < query.to_time_us)
    return [*found, *_of_hands(query)]


def _of_hands(query: ListRounds) -> Iterator[Any]:
    """One and the same hand must fit all that is asked of hands; the dealer's cards count where no more is asked."""
    rounds, hands = schema.rounds.c, schema.hands.c
    asked: list[Any] = [
        column == value for column, value in ((hands.seat, query.seat), (hands.patron, query.patron)) if value
    ]
    if query.outcome == VOIDED:
        asked.append(or_(hands.status == VOIDED, rounds.voided))
    elif query.outcome:
        asked.append(hands.outcome == query.outcome)
    if query.minimum_stake_cents:
        asked.append(hands.staked_cents >= query.minimum_stake_cents)
    if query.maximum_stake_cents:
        asked.append(hands.staked_cents <= query.maximum_stake_cents)
    if not asked and not query.cards:
        return
    fits = exists().where(hands.round_id == rounds.round_id, *asked, *_holding(hands.cards, query.cards))
    yield fits if asked else or_(fits, and_(*_holding(rounds.dealer_cards, query.cards)))


def _holding(text: Any, cards: Sequence[str]) -> list[Any]:
    """That a text of cards holds all of these, each as often as it is asked; a rank alone is any card of that rank."""
    exact = Counter(card for card in cards if len(card) == 2)
    # Asked for "A As", a hand needs two aces, one of them of spades: so each rank is counted with its exact cards.
    ranks = Counter(card[0] for card in cards)
    return [_times(text, f" {part}") >= times for part, times in (*exact.items(), *ranks.items())]


def _times(text: Any, part: str) -> Any:
    return (func.length(text) - func.length(func.replace(text, part, ""))) / len(part)


def _check(table: str, query: ListRounds) -> None:
    if table and not _TABLE.fullmatch(table):
        raise SearchNotUnderstood(f"{table[:90]!r} is no table such as black-hawk/BJ-07", table=table[:90])
    if query.floor and not _FLOOR.fullmatch(query.floor):
        raise SearchNotUnderstood(f"{query.floor[:90]!r} is no floor such as black-hawk", floor=query.floor[:90])
    if query.gaming_day and not _is_day(query.gaming_day):
        raise SearchNotUnderstood(
            f"{query.gaming_day[:20]!r} is no gaming day such as 2026-11-30", gaming_day=query.gaming_day[:20]
        )
    if query.outcome and query.outcome not in OUTCOMES:
        raise SearchNotUnderstood(
            f"{query.outcome[:40]!r} is no outcome; there are {', '.join(OUTCOMES)}", outcome=query.outcome[:40]
        )
    if not 0 <= query.seat <= 7:
        raise SearchNotUnderstood(f"a table has seats 1 to 7, not {query.seat}", seat=query.seat)
    if len(query.cards) > MOST_CARDS:
        raise SearchNotUnderstood(f"a hand has at most {MOST_CARDS} cards, not {len(query.cards)}")
    for card in query.cards:
        if len(card) != 1 or card not in RANKS:
            Card.parse(card)
    _check_bounds("stake", query.minimum_stake_cents, query.maximum_stake_cents)
    _check_bounds("time", query.from_time_us, query.to_time_us)


def _check_bounds(what: str, least: int, most: int) -> None:
    if least < 0 or most < 0:
        raise SearchNotUnderstood(f"a {what} is not below zero", least=least, most=most)
    if least and most and least > most:
        raise SearchNotUnderstood(f"the smallest {what} is above the largest", least=least, most=most)


def _is_day(text: str) -> bool:
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text, re.ASCII):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
