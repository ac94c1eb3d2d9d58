"""The shoe on the wire: which procedure is answered by which use case, and what the service needs to run.

Owns wiring, and the counters by which ops see cards flow and a shoe that does not add up. They count cards, never ranks.
"""

from collections.abc import Callable, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter

from services.journal.port import Journal
from services.runtime.clock import Clock, GamingCalendar
from services.runtime.dispatch import Dispatcher, UseCase
from services.runtime.entropy import Entropy
from services.runtime.sealing import Sealer
from services.runtime.snapshots import StateSnapshots
from services.runtime.telemetry import Telemetry
from services.shoe import client
from services.shoe import events as e
from services.shoe.service import ShoeService
from services.wire.rpc import Rpc


def use_cases(service: ShoeService) -> Mapping[Rpc[Any, Any], UseCase]:
    """Say which use case answers which procedure."""
    return {
        client.REGISTER_DEVICE: service.register_device,
        client.INSPECT_DEVICE: service.inspect_device,
        client.LOAD_DECKS: service.load_decks,
        client.INSPECT_CARDS: service.inspect_cards,
        client.UNLOAD_DECKS: service.unload_decks,
        client.SHUFFLE_CARDS: service.shuffle_cards,
        client.CUT_CARDS: service.cut_cards,
        client.PLACE_CUT_CARD: service.place_cut_card,
        client.BURN_CARDS: service.burn_cards,
        client.DRAW_CARDS: service.draw_cards,
        client.PEEK_CARD: service.peek_card,
        client.REVEAL_CARD: service.reveal_card,
        client.RESHUFFLE_DISCARDS: service.reshuffle_discards,
        client.RETURN_DISCARDS: service.return_discards,
        client.RACK_CARDS: service.rack_cards,
        client.RETIRE_SHOE: service.retire_shoe,
        client.ABANDON_SHOE: service.abandon_shoe,
        client.START_OBSERVED_SHOE: service.start_observed_shoe,
        client.OBSERVE_CARDS: service.observe_cards,
        client.OBSERVE_CUT_CARD: service.observe_cut_card,
        client.OBSERVE_TURNED_CARD: service.observe_turned_card,
        client.END_OBSERVED_SHOE: service.end_observed_shoe,
        client.GET_SHOE: service.get_shoe,
        client.GET_DRAW: service.get_draw,
        client.PROVE_CARD: service.prove_card,
        client.GET_TRANSCRIPT: service.get_transcript,
    }


def counting(registry: CollectorRegistry) -> Callable[[tuple[e.ShoeEvent, ...]], None]:
    """Make the shoe's counters in this registry and give what counts events with them."""
    cards = Counter("holecard_shoe_cards_total", "Cards that left a shoe.", ("to",), registry=registry)
    shoes = Counter("holecard_shoes_total", "Shoes that began and ended.", ("step",), registry=registry)
    unbalanced = Counter(
        "holecard_shoes_unbalanced_total",
        "Retired shoes with a card too many or too few, or with a broken commitment; anything but 0 is an alarm.",
        registry=registry,
    )

    def count(events: tuple[e.ShoeEvent, ...]) -> None:
        for event in events:
            match event:
                case e.CardDrawn():
                    cards.labels("table").inc()
                case e.CardBurned():
                    cards.labels("rack").inc()
                case e.CardsShuffled():
                    shoes.labels("shuffled").inc()
                case e.DiscardsReshuffled():
                    shoes.labels("discards reshuffled").inc()
                case e.ShoeAbandoned():
                    shoes.labels("abandoned").inc()
                case e.ObservedShoeStarted():
                    shoes.labels("observed").inc()
                case e.ShoeRetired():
                    shoes.labels("retired").inc()
                    unbalanced.inc(bool(event.missing or event.extra or event.broken_roots))
                case _:
                    pass

    return count


def dispatcher(
    journal: Journal,
    sealer: Sealer,
    entropy: Entropy,
    *,
    clock: Clock,
    telemetry: Telemetry,
    calendars: Mapping[str, GamingCalendar] | None = None,
    snapshots: StateSnapshots | None = None,
) -> Dispatcher:
    """Build the service's dispatcher, ready to be hosted."""
    service = ShoeService(journal, sealer, entropy, counting(telemetry.registry), snapshots=snapshots)
    return Dispatcher(
        use_cases(service),
        clock=clock,
        telemetry=telemetry,
        calendars=calendars,
        load=service.load,
        let_go=service.let_go,
    )
