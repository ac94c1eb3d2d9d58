"""L7 (amounts), L8 and L10 catch wrong payments, wagers and cards out of their window, and illegal play."""

import hashlib
from fractions import Fraction

import pytest

from services.game.authority import Actor, Role
from services.game.cards import Card
from services.game.quick import replace
from services.surveillance import round_facts as r
from services.surveillance import table_facts as t
from services.surveillance import wager_facts as w
from services.surveillance.round_facts import Outcome
from tests.support.law_logs import Log, at, broken, caught, changed, log, moved, repeated, with_envelope, without


def settled_with(outcome: Outcome) -> tuple[int, int]:
    """The index of a table settlement with a line of this outcome, and the line's number."""
    index = at(log(), r.WagersSettled, lambda e: any(line.outcome is outcome for line in e.lines))
    return index, next(n for n, line in enumerate(log()[index].event.lines) if line.outcome is outcome)


def with_line(index: int, number: int, **changes: object) -> Log:
    lines = list(log()[index].event.lines)
    lines[number] = replace(lines[number], **changes)
    return changed(log(), index, lines=tuple(lines))


@pytest.mark.parametrize(
    "outcome", [Outcome.WIN, Outcome.LOSE, Outcome.PUSH, Outcome.BLACKJACK, Outcome.BUST, Outcome.SURRENDER]
)
def test_l7_a_stake_paid_one_cent_off_is_found(outcome: Outcome) -> None:
    index, number = settled_with(outcome)
    line = log()[index].event.lines[number]
    mutated = with_line(index, number, due=line.due + 1, returned_cents=line.returned_cents + 1)
    caught(mutated, "L7", log()[index], "by the posted rules")


def test_l7_h01_an_18_announced_for_a_17_and_paid_is_found_before_the_next_round() -> None:
    index, number = settled_with(Outcome.LOSE)
    line = log()[index].event.lines[number]
    paid = Fraction(2 * line.stake_cents)
    mutated = with_line(index, number, outcome=Outcome.WIN, due=paid, returned_cents=int(paid))
    caught(mutated, "L7", log()[index], "by the cards it is")


def test_l7_b14_a_payment_rounded_by_another_rule_is_found() -> None:
    index, number = settled_with(Outcome.BLACKJACK)
    line = log()[index].event.lines[number]
    mutated = with_line(index, number, returned_cents=line.returned_cents - 1, breakage=line.breakage + 1)
    caught(mutated, "L7", log()[index], "rounded by the rule")


def test_l7_c06_a_stake_settled_twice_or_never_is_found() -> None:
    index = at(log(), r.WagersSettled)
    caught(repeated(log(), index, index), "L7", log()[index], "a second time")
    complete = next(fact for fact in log()[index:] if isinstance(fact.event, r.RoundCompleted))
    caught(without(log(), index), "L7", complete, "was never settled")


def test_l7_b10_a_push_that_the_house_keeps_is_found() -> None:
    index, number = settled_with(Outcome.PUSH)
    caught(with_line(index, number, due=Fraction(0), returned_cents=0), "L7", log()[index], "0 cents due")


def test_l7_a_stake_settled_for_another_sum_or_on_another_hand_is_found() -> None:
    index, number = settled_with(Outcome.WIN)
    line = log()[index].event.lines[number]
    caught(with_line(index, number, stake_cents=line.stake_cents + 100), "L7", log()[index], "were staked")
    caught(with_line(index, number, hand=5), "L7", log()[index], "its hand is not there")


def test_l7_a_ledger_that_pays_otherwise_than_the_table_said_is_found() -> None:
    index = at(log(), w.RoundSettled)
    lines = log()[index].event.lines
    wrong = (replace(lines[0], returned_cents=lines[0].returned_cents + 500), *lines[1:])
    complete = next(fact for fact in log()[index:] if isinstance(fact.event, r.RoundCompleted))
    caught(changed(log(), index, lines=wrong), "L7", complete, "in the ledger")
    caught(changed(log(), index, lines=lines[1:]), "L7", complete, "the ledger did not")


def test_l7_sums_stated_at_the_end_that_are_wrong_are_found() -> None:
    index = at(log(), r.RoundCompleted, skip=2)
    event = log()[index].event
    caught(changed(log(), index, returned_cents=event.returned_cents + 1), "L7", log()[index], "are stated")


def test_l7_a_round_settled_again_after_its_final_settlement_is_found() -> None:
    index = at(log(), w.RoundSettled, lambda e: e.final)
    caught(repeated(log(), index, index), "L7", log()[index], "after its final settlement")


