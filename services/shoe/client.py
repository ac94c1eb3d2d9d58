"""How others use the shoe: every procedure as a value, and one typed method for each.

Owns the client's port and re-exports the words it speaks; nothing else of this room is for others. The same class serves
gRPC and in-process callers, depending on the `Caller` it is given. Every method raises `Refused` (nothing changed),
`ServiceUnavailable` (unknown: ask again with the same request id) or `CallFailed`.

A shoe's life, in calls: register_device, inspect_device (each gaming day), load_decks, inspect_cards; then for each shoe
shuffle_cards, cut_cards, place_cut_card, burn_cards, draw_cards …, peek_card, reveal_card, and retire_shoe. `get_shoe`
tells the phase, which names what comes next.
"""

from dataclasses import dataclass
from typing import Final

from services.game.authority import CommandContext
from services.game.cards import standard_deck
from services.game.rule_options import CutCardFirst
from services.runtime.caller import Caller
from services.shoe.commands import (
    AbandonShoe,
    BurnCards,
    CutCards,
    DrawCards,
    EndObservedShoe,
    InspectCards,
    InspectDevice,
    LoadDecks,
    ObserveCards,
    ObserveCutCard,
    ObserveTurnedCard,
    PeekCard,
    PlaceCutCard,
    RackCards,
    RegisterDevice,
    ReshuffleDiscards,
    RetireShoe,
    ReturnDiscards,
    RevealCard,
    SeenCard,
    ShuffleCards,
    StartObservedShoe,
    UnloadDecks,
)
from services.shoe.observed_replies import ObservedCard, ObservedCards, ObservedShoe, TurnedCard
from services.shoe.replies import (
    CardFromShoe,
    CardsBurned,
    CardsDrawn,
    CardShown,
    HoleAnswer,
    ShoeAnswer,
    ShoeClosed,
    ShoeStatus,
    Transcript,
)
from services.shoe.words import (
    BurnReason,
    CardProof,
    DeckSet,
    Defect,
    DeviceKind,
    RetireReason,
    ShoePhase,
    ShuffleReason,
)
from services.wire.rpc import Kind, Rpc

__all__ = [
    "AbandonShoe",
    "BurnCards",
    "BurnReason",
    "CardFromShoe",
    "CardProof",
    "CardShown",
    "CardsBurned",
    "CardsDrawn",
    "CutCardFirst",
    "CutCards",
    "DeckSet",
    "Defect",
    "DeviceKind",
    "DrawCards",
    "EndObservedShoe",
    "GetDraw",
    "GetShoe",
    "GetTranscript",
    "HoleAnswer",
    "InspectCards",
    "InspectDevice",
    "LoadDecks",
    "ObserveCards",
    "ObserveCutCard",
    "ObserveTurnedCard",
    "ObservedCard",
    "ObservedCards",
    "ObservedShoe",
    "PeekCard",
    "PlaceCutCard",
    "ProveCard",
    "RackCards",
    "RegisterDevice",
    "ReshuffleDiscards",
    "RetireReason",
    "RetireShoe",
    "ReturnDiscards",
    "RevealCard",
    "SeenCard",
    "ShoeAnswer",
    "ShoeClient",
    "ShoeClosed",
    "ShoePhase",
    "ShoeStatus",
    "ShuffleCards",
    "ShuffleReason",
    "StartObservedShoe",
    "Transcript",
    "TurnedCard",
    "UnloadDecks",
    "standard_deck_set",
]

SERVICE: Final = "holecard.shoe.v1.ShoeService"


@dataclass(frozen=True, slots=True)
class GetShoe:
    """Ask how the table's cards stand."""


@dataclass(frozen=True, slots=True)
class GetDraw:
    """Ask what a draw took, when its answer was lost."""

    draw_id: str


@dataclass(frozen=True, slots=True)
class ProveCard:
    """Ask for the proof of a card that is face up, in the shoe in play or the one retired last."""

    shoe_id: str
    position: int


@dataclass(frozen=True, slots=True)
class GetTranscript:
    """Ask for everything an outsider needs to check the shoe that was retired last."""

    shoe_id: str


