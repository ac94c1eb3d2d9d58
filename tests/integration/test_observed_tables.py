"""Observed tables: devices tell what happened, the same round folds it, and what broke the rules is on record (30-828)."""

import asyncio
import random
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from services.floor.physical_table import CONSOLE, SHOE, TRAY, PhysicalTable, Said
from services.game.authority import Actor, Role
from services.game.cards import Card
from services.game.rules import parse_rules
from services.house import House
from services.shoe import client as shoe
from services.table import client as tables
from services.table.client import IrregularityKind as Irregular
from services.table.client import ReadingKind, TablePhase
from services.table.events import TableResumed
from services.table.observation_events import IrregularityFound
from services.wire.refusal import Refused
from tests.support.audit import facts_of, rounds_of, wrong
from tests.support.devices import events_at
from tests.support.gateway_here import house_settings
from tests.support.observed_table import RULES, K, ObservedTable
from tests.support.seeds import seeded

WRITERS = ("shoe", "table", "wager")


@asynccontextmanager
async def observed(folder: Path, rules: str = RULES) -> AsyncIterator[ObservedTable]:
    async with House(house_settings(folder), WRITERS) as house:
        table = ObservedTable(house, folder)
        await table.open(rules)
        yield table


async def test_honest_rounds_are_folded_to_the_cent_and_every_law_holds(tmp_path: Path) -> None:
    chance = seeded("tests/integration/test_observed_tables.py -k honest_rounds")
    async with observed(tmp_path) as table:
        physical = PhysicalTable(parse_rules(RULES), random.Random(chance.random()), seats=4)
        for number in range(1, 31):
            played = physical.play()
            await table.see(*played.said)
            assert await table.irregularities() == []
            view = await table.view()
            assert view.phase is TablePhase.IDLE
            assert view.round is not None
            assert view.round.round_id.endswith(f"#{number}")
            assert view.round.returned_cents == sum(played.returned_cents.values())
    assert wrong(table.journal) == []
    opened, ended = rounds_of(facts_of(table.journal))
    assert len(opened) == len(ended) == 30


# Each way to break the rules --------------------------------------------------------------------------------------------

ONE_DECK = RULES.replace("decks = 6", "decks = 1")


async def only(table: ObservedTable, kind: Irregular) -> IrregularityFound:
    """The one irregularity there is; play has stopped for it, and nothing else is wrong with the log."""
    (found,) = await table.irregularities()
    assert found.kind is kind
    view = await table.view()
    assert view.suspended
    assert kind.value in view.suspension_reason
    return found


async def rule(table: ObservedTable, kind: ReadingKind = K.PLAY_RESUMED) -> None:
    """A supervisor at the table rules."""
    await table.say("terminal", kind, person="P-9", note="looked at it together")
    assert not (await table.view()).suspended


async def finish(table: ObservedTable, returned: dict[int, int]) -> None:
    """Pay and pick up; the ledger has the same sums, and every law holds."""
    for seat, cents in returned.items():
        await table.say(TRAY, K.PAYMENT_SEEN, seat=seat, amount_cents=cents)
    await table.say(CONSOLE, K.PICKED_UP)
    view = await table.view()
    assert (view.phase, view.suspended) == (TablePhase.IDLE, False)
    assert view.round is not None
    assert view.round.returned_cents == sum(returned.values())
    assert wrong(table.journal) == []


async def test_a_card_that_is_not_due_is_set_aside_and_play_goes_on_after_the_ruling(tmp_path: Path) -> None:
    async with observed(tmp_path) as table:
        await table.say(SHOE, K.SHOE_STARTED, decks=6)
        await table.start_round({1: 1_000})
        await table.deal("Th", "9s", "Tc", "", "5d")
        found = await only(table, Irregular.CARD_OUT_OF_TURN)
        assert (found.position, str(found.card), found.round_id) == (5, "5d", f"{table.key}#1")
        await rule(table)
        await table.say(CONSOLE, K.STAND_SIGNALLED, seat=1)
        await table.say(SHOE, K.CARD_TURNED, card=Card.parse("8d"))
        await table.say(CONSOLE, K.DEALER_DONE)
        await finish(table, {1: 2_000})


