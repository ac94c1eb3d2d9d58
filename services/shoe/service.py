"""The shoe's use cases: take the turn, open what is sealed in memory, decide, append, answer.

Owns the only place where seeds are drawn from the system's entropy and where the vault meets the journal. Promises that
a card is given out only after its event is durable. Holds no rule of the game.
"""

from collections.abc import Callable, Collection
from typing import Final, TypeVar

from services.game.authority import CommandContext
from services.journal.port import Journal, StreamHead
from services.runtime.aggregate import AggregateHost, Decider
from services.runtime.entropy import Entropy
from services.runtime.failures import NotFound
from services.runtime.sealing import SealBroken, Sealer
from services.runtime.snapshots import StateSnapshots
from services.runtime.table_key import check_table_key
from services.shoe import commands as c
from services.shoe import observed_replies as o
from services.shoe import replies as a
from services.shoe.client import GetDraw, GetShoe, GetTranscript, ProveCard
from services.shoe.dealing import cards_taken
from services.shoe.events import EVENTS, ShoeEvent
from services.shoe.hidden import Hidden
from services.shoe.order import SEED_BYTES
from services.shoe.rejections import NothingCommitted, ShoeCannotBeOpened
from services.shoe.shoe import Shoe, ShoeCommand, ShoeDecision, authorise, decide, evolve
from services.shoe.vault import Vault
from services.wire.registry import EventTypes

A = TypeVar("A")

EVENT_TYPES: Final[EventTypes[ShoeEvent]] = EventTypes("holecard.shoe.v1", EVENTS)

DECIDER: Final[Decider[Shoe, ShoeDecision, ShoeEvent]] = Decider(
    area="shoe",
    initial=lambda key: Shoe(table=key),
    decide=decide,
    evolve=evolve,
    events=EVENT_TYPES,
    round_of=lambda _shoe, event: getattr(event, "round_id", ""),
)


