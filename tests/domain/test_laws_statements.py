"""What a service says beside cards and cents, falsified one word at a time: the law that it breaks names the event."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from services.game.authority import Actor, Role
from services.game.rules import CutCardFirst
from services.surveillance import laws
from services.surveillance import round_facts as r
from services.surveillance import shoe_facts as s
from services.surveillance import table_facts as t
from services.surveillance import wager_facts as w
from services.surveillance.wager_facts import Reason
from tests.support.law_logs import Log, at, caught, changed, log, moved, with_envelope, with_fact, without

Change = Callable[[Any], dict[str, Any]]


def movement(event: Any, **changes: Any) -> dict[str, Any]:
    return {"movements": (replace(event.movements[0], **changes), *event.movements[1:])}


def first_seat(event: Any, **changes: Any) -> dict[str, Any]:
    return {"seats": (replace(event.seats[0], **changes), *event.seats[1:])}


FALSE: tuple[tuple[str, type, Change, str], ...] = (
    ("L6", t.TableOpened, lambda e: {"opening": f"{e.opening}0"}, "the ledger is open under"),
    ("L6", t.RackOpened, lambda e: {"session": f"{e.session}0"}, "did not sit down"),
    ("L10", r.RoundOpened, lambda e: first_seat(e, sat_out=not e.seats[0].sat_out), "30-809"),
    ("L7", w.RoundSettled, lambda _: {"final": False}, "not called final"),
    ("L3", t.ShuffleBecameDue, lambda e: {"shoe_id": f"{e.shoe_id}0"}, "the shoe gave none"),
    ("L3", t.ShuffleBecameDue, lambda e: {"round_id": f"{e.round_id}0"}, "the shoe gave none"),
    ("L2", s.CardDrawn, lambda e: {"last_round": not e.last_round}, "30-816"),
    ("L2", s.CardBurned, lambda e: {"last_round": not e.last_round}, "30-816"),
    ("L2", s.CutCardPlaced, lambda _: {"cards_behind": 0}, "30-817"),
    ("L2", s.CutCardPlaced, lambda _: {"cards_behind": 157}, "30-817"),
    ("L2", s.CardsCut, lambda _: {"depth": 9}, "30-817"),
    ("L1", w.LedgerOpened, lambda e: movement(e, reason=Reason.FILL), "is booked as fill"),
    ("L1", w.LedgerOpened, lambda e: movement(e, reference="x"), "refers to 'x'"),
    ("L1", w.ChipsBought, lambda e: movement(e, reason=Reason.CHIPS_SOLD), "is booked as chips-sold"),
    ("L1", w.ChipsBought, lambda e: movement(e, reference=f"{e.buy_in}0"), "refers to"),
    ("L1", w.StakesHeld, lambda e: movement(e, reason=Reason.TIP), "is booked as tip"),
    ("L1", w.StakesHeld, lambda e: movement(e, reference=f"{e.holds[0].hold}0"), "refers to"),
    ("L1", w.RoundSettled, lambda e: movement(e, reason=Reason.CORRECTION), "is booked as correction"),
    ("L1", w.RoundSettled, lambda e: movement(e, reference="x"), "refers to 'x'"),
)


@pytest.mark.parametrize(
    ("law", "kind", "change", "words"),
    FALSE,
    ids=[f"{law} {kind.__name__} {n}" for n, (law, kind, *_) in enumerate(FALSE)],
)
def test_a_false_word_is_found_by_its_law(law: str, kind: type, change: Change, words: str) -> None:
    clean = log()
    index = at(clean, kind)
    forged = changed(clean, index, **change(clean[index].event))
    caught(forged, law, clean[index], words)


def test_the_clean_log_breaks_none() -> None:
    assert laws.check(log()) == []


def test_30_809_a_round_that_is_the_first_of_its_shoe_says_so_and_no_other() -> None:
    clean = log()
    for skip in (0, 1):
        index = at(clean, r.RoundOpened, skip=skip)
        assigned = at(clean, t.ShoeAssigned, skip=skip)
        forged = changed(clean, index, first_of_shoe=skip == 1)
        caught(forged, "L10", clean[assigned], "30-809")


def test_30_816_the_table_says_when_the_cutting_card_came() -> None:
    clean = log()
    index = at(clean, t.ShuffleBecameDue)
    round_id = clean[index].event.round_id
    over = next(f for f in clean if isinstance(f.event, r.RoundCompleted) and f.envelope.round_id == round_id)
    caught(without(clean, index), "L3", over, "does not say so")


@pytest.mark.parametrize(
    ("kind", "change", "words"),
    [
        (s.CutCardPlaced, {"cards_behind": 77}, "77 cards behind the cutting card"),
        (s.CardsShuffled, {"min_cut_cards": 11}, "posted are 10"),
        (s.CardsShuffled, {"cut_card_first": CutCardFirst.SHUFFLE_NOW}, "posted are 10, play-one-more"),
        (s.CardBurned, {"reason": s.BurnReason.SUPERVISOR_ORDER}, "0 cards were burned after the shuffle"),
        (s.CardBurned, {"face_down": False}, "1 burned cards were shown"),
    ],
)
def test_30_819_a_round_on_cards_that_were_handled_otherwise_than_posted_is_found(
    kind: type, change: dict[str, Any], words: str
) -> None:
    clean = log()
    caught(changed(clean, at(clean, kind), **change), "L10", clean[at(clean, t.ShoeAssigned)], words)


def test_design_6_an_order_that_was_committed_to_after_the_wagers_is_found() -> None:
    clean = log()
    wager = at(clean, r.WagerPlaced)
    prepared = [
        index for index in range(wager) if clean[index].area == "shoe" and hasattr(clean[index].event, "shoe_id")
    ]
    forged: Log = clean
    for index in reversed(prepared):
        # The whole shoe, from its shuffle to its burn, comes between the wager and the deal.
        forged = moved(forged, index, wager)
        wager -= 1
    first = clean[at(clean, s.CardDrawn)]
    caught(forged, "L2", first, "committed to after its wagers")


def test_30_816_no_round_is_dealt_after_the_last_one_of_a_shoe() -> None:
    clean = log()
    last = at(clean, s.CardDrawn, lambda e: e.last_round)
    shoe_id = clean[last].event.shoe_id
    first = at(clean, s.CardDrawn, lambda e: e.shoe_id == shoe_id)
    for index in range(first, last + 1):
        fact = clean[index]
        if isinstance(fact.event, s.CardDrawn) and fact.event.round_id == clean[last].event.round_id:
            break
    # The cutting card stood one round earlier than its draws say.
    earlier = clean[index].event.position - 2
    placed = at(clean, s.CutCardPlaced, lambda e: e.shoe_id == shoe_id)
    forged = changed(clean, placed, cards_behind=312 - earlier)
    caught(forged, "L2", clean[index], "after the last round")


def dealer_change(burn: int, *, at_round: int = 1) -> tuple[Log, int]:
    """The log with a new dealer between two rounds who owes a burn that nobody made; and where the next card comes."""
    clean = log()
    opened = at(clean, r.RoundOpened, skip=at_round)
    before = next(i for i in reversed(range(opened)) if clean[i].area == "table")
    came = replace(clean[before], event=t.DealerChanged(1, "D-2", "D-11", burn))
    drawn = at(clean, s.CardDrawn, lambda e: e.round_id == clean[opened].event.round_id)
    return (*clean[:opened], came, *clean[opened:]), drawn + 1


def test_30_819_a_new_dealer_burns_before_the_next_card_as_posted() -> None:
    forged, drawn = dealer_change(1)
    caught(forged, "L10", forged[drawn], "before the burn of the new dealer")
    forged, _ = dealer_change(0)
    changed_at = at(forged, t.DealerChanged)
    caught(forged, "L10", forged[changed_at], "by the posted rules 1")


def test_30_819_a_burn_that_the_table_has_and_the_shoe_never_made_is_found() -> None:
    forged, _ = dealer_change(1)
    came = at(forged, t.DealerChanged)
    done = replace(forged[came], event=t.DealerBurnFinished(1, 1, ""))
    forged = (*forged[: came + 1], done, *forged[came + 1 :])
    caught(forged, "L3", done, "the shoe burned 0")
    forged = with_fact(forged, came + 1, replace(done, event=t.DealerBurnFinished(1, 0, "")))
    caught(forged, "L3", done, "nobody says why")


def abandoned(**changes: Any) -> tuple[Log, int]:
    """The log whose first shoe was abandoned where it was retired; and where that stands."""
    clean = log()
    index = at(clean, s.ShoeRetired)
    end = clean[index].event
    given_up = s.ShoeAbandoned(end.shoe_id, "the key is lost", "S-2", end.decks, end.drawn, end.burned, end.undealt, ())
    return with_fact(clean, index, replace(clean[index], event=replace(given_up, **changes))), index


def test_design_6_an_abandoned_shoe_is_a_finding_that_names_the_abandonment() -> None:
    forged, index = abandoned()
    forged = with_envelope(forged, index, actor=Actor(Role.SUPERVISOR, "S-2"))
    (finding,) = [found for found in laws.check(forged) if found.law == "L2"]
    assert "was abandoned by S-2 ('the key is lost')" in finding.reason
    assert (finding.stream, finding.sequence) == (forged[index].stream, forged[index].sequence)


@pytest.mark.parametrize("change", [{"drawn": 1}, {"undealt": 0}, {"face_down": (4,)}, {"decks": 5}])
def test_design_6_what_an_abandonment_counts_is_what_the_log_has(change: dict[str, Any]) -> None:
    forged, index = abandoned(**change)
    caught(with_envelope(forged, index, actor=Actor(Role.SUPERVISOR, "S-2")), "L2", forged[index], "are said to be")


@pytest.mark.parametrize("actor", [Actor(Role.DEALER, "S-2"), Actor(Role.SUPERVISOR, "S-3")])
def test_30_828_a_shoe_is_abandoned_by_the_supervisor_who_is_named(actor: Actor) -> None:
    forged, index = abandoned()
    caught(with_envelope(forged, index, actor=actor), "L2", forged[index], "a pit supervisor decides")


def before_the_wager(*events: Any) -> tuple[Log, int]:
    """The log with these events of the table right before its first wager; and where they stand."""
    clean = log()
    wager = at(clean, r.WagerPlaced)
    more = [replace(clean[wager], event=event) for event in events]
    return (*clean[:wager], *more, *clean[wager:]), wager


def test_30_809_a_wager_in_cash_where_none_is_taken_is_found_and_its_purchase_is_the_ledgers() -> None:
    first = log()[at(log(), r.WagerPlaced)].event
    round_id = log()[at(log(), r.RoundOpened)].event.round_id
    cash = t.CashPlayed(round_id, "s-1", first.seat, first.kind, "none", first.amount_cents)
    forged, index = before_the_wager(cash)
    caught(forged, "L10", forged[index], "wagered in cash")
    caught(forged, "L6", forged[index], "the ledger has no such one")


def test_30_809_a_spoken_wager_where_none_is_taken_is_found() -> None:
    first = log()[at(log(), r.WagerPlaced)].event
    round_id = log()[at(log(), r.RoundOpened)].event.round_id
    forged, index = before_the_wager(t.WagerSpoken(round_id, "s-1", first.seat, first.kind, first.amount_cents + 100))
    caught(forged, "L10", forged[index], "a spoken main wager")
    caught(forged, "L10", forged[index + 1], "were called out or counted")
    forged, _ = before_the_wager(t.WagerSpoken(round_id, "s-1", 7, "main", 500))
    caught(forged, "L10", forged[at(forged, r.BettingClosed)], "never stood")


def test_30_803_a_tip_where_none_is_accepted_is_found() -> None:
    clean = log()
    posted = at(clean, t.RulesPosted)
    text = (
        clean[posted]
        .event.rules_text.replace("tips = true", "tips = false")
        .replace("tip_bets = true", "tip_bets = false")
    )
    bought = at(clean, w.ChipsBought)
    tip = w.TipGiven("tip-1", clean[bought].event.session, 100, 0, ())
    forged = changed(clean, posted, rules_text=text)
    forged = (*forged[: bought + 1], replace(clean[bought], event=tip), *forged[bought + 1 :])
    caught(forged, "L10", forged[bought + 1], "posted is: no tips")
    assert not [
        f for f in laws.check((*clean[: bought + 1], forged[bought + 1], *clean[bought + 1 :])) if "no tips" in f.reason
    ]


def test_l7_what_a_tip_bet_won_goes_to_the_dealers_and_nothing_else_does() -> None:
    clean = log()
    won = at(clean, w.RoundSettled, lambda e: e.lines[0].kind == "main" and e.lines[0].returned_cents > 0)
    lines = clean[won].event.lines
    forged = changed(clean, won, lines=(replace(lines[0], for_dealers=True), *lines[1:]))
    over = next(i for i in range(won, len(clean)) if isinstance(clean[i].event, r.RoundCompleted))
    caught(forged, "L7", forged[over], "went to the dealers")
    caught(forged, "L1", forged[won], "the event says")