async def test_a_fifth_ace_of_a_one_deck_shoe_is_dealt_and_flagged(tmp_path: Path) -> None:
    async with observed(tmp_path, ONE_DECK) as table:
        await table.say(SHOE, K.SHOE_STARTED, decks=1)
        await table.start_round({1: 1_000})
        await table.deal("As", "9s", "As")
        found = await only(table, Irregular.CARD_IMPOSSIBLE)
        assert (found.position, str(found.card)) == (3, "As")
        await rule(table, K.ROUND_VOIDED)
        await finish(table, {1: 1_000})


async def test_a_hole_card_that_lies_open_cannot_be_played_with(tmp_path: Path) -> None:
    async with observed(tmp_path) as table:
        await table.start_round({2: 1_000})
        await table.deal("Th", "9s", "Tc", "4h")
        found = await only(table, Irregular.CARD_FACE_WRONG)
        assert (found.broken, found.position) == ("CardMustStayHidden", 4)
        await rule(table, K.ROUND_VOIDED)
        await finish(table, {2: 1_000})


async def test_a_bet_after_the_close_counts_for_nothing(tmp_path: Path) -> None:
    async with observed(tmp_path) as table:
        await table.start_round({1: 1_000, 3: 2_000})
        await table.say(TRAY, K.BET_SEEN, seat=3, amount_cents=2_000)
        assert await table.irregularities() == []
        await table.say(TRAY, K.BET_SEEN, seat=3, amount_cents=5_000)
        found = await only(table, Irregular.BET_AFTER_CLOSE)
        assert (found.seat, found.amount_cents, found.due_cents) == (3, 5_000, 2_000)
        await rule(table)
        await table.deal("Th", "8s", "9s", "Tc", "9c", "")
        for seat in (1, 3):
            await table.say(CONSOLE, K.STAND_SIGNALLED, seat=seat)
        await table.say(SHOE, K.CARD_TURNED, card=Card.parse("8d"))
        await finish(table, {1: 2_000, 3: 2_000})


async def test_wagers_that_are_not_allowed_stay_out_of_the_round(tmp_path: Path) -> None:
    async with observed(tmp_path) as table:
        await table.start_round({1: 1_000, 2: 7, 4: 9_999_999_900})
        found = await table.irregularities()
        assert [(one.kind, one.broken) for one in found] == [
            (Irregular.WAGER_NOT_ALLOWED, "StakeBelowMinimum"),
            (Irregular.WAGER_NOT_ALLOWED, "StakeAboveMaximum"),
        ]
        await rule(table)
        await table.deal("Th", "9s", "Tc", "")
        await table.say(CONSOLE, K.STAND_SIGNALLED, seat=1)
        await table.say(SHOE, K.CARD_TURNED, card=Card.parse("8d"))
        await finish(table, {1: 2_000})


async def test_signals_that_break_the_rules_change_no_hand(tmp_path: Path) -> None:
    async with observed(tmp_path) as table:
        await table.start_round({1: 1_000, 2: 1_000})
        await table.deal("Th", "Ts", "9s", "Tc", "9c", "")
        for kind, seat, broken in (
            (K.STAND_SIGNALLED, 2, "NotYourTurn"),
            (K.SPLIT_SIGNALLED, 5, "UnknownHand"),
            (K.INSURANCE_SEEN, 1, "NoAceUp"),
        ):
            await table.say(CONSOLE, kind, seat=seat)
            found = (await table.irregularities())[-1]
            assert (found.kind, found.broken, found.seat) == (Irregular.ACTION_NOT_ALLOWED, broken, seat)
            await rule(table)
        for seat in (1, 2):
            await table.say(CONSOLE, K.STAND_SIGNALLED, seat=seat)
        await table.say(SHOE, K.CARD_TURNED, card=Card.parse("8d"))
        await finish(table, {1: 2_000, 2: 2_000})


async def test_a_payment_that_does_not_fit_names_what_is_due(tmp_path: Path) -> None:
    async with observed(tmp_path) as table:
        await table.start_round({1: 1_000})
        await table.deal("As", "9s", "Kc", "")
        await table.say(TRAY, K.PAYMENT_SEEN, seat=1, amount_cents=2_000)
        found = await only(table, Irregular.PAYMENT_WRONG)
        assert (found.seat, found.amount_cents, found.due_cents) == (1, 2_000, 2_500)
        await rule(table)
        await table.say(SHOE, K.CARD_TURNED, card=Card.parse("8d"))
        await finish(table, {1: 2_500})


