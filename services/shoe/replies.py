"""What the shoe answers, and how each answer follows from the state alone.

Owns the reply records and their making. Promises that a repeated command gets the answer it got first and that no reply
holds a card that is still face down.
"""

from dataclasses import dataclass

from services.game.cards import Card
from services.game.rule_options import CutCardFirst
from services.shoe import rejections as r
from services.shoe.dealing import cards_taken
from services.shoe.events import ShoeRetired
from services.shoe.order import ALGORITHM
from services.shoe.state import CardOut, LiveShoe, Shoe
from services.shoe.words import BurnReason, CardProof, DeviceKind, ShoePhase


@dataclass(frozen=True, slots=True)
class ShoeStatus:
    """A table's cards at a glance; the fields from `shoe_id` on are "" or 0 while no shoe is in play.

    `phase` says what comes next. `seed_hash` and `root` are the commitment, `size` the cards it covers. `left` counts what
    can still be drawn. `last_round`: no other round from this shoe. `face_down` lists drawn cards that are not yet seen.
    `min_cut_cards` and `cut_card_first` are the house rules that the shoe was shuffled under. `electronic` is the device's.
    `cards_behind` stand behind the cutting card (30-817). `burned_after_shuffle` counts the burn that the shuffle asks for;
    `burns_shown` and `burns_hidden` are the cards burned by procedure, face up and face down (30-819).
    `observed`: it holds physical cards that devices watch, so there is no commitment.
    """

    phase: ShoePhase
    device_id: str
    device_kind: DeviceKind | None
    inspected_day: str
    decks: int
    deck_set_ids: tuple[str, ...]
    shoe_id: str
    continuous: bool
    seed_hash: bytes
    root: bytes
    size: int
    drawn: int
    burned: int
    left: int
    last_round: bool
    face_down: tuple[int, ...]
    min_cut_cards: int
    cut_card_first: CutCardFirst | None
    electronic: bool = False
    cards_behind: int = 0
    burned_after_shuffle: int = 0
    burns_shown: int = 0
    burns_hidden: int = 0
    observed: bool = False


@dataclass(frozen=True, slots=True)
class ShoeAnswer:
    """The table's cards as they stand after the command."""

    shoe: ShoeStatus


@dataclass(frozen=True, slots=True)
class CardFromShoe:
    """One card as it left the shoe. Face down: `card` is None and `salt` empty; `leaf` is its fingerprint either way."""

    position: int
    face_down: bool
    card: Card | None
    salt: bytes
    leaf: bytes


@dataclass(frozen=True, slots=True)
class CardsDrawn:
    """The cards of one draw, with what a patron must always see beside them: which shoe, how many decks.

    `left` and `last_round` are as of this draw. `last_round`: this round is the last from this shoe (30-816).
    """

    shoe_id: str
    decks: int
    draw_id: str
    cards: tuple[CardFromShoe, ...]
    left: int
    last_round: bool


@dataclass(frozen=True, slots=True)
class CardsBurned:
    """The cards of one burn; fields as in `CardsDrawn`."""

    shoe_id: str
    decks: int
    burn_id: str
    reason: BurnReason
    cards: tuple[CardFromShoe, ...]
    left: int
    last_round: bool


@dataclass(frozen=True, slots=True)
class HoleAnswer:
    """The no-peek device's one word (30-823)."""

    shoe_id: str
    position: int
    up_position: int
    makes_blackjack: bool


@dataclass(frozen=True, slots=True)
class CardShown:
    """A card that may be seen, with its proof."""

    shoe_id: str
    decks: int
    card: Card
    proof: CardProof


@dataclass(frozen=True, slots=True)
class ShoeClosed:
    """How a shoe ended; drawn + burned + undealt - recycled = 52 x decks when `balanced`."""

    shoe_id: str
    decks: int
    seeds: tuple[bytes, ...]
    drawn: int
    burned: int
    undealt: int
    recycled: int
    balanced: bool
    missing: tuple[Card, ...]
    extra: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class StackRecord:
    """One committed order with its seed: enough to derive it again by the published recipe."""

    number: int
    first_position: int
    size: int
    recycled: tuple[int, ...]
    cut_depth: int
    seed_hash: bytes
    root: bytes
    seed: bytes


@dataclass(frozen=True, slots=True)
class CardRecord:
    """One card that left the shoe: where it went and, if it was ever seen, what it was."""

    position: int
    round_id: str
    burned: bool
    card: Card | None


@dataclass(frozen=True, slots=True)
class ReturnRecord:
    """Cards that went back into a continuous shuffler after `after` cards had left it."""

    after: int
    positions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Transcript:
    """Everything about a retired shoe that an outsider needs to check it without us."""

    shoe_id: str
    decks: int
    algorithm: str
    continuous: bool
    composition: bytes
    stacks: tuple[StackRecord, ...]
    cards: tuple[CardRecord, ...]
    returned: tuple[ReturnRecord, ...]


_PROCEDURE = frozenset({BurnReason.AFTER_SHUFFLE, BurnReason.DEALER_CHANGE})
"""Burns that the house's procedure asks for; a boxed card lies face up by itself, a supervisor orders as he thinks fit."""


