"""Watches a physical table: takes each observation to the shoe, the ledger and the round, in the order in which it happened.

Owns the calls that an observation needs. Promises that whatever another service is asked is asked under an id that follows
from the observation, so that a crash at any point heals by the gateway's sending it again: the same card, the same cents,
once. What a service refuses is an irregularity and never holds up what comes after it; a service that is away holds the
gateway's queue.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import structlog

from services.game.authority import Actor, CommandContext, Role
from services.game.round_words import Phase
from services.runtime.aggregate import Turn
from services.runtime.failures import CallFailed, ServiceUnavailable
from services.shoe import client as shoe
from services.table import commands as c
from services.table import events as e
from services.table import seating
from services.table.batch import Batch, id_of
from services.table.conductor import Conductor
from services.table.contexts import Contexts
from services.table.device_log import arrived, is_on_log
from services.table.holds import new_stakes
from services.table.observed import anonymous, fold
from services.table.observed_look import Known, Look, Place
from services.table.readings import RULINGS, IrregularityKind, Observation, Reading, ReadingKind
from services.table.stakes import Waiting
from services.table.table import Table, evolve
from services.table.words import SeatPhase
from services.table.work import next_work
from services.wager import client as wager
from services.wire.refusal import Refused

log = structlog.get_logger(__name__)

_K = ReadingKind
_CARDS: Final = frozenset({_K.CARD_DRAWN, _K.CARD_BURNED})
_SHOE: Final = frozenset({_K.SHOE_STARTED, _K.CUT_CARD_SEEN, _K.SHOE_ENDED, _K.ROUND_STARTED})
_NEEDS_SEATS: Final = frozenset({_K.SEAT_TAKEN, _K.BETTING_CLOSED})
DECKS_UNKNOWN: Final = 8
"""Of a shoe whose start nobody saw at a table without posted rules: as many as are usual."""

Upcoming = Sequence[Observation]


class Observing:
    """Takes observations of observed tables; of any other table they are recorded and mean nothing more."""

    def __init__(
        self, conductor: Conductor, shoes: shoe.ShoeClient, ledgers: wager.WagerClient, contexts: Contexts
    ) -> None:
        self._conductor = conductor
        self._shoes = shoes
        self._ledgers = ledgers
        self._contexts = contexts

    async def take(self, batch: Batch, upcoming: Upcoming, places: dict[str, Place]) -> None:
        """Take up the first of `upcoming`, which is not on the log yet.

        `places` remembers what the shoe said of cards of this call. Raises ServiceUnavailable while another service is away.
        """
        observation = upcoming[0]
        if not batch.state.watch.observed:
            batch.add(observation, arrived(batch.state.devices, observation))
            return
        try:
            await self._prepare(batch, observation)
            known = await self._ask(batch, upcoming, places)
            await self._take(batch, observation, known)
        except Waiting as waiting:
            raise ServiceUnavailable(waiting.reason) from waiting
        except CallFailed as failure:
            raise ServiceUnavailable(str(failure)) from failure

    async def finish(self, batch: Batch) -> None:
        """Open and close the racks of who came and went; what cannot be done now is done with the next observation."""
        if not batch.state.watch.observed or next_work(batch.turn.state) is None:
            return
        try:
            await self._conductor.play_on(batch.turn)
        except Waiting as waiting:
            log.info("an observed table waits", table=batch.turn.key, whom=waiting.whom.value, reason=waiting.reason)
        batch.state = batch.turn.state

    async def _take(self, batch: Batch, observation: Observation, known: Known) -> None:
        recorded = arrived(batch.state.devices, observation)
        seen = _after(batch.state, recorded)
        look = Look(seen, observation, known, batch.context)
        events = fold(look)
        try:
            await self._settle_money(batch, observation, look, events)
        except Refused as refused:
            events = look.irregular(_REFUSED_MONEY.get(observation.reading.kind, _WAGER), str(refused))
        if observation.reading.kind in RULINGS and events:
            actor = Actor(Role.SUPERVISOR, observation.reading.person)
            await batch.record_by(actor, observation, (*recorded, *events))
            return
        batch.add(observation, (*recorded, *events))

    # Before it is folded --------------------------------------------------------------------------------------------

    async def _prepare(self, batch: Batch, observation: Observation) -> None:
        """Guests get seats and racks before their bets are wagers; what nobody picked up is, before the next round."""
        if batch.state.suspended:
            return
        play, kind = batch.state.live, observation.reading.kind
        if kind in _NEEDS_SEATS and any(stay.phase is SeatPhase.LEAVING for stay in batch.state.seats):
            # Who went has gone before somebody else sits down or wagers there.
            await self._open_and_close_racks(batch)
        if kind is _K.BETTING_CLOSED and play is not None and play.round.phase is Phase.BETTING:
            await self._seat_guests(batch, observation)
        if kind is _K.ROUND_STARTED and play is not None and play.round.phase is Phase.PICKUP:
            await batch.flush()
            pick_up = Observation(
                observation.device, observation.received_time_us, None, _as(observation, _K.PICKED_UP)
            )
            look = Look(batch.state, pick_up, Known(), batch.context)
            events = fold(look)
            try:
                await self._pay(batch)
            except Refused:
                return
            await batch.prepare(observation, events)

    async def _seat_guests(self, batch: Batch, observation: Observation) -> None:
        rules = batch.state.rules
        most = rules.max_seats if rules is not None else 0
        for seat in batch.state.watch.bets:
            if batch.state.at(seat) is None and seat <= most:
                guest = c.SeatPlayer(anonymous(batch.state, seat), seat)
                await batch.prepare(observation, seating.seat_player(batch.state, guest, batch.context))
        await self._open_and_close_racks(batch)

    async def _open_and_close_racks(self, batch: Batch) -> None:
        await batch.flush()
        await self._conductor.play_on(batch.turn)
        batch.state = batch.turn.state

    # What others know -----------------------------------------------------------------------------------------------

    async def _ask(self, batch: Batch, upcoming: Upcoming, places: dict[str, Place]) -> Known:
        observation = upcoming[0]
        kind = observation.reading.kind
        try:
            if kind in _CARDS:
                return await self._card(batch, upcoming, places)
            if kind in _SHOE:
                return await self._shoe(batch, observation)
            if kind is _K.CARD_TURNED:
                return await self._turned(batch, observation)
            if kind is _K.TRAY_COUNTED and batch.state.live is None:
                money = await self._ledgers.read_table_money(batch.turn.key)
                return Known(tray_cents=money.tray_cents)
        except Refused as refused:
            return Known(refusal=str(refused))
        return Known()

    async def _card(self, batch: Batch, upcoming: Upcoming, places: dict[str, Place]) -> Known:
        """The card's place, asked for together with those that follow it at once: one append of the shoe instead of many."""
        observation = upcoming[0]
        known = places.get(id_of(observation))
        if known is None:
            run = _run_of_cards(batch.state, upcoming)
            live = batch.state.live
            command = shoe.ObserveCards(
                live.id if live is not None else "",
                observation.device,
                _decks(batch.state),
                tuple(
                    shoe.SeenCard(
                        id_of(one), one.reading.card, one.reading.face_down, one.reading.kind is _K.CARD_BURNED
                    )
                    for one in run
                ),
            )
            name = f"{id_of(run[0])}..{id_of(run[-1])}"
            answer = await self._shoes.observe_cards(batch.turn.key, self._call(batch, name), command)
            for card in answer.cards:
                places[card.observation] = Place(card.shoe_id, card.round_id, card.position, card.impossible)
            known = places[id_of(observation)]
        return Known(place=known)

    async def _shoe(self, batch: Batch, observation: Observation) -> Known:
        key, name, reading = batch.turn.key, id_of(observation), observation.reading
        call = self._call(batch, name)
        if reading.kind is _K.SHOE_STARTED:
            start = shoe.StartObservedShoe(name, observation.device, reading.decks, reading.note)
            answer = await self._shoes.start_observed_shoe(key, call, start)
        elif reading.kind is _K.CUT_CARD_SEEN:
            answer = await self._shoes.observe_cut_card(key, call, shoe.ObserveCutCard(name))
        elif reading.kind is _K.SHOE_ENDED:
            answer = await self._shoes.end_observed_shoe(key, call, shoe.EndObservedShoe(name))
        else:
            status = await self._shoes.get_shoe(key)
            if status.shoe_id:
                return Known(shoe=(status.shoe_id, status.decks, status.last_round))
            start = shoe.StartObservedShoe(name, observation.device, _decks(batch.state), "no start was seen")
            answer = await self._shoes.start_observed_shoe(key, call, start)
        return Known(shoe=(answer.shoe_id, answer.decks, answer.last_round))

    async def _turned(self, batch: Batch, observation: Observation) -> Known:
        reading, play = observation.reading, batch.state.live
        position = reading.position
        if not position and play is not None:
            hidden = [dealer.hole for dealer in play.round.dealers] + [hand.hidden for hand in play.round.hands]
            position = next((place for place in hidden if place is not None), 0)
        if not position or play is None or play.shoe is None or reading.card is None:
            return Known()
        name = id_of(observation)
        command = shoe.ObserveTurnedCard(name, position, reading.card)
        answer = await self._shoes.observe_turned_card(batch.turn.key, self._call(batch, name), command)
        return Known(place=Place(answer.shoe_id, play.id, position, answer.impossible))

    # Money ----------------------------------------------------------------------------------------------------------

    async def _settle_money(
        self, batch: Batch, observation: Observation, look: Look, events: tuple[e.TableEvent, ...]
    ) -> None:
        """Hold what these events put at stake, or pay the round that they end; raises Refused, Waiting."""
        if new_stakes(look.table, events):
            await batch.flush()
            await self._hold(batch, observation, events)
        play = look.table.live
        over = play is not None and play.round.phase is Phase.PICKUP and not look.table.suspended
        if over and observation.reading.kind is _K.PICKED_UP:
            await batch.flush()
            await self._pay(batch)

    async def _hold(self, batch: Batch, observation: Observation, events: tuple[e.TableEvent, ...]) -> None:
        turn = batch.turn
        while True:
            try:
                released = await self._conductor.stakes.hold(turn, new_stakes(turn.state, events))
            except Refused as refused:
                if refused.name != "InsufficientChips":
                    raise
                await self._bring(turn, observation, refused)
                continue
            if released is None:
                return
            await self._conductor.record(turn, (released,))
            batch.state = turn.state

    async def _bring(self, turn: Turn[Any, Any, Any], observation: Observation, refused: Refused) -> None:
        """The chips were seen, so the patron has them: the ledger takes them in from his pocket."""
        session, short = refused.facts["session"], int(refused.facts["shortfall_cents"])
        name = f"{id_of(observation)}/chips/{session.rpartition('/')[2]}/{short}"
        command = wager.BringChips(name, session, short)
        await self._ledgers.bring_chips(turn.key, self._contexts.call(turn, name), command)

    async def _pay(self, batch: Batch) -> None:
        while (play := batch.turn.state.live) is not None and not await self._conductor.paid(batch.turn, play):
            continue
        batch.state = batch.turn.state

    def _call(self, batch: Batch, name: str) -> CommandContext:
        return self._contexts.call(batch.turn, name)


_WAGER = IrregularityKind.WAGER_NOT_ALLOWED
_REFUSED_MONEY = {_K.PICKED_UP: IrregularityKind.PAYMENT_WRONG}


def _after(state: Table, events: tuple[e.TableEvent, ...]) -> Table:
    for event in events:
        state = evolve(state, event)
    return state


def _run_of_cards(state: Table, upcoming: Upcoming) -> list[Observation]:
    run: list[Observation] = []
    for observation in upcoming:
        if observation.reading.kind not in _CARDS or is_on_log(state.devices, observation):
            break
        run.append(observation)
    return run


def _decks(state: Table) -> int:
    return state.rules.decks if state.rules is not None else DECKS_UNKNOWN


def _as(observation: Observation, kind: ReadingKind) -> Reading:
    return replace(observation.reading, kind=kind)