async def test_a_hand_that_the_dealer_ends_early_waits_for_its_card(tmp_path: Path) -> None:
    async with observed(tmp_path) as table:
        await table.start_round({1: 1_000})
        await table.deal("Th", "6s", "Tc", "")
        await table.say(CONSOLE, K.STAND_SIGNALLED, seat=1)
        await table.say(SHOE, K.CARD_TURNED, card=Card.parse("8d"))
        await table.say(CONSOLE, K.DEALER_DONE)
        await only(table, Irregular.DEALER_ENDED_EARLY)
        await rule(table)
        await table.deal("3h")
        await finish(table, {1: 2_000})


async def test_a_hole_card_that_contradicts_its_check_stops_the_round(tmp_path: Path) -> None:
    async with observed(tmp_path) as table:
        await table.start_round({1: 1_000})
        await table.deal("Th", "As", "Tc", "")
        await table.say(CONSOLE, K.INSURANCE_CLOSED)
        await table.say(CONSOLE, K.HOLE_CHECKED, makes_blackjack=False)
        await table.say(CONSOLE, K.STAND_SIGNALLED, seat=1)
        await table.say(SHOE, K.CARD_TURNED, card=Card.parse("Kd"))
        assert (await only(table, Irregular.HOLE_CHECK_WRONG)).broken == "HoleContradictsCheck"
        await rule(table, K.ROUND_VOIDED)
        await finish(table, {1: 1_000})


async def test_a_round_that_begins_before_the_last_is_over_is_not_mixed_with_it(tmp_path: Path) -> None:
    async with observed(tmp_path) as table:
        await table.start_round({1: 1_000})
        await table.deal("Th", "9s", "Tc", "")
        await table.say(CONSOLE, K.ROUND_STARTED)
        await only(table, Irregular.ROUND_OUT_OF_ORDER)
        await table.deal("2h")
        await table.say(CONSOLE, K.HIT_SIGNALLED, seat=1)
        kinds = [one.kind for one in await table.irregularities()]
        assert kinds == [Irregular.ROUND_OUT_OF_ORDER, Irregular.PLAYED_WHILE_SUSPENDED]
        await rule(table, K.ROUND_VOIDED)
        # Nobody presses "picked up": the next round does it.
        await table.start_round({1: 1_000})
        view = await table.view()
        assert view.round is not None
        assert view.round.round_id == f"{table.key}#2"
        await table.deal("Th", "9s", "Tc", "")
        await table.say(CONSOLE, K.STAND_SIGNALLED, seat=1)
        await table.say(SHOE, K.CARD_TURNED, card=Card.parse("8d"))
        await finish(table, {1: 2_000})


async def test_a_shoe_that_changes_within_a_round_and_a_round_after_the_cutting_card(tmp_path: Path) -> None:
    async with observed(tmp_path) as table:
        await table.start_round({1: 1_000})
        await table.deal("Th", "9s")
        await table.say(SHOE, K.SHOE_STARTED, decks=6)
        await only(table, Irregular.SHOE_OUT_OF_ORDER)
        await rule(table, K.ROUND_VOIDED)
        await finish(table, {1: 1_000})
        await table.say(SHOE, K.CUT_CARD_SEEN)
        await table.say(CONSOLE, K.ROUND_STARTED)
        assert (await table.irregularities())[-1].kind is Irregular.ROUND_OUT_OF_ORDER
        await rule(table, K.ROUND_VOIDED)
        await finish(table, {})


async def test_a_tray_that_differs_is_said_and_does_not_stop_play(tmp_path: Path) -> None:
    async with observed(tmp_path) as table:
        await table.say(TRAY, K.TRAY_COUNTED, amount_cents=10_000_000)
        assert await table.irregularities() == []
        for _ in range(2):
            await table.say(TRAY, K.TRAY_COUNTED, amount_cents=9_990_000)
        (found,) = await table.irregularities()
        assert (found.kind, found.due_cents) == (Irregular.TRAY_DIFFERS, 10_000_000)
        assert not (await table.view()).suspended
    assert wrong(table.journal) == []


