"""The shoe on the wire: which procedure is answered by which use case, and what the service needs to run.

Owns wiring only.
"""

from collections.abc import Mapping
from typing import Any

from services.journal.port import Journal
from services.runtime.clock import Clock, GamingCalendar
from services.runtime.dispatch import Dispatcher, UseCase
from services.runtime.entropy import Entropy
from services.runtime.sealing import Sealer
from services.runtime.telemetry import Telemetry
from services.shoe import client
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
        client.RETIRE_SHOE: service.retire_shoe,
        client.GET_SHOE: service.get_shoe,
        client.PROVE_CARD: service.prove_card,
        client.GET_TRANSCRIPT: service.get_transcript,
    }


def dispatcher(
    journal: Journal,
    sealer: Sealer,
    entropy: Entropy,
    *,
    clock: Clock,
    telemetry: Telemetry,
    calendars: Mapping[str, GamingCalendar] | None = None,
) -> Dispatcher:
    """Build the service's dispatcher, ready to be hosted."""
    service = ShoeService(journal, sealer, entropy)
    return Dispatcher(use_cases(service), clock=clock, telemetry=telemetry, calendars=calendars)
