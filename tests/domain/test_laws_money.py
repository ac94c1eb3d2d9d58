"""L1, L6 and L9 catch money that moves wrongly, balances that are stated wrongly, and holds that do not end."""

from dataclasses import replace

import pytest

from services.surveillance import laws
from services.surveillance import round_facts as r
from services.surveillance import table_facts as t
from services.surveillance import wager_facts as w
from tests.support.law_logs import at, broken, caught, changed, closed_log, log, moved, repeated, without


def test_l1_h03_cash_200_for_chips_300_is_found() -> None:
    index = at(log(), w.ChipsBought)
    event = log()[index].event
    chips = next(m for m in event.movements if m.currency is w.Currency.CHIPS)
    more = replace(chips, amount_cents=chips.amount_cents + 10_000)
    movements = tuple(more if m is chips else m for m in event.movements)
    mutated = changed(log(), index, chips_cents=event.chips_cents + 10_000, movements=movements)
    caught(mutated, "L1", log()[index], "were bought for")


@pytest.mark.parametrize("kind", [w.LedgerOpened, w.ChipsBought, w.StakesHeld, w.RoundSettled])
def test_l1_a_movement_of_one_cent_more_than_is_said_is_found(kind: type) -> None:
    index = at(log(), kind)
    event = log()[index].event
    first = event.movements[0]
    movements = (replace(first, amount_cents=first.amount_cents + 1), *event.movements[1:])
    caught(changed(log(), index, movements=movements), "L1", log()[index], "the event says")


def test_l1_a_movement_that_is_left_out_is_found() -> None:
    index = at(log(), w.RoundSettled, skip=3)
    caught(changed(log(), index, movements=log()[index].event.movements[1:]), "L1", log()[index], "the event says")


def test_l1_a_movement_to_another_patron_is_found() -> None:
    index = at(log(), w.StakesHeld, lambda e: len(e.holds) > 1)
    event = log()[index].event
    first = event.movements[0]
    movements = (replace(first, source=event.movements[1].source), *event.movements[1:])
    caught(changed(log(), index, movements=movements), "L1", log()[index], "rack/")


def test_l1_negative_and_circular_movements_are_found() -> None:
    index = at(log(), w.StakesHeld)
    event = log()[index].event
    for wrong in (
        replace(event.movements[0], amount_cents=-5),
        replace(event.movements[0], target=event.movements[0].source),
    ):
        mutated = changed(log(), index, movements=(wrong, *event.movements[1:]))
        caught(mutated, "L1", log()[index], "is not a movement")


def test_l1_an_overdrawn_rack_is_found() -> None:
    index = at(log(), w.ChipsBought)
    assert any("overdrawn" in finding.reason for finding in broken(without(log(), index), "L1"))


def test_l1_due_that_is_not_what_was_returned_and_broke_is_found() -> None:
    index = at(log(), w.RoundSettled)
    lines = log()[index].event.lines
    wrong = (replace(lines[0], due=lines[0].due + 1), *lines[1:])
    caught(changed(log(), index, lines=wrong), "L1", log()[index], "cents due are not")


@pytest.mark.parametrize("kind", [w.ChipsBought, w.StakesHeld, w.RoundSettled])
def test_l6_a_balance_that_is_stated_a_cent_off_is_found(kind: type) -> None:
    index = at(log(), kind)
    event = log()[index].event
    if kind is w.ChipsBought:
        mutated = changed(log(), index, rack_cents=event.rack_cents + 1)
    elif kind is w.StakesHeld:
        mutated = changed(log(), index, holds=tuple(replace(h, rack_cents=h.rack_cents + 1) for h in event.holds))
    else:
        mutated = changed(log(), index, racks=tuple(replace(b, rack_cents=b.rack_cents - 1) for b in event.racks))
    caught(mutated, "L6", log()[index], "folding the log gives")
    assert not broken(mutated, "L1")


def test_l9_a_hold_that_never_ends_is_found() -> None:
    settled = at(log(), w.RoundSettled, skip=2)
    event = log()[settled].event
    mutated = changed(log(), settled, lines=event.lines[1:])
    caught(mutated, "L9", log()[settled], f"the hold {event.lines[0].holds[0]} is still open")


def test_l9_a_hold_open_after_its_round_is_found() -> None:
    settled = at(log(), w.RoundSettled, lambda e: e.final, skip=1)
    complete = next(fact for fact in log()[settled:] if isinstance(fact.event, r.RoundCompleted))
    caught(without(log(), settled), "L9", complete, "still open")


def test_l9_a_hold_that_ends_twice_or_was_never_made_is_found() -> None:
    settled = at(log(), w.RoundSettled)
    caught(repeated(log(), settled, settled), "L9", log()[settled], "but it was settled")
    held = at(log(), w.StakesHeld)
    caught(without(log(), held), "L9", log()[settled], "was never made")


def test_l9_a_hold_made_twice_and_a_stake_settled_for_another_sum_are_found() -> None:
    held = at(log(), w.StakesHeld)
    caught(repeated(log(), held, held), "L9", log()[held], "was made before")
    settled = at(log(), w.RoundSettled)
    lines = log()[settled].event.lines
    wrong = (replace(lines[0], stake_cents=lines[0].stake_cents + 100), *lines[1:])
    caught(changed(log(), settled, lines=wrong), "L9", log()[settled], "were held")


def test_l9_a_log_that_ends_with_the_hold_of_a_past_round_is_found() -> None:
    held = at(log(), w.StakesHeld, skip=6)
    cut = [fact for fact in log() if not isinstance(fact.event, w.RoundSettled | r.RoundCompleted)]
    assert any("never ended" in finding.reason for finding in broken(cut, "L9"))
    assert not broken(log()[: held + 1], "L9")


def test_a_log_in_another_order_of_money_is_found() -> None:
    held = at(log(), w.StakesHeld, skip=2)
    assert broken(moved(log(), held, held + 40), "L9") or broken(moved(log(), held, held + 40), "L1")


def test_l6_a_rack_that_the_table_has_otherwise_than_the_ledger_is_found() -> None:
    index = at(log(), t.RackChanged)
    mutated = changed(log(), index, rack_cents=log()[index].event.rack_cents + 1)
    caught(mutated, "L6", log()[index], "the table notes")


@pytest.mark.parametrize("field", ["win_cents", "handle_cents"])
def test_l6_a_closing_that_states_another_win_or_handle_is_found(field: str) -> None:
    closed = closed_log()
    index = at(closed, w.LedgerClosed)
    assert not laws.check(closed)
    mutated = changed(closed, index, **{field: getattr(closed[index].event, field) + 1})
    caught(mutated, "L6", closed[index], f"of {field.removesuffix('_cents')}")


def test_l1_l9_a_closing_that_leaves_chips_or_holds_behind_is_found() -> None:
    closed = closed_log()
    index = at(closed, w.LedgerClosed)
    event = closed[index].event
    caught(changed(closed, index, movements=event.movements[1:]), "L1", closed[index], "the event says")
    settled = at(closed, w.RoundSettled, lambda e: e.final, skip=-1)
    after = [fact for fact in closed[settled:] if isinstance(fact.event, r.RoundCompleted)]
    early = (*closed[:settled], *(fact for fact in closed[settled + 1 :] if fact not in after))
    caught(early, "L9", closed[index], "the ledger is closed")
