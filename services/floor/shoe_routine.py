"""What a dealer and his supervisor do with the cards: device, inspection, loading, shuffle, cut, burn, and the next shoe.

Each step follows from the phase that the shoe service reports, so that the routine goes on wherever it was stopped.
"""

import random

from services.floor.desk import Desk
from services.game.house_rules import HouseRules
from services.game.rule_options import BurnCardVisible, Shuffle
from services.shoe.client import (
    BurnCards,
    BurnReason,
    CutCards,
    DeviceKind,
    InspectCards,
    InspectDevice,
    LoadDecks,
    PlaceCutCard,
    RegisterDevice,
    RetireReason,
    RetireShoe,
    ShoePhase,
    ShoeStatus,
    ShuffleCards,
    ShuffleReason,
    standard_deck_set,
)
from services.wire.refusal import Refused

_KINDS = {
    Shuffle.HAND: DeviceKind.DEALING_SHOE,
    Shuffle.BATCH: DeviceKind.BATCH_SHUFFLER,
    Shuffle.CONTINUOUS: DeviceKind.CONTINUOUS_SHUFFLER,
}


class ShoeRoutine:
    """Keeps one table in cards."""

    def __init__(self, desk: Desk, rules: HouseRules, chance: random.Random) -> None:
        self._desk = desk
        self._rules = rules
        self._chance = chance

    async def make_ready(self) -> ShoeStatus:
        """Bring the table's shoe to the point where it can deal a round, from wherever it is."""
        while True:
            shoe = await self._desk.clients.shoe.get_shoe(self._desk.table)
            if shoe.phase is ShoePhase.DEALING:
                await self._burn(shoe)
                return shoe
            await self._step(shoe)

    async def end_shoe(self, reason: RetireReason = RetireReason.CUT_CARD_REACHED) -> None:
        """Retire the shoe in play, whose last round is over; its seed is revealed and its cards are counted."""
        shoe = await self._desk.clients.shoe.get_shoe(self._desk.table)
        if shoe.phase in {ShoePhase.DEALING, ShoePhase.LAST_ROUND}:
            command = RetireShoe(shoe.shoe_id, reason)
            await self._desk.clients.shoe.retire_shoe(self._desk.table, self._desk.by_dealer(), command)

    async def _step(self, shoe: ShoeStatus) -> None:
        desk, client, table = self._desk, self._desk.clients.shoe, self._desk.table
        match shoe.phase:
            case ShoePhase.NO_DEVICE:
                kind = _KINDS[self._rules.shuffle]
                device = RegisterDevice(
                    f"shoe-{table.rpartition('/')[2]}", kind, electronic=True, approval="DIV-2026-17"
                )
                await client.register_device(table, desk.by_supervisor(), device)
            case ShoePhase.EMPTY:
                inspection = InspectDevice(shoe.device_id, passed=True, note="undamaged, working")
                await client.inspect_device(table, desk.by_supervisor(), inspection)
                decks = tuple(standard_deck_set(f"deck-{number + 1}") for number in range(self._rules.decks))
                await client.load_decks(table, desk.by_dealer(), LoadDecks(shoe.device_id, decks))
            case ShoePhase.LOADED:
                checked = InspectCards(desk.dealer.id, desk.supervisor.id, ())
                await client.inspect_cards(table, desk.by_supervisor(), checked)
            case ShoePhase.INSPECTED:
                await self._shuffle(shoe)
            case ShoePhase.SHUFFLED:
                least = self._rules.min_cut_cards
                depth = self._chance.randrange(least, shoe.size - least + 1)
                await client.cut_cards(table, desk.by_dealer(), CutCards(shoe.shoe_id, depth, "seat-1"))
            case ShoePhase.CUT:
                behind = shoe.size * (100 - self._rules.penetration_percent) // 100
                await client.place_cut_card(table, desk.by_dealer(), PlaceCutCard(shoe.shoe_id, behind))
            case _:
                await self.end_shoe()

    async def _shuffle(self, shoe: ShoeStatus) -> None:
        desk, client, table = self._desk, self._desk.clients.shoe, self._desk.table
        shuffle = ShuffleCards(
            desk.fresh_id("shuffle"), self._rules.min_cut_cards, self._rules.cut_card_first, ShuffleReason.HOUSE_CHOICE
        )
        try:
            await client.shuffle_cards(table, desk.by_dealer(), shuffle)
        except Refused as refused:
            # A new gaming day began since the device was inspected (30-805).
            if refused.name != "DeviceNotInspected":
                raise
            inspection = InspectDevice(shoe.device_id, passed=True, note="undamaged, working")
            await client.inspect_device(table, desk.by_supervisor(), inspection)
            await client.shuffle_cards(table, desk.by_dealer(), shuffle)

    async def _burn(self, shoe: ShoeStatus) -> None:
        count = self._rules.burn_after_shuffle
        if count and not shoe.continuous and shoe.drawn == 0 and shoe.burned == 0:
            shown = self._rules.burn_card_visible is BurnCardVisible.ALWAYS
            burn = BurnCards(f"{shoe.shoe_id}/burn", "", count, BurnReason.AFTER_SHUFFLE, face_up=shown)
            await self._desk.clients.shoe.burn_cards(self._desk.table, self._desk.by_dealer(), burn)