def test_l7_a_round_under_rules_that_were_never_posted_is_found() -> None:
    index = at(log(), r.RoundOpened)
    caught(changed(log(), index, rules_digest="0" * 64), "L7", log()[index], "was never posted")


def test_l8_d01_a_wager_after_the_close_is_found_by_sequence_not_by_time() -> None:
    placed, closed = at(log(), r.WagerPlaced), at(log(), r.BettingClosed)
    late = moved(log(), placed, closed)
    caught(late, "L8", log()[placed], "after betting was closed")
    early = with_envelope(log(), placed, occurred_time_us=10**18, recorded_time_us=10**18)
    assert not broken(early, "L8")


def test_l8_a_stake_held_after_the_close_is_found() -> None:
    held, closed = at(log(), w.StakesHeld), at(log(), r.BettingClosed)
    caught(moved(log(), held, closed), "L8", log()[held], "is held after the close")


def test_l8_a_card_before_the_close_is_found() -> None:
    closed, dealt = at(log(), r.BettingClosed), at(log(), r.CardDealt)
    mutated = moved(log(), closed, dealt + 1)
    caught(mutated, "L8", log()[dealt], "before betting is closed")
    assert any("drawn for" in finding.reason for finding in broken(mutated, "L8"))


def test_l8_betting_closed_twice_and_a_round_inside_a_round_are_found() -> None:
    closed = at(log(), r.BettingClosed)
    caught(repeated(log(), closed, closed), "L8", log()[closed], "a second time")
    complete = at(log(), r.RoundCompleted)
    opened = next(fact for fact in log()[complete:] if isinstance(fact.event, r.RoundOpened))
    caught(without(log(), complete), "L8", opened, "while")


def test_l8_stakes_for_a_round_that_is_over_are_found() -> None:
    held = at(log(), w.StakesHeld)
    opened = at(log(), r.RoundOpened, skip=1)
    caught(repeated(log(), held, opened), "L8", log()[held], "is not open")


def test_l10_a_dealer_who_stops_short_is_found() -> None:
    for index, fact in enumerate(log()):
        if not isinstance(fact.event, r.WagersSettled) or fact.event.lines[0].cause is not r.Cause.HIGHER_TOTAL:
            continue
        opened = max(n for n in range(index) if isinstance(log()[n].event, r.RoundOpened))
        dealt = [n for n in range(opened, index) if isinstance(log()[n].event, r.CardDealt)]
        if sum(log()[n].event.to is r.Recipient.DEALER for n in dealt) != 2:
            continue
        hole = next(n for n in range(opened, index) if isinstance(log()[n].event, r.HoleRevealed))
        caught(changed(log(), hole, card=Card.parse("2c")), "L10", fact, "a dealer who stopped at")
        return
    raise AssertionError("no dealer stood on two cards in this log")


def test_l10_a_dealer_who_draws_on_17_or_more_is_found() -> None:
    dealt = [
        n
        for n, fact in enumerate(log())
        if isinstance(fact.event, r.CardDealt) and fact.event.to is r.Recipient.DEALER and not fact.event.face_down
    ]
    for index in dealt:
        hole = max((n for n in range(index) if isinstance(log()[n].event, r.HoleRevealed)), default=None)
        opened = max(n for n in range(index) if isinstance(log()[n].event, r.RoundOpened))
        if hole is None or hole < opened:
            continue
        up = next(n for n in dealt if n > opened)
        mutated = changed(changed(log(), hole, card=Card.parse("Ts")), up, card=Card.parse("9s"))
        caught(mutated, "L10", log()[index], "the dealer draws on 19")
        return
    raise AssertionError("no dealer drew a card in this log")


def test_l10_a_card_dealt_to_another_seat_than_was_due_is_found() -> None:
    dealt = at(log(), r.CardDealt)
    caught(changed(log(), dealt, seat=2), "L10", log()[dealt], "is due to seat 1")


def test_l10_a_card_nobody_asked_for_is_found() -> None:
    hit = at(log(), r.HandHit)
    card = next(fact for fact in log()[hit:] if isinstance(fact.event, r.CardDealt))
    caught(without(log(), hit), "L10", card, "did not ask for one")


def test_l10_an_act_out_of_turn_and_on_another_hand_are_found() -> None:
    index = at(log(), r.HandStood, lambda e: e.seat == 1 and e.hand == 0, skip=1)
    caught(changed(log(), index, seat=2), "L10", log()[index], "out of turn")
    caught(changed(log(), index, hand=7), "L10", log()[index], "is not there")


def test_l10_30_813_a_double_that_is_not_allowed_is_found() -> None:
    index = at(log(), r.HandDoubled)
    event = log()[index].event
    caught(changed(log(), index, amount_cents=event.amount_cents + 100), "L10", log()[index], "doubles")
    caught(changed(log(), index, amount_cents=0), "L10", log()[index], "with 0")