async def test_seats_taken_by_two_and_left_by_one(tmp_path: Path) -> None:
    async with observed(tmp_path) as table:
        await table.say(CONSOLE, K.SEAT_TAKEN, seat=2, person="p-77")
        await table.say(CONSOLE, K.SEAT_TAKEN, seat=2, person="p-78")
        assert (await only(table, Irregular.SEAT_WRONG)).broken == "SeatTaken"
        await rule(table)
        await table.start_round({2: 1_000})
        await table.deal("Th", "9s", "Tc", "")
        await table.say(CONSOLE, K.STAND_SIGNALLED, seat=2)
        await table.say(SHOE, K.CARD_TURNED, card=Card.parse("8d"))
        await table.say(CONSOLE, K.SEAT_LEFT, seat=2)
        await finish(table, {2: 2_000})
        assert (await table.view()).seats == ()
    assert wrong(table.journal) == []


async def test_a_seat_that_was_left_can_be_taken_at_once(tmp_path: Path) -> None:
    async with observed(tmp_path) as table:
        await table.say(CONSOLE, K.SEAT_TAKEN, seat=2, person="p-77")
        await table.see(
            Said(CONSOLE, K.SEAT_LEFT, {"seat": 2}),
            Said(CONSOLE, K.SEAT_TAKEN, {"seat": 2, "person": "p-78"}),
            Said(CONSOLE, K.SEAT_LEFT, {"seat": 2}),
            Said(TRAY, K.BET_SEEN, {"seat": 2, "amount_cents": 1_000}),
            Said(CONSOLE, K.ROUND_STARTED),
            Said(CONSOLE, K.BETTING_CLOSED),
        )
        assert await table.irregularities() == []
        (seat,) = (await table.view()).seats
        assert (seat.seat, seat.patron) == (2, "guest-2-3")


async def test_only_a_supervisor_lets_play_go_on_and_his_name_is_on_the_ruling(tmp_path: Path) -> None:
    async with observed(tmp_path) as table:
        await table.say(CONSOLE, K.SUPERVISOR_CALLED, note="a patron complains")
        assert (await table.view()).suspended
        await rule(table)
        ((envelope, resumed),) = [
            (envelope, event) for envelope, event in await events_at(table.journal) if isinstance(event, TableResumed)
        ]
        assert (envelope.actor, resumed.remedy) == (Actor(Role.SUPERVISOR, "P-9"), "looked at it together")
        # The same by the house's own command, from the pit's office.
        await table.say(CONSOLE, K.SUPERVISOR_CALLED, note="again")
        await table.tables.resume(table.key, table.by(), tables.Resume("30-828(1)", "played on"))
        assert not (await table.view()).suspended
    assert wrong(table.journal) == []


async def test_commands_that_conduct_a_round_are_refused_at_an_observed_table(tmp_path: Path) -> None:
    async with observed(tmp_path) as table:
        await table.start_round({1: 1_000})
        with pytest.raises(Refused, match="TableIsObserved"):
            await table.tables.close_betting(table.key, table.by(), f"{table.key}#1")
        with pytest.raises(Refused, match="ObservedShoeInPlay"):
            await table.shoes.burn_cards(
                table.key, table.by(), shoe.BurnCards("b", "", 1, shoe.BurnReason.SUPERVISOR_ORDER, face_up=False)
            )
        status = await table.shoes.get_shoe(table.key)
        assert (status.observed, status.root) == (True, b"")


async def test_an_observed_round_is_replayed_in_words_with_what_each_device_saw(tmp_path: Path) -> None:
    async with observed(tmp_path) as table:
        await table.start_round({1: 1_000})
        await table.deal("Th", "9s", "Tc", "", "5d")
        await rule(table)
        await table.say(CONSOLE, K.STAND_SIGNALLED, seat=1)
        await table.say(SHOE, K.CARD_TURNED, card=Card.parse("8d"))
        await finish(table, {1: 2_000})
    asked = [sys.executable, "-m", "services", "replay", f"{table.key}#1", "--data", str(tmp_path), "--json"]
    said = await asyncio.to_thread(subprocess.run, asked, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    for words in ("shoe-7 saw: card drawn Th", "card drawn face down", "5d is set aside", "irregularity 1"):
        assert words in said.stdout
