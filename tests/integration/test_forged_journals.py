"""Somebody rewrites a journal so that every hash and chain fits: the laws still name what he did, by `holecard verify`."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from services.cli.verify import verify
from services.surveillance import round_facts as r
from services.surveillance import shoe_facts as s
from services.surveillance import shoe_opening as opening
from services.surveillance import table_facts as t
from services.surveillance import wager_facts as w
from services.surveillance.round_facts import Outcome, Recipient
from tests.support.forging import Forger
from tests.support.law_logs import recorded

Forge = Callable[[Forger], None]
ROUNDS = 8


def first(forger: Forger, kind: type, fits: Callable[[Any], bool] = lambda _: True, *, after: int = -1) -> int:
    return next(
        i for i, fact in enumerate(forger.facts) if i > after and isinstance(fact.event, kind) and fits(fact.event)
    )


def nothing(_: Forger) -> None:
    """A journal that was only copied."""


def a_loss_paid_as_a_win(forger: Forger) -> None:
    """Table, ledger, movements, racks and the round's sum all tell the same lie."""
    lost = first(
        forger, r.WagersSettled, lambda e: any(x.outcome is Outcome.LOSE and x.kind == "main" for x in e.lines)
    )
    settled: Any = forger.facts[lost].event
    number = next(i for i, x in enumerate(settled.lines) if x.outcome is Outcome.LOSE and x.kind == "main")
    line = settled.lines[number]
    stake = line.stake_cents

    def at_the_table(message: Any) -> None:
        told = message.lines[number]
        told.outcome = (
            type(message.lines[number])
            .DESCRIPTOR.fields_by_name["outcome"]
            .enum_type.values_by_name["OUTCOME_WIN"]
            .number
        )
        told.due.numerator, told.due.denominator, told.returned_cents = 2 * stake, 1, 2 * stake

    def in_the_ledger(message: Any) -> None:
        told = next(x for x in message.lines if x.seat == line.seat and x.kind == "main")
        told.outcome, told.returned_cents = "win", 2 * stake
        told.due.numerator, told.due.denominator = 2 * stake, 1
        rack = f"rack/{told.session}"
        gone = next(
            m
            for m in message.movements
            if m.amount_cents == stake and m.source.startswith("escrow/") and m.target == "tray"
        )
        gone.target = rack
        paid = message.movements.add()
        paid.CopyFrom(gone)
        paid.source, paid.target = "tray", rack
        next(x for x in message.racks if x.session == told.session).rack_cents += 2 * stake

    forger.change(lost, at_the_table)
    forger.change(first(forger, w.RoundSettled, lambda e: e.final, after=lost - 3), in_the_ledger)
    forger.change(
        first(forger, r.RoundCompleted, after=lost),
        lambda m: setattr(m, "returned_cents", m.returned_cents + 2 * stake),
    )


def another_card(forger: Forger) -> None:
    """Shoe and table agree on a card that never lay there, with a leaf to match."""
    drawn = first(forger, s.CardDrawn, lambda e: not e.face_down)
    event: Any = forger.facts[drawn].event
    depth = next(f.event.depth for f in forger.facts if isinstance(f.event, s.CardsCut))
    size = 52 * event.decks
    false = opening.FACTORY_ORDER[(opening.FACTORY_ORDER.index(event.card) + 1) % 52]
    leaf = opening.leaf(opening.place_before_cut(event.position, size, depth), false, event.salt)

    def at_the_shoe(message: Any) -> None:
        message.card, message.leaf = str(false), leaf

    forger.change(drawn, at_the_shoe)
    dealt = first(forger, r.CardDealt, lambda e: e.position == event.position)
    forger.change(dealt, lambda message: setattr(message, "card", str(false)))


def a_dealer_who_stands_short(forger: Forger) -> None:
    """The dealer's last card was never dealt."""
    for index, fact in reversed(list(enumerate(forger.facts))):
        if isinstance(fact.event, r.CardDealt) and fact.event.to is Recipient.DEALER:
            row = [
                f
                for f in forger.facts
                if isinstance(f.event, r.CardDealt)
                and f.event.to is Recipient.DEALER
                and f.envelope.round_id == fact.envelope.round_id
            ]
            if len(row) > 2:
                forger.drop(index)
                return
    raise AssertionError("no dealer drew")


def a_round_settled_twice(forger: Forger) -> None:
    settled = first(forger, w.RoundSettled, lambda e: e.final)
    forger.repeat(settled, settled, "once-more")


def a_wager_after_the_close(forger: Forger) -> None:
    wager = first(forger, r.WagerPlaced)
    forger.repeat(wager, first(forger, r.BettingClosed, after=wager), "past-post")


def a_hole_card_shown(forger: Forger) -> None:
    hidden = first(forger, r.CardDealt, lambda e: e.face_down)
    position = forger.facts[hidden].event.position
    shown = first(forger, s.CardRevealed, lambda e: e.position == position, after=hidden)
    card = str(forger.facts[shown].event.card)
    forger.change(hidden, lambda message: setattr(message, "card", card))


def a_round_that_is_not_the_first_of_its_shoe(forger: Forger) -> None:
    forger.change(first(forger, r.RoundOpened), lambda m: setattr(m, "first_of_shoe", False))


def a_player_who_is_said_to_have_played(forger: Forger) -> None:
    """So that he might have joined in the middle of a shoe."""
    forger.change(first(forger, r.RoundOpened), lambda m: setattr(m.seats[0], "sat_out", False))


