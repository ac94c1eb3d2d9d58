"""A physical shoe that devices watch: its cards are recorded as drawn, in order, whatever they are (DESIGN §5).

Owns those decisions, pure. Promises that nothing is refused for what was seen: a card that cannot be is recorded and said to
be impossible. Each card's id is its observation, so that the same one again changes nothing. Nothing is committed and
nothing can be opened: what the order was before it was dealt, nobody knows.
"""

from collections import Counter
from typing import Final

from services.game.cards import Card
from services.shoe import commands as c
from services.shoe import events as e
from services.shoe import rejections as r
from services.shoe.preparing import checked_id
from services.shoe.state import LiveShoe, Shoe, evolve
from services.shoe.words import BurnReason

MOST_CARDS_IN_ONE_CALL: Final = 512
NO_START_SEEN: Final = "no start was seen"


def start(shoe: Shoe, command: c.StartObservedShoe) -> tuple[e.ShoeEvent, ...]:
    """A fresh physical shoe; the one before ends with it."""
    checked_id(command.observation, "observation")
    if _knows_shoe(shoe, command.observation):
        return ()
    _refuse_digital(shoe)
    if not 1 <= command.decks <= 16:
        raise r.DeckCountRefused(f"{command.decks} decks are no shoe", decks=command.decks)
    ended: tuple[e.ShoeEvent, ...] = ()
    if shoe.live is not None:
        ended = (_ended(shoe.live, command.observation),)
    return (*ended, _started(shoe, command.observation, command.device_id, command.decks, command.note))


def cards(shoe: Shoe, command: c.ObserveCards) -> tuple[e.ShoeEvent, ...]:
    """Cards in the order in which they left the shoe, those apart that are recorded already."""
    _refuse_digital(shoe)
    if not 1 <= len(command.cards) <= MOST_CARDS_IN_ONE_CALL:
        raise r.DrawSizeRefused(
            f"{len(command.cards)} cards at once", cards=len(command.cards), most=MOST_CARDS_IN_ONE_CALL
        )
    events: list[e.ShoeEvent] = []
    for seen in command.cards:
        checked_id(seen.observation, "observation")
        if where(shoe, seen.observation) is not None:
            continue
        if shoe.live is None:
            decks = min(max(command.decks, 1), 16)
            events.append(_started(shoe, seen.observation, command.device_id, decks, NO_START_SEEN))
            shoe = evolve(shoe, events[-1])
        if shoe.live is None:
            raise ValueError("a shoe that began is not in play")
        for event in _seen(shoe.live, command.round_id, seen):
            events.append(event)
            shoe = evolve(shoe, event)
    return tuple(events)


def cut_card(shoe: Shoe, command: c.ObserveCutCard) -> tuple[e.ShoeEvent, ...]:
    """The cutting card: the round in play is the last one from this shoe."""
    live = _watched(shoe)
    if live is None or live.last_round:
        return ()
    return (e.CutCardSeen(live.id, command.observation, len(live.out)),)


def turned(shoe: Shoe, command: c.ObserveTurnedCard) -> tuple[e.ShoeEvent, ...]:
    """A card that lay face down shows its face."""
    live = _watched(shoe)
    card = None if live is None else live.card(command.position)
    if live is None or card is None:
        raise r.PositionNotDrawn(f"no card was seen at {command.position}", position=command.position)
    if card.seen is not None:
        return ()
    impossible = _impossible(live, command.observation, command.position, command.card)
    return (
        *impossible,
        e.HiddenCardTurned(live.id, card.round_id, command.observation, command.position, command.card),
    )


def end(shoe: Shoe, command: c.EndObservedShoe) -> tuple[e.ShoeEvent, ...]:
    """The cards are taken out to be shuffled."""
    live = _watched(shoe)
    return () if live is None else (_ended(live, command.observation),)


def where(shoe: Shoe, observation: str) -> tuple[LiveShoe, int] | None:
    """The shoe and position at which an observation put its card; None when it is not recorded."""
    for live in (shoe.live, shoe.last):
        if live is not None and observation in live.takes:
            return live, live.takes[observation][0]
    return None


def _knows_shoe(shoe: Shoe, observation: str) -> bool:
    return any(live is not None and live.shuffle_id == observation for live in (shoe.live, shoe.last))


def _refuse_digital(shoe: Shoe) -> None:
    if shoe.live is not None and not shoe.live.observed:
        raise r.DigitalShoeInPlay(f"{shoe.live.id} is dealt by this house", shoe_id=shoe.live.id)


def _watched(shoe: Shoe) -> LiveShoe | None:
    _refuse_digital(shoe)
    return shoe.live


def _started(shoe: Shoe, observation: str, device_id: str, decks: int, note: str) -> e.ObservedShoeStarted:
    return e.ObservedShoeStarted(shoe.next_shoe_id, observation, device_id, decks, note)


def _seen(live: LiveShoe, round_id: str, seen: c.SeenCard) -> list[e.ShoeEvent]:
    position = len(live.out) + 1
    events: list[e.ShoeEvent] = []
    if seen.card is not None:
        events += _impossible(live, seen.observation, position, seen.card)
    left = max(52 * live.decks - position, 0)
    if seen.burned:
        reason = BurnReason.AFTER_SHUFFLE if not live.out else BurnReason.SUPERVISOR_ORDER
        events.append(
            e.CardBurned(
                live.id, seen.observation, round_id, reason, position, seen.face_down, seen.card, b"", b"", b"", left,
                live.last_round,
            )
        )  # fmt: skip
    else:
        events.append(
            e.CardDrawn(
                live.id, live.decks, seen.observation, round_id, position, seen.face_down, seen.card, b"", b"", b"", left,
                live.last_round,
            )
        )  # fmt: skip
    return events


def _impossible(live: LiveShoe, observation: str, position: int, card: Card) -> tuple[e.ImpossibleCardSeen, ...]:
    copies = 1 + sum(out.seen == card for out in live.out)
    if copies <= live.decks and position <= 52 * live.decks:
        return ()
    return (e.ImpossibleCardSeen(live.id, observation, position, card, copies, live.decks),)


def _ended(live: LiveShoe, observation: str) -> e.ObservedShoeEnded:
    faces = Counter(out.seen for out in live.out if out.seen is not None)
    extra = tuple(card for card, copies in sorted(faces.items()) for _ in range(copies - live.decks))
    burned = sum(out.burned is not None for out in live.out)
    return e.ObservedShoeEnded(
        shoe_id=live.id,
        observation=observation,
        decks=live.decks,
        drawn=len(live.out) - burned,
        burned=burned,
        undealt=max(52 * live.decks - len(live.out), 0),
        unseen=sum(out.seen is None for out in live.out),
        extra=extra,
    )
