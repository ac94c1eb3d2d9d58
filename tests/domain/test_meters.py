"""What a stream adds to its table's meters: given events, when they are folded, then these figures."""

import random
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import pytest

from services.game.authority import Actor, Role
from services.game.quick import replace
from services.game.rule_options import Rounding
from services.surveillance import round_facts as r
from services.surveillance import table_facts as t
from services.surveillance import wager_facts as w
from services.surveillance.facts import Fact
from services.surveillance.meters import HOUR_US, NAMES, Figures, Meters, evolve, fold
from services.surveillance.stuck import LIMITS_US, OpenRound, stuck_rounds
from tests.support.law_logs import closed_log, log

SECOND_US = 1_000_000
DAY = "2026-11-30"


def fact(event: Any, *, at: int = 0, area: str = "table", round_id: str = "", day: str = DAY) -> Fact:
    """An event of a table's stream, recorded at this second."""
    template = log()[0]
    envelope = replace(
        template.envelope, stream=f"{area}:black-hawk/BJ-07", type=f"holecard.{area}.v1.{type(event).__name__}",
        recorded_time_us=at * SECOND_US, round_id=round_id, gaming_day=day, actor=Actor(Role.DEALER, "D-1"),
    )  # fmt: skip
    return replace(template, envelope=envelope, area=area, key="black-hawk/BJ-07", event=event, unreadable="")


def folded(*facts: Fact) -> Meters:
    meters = Meters()
    for number, one in enumerate(facts, 1):
        meters = evolve(meters, replace(one, envelope=replace(one.envelope, sequence=number)))
    return meters


def opened(number: int, at: int, *, seats: Iterable[int] = (1, 2), sat_out: bool = False) -> Fact:
    seated = tuple(r.SeatedPlayer(seat, f"P-{seat}", sat_out) for seat in seats)
    name = f"black-hawk/BJ-07#{number}"
    return fact(r.RoundOpened(name, "colorado", 1, "d", seated, first_of_shoe=False), at=at, round_id=name)


def completed(number: int, at: int, day: str = DAY) -> Fact:
    return fact(r.RoundCompleted(2_000, 1_000), at=at, round_id=f"black-hawk/BJ-07#{number}", day=day)


def dealer(name: str, at: int = 0) -> Fact:
    return fact(t.DealerChanged(1, name, "", 0), at=at)


def settled(*lines: tuple[int, int]) -> w.RoundSettled:
    return w.RoundSettled(
        "s", "r", 1, final=True, rounding=Rounding.EXACT, chip_cents=100, racks=(), movements=(),
        lines=tuple(
            w.SettledLine("s1", 1, 0, "main", ("h",), "win", "tie", stake, Fraction(returned), returned, 0, Fraction(0))
            for stake, returned in lines
        ),
    )  # fmt: skip


# Money -----------------------------------------------------------------------------------------------------------------


def test_handle_is_all_stakes_and_win_is_what_stays() -> None:
    meters = folded(fact(settled((1_000, 2_500), (500, 0), (700, 700)), area="wager"))
    assert meters.figures == {(DAY, ""): Figures(handle_cents=2_200, win_cents=-1_000)}


def test_drop_is_cash_into_the_box_and_hold_is_win_per_drop() -> None:
    cash = w.Movement("outside", "drop", w.Currency.CASH, 20_000, w.Reason.CASH_DROPPED, "b")
    chips = w.Movement("tray", "rack/s1", w.Currency.CHIPS, 20_000, w.Reason.CHIPS_SOLD, "b")
    bought = fact(w.ChipsBought("b", "s1", (), 20_000, 20_000, (cash, chips)), area="wager")
    figures = folded(bought, fact(settled((10_000, 5_000)), area="wager")).figures[DAY, ""]
    assert figures.drop_cents == 20_000
    assert figures.hold == Fraction(1, 4)
    assert figures.win_per_handle == Fraction(1, 2)
    assert (Figures().hold, Figures().win_per_handle, Figures().rounds_per_hour) == (None, None, 0)


@pytest.mark.parametrize(("direction", "win"), [(w.Direction.PAY, -300), (w.Direction.COLLECT, 300)])
def test_a_corrected_payment_changes_the_win_and_is_an_irregularity(direction: w.Direction, win: int) -> None:
    corrected = w.PaymentCorrected("c", "s", "r", "h", "s1", direction, 300, "", "S-1", 0, ())
    assert folded(fact(corrected, area="wager")).figures == {(DAY, ""): Figures(win_cents=win, irregularities=1)}


def test_each_event_counts_on_its_own_gaming_day() -> None:
    one, other = fact(settled((100, 0)), area="wager"), fact(settled((50, 0)), area="wager", day="2026-12-01")
    figures = folded(one, other).figures
    assert [figures[day, ""].win_cents for day in (DAY, "2026-12-01")] == [100, 50]


# Pace ------------------------------------------------------------------------------------------------------------------


def test_rounds_an_hour_count_the_time_of_dealing_with_the_pauses_between_rounds() -> None:
    facts = [dealer("D-1")]
    for number in range(1, 11):
        facts += [opened(number, at=number * 60), completed(number, at=number * 60 + 40)]
    figures = folded(*facts).figures[DAY, "D-1"]
    assert figures.rounds == 10
    assert figures.dealing_us == (10 * 40 + 9 * 20) * SECOND_US
    assert figures.rounds_per_hour == 10 * HOUR_US // figures.dealing_us == 62


def test_a_table_that_stood_slows_nobody_and_a_clock_set_back_counts_nothing() -> None:
    stood = folded(dealer("D-1"), opened(1, 0), completed(1, 30), opened(2, 3_000), completed(2, 3_030))
    assert stood.figures[DAY, "D-1"].dealing_us == 60 * SECOND_US
    back = folded(dealer("D-1"), opened(1, 100), completed(1, 130), opened(2, 90), completed(2, 80))
    assert back.figures[DAY, "D-1"].dealing_us == 30 * SECOND_US