def status(shoe: Shoe) -> ShoeStatus:
    """Sum up the table's cards."""
    device, live = shoe.device, shoe.live
    burns = [] if live is None else [card for card in live.out if card.burned is not None]
    burned = len(burns)
    procedure = [card for card in burns if card.burned in _PROCEDURE]
    return ShoeStatus(
        phase=shoe.phase,
        device_id="" if device is None else device.id,
        device_kind=None if device is None else device.kind,
        inspected_day="" if device is None else device.passed_day,
        decks=live.decks if live is not None and live.observed else shoe.decks,
        deck_set_ids=shoe.deck_set_ids,
        shoe_id="" if live is None else live.id,
        continuous=live is not None and live.continuous,
        seed_hash=b"" if live is None else live.stacks[-1].seed_hash,
        root=b"" if live is None else live.stacks[-1].root,
        size=0 if live is None else live.stacks[-1].size,
        drawn=0 if live is None else len(live.out) - burned,
        burned=burned,
        left=0 if live is None else live.left,
        last_round=live is not None and live.last_round,
        face_down=() if live is None else live.face_down,
        min_cut_cards=0 if live is None else live.min_cut_cards,
        cut_card_first=None if live is None else live.cut_card_first,
        electronic=device is not None and device.electronic,
        cards_behind=0 if live is None else live.cards_behind or 0,
        burned_after_shuffle=sum(card.burned is BurnReason.AFTER_SHUFFLE for card in procedure),
        burns_shown=sum(not card.face_down for card in procedure),
        burns_hidden=sum(card.face_down for card in procedure),
        observed=live is not None and live.observed,
    )


def answer(shoe: Shoe) -> ShoeAnswer:
    """Answer with the table's cards as they stand."""
    return ShoeAnswer(status(shoe))


def cards_drawn(shoe: Shoe, draw_id: str) -> CardsDrawn:
    """Answer a draw that was recorded."""
    live, cards = _take(shoe, draw_id)
    last = cards[-1]
    return CardsDrawn(live.id, live.decks, draw_id, _from_shoe(cards), last.left, last.last_round)


def cards_burned(shoe: Shoe, burn_id: str) -> CardsBurned:
    """Answer a burn that was recorded."""
    live, cards = _take(shoe, burn_id)
    last = cards[-1]
    reason = last.burned
    if reason is None:
        raise ValueError(f"{burn_id} is a draw")
    return CardsBurned(live.id, live.decks, burn_id, reason, _from_shoe(cards), last.left, last.last_round)


def hole_answer(shoe: Shoe, shoe_id: str, position: int) -> HoleAnswer:
    """Answer a peek that was recorded."""
    _, card = _card(shoe, shoe_id, position)
    return HoleAnswer(shoe_id, position, card.up_position, card.makes_blackjack)


def seen_card(shoe: Shoe, shoe_id: str, position: int) -> tuple[LiveShoe, Card]:
    """Find a card that may be shown; refuse one that is face down, burned unseen, or not out (30-823)."""
    live, card = _card(shoe, shoe_id, position)
    if card.seen is None:
        raise r.CardStillFaceDown(f"the card at {position} is face down", position=position)
    return live, card.seen


def shoe_closed(shoe: Shoe, shoe_id: str) -> ShoeClosed:
    """Answer a retirement that was recorded."""
    end = _retired(shoe, shoe_id)[1]
    return ShoeClosed(
        shoe_id=shoe_id,
        decks=end.decks,
        seeds=end.seeds,
        drawn=end.drawn,
        burned=end.burned,
        undealt=end.undealt,
        recycled=end.recycled,
        balanced=not (end.missing or end.extra or end.broken_roots),
        missing=end.missing,
        extra=end.extra,
    )


def transcript(shoe: Shoe, shoe_id: str) -> Transcript:
    """Give the record of a retired shoe; refuse one that is in play, whose order is nobody's business yet."""
    if shoe.live is not None and shoe.live.id == shoe_id:
        raise r.ShoeNotRetired(f"{shoe_id} is in play", shoe_id=shoe_id)
    live, end = _retired(shoe, shoe_id)
    return Transcript(
        shoe_id=live.id,
        decks=live.decks,
        algorithm=ALGORITHM,
        continuous=live.continuous,
        composition=live.composition,
        stacks=tuple(
            StackRecord(
                number=stack.number,
                first_position=stack.first,
                size=stack.size,
                recycled=stack.recycled,
                cut_depth=stack.cut_depth or 0,
                seed_hash=stack.seed_hash,
                root=stack.root,
                seed=seed,
            )
            for stack, seed in zip(live.stacks, end.seeds, strict=True)
        ),
        cards=tuple(CardRecord(card.position, card.round_id, card.burned is not None, card.seen) for card in live.out),
        returned=tuple(ReturnRecord(entry.after, entry.positions) for entry in live.returned),
    )


def _take(shoe: Shoe, take_id: str) -> tuple[LiveShoe, tuple[CardOut, ...]]:
    cards = cards_taken(shoe, take_id)
    for live in (shoe.live, shoe.last):
        if cards and live is not None and take_id in live.takes:
            return live, cards
    raise ValueError(f"{take_id} was not recorded")


def _from_shoe(cards: tuple[CardOut, ...]) -> tuple[CardFromShoe, ...]:
    # As it was first answered: a card that was turned up since is still face down here.
    return tuple(CardFromShoe(card.position, card.face_down, card.card, card.salt, card.leaf) for card in cards)


def _card(shoe: Shoe, shoe_id: str, position: int) -> tuple[LiveShoe, CardOut]:
    live = shoe.shoe(shoe_id)
    if live is None:
        raise r.WrongShoe(f"{shoe_id!r} is neither in play nor the one before", shoe_id=shoe_id[:128])
    card = live.card(position)
    if card is None:
        raise r.PositionNotDrawn(f"no card of {shoe_id} was drawn at {position}", position=position)
    return live, card


def _retired(shoe: Shoe, shoe_id: str) -> tuple[LiveShoe, ShoeRetired]:
    last = shoe.last
    if last is None or last.id != shoe_id or last.retired is None:
        raise r.WrongShoe(f"{shoe_id!r} is not the shoe that was retired last", shoe_id=shoe_id[:128])
    return last, last.retired