REGISTER_DEVICE: Final = Rpc(SERVICE, "RegisterDevice", RegisterDevice, ShoeAnswer)
INSPECT_DEVICE: Final = Rpc(SERVICE, "InspectDevice", InspectDevice, ShoeAnswer)
LOAD_DECKS: Final = Rpc(SERVICE, "LoadDecks", LoadDecks, ShoeAnswer)
INSPECT_CARDS: Final = Rpc(SERVICE, "InspectCards", InspectCards, ShoeAnswer)
UNLOAD_DECKS: Final = Rpc(SERVICE, "UnloadDecks", UnloadDecks, ShoeAnswer)
SHUFFLE_CARDS: Final = Rpc(SERVICE, "ShuffleCards", ShuffleCards, ShoeAnswer)
CUT_CARDS: Final = Rpc(SERVICE, "CutCards", CutCards, ShoeAnswer)
PLACE_CUT_CARD: Final = Rpc(SERVICE, "PlaceCutCard", PlaceCutCard, ShoeAnswer)
BURN_CARDS: Final = Rpc(SERVICE, "BurnCards", BurnCards, CardsBurned)
DRAW_CARDS: Final = Rpc(SERVICE, "DrawCards", DrawCards, CardsDrawn)
PEEK_CARD: Final = Rpc(SERVICE, "PeekCard", PeekCard, HoleAnswer)
REVEAL_CARD: Final = Rpc(SERVICE, "RevealCard", RevealCard, CardShown)
RESHUFFLE_DISCARDS: Final = Rpc(SERVICE, "ReshuffleDiscards", ReshuffleDiscards, ShoeAnswer)
RETURN_DISCARDS: Final = Rpc(SERVICE, "ReturnDiscards", ReturnDiscards, ShoeAnswer)
RACK_CARDS: Final = Rpc(SERVICE, "RackCards", RackCards, ShoeAnswer)
ABANDON_SHOE: Final = Rpc(SERVICE, "AbandonShoe", AbandonShoe, ShoeAnswer)
RETIRE_SHOE: Final = Rpc(SERVICE, "RetireShoe", RetireShoe, ShoeClosed)
START_OBSERVED_SHOE: Final = Rpc(SERVICE, "StartObservedShoe", StartObservedShoe, ObservedShoe)
OBSERVE_CARDS: Final = Rpc(SERVICE, "ObserveCards", ObserveCards, ObservedCards)
OBSERVE_CUT_CARD: Final = Rpc(SERVICE, "ObserveCutCard", ObserveCutCard, ObservedShoe)
OBSERVE_TURNED_CARD: Final = Rpc(SERVICE, "ObserveTurnedCard", ObserveTurnedCard, TurnedCard)
END_OBSERVED_SHOE: Final = Rpc(SERVICE, "EndObservedShoe", EndObservedShoe, ObservedShoe)
GET_SHOE: Final = Rpc(SERVICE, "GetShoe", GetShoe, ShoeAnswer, Kind.QUERY)
GET_DRAW: Final = Rpc(SERVICE, "GetDraw", GetDraw, CardsDrawn, Kind.QUERY)
PROVE_CARD: Final = Rpc(SERVICE, "ProveCard", ProveCard, CardShown, Kind.QUERY)
GET_TRANSCRIPT: Final = Rpc(SERVICE, "GetTranscript", GetTranscript, Transcript, Kind.QUERY)


def standard_deck_set(deck_set_id: str) -> DeckSet:
    """Describe a whole deck of digital cards under this id."""
    return DeckSet(deck_set_id, standard_deck())