def a_cutting_card_further_back(forger: Forger) -> None:
    forger.change(first(forger, s.CutCardPlaced), lambda m: setattr(m, "cards_behind", 20))


def a_burn_that_was_a_supervisors_order(forger: Forger) -> None:
    forger.change(first(forger, s.CardBurned), lambda m: setattr(m, "reason", m.reason + 2))


def a_shoe_that_ends_by_another_rule(forger: Forger) -> None:
    forger.change(first(forger, s.CardsShuffled), lambda m: setattr(m, "cut_card_first", 3 - m.cut_card_first))


def a_fill_that_was_the_opening(forger: Forger) -> None:
    forger.change(first(forger, w.LedgerOpened), lambda m: setattr(m.movements[0], "reason", 13))


def a_stake_booked_under_another_hold(forger: Forger) -> None:
    """Two movements change their references: every sum stays as it was."""

    def swapped(message: Any) -> None:
        one, other = message.movements[0], message.movements[1]
        one.reference, other.reference = other.reference, one.reference

    fits = first(forger, w.StakesHeld, lambda e: len(e.holds) > 1 and e.holds[0].session != e.holds[1].session)
    forger.change(fits, swapped)


def a_settlement_that_is_not_final(forger: Forger) -> None:
    forger.change(first(forger, w.RoundSettled), lambda m: setattr(m, "final", False))


def a_rack_for_somebody_else(forger: Forger) -> None:
    forger.change(first(forger, t.RackOpened), lambda m: setattr(m, "session", f"{m.session}0"))


def a_draw_said_to_be_the_last_rounds(forger: Forger) -> None:
    forger.change(first(forger, s.CardDrawn), lambda m: setattr(m, "last_round", True))


FORGERIES: tuple[tuple[Forge, str], ...] = (
    (a_loss_paid_as_a_win, "L7"),
    (another_card, "L2"),
    (a_dealer_who_stands_short, "L10"),
    (a_round_settled_twice, "L7"),
    (a_wager_after_the_close, "L8"),
    (a_hole_card_shown, "L12"),
    (a_round_that_is_not_the_first_of_its_shoe, "L10"),
    (a_player_who_is_said_to_have_played, "L10"),
    (a_cutting_card_further_back, "L10"),
    (a_burn_that_was_a_supervisors_order, "L10"),
    (a_shoe_that_ends_by_another_rule, "L10"),
    (a_fill_that_was_the_opening, "L1"),
    (a_stake_booked_under_another_hold, "L1"),
    (a_settlement_that_is_not_final, "L7"),
    (a_rack_for_somebody_else, "L6"),
    (a_draw_said_to_be_the_last_rounds, "L2"),
)


async def verified(forge: Forge, path: Path) -> tuple[int, list[dict[str, Any]]]:
    forger = Forger(recorded("forged", ROUNDS))
    forge(forger)
    await forger.write(path)
    result = await asyncio.to_thread(CliRunner().invoke, verify, ["--journal", str(path), "--json"])
    return result.exit_code, json.loads(result.stdout)["findings"]


async def test_a_journal_that_was_only_copied_is_sound(tmp_path: Path) -> None:
    assert await verified(nothing, tmp_path / "journal.db") == (0, [])


@pytest.mark.parametrize(("forge", "law"), FORGERIES, ids=[forge.__name__ for forge, _ in FORGERIES])
async def test_what_a_forger_changed_is_named_by_its_law(tmp_path: Path, forge: Forge, law: str) -> None:
    status, findings = await verified(forge, tmp_path / "journal.db")
    assert status == 1
    kinds = {finding["kind"] for finding in findings}
    # The chains are in order: only the laws can tell.
    assert all(kind.startswith("L") for kind in kinds), findings
    assert law in kinds, findings


@pytest.mark.parametrize("here", [("wager",), ("shoe",), ("table",), ("table", "wager"), ("shoe", "wager")])
async def test_one_journal_of_a_split_house_says_what_it_cannot_tell_once_for_each_stream(
    tmp_path: Path, here: tuple[str, ...]
) -> None:
    forger = Forger(recorded("forged", ROUNDS))
    for index, fact in enumerate(forger.facts):
        if fact.area not in here:
            forger.drop(index)
    path = tmp_path / "journal.db"
    await forger.write(path, causes_move=False)
    result = await asyncio.to_thread(CliRunner().invoke, verify, ["--journal", str(path), "--json"])
    findings = json.loads(result.stdout)["findings"]
    away = sorted({"shoe", "table", "wager"} - set(here))
    named = {finding["stream"].partition(":")[0] for finding in findings}
    assert named
    assert named <= set(away)
    assert {finding["kind"] for finding in findings} == {"L11"}
    assert all("another journal of a split house" in finding["reason"] for finding in findings)
    assert result.exit_code == 1


async def test_one_journal_of_a_split_house_is_held_to_what_it_says_by_itself(tmp_path: Path) -> None:
    forger = Forger(recorded("forged", ROUNDS))
    a_fill_that_was_the_opening(forger)
    for index, fact in enumerate(forger.facts):
        if fact.area != "wager":
            forger.drop(index)
    path = tmp_path / "journal.db"
    await forger.write(path, causes_move=False)
    result = await asyncio.to_thread(CliRunner().invoke, verify, ["--journal", str(path), "--json"])
    assert "L1" in {finding["kind"] for finding in json.loads(result.stdout)["findings"]}