def test_l10_30_814_a_split_of_a_non_pair_or_with_another_stake_is_found() -> None:
    index = at(log(), r.HandSplit)
    event = log()[index].event
    caught(changed(log(), index, amount_cents=event.amount_cents - 100), "L10", log()[index], "splits")
    cards = [
        n
        for n in range(index)
        if isinstance(log()[n].event, r.CardDealt)
        and log()[n].event.seat == event.seat
        and log()[n].event.hand == event.hand
    ]
    low = Card.parse("2c") if log()[cards[-1]].event.card.rank != "2" else Card.parse("3c")
    caught(changed(log(), cards[-1], card=low), "L10", log()[index], "splits")


def test_l10_30_826_a_hit_on_a_finished_hand_is_found() -> None:
    stood = at(log(), r.HandStood, lambda e: e.seat == 1)
    hit = r.HandHit(1, log()[stood].event.hand, r.DecidedBy.PLAYER)
    again = replace(log()[stood], event=hit)
    mutated = (*log()[: stood + 1], again, *log()[stood + 1 :])
    caught(mutated, "L10", log()[stood], "the hand is over")


def test_l10_30_809_a_wager_outside_the_limits_is_found() -> None:
    index = at(log(), r.WagerPlaced)
    for cents, words in (
        (499, "the limits are"),
        (100_100, "the limits are"),
        (550, "in steps of"),
        (0, "0 cents"),
        (-5, "-5 cents"),
    ):
        caught(changed(log(), index, amount_cents=cents), "L10", log()[index], words)
    caught(changed(log(), index, kind="lucky-ladies"), "L10", log()[index], "know no wager")


def test_l10_30_812_insurance_over_half_late_or_without_an_ace_is_found() -> None:
    index = at(log(), r.InsurancePlaced)
    event = log()[index].event
    caught(changed(log(), index, amount_cents=event.amount_cents * 3), "L10", log()[index], "more than half")
    up = max(
        n
        for n in range(index)
        if isinstance(log()[n].event, r.CardDealt)
        and log()[n].event.to is r.Recipient.DEALER
        and not log()[n].event.face_down
    )
    caught(changed(log(), up, card=Card.parse("9h")), "L10", log()[index], "not an ace")
    checked = next(n for n in range(index, len(log())) if isinstance(log()[n].event, r.HoleChecked))
    caught(moved(log(), index, checked), "L10", log()[index], "after it was closed")


def test_l10_30_823_play_before_the_check_and_a_check_that_is_not_due_are_found() -> None:
    checked = at(log(), r.HoleChecked, lambda e: not e.makes_blackjack)
    acted = next(
        fact
        for fact in log()[checked:]
        if isinstance(fact.event, r.HandHit | r.HandStood | r.HandDoubled | r.HandSplit | r.HandSurrendered)
    )
    caught(without(log(), checked), "L10", acted, "before the dealer's check")
    caught(repeated(log(), checked, checked), "L10", log()[checked], "a second time")


def test_l10_30_829_a_surrender_where_it_is_not_offered_is_found() -> None:
    index = at(log(), r.HandSurrendered)
    posted = at(log(), t.RulesPosted)
    text = log()[posted].event.rules_text.replace('surrender = "late"', 'surrender = "none"')
    digest = hashlib.sha256(text.encode()).hexdigest()
    mutated = changed(log(), posted, rules_text=text, digest=digest)
    for opened, fact in enumerate(log()):
        if isinstance(fact.event, r.RoundOpened):
            mutated = changed(mutated, opened, rules_digest=digest)
    caught(mutated, "L10", log()[index], "does not offer it")


def test_l10_rules_whose_text_is_not_that_of_their_digest_are_found() -> None:
    posted = at(log(), t.RulesPosted)
    caught(changed(log(), posted, rules_text=log()[posted].event.rules_text + "\n"), "L10", log()[posted], "digest")


def test_l10_30_828_a_decision_by_a_dealer_and_play_while_it_is_stopped_are_found() -> None:
    hit = at(log(), r.HandHit)
    stop = replace(log()[hit], event=t.TableSuspended("a card fell"))
    mutated = (*log()[:hit], stop, *log()[hit:])
    caught(mutated, "L10", log()[hit], "while play is suspended")
    voided = replace(log()[hit], event=r.RoundVoided("D-11", "a card fell"))
    voided = replace(voided, envelope=replace(voided.envelope, actor=Actor(Role.DEALER, "D-11")))
    caught((*log()[:hit], voided, *log()[hit:]), "L10", log()[hit], "a pit supervisor decides")