class ShoeClient:
    """The shoe service as seen by others. `table` is "<floor>/<table>"."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def register_device(self, table: str, context: CommandContext, command: RegisterDevice) -> ShoeAnswer:
        """Enrol the table's device (supervisor, licensee or system)."""
        return await self._caller.call(REGISTER_DEVICE, table, context, command)

    async def inspect_device(self, table: str, context: CommandContext, command: InspectDevice) -> ShoeAnswer:
        """Record the daily inspection (30-805)."""
        return await self._caller.call(INSPECT_DEVICE, table, context, command)

    async def load_decks(self, table: str, context: CommandContext, command: LoadDecks) -> ShoeAnswer:
        """Put whole decks into a device that passed today."""
        return await self._caller.call(LOAD_DECKS, table, context, command)

    async def inspect_cards(self, table: str, context: CommandContext, command: InspectCards) -> ShoeAnswer:
        """Record that dealer and supervisor checked the cards (30-815)."""
        return await self._caller.call(INSPECT_CARDS, table, context, command)

    async def unload_decks(self, table: str, context: CommandContext, command: UnloadDecks) -> ShoeAnswer:
        """Take the decks out."""
        return await self._caller.call(UNLOAD_DECKS, table, context, command)

    async def shuffle_cards(self, table: str, context: CommandContext, command: ShuffleCards) -> ShoeAnswer:
        """Begin a new shoe with a committed order (30-816)."""
        return await self._caller.call(SHUFFLE_CARDS, table, context, command)

    async def cut_cards(self, table: str, context: CommandContext, command: CutCards) -> ShoeAnswer:
        """Cut the stack that was shuffled last (30-817)."""
        return await self._caller.call(CUT_CARDS, table, context, command)

    async def place_cut_card(self, table: str, context: CommandContext, command: PlaceCutCard) -> ShoeAnswer:
        """Insert the cutting card (30-817)."""
        return await self._caller.call(PLACE_CUT_CARD, table, context, command)

    async def burn_cards(self, table: str, context: CommandContext, command: BurnCards) -> CardsBurned:
        """Burn the next cards (30-819)."""
        return await self._caller.call(BURN_CARDS, table, context, command)

    async def draw_cards(self, table: str, context: CommandContext, command: DrawCards) -> CardsDrawn:
        """Draw the next cards; the same draw id gives the same cards for ever."""
        return await self._caller.call(DRAW_CARDS, table, context, command)

    async def peek_card(self, table: str, context: CommandContext, command: PeekCard) -> HoleAnswer:
        """Ask whether the hole card makes blackjack (30-823)."""
        return await self._caller.call(PEEK_CARD, table, context, command)

    async def reveal_card(self, table: str, context: CommandContext, command: RevealCard) -> CardShown:
        """Turn a drawn card face up, with its proof."""
        return await self._caller.call(REVEAL_CARD, table, context, command)

    async def reshuffle_discards(self, table: str, context: CommandContext, command: ReshuffleDiscards) -> ShoeAnswer:
        """Shuffle the discards to finish a round (30-828); cut them next."""
        return await self._caller.call(RESHUFFLE_DISCARDS, table, context, command)

    async def return_discards(self, table: str, context: CommandContext, command: ReturnDiscards) -> ShoeAnswer:
        """Put cards back into a continuous shuffler (30-816)."""
        return await self._caller.call(RETURN_DISCARDS, table, context, command)

    async def retire_shoe(self, table: str, context: CommandContext, command: RetireShoe) -> ShoeClosed:
        """End the shoe, reveal its seeds, count its cards."""
        return await self._caller.call(RETIRE_SHOE, table, context, command)

    async def rack_cards(self, table: str, context: CommandContext, command: RackCards) -> ShoeAnswer:
        """Say that a round's cards lie in the discard rack (30-822)."""
        return await self._caller.call(RACK_CARDS, table, context, command)

    async def abandon_shoe(self, table: str, context: CommandContext, command: AbandonShoe) -> ShoeAnswer:
        """Give up a shoe whose sealing key is lost (supervisor)."""
        return await self._caller.call(ABANDON_SHOE, table, context, command)

    async def start_observed_shoe(
        self, table: str, context: CommandContext, command: StartObservedShoe
    ) -> ObservedShoe:
        """Take up a physical shoe that devices watch (DESIGN §5)."""
        return await self._caller.call(START_OBSERVED_SHOE, table, context, command)

    async def observe_cards(self, table: str, context: CommandContext, command: ObserveCards) -> ObservedCards:
        """Record cards that devices saw; none is refused for what it is."""
        return await self._caller.call(OBSERVE_CARDS, table, context, command)

    async def observe_cut_card(self, table: str, context: CommandContext, command: ObserveCutCard) -> ObservedShoe:
        """Record that the cutting card came out."""
        return await self._caller.call(OBSERVE_CUT_CARD, table, context, command)

    async def observe_turned_card(self, table: str, context: CommandContext, command: ObserveTurnedCard) -> TurnedCard:
        """Record the face of a card that lay face down."""
        return await self._caller.call(OBSERVE_TURNED_CARD, table, context, command)

    async def end_observed_shoe(self, table: str, context: CommandContext, command: EndObservedShoe) -> ObservedShoe:
        """Record that the physical cards were taken out."""
        return await self._caller.call(END_OBSERVED_SHOE, table, context, command)

    async def get_shoe(self, table: str) -> ShoeStatus:
        """Say how the table's cards stand."""
        return (await self._caller.call(GET_SHOE, table, None, GetShoe())).shoe

    async def get_draw(self, table: str, draw_id: str) -> CardsDrawn:
        """Say what a draw took; raises NotFound when it never happened."""
        return await self._caller.call(GET_DRAW, table, None, GetDraw(draw_id))

    async def prove_card(self, table: str, shoe_id: str, position: int) -> CardShown:
        """Prove a card that is face up."""
        return await self._caller.call(PROVE_CARD, table, None, ProveCard(shoe_id, position))

    async def get_transcript(self, table: str, shoe_id: str) -> Transcript:
        """Give the record of the shoe that was retired last, for checking by anyone."""
        return await self._caller.call(GET_TRANSCRIPT, table, None, GetTranscript(shoe_id))