def test_a_round_counts_for_the_dealer_who_ended_it() -> None:
    figures = folded(dealer("D-1"), opened(1, 0), completed(1, 30), dealer("D-2", 31), opened(2, 40), completed(2, 60))
    assert {who: one.rounds for (_, who), one in figures.figures.items()} == {"D-1": 1, "D-2": 1}


def test_hands_are_the_seats_dealt_to_and_the_splits() -> None:
    split = r.HandSplit(1, 0, 1, "split", 1, 500, r.DecidedBy.PLAYER)
    meters = folded(opened(1, 0), fact(r.BettingClosed((1, 2, 4))), fact(split), completed(1, 30))
    assert meters.figures[DAY, ""].hands == 4
    assert folded(opened(1, 0), completed(1, 5)).figures[DAY, ""].hands == 0


def test_what_goes_wrong_is_counted() -> None:
    meters = folded(
        fact(t.TableSuspended("a card fell")),
        fact(t.TableResumed("30-828(1)", "the card was burned")),
        fact(r.HandVoided(1, 0, "S-1", "exposed")),
        fact(r.RoundVoided("S-1", "misdeal")),
        fact(t.DecisionTimedOut("r", 1)),
        fact(t.StakesReleased("r", ("h1", "h2"), "no wager")),
    )
    assert meters.figures == {(DAY, ""): Figures(irregularities=3, timeouts=1, releases=2)}


def test_an_event_that_cannot_be_read_counts_nothing_and_stops_nothing() -> None:
    unreadable = replace(opened(1, 0), event=None, unreadable="garbage")
    meters = folded(unreadable, opened(2, 10), completed(2, 20))
    assert meters.stream.sequence == 3
    assert meters.figures[DAY, ""].rounds == 1


# The whole log ---------------------------------------------------------------------------------------------------------


def test_the_meters_of_a_closed_table_are_those_that_its_ledger_says() -> None:
    """L6: the ledger's own statement at closing, made by other code."""
    closed = next(one.event for one in closed_log() if isinstance(one.event, w.LedgerClosed))
    figures = sum((f for m in fold(closed_log()).values() for f in m.figures.values()), Figures())
    assert (figures.handle_cents, figures.win_cents, figures.drop_cents) == (
        closed.handle_cents,
        closed.win_cents,
        closed.drop_cents,
    )
    assert figures.handle_cents > 0
    assert figures.rounds == sum(isinstance(one.event, r.RoundCompleted) for one in closed_log())


def test_the_order_in_which_a_tables_streams_arrive_changes_nothing() -> None:
    right = fold(log())
    streams: dict[str, list[Fact]] = {}
    for one in log():
        streams.setdefault(one.stream, []).append(one)
    chance = random.Random("meters 1")
    turns = [stream for stream, facts in streams.items() for _ in facts]
    chance.shuffle(turns)
    taken: Counter[str] = Counter()
    shuffled = []
    for stream in turns:
        shuffled.append(streams[stream][taken[stream]])
        taken[stream] += 1
    assert fold(shuffled) == right


def test_every_figure_adds_up() -> None:
    one, two = Figures(*range(1, len(NAMES) + 1)), Figures(*range(10, len(NAMES) + 10))
    assert [getattr(one + two, name) for name in NAMES] == [getattr(one, name) + getattr(two, name) for name in NAMES]


# Rounds that do not go on ------------------------------------------------------------------------------------------------


def test_the_phase_of_an_open_round_is_followed_and_when_it_last_moved() -> None:
    assert folded(opened(1, 5)).stream.phase == "BETTING"
    seen = []
    facts: list[Fact] = []
    for one in log():
        if one.stream != "table:black-hawk/BJ-07":
            continue
        facts.append(one)
        if len(facts) == 400:
            break
    meters = Meters()
    for one in facts:
        meters = evolve(meters, one)
        if meters.stream.phase:
            seen.append(meters.stream.phase)
            assert meters.stream.moved_time_us == one.envelope.recorded_time_us
            assert meters.stream.phase in LIMITS_US
    assert set(seen) >= {"BETTING", "DEALING", "PLAYERS", "DEALER", "SETTLING", "PICKUP"}
    assert fold(log())["table:black-hawk/BJ-07"].stream.phase == ""


@pytest.mark.parametrize("phase", sorted(LIMITS_US))
def test_a_round_is_stuck_once_its_phase_has_lasted_longer_than_it_may(phase: str) -> None:
    one = OpenRound("black-hawk/BJ-07#1", "black-hawk/BJ-07", phase, 1_000, seated=2)
    assert stuck_rounds([one], 1_000 + LIMITS_US[phase]) == ()
    (stuck,) = stuck_rounds([one], 1_001 + LIMITS_US[phase])
    assert (stuck.round_id, stuck.phase, stuck.still_us) == (one.round_id, phase, LIMITS_US[phase] + 1)


def test_betting_in_which_nobody_may_wager_waits_and_is_not_stuck() -> None:
    assert folded(opened(1, 0, sat_out=True)).stream.seated == 0
    waits = OpenRound("a#1", "a", "BETTING", 0, seated=0)
    assert stuck_rounds([waits], LIMITS_US["BETTING"] * 9) == ()


def test_the_longest_still_comes_first() -> None:
    rounds = [OpenRound(f"a#{n}", "a", "PEEK", moved, 1) for n, moved in enumerate((50, 10, 90))]
    assert [one.round_id for one in stuck_rounds(rounds, LIMITS_US["PEEK"] * 2)] == ["a#1", "a#0", "a#2"]