class ShoeService:
    """Every table's shoe. One method a procedure: (table, context, command) for commands, (table, query) for queries."""

    def __init__(
        self,
        journal: Journal,
        sealer: Sealer,
        entropy: Entropy,
        observe: Callable[[tuple[ShoeEvent, ...]], None] = lambda _: None,
        *,
        snapshots: StateSnapshots | None = None,
    ) -> None:
        """`observe` is told of events once they are durable, for counting; `snapshots` make a restart quick."""
        self._observe = observe
        self._host: AggregateHost[Shoe, ShoeDecision, ShoeEvent] = AggregateHost(journal, DECIDER, snapshots)
        self._vault = Vault(sealer)
        self._entropy = entropy

    async def load(self, heads: Collection[StreamHead]) -> None:
        """Read what these streams hold into memory in one go, as far as they are this service's."""
        await self._host.take_up(heads)

    def let_go(self, streams: Collection[str]) -> None:
        """Drop the shoes of these streams from memory: another process deals from them now."""
        self._host.let_go(streams)

    async def register_device(self, table: str, context: CommandContext, command: c.RegisterDevice) -> a.ShoeAnswer:
        """Enrol the table's device."""
        return await self._carry_out(table, context, command, a.answer)

    async def inspect_device(self, table: str, context: CommandContext, command: c.InspectDevice) -> a.ShoeAnswer:
        """Record the inspection of the gaming day."""
        return await self._carry_out(table, context, command, a.answer)

    async def load_decks(self, table: str, context: CommandContext, command: c.LoadDecks) -> a.ShoeAnswer:
        """Load whole decks."""
        return await self._carry_out(table, context, command, a.answer)

    async def inspect_cards(self, table: str, context: CommandContext, command: c.InspectCards) -> a.ShoeAnswer:
        """Accept the cards or pull them."""
        return await self._carry_out(table, context, command, a.answer)

    async def unload_decks(self, table: str, context: CommandContext, command: c.UnloadDecks) -> a.ShoeAnswer:
        """Take the decks out."""
        return await self._carry_out(table, context, command, a.answer)

    async def shuffle_cards(self, table: str, context: CommandContext, command: c.ShuffleCards) -> a.ShoeAnswer:
        """Begin a new shoe from fresh entropy."""
        return await self._carry_out(table, context, command, a.answer)

    async def cut_cards(self, table: str, context: CommandContext, command: c.CutCards) -> a.ShoeAnswer:
        """Cut the newest stack."""
        return await self._carry_out(table, context, command, a.answer)

    async def place_cut_card(self, table: str, context: CommandContext, command: c.PlaceCutCard) -> a.ShoeAnswer:
        """Place the cutting card."""
        return await self._carry_out(table, context, command, a.answer)

    async def burn_cards(self, table: str, context: CommandContext, command: c.BurnCards) -> a.CardsBurned:
        """Burn the next cards."""
        return await self._carry_out(table, context, command, lambda shoe: a.cards_burned(shoe, command.burn_id))

    async def draw_cards(self, table: str, context: CommandContext, command: c.DrawCards) -> a.CardsDrawn:
        """Draw the next cards."""
        return await self._carry_out(table, context, command, lambda shoe: a.cards_drawn(shoe, command.draw_id))

    async def peek_card(self, table: str, context: CommandContext, command: c.PeekCard) -> a.HoleAnswer:
        """Answer yes or no."""
        return await self._carry_out(
            table, context, command, lambda shoe: a.hole_answer(shoe, command.shoe_id, command.position)
        )

    async def reveal_card(self, table: str, context: CommandContext, command: c.RevealCard) -> a.CardShown:
        """Turn a card up."""
        return await self._carry_out(
            table, context, command, lambda shoe: self._shown(shoe, command.shoe_id, command.position)
        )

    async def reshuffle_discards(
        self, table: str, context: CommandContext, command: c.ReshuffleDiscards
    ) -> a.ShoeAnswer:
        """Shuffle the discards from fresh entropy."""
        return await self._carry_out(table, context, command, a.answer)

    async def return_discards(self, table: str, context: CommandContext, command: c.ReturnDiscards) -> a.ShoeAnswer:
        """Put discards back into the machine."""
        return await self._carry_out(table, context, command, a.answer)

    async def rack_cards(self, table: str, context: CommandContext, command: c.RackCards) -> a.ShoeAnswer:
        """Clear the felt of a round's cards."""
        return await self._carry_out(table, context, command, a.answer)

    async def abandon_shoe(self, table: str, context: CommandContext, command: c.AbandonShoe) -> a.ShoeAnswer:
        """Give up a shoe whose key is lost."""
        return await self._carry_out(table, context, command, a.answer)

    async def retire_shoe(self, table: str, context: CommandContext, command: c.RetireShoe) -> a.ShoeClosed:
        """End the shoe and count it."""
        closed = await self._carry_out(table, context, command, lambda shoe: a.shoe_closed(shoe, command.shoe_id))
        self._vault.forget(command.shoe_id)
        return closed

    async def start_observed_shoe(
        self, table: str, context: CommandContext, command: c.StartObservedShoe
    ) -> o.ObservedShoe:
        """Take up a physical shoe."""
        return await self._carry_out(table, context, command, o.observed_shoe)

    async def observe_cards(self, table: str, context: CommandContext, command: c.ObserveCards) -> o.ObservedCards:
        """Record cards that devices saw."""
        observations = [seen.observation for seen in command.cards]
        return await self._carry_out(table, context, command, lambda shoe: o.observed_cards(shoe, observations))

    async def observe_cut_card(self, table: str, context: CommandContext, command: c.ObserveCutCard) -> o.ObservedShoe:
        """Record that the cutting card came out."""
        return await self._carry_out(table, context, command, o.observed_shoe)

    async def observe_turned_card(
        self, table: str, context: CommandContext, command: c.ObserveTurnedCard
    ) -> o.TurnedCard:
        """Record the face of a card that lay face down."""
        return await self._carry_out(table, context, command, lambda shoe: o.turned_card(shoe, command.position))

    async def end_observed_shoe(
        self, table: str, context: CommandContext, command: c.EndObservedShoe
    ) -> o.ObservedShoe:
        """Record that the physical cards were taken out."""
        return await self._carry_out(table, context, command, o.observed_shoe)

    async def get_shoe(self, table: str, query: GetShoe) -> a.ShoeAnswer:
        """Say how the cards stand."""
        return a.answer(await self._host.state(check_table_key(table)))

    async def get_draw(self, table: str, query: GetDraw) -> a.CardsDrawn:
        """Say what a draw took; raises NotFound."""
        shoe = await self._host.state(check_table_key(table))
        taken = cards_taken(shoe, query.draw_id)
        if not taken or taken[0].burned is not None:
            raise NotFound(f"nothing was drawn as {query.draw_id[:200]!r}")
        return a.cards_drawn(shoe, query.draw_id)

    async def prove_card(self, table: str, query: ProveCard) -> a.CardShown:
        """Prove a card that is face up."""
        shoe = await self._host.state(check_table_key(table))
        return self._shown(shoe, query.shoe_id, query.position)

    async def get_transcript(self, table: str, query: GetTranscript) -> a.Transcript:
        """Give the record of a retired shoe."""
        return a.transcript(await self._host.state(check_table_key(table)), query.shoe_id)

    async def _carry_out(
        self, table: str, context: CommandContext, command: ShoeCommand, answer: Callable[[Shoe], A]
    ) -> A:
        """Decide and record a command in the table's turn, or answer it as it was answered before."""
        async with self._host.turn(table) as turn:
            outcome = await turn.repeated(context)
            if outcome is None:
                authorise(turn.state, command, context)
                enriched = self._enriched(turn.state, command)
                outcome = await turn.record(turn.decide(enriched, context), context)
                self._observe(outcome.events)
            return answer(outcome.state)

    def _enriched(self, shoe: Shoe, command: ShoeCommand) -> ShoeDecision:
        """The command with what the vault knows; a lost key is a refusal that says what to do, not a fault."""
        try:
            return self._vault.enrich(shoe, command, self._seed_for(command))
        except SealBroken as broken:
            raise cannot_be_opened(shoe) from broken

    def _seed_for(self, command: ShoeCommand) -> Hidden[bytes]:
        """Draw 256 bits for a shuffle; anything else needs no chance."""
        shuffles = isinstance(command, c.ShuffleCards | c.ReshuffleDiscards)
        return Hidden(self._entropy.draw(SEED_BYTES) if shuffles else b"")

    def _shown(self, shoe: Shoe, shoe_id: str, position: int) -> a.CardShown:
        live, card = a.seen_card(shoe, shoe_id, position)
        if live.observed:
            raise NothingCommitted(f"{shoe_id} holds physical cards", shoe_id=shoe_id)
        try:
            return a.CardShown(live.id, live.decks, card, self._vault.proof(live, position))
        except SealBroken as broken:
            raise cannot_be_opened(shoe) from broken


def cannot_be_opened(shoe: Shoe) -> ShoeCannotBeOpened:
    """The refusal of everything that needs a card of a shoe whose key is gone."""
    shoe_id = "the shoe" if shoe.live is None else shoe.live.id
    return ShoeCannotBeOpened(
        f"{shoe_id} was sealed under another key than this house has: put the key back", shoe_id=shoe_id
    )
