"""The state of a table's cards, folded from its events; it holds no secret, only sealed bytes.

Owns `Shoe` and `evolve`. Promises that folding the same events gives an equal state, and that nothing in it can tell a
card that is not face up. Decides nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from services.game.cards import Card
from services.game.quick import replace
from services.game.rule_options import CutCardFirst
from services.shoe import events as e
from services.shoe.words import BurnReason, CardProof, DeviceKind, ShoePhase


@dataclass(frozen=True, slots=True)
class Device:
    """The enrolled device; `passed_day` is the gaming day of its last inspection if it passed, "" if it failed."""

    id: str
    kind: DeviceKind
    electronic: bool
    approval: str
    passed_day: str = ""


@dataclass(frozen=True, slots=True)
class Stack:
    """One committed order: the full shoe (number 0) or discards shuffled again within a round.

    Its cards have the shoe positions `first` to `first + size - 1`. `recycled` are the positions the cards came from.
    """

    number: int
    first: int
    size: int
    seed_hash: bytes
    root: bytes
    sealed_seed: bytes
    recycled: tuple[int, ...] = ()
    cut_depth: int | None = None
    reshuffle_id: str = ""
    round_id: str = ""


@dataclass(frozen=True, slots=True)
class CardOut:
    """A card that left the shoe. `card` and `salt` are set from the start when it came face up.

    `burned` tells a burn from a draw; `up_position` and `makes_blackjack` are the peek's question and answer, if asked;
    `shown` and `proof` are set when it was turned up later.
    """

    position: int
    take_id: str
    round_id: str
    burned: BurnReason | None
    face_down: bool
    card: Card | None
    salt: bytes
    leaf: bytes
    left: int
    last_round: bool
    up_position: int = 0
    makes_blackjack: bool = False
    shown: Card | None = None
    proof: CardProof | None = None

    @property
    def seen(self) -> Card | None:
        """The card if anyone may know it, from the start or since its reveal."""
        return self.card if self.shown is None else self.shown


@dataclass(frozen=True, slots=True)
class Returned:
    """Cards that went back into a continuous shuffler after `after` cards had left it."""

    id: str
    positions: tuple[int, ...]
    after: int


@dataclass(frozen=True, slots=True)
class LiveShoe:
    """One shoe, from its shuffle to its retirement. `out` is in shoe order: position n stands at index n - 1."""

    id: str
    shuffle_id: str
    device_id: str
    continuous: bool
    decks: int
    composition: bytes
    min_cut_cards: int
    cut_card_first: CutCardFirst
    stacks: tuple[Stack, ...]
    cards_behind: int | None = None
    out: tuple[CardOut, ...] = ()
    takes: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    returned: tuple[Returned, ...] = ()
    back: frozenset[int] = frozenset()
    last_round: bool = False
    retired: e.ShoeRetired | None = None
    abandoned: e.ShoeAbandoned | None = None
    on_felt: str = ""
    """The round whose cards keep the shoe shut until they are racked, "" when none does."""
    observed: bool = False
    """A physical shoe that devices watch: nothing was committed."""
    impossible: frozenset[int] = frozenset()
    """Positions of observed cards that the decks do not hold."""

    @property
    def left(self) -> int:
        """How many cards can still be drawn."""
        if self.continuous:
            return 52 * self.decks - len(self.out) + len(self.back)
        # More cards than the decks hold may have been seen of a physical shoe.
        return max(sum(stack.size for stack in self.stacks) - len(self.out), 0)

    @property
    def round_id(self) -> str:
        """The round that drew last, "" before the first."""
        return next((card.round_id for card in reversed(self.out) if card.burned is None), "")

    def may_go_on(self, round_id: str) -> bool:
        """Tell whether a round may draw: any before the last round, then only the one in play.

        A round for which the discards were reshuffled is in play though it may have drawn nothing yet.
        """
        return not self.last_round or round_id in {self.round_id, self.stacks[-1].round_id}

    def card(self, position: int) -> CardOut | None:
        """Find a card that left the shoe."""
        return self.out[position - 1] if 1 <= position <= len(self.out) else None

    def taken(self, take_id: str) -> tuple[CardOut, ...]:
        """Give the cards of one draw or burn, none for an unknown id."""
        first, last = self.takes.get(take_id, (1, 0))
        return self.out[first - 1 : last]

    @property
    def face_down(self) -> tuple[int, ...]:
        """The positions of drawn cards that are still face down on the table."""
        return tuple(card.position for card in self.out if card.burned is None and card.seen is None)

    @property
    def recycled(self) -> int:
        """How many cards left the shoe more than once: reshuffled discards and cards returned to the machine."""
        returned = sum(len(entry.positions) for entry in self.returned)
        return returned + sum(len(stack.recycled) for stack in self.stacks)

    @property
    def phase(self) -> ShoePhase:
        """How far this shoe is."""
        if self.observed:
            return ShoePhase.LAST_ROUND if self.last_round else ShoePhase.DEALING
        if self.stacks[-1].cut_depth is None and not self.continuous:
            return ShoePhase.SHUFFLED
        if self.cards_behind is None and not self.continuous:
            return ShoePhase.CUT
        return ShoePhase.LAST_ROUND if self.last_round else ShoePhase.DEALING


@dataclass(frozen=True, slots=True)
class Shoe:
    """All the cards of one table: its device, the decks, the shoe in play and the one before (for late questions)."""

    table: str = ""
    device: Device | None = None
    decks: int = 0
    deck_set_ids: tuple[str, ...] = ()
    composition: bytes = b""
    inspected: bool = False
    withdrawn: frozenset[str] = frozenset()
    shoes: int = 0
    live: LiveShoe | None = None
    last: LiveShoe | None = None

    @property
    def phase(self) -> ShoePhase:
        """What comes next at this table."""
        if self.live is not None and (self.device is not None or self.live.observed):
            return self.live.phase
        if self.device is None:
            return ShoePhase.NO_DEVICE
        if not self.decks:
            return ShoePhase.EMPTY
        return ShoePhase.INSPECTED if self.inspected else ShoePhase.LOADED

    @property
    def next_shoe_id(self) -> str:
        """The id of the shoe that the next shuffle begins, "<floor>/<table>/shoe-<n>", n from 1."""
        return f"{self.table}/shoe-{self.shoes + 1}"

    def shoe(self, shoe_id: str) -> LiveShoe | None:
        """Find the shoe in play or the one before by its id."""
        return next((shoe for shoe in (self.live, self.last) if shoe is not None and shoe.id == shoe_id), None)


def evolve(shoe: Shoe, event: e.ShoeEvent) -> Shoe:
    """Fold one recorded event. A recorded event is a fact: nothing is checked or refused here."""
    match event:
        case e.CardsShuffled():
            return replace(shoe, shoes=shoe.shoes + 1, live=_new_shoe(event))
        case e.ShoeRetired():
            if shoe.live is None:
                return shoe
            return replace(shoe, live=None, last=replace(shoe.live, retired=event))
        case e.ShoeAbandoned():
            if shoe.live is None:
                return shoe
            # Nobody can tell what is left inside: the cards are counted by hand before the next shuffle (30-815).
            return replace(shoe, live=None, last=replace(shoe.live, abandoned=event), inspected=False)
        case e.NothingChanged():
            return shoe
        case e.ObservedShoeStarted():
            return replace(shoe, shoes=shoe.shoes + 1, live=_observed_shoe(event))
        case e.ObservedShoeEnded():
            return replace(shoe, live=None, last=shoe.live)
        case (
            e.DeviceRegistered()
            | e.DeviceInspected()
            | e.DecksLoaded()
            | e.CardsInspected()
            | e.DeckSetRejected()
            | e.DecksUnloaded()
        ):
            return _prepared(shoe, event)
        case _:
            return shoe if shoe.live is None else replace(shoe, live=_dealt(shoe.live, event))


_Preparation = (
    e.DeviceRegistered | e.DeviceInspected | e.DecksLoaded | e.CardsInspected | e.DeckSetRejected | e.DecksUnloaded
)
_Dealing = (
    e.CardsCut
    | e.CutCardPlaced
    | e.CardDrawn
    | e.CardBurned
    | e.FeltTaken
    | e.FeltCleared
    | e.HoleCardChecked
    | e.CardRevealed
    | e.DiscardsReshuffled
    | e.DiscardsReturned
    | e.CutCardSeen
    | e.ImpossibleCardSeen
    | e.HiddenCardTurned
)


def _prepared(shoe: Shoe, event: _Preparation) -> Shoe:
    """Fold what happens to the device and to the decks before the shuffle."""
    match event:
        case e.DeviceRegistered():
            return replace(shoe, device=Device(event.device_id, event.kind, event.electronic, event.approval))
        case e.DeviceInspected():
            if shoe.device is None:
                return shoe
            day = event.gaming_day if event.passed else ""
            return replace(shoe, device=replace(shoe.device, passed_day=day))
        case e.DecksLoaded():
            return replace(
                shoe,
                decks=event.decks,
                deck_set_ids=event.deck_set_ids,
                composition=event.composition,
                inspected=False,
            )
        case e.CardsInspected():
            return replace(shoe, inspected=True)
        case e.DeckSetRejected():
            return replace(shoe, withdrawn=shoe.withdrawn | {event.deck_set_id})
        case e.DecksUnloaded():
            return replace(shoe, decks=0, deck_set_ids=(), composition=b"", inspected=False)


def _dealt(live: LiveShoe, event: _Dealing) -> LiveShoe:
    """Fold what happens to the shoe in play."""
    match event:
        case e.CardsCut():
            return replace(live, stacks=(*live.stacks[:-1], replace(live.stacks[-1], cut_depth=event.depth)))
        case e.CutCardPlaced():
            return replace(live, cards_behind=event.cards_behind)
        case e.CardDrawn():
            return _out(live, event, event.draw_id, None)
        case e.CardBurned():
            return _out(live, event, event.burn_id, event.reason)
        case e.FeltTaken():
            return replace(live, on_felt=event.round_id)
        case e.FeltCleared():
            return replace(live, on_felt="")
        case e.HoleCardChecked():
            hole = live.out[event.position - 1]
            answer = event.makes_blackjack
            return _changed(live, replace(hole, up_position=event.up_position, makes_blackjack=answer))
        case e.CardRevealed():
            return _changed(live, replace(live.out[event.position - 1], shown=event.card, proof=event.proof))
        case e.DiscardsReshuffled():
            return replace(live, stacks=(*live.stacks, _stack_of_discards(event)), last_round=True)
        case e.DiscardsReturned():
            entry = Returned(event.return_id, event.positions, event.after)
            return replace(live, returned=(*live.returned, entry), back=live.back.union(event.positions))
        case _:
            return _watched(live, event)


def _watched(live: LiveShoe, event: e.CutCardSeen | e.ImpossibleCardSeen | e.HiddenCardTurned) -> LiveShoe:
    """Fold what devices saw of physical cards besides the cards that left the shoe."""
    match event:
        case e.CutCardSeen():
            return replace(live, last_round=True)
        case e.ImpossibleCardSeen():
            return replace(live, impossible=live.impossible | {event.position})
        case e.HiddenCardTurned():
            return _changed(live, replace(live.out[event.position - 1], shown=event.card))


def _observed_shoe(event: e.ObservedShoeStarted) -> LiveShoe:
    return LiveShoe(
        id=event.shoe_id,
        shuffle_id=event.observation,
        device_id=event.device_id,
        continuous=False,
        decks=event.decks,
        composition=b"",
        min_cut_cards=0,
        cut_card_first=CutCardFirst.PLAY_ONE_MORE,
        stacks=(Stack(0, 1, 52 * event.decks, b"", b"", b""),),
        observed=True,
    )


def _new_shoe(event: e.CardsShuffled) -> LiveShoe:
    stack = Stack(0, 1, 52 * event.decks, event.seed_hash, event.root, event.sealed_seed)
    return LiveShoe(
        id=event.shoe_id,
        shuffle_id=event.shuffle_id,
        device_id=event.device_id,
        continuous=event.continuous,
        decks=event.decks,
        composition=event.composition,
        min_cut_cards=event.min_cut_cards,
        cut_card_first=event.cut_card_first,
        stacks=(stack,),
    )


def _stack_of_discards(event: e.DiscardsReshuffled) -> Stack:
    return Stack(
        event.stack,
        event.first_position,
        event.size,
        event.seed_hash,
        event.root,
        event.sealed_seed,
        recycled=event.recycled,
        reshuffle_id=event.reshuffle_id,
        round_id=event.round_id,
    )


def _out(live: LiveShoe, event: e.CardDrawn | e.CardBurned, take_id: str, burned: BurnReason | None) -> LiveShoe:
    card = CardOut(
        position=event.position,
        take_id=take_id,
        round_id=event.round_id,
        burned=burned,
        face_down=event.face_down,
        card=event.card,
        salt=event.salt,
        leaf=event.leaf,
        left=event.left,
        last_round=event.last_round,
    )
    first, _ = live.takes.get(take_id, (event.position, 0))
    return replace(
        live,
        out=(*live.out, card),
        takes={**live.takes, take_id: (first, event.position)},
        last_round=live.last_round or event.last_round,
    )


def _changed(live: LiveShoe, card: CardOut) -> LiveShoe:
    index = card.position - 1
    return replace(live, out=(*live.out[:index], card, *live.out[index + 1 :]))
