"""Names and words that move no cent: each false one is found by the law it breaks, and a law never stops at nonsense."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from services.game.authority import Actor, Role
from services.surveillance import laws
from services.surveillance import round_facts as r
from services.surveillance import shoe_facts as s
from services.surveillance import table_facts as t
from services.surveillance import wager_facts as w
from services.surveillance.findings import Finding
from services.surveillance.laws import Auditor
from tests.support.law_logs import Log, at, changed, log, with_envelope


def first_line(event: Any, **changes: Any) -> dict[str, Any]:
    """The event's lines with another first one."""
    return {"lines": (replace(event.lines[0], **changes), *event.lines[1:])}


def other(value: str) -> str:
    return f"{value}x"


Change = Callable[[Any], dict[str, Any]]

FALSE: tuple[tuple[str, type, Change], ...] = (
    ("L1", w.LedgerOpened, lambda e: {"inventory": e.inventory[1:]}),
    ("L2", s.DeviceInspected, lambda _: {"passed": False}),
    ("L2", s.DeviceInspected, lambda _: {"gaming_day": "2026-01-01"}),
    ("L2", s.DeviceInspected, lambda _: {"device_id": "SH-9"}),
    ("L2", s.DecksLoaded, lambda e: {"decks": e.decks + 1}),
    ("L2", s.DecksLoaded, lambda e: {"deck_set_ids": e.deck_set_ids[1:]}),
    ("L2", s.CardsInspected, lambda _: {"composition": bytes(32)}),
    ("L2", s.CardsShuffled, lambda _: {"device_id": "SH-9"}),
    ("L2", s.CardBurned, lambda e: {"leaf": bytes(len(e.leaf))}),
    ("L2", s.CardDrawn, lambda e: {"decks": e.decks - 1}),
    ("L2", s.CardRevealed, lambda e: {"proof": replace(e.proof, leaf=bytes(32))}),
    ("L2", s.CardRevealed, lambda e: {"proof": replace(e.proof, root=bytes(32))}),
    ("L2", s.CardRevealed, lambda e: {"proof": replace(e.proof, position=e.position + 1)}),
    ("L2", s.CardRevealed, lambda e: {"proof": replace(e.proof, size=e.proof.size - 1)}),
    ("L3", s.HoleCardChecked, lambda e: {"up_position": e.up_position + 1}),
    ("L3", s.HoleCardChecked, lambda e: {"round_id": other(e.round_id)}),
    ("L3", t.ShoeAssigned, lambda e: {"shoe_id": other(e.shoe_id)}),
    ("L3", t.ShoeAssigned, lambda e: {"decks": e.decks - 1}),
    ("L6", t.PlayerSeated, lambda e: {"patron": other(e.patron)}),
    ("L6", t.PlayerSeated, lambda e: {"chips_cents": e.chips_cents + 1}),
    ("L6", w.SeatSessionOpened, lambda e: {"patron": other(e.patron)}),
    ("L6", w.SeatSessionOpened, lambda e: {"seat": e.seat + 1}),
    ("L6", w.RoundSettled, lambda e: {"racks": e.racks[1:]}),
    ("L6", r.RoundOpened, lambda e: {"seats": (replace(e.seats[0], player="P-0"), *e.seats[1:])}),
    ("L6", t.RackChanged, lambda e: {"session": other(e.session)}),
    ("L6", t.RackChanged, lambda _: {"change": t.RackChange.CASH_OUT}),
    ("L10", t.RulesPosted, lambda e: {"version": e.version + 1}),
    ("L7", r.RoundOpened, lambda e: {"rules_version": e.rules_version + 1}),
    ("L7", r.WagersSettled, lambda e: first_line(e, player="P-0")),
    ("L7", w.StakesHeld, lambda e: {"holds": (replace(e.holds[0], kind="insurance"), *e.holds[1:])}),
    ("L7", w.RoundSettled, lambda e: first_line(e, seat=e.lines[0].seat + 1)),
    ("L7", w.RoundSettled, lambda e: first_line(e, hand=e.lines[0].hand + 1)),
    ("L7", w.RoundSettled, lambda e: first_line(e, outcome="push" if e.lines[0].outcome != "push" else "win")),
    ("L7", w.RoundSettled, lambda e: first_line(e, cause="voided")),
    ("L7", w.RoundSettled, lambda e: first_line(e, kind="insurance")),
    ("L7", w.RoundSettled, lambda e: first_line(e, holds=())),
    ("L7", w.RoundSettled, lambda e: {"chip_cents": e.chip_cents + 1}),
    ("L7", w.RoundSettled, lambda e: {"revision": e.revision + 1}),
    ("L7", w.RoundSettled, lambda e: {"settlement": other(e.settlement)}),
    ("L10", r.WagerPlaced, lambda _: {"player": "P-0"}),
)


def of_law(law: str, log_: Log) -> list[Finding]:
    return [finding for finding in laws.check(log_) if finding.law == law]


@pytest.mark.parametrize(
    ("law", "kind", "change"), FALSE, ids=[f"{law}-{kind.__name__}-{n}" for n, (law, kind, _) in enumerate(FALSE)]
)
def test_a_false_word_is_found_by_its_law(law: str, kind: type, change: Change) -> None:
    true = log()
    index = at(true, kind)
    event = true[index].event
    false = changed(true, index, **change(event))
    assert false[index].event != event
    assert of_law(law, false)


def test_l10_d03_an_act_on_another_players_hand_is_found() -> None:
    true = log()
    for kind in (r.HandHit, r.HandStood, r.HandDoubled, r.HandSplit):
        index = at(true, kind)
        actor = true[index].envelope.actor
        stranger = with_envelope(true, index, actor=Actor(Role.PLAYER, "P-0"))
        assert any("whose hand it is not" in finding.reason for finding in of_law("L10", stranger)), kind
        # His dealer may carry out his signal.
        said = changed(true, index, by=r.DecidedBy.DEALER)
        dealers = with_envelope(said, index, actor=Actor(Role.DEALER, "D-1"))
        assert not of_law("L10", dealers), (kind, actor)


def test_l10_a_choice_that_is_said_to_be_anothers_is_found() -> None:
    true = log()
    index = at(true, r.HandStood, lambda e: e.by is not r.DecidedBy.SYSTEM)
    patron = with_envelope(true, index, actor=replace(true[index].envelope.actor, role=Role.PLAYER))
    assert any("said to be decided" in f.reason for f in of_law("L10", changed(patron, index, by=r.DecidedBy.SYSTEM)))


def test_l7_a_wager_held_from_another_patrons_rack_is_found() -> None:
    true = log()
    index = at(true, w.StakesHeld, lambda e: len(e.holds) > 1)
    held = true[index].event
    assert isinstance(held, w.StakesHeld)
    one, two, *rest = held.holds
    swapped = (replace(one, session=two.session), replace(two, session=one.session), *rest)
    assert any("from the rack of" in f.reason for f in of_law("L7", changed(true, index, holds=swapped)))


def test_a_law_that_cannot_make_sense_of_an_event_says_so_and_the_others_go_on() -> None:
    class Stumbles:
        def observe(self, fact: Any, scene: Any) -> Any:
            raise IndexError(fact.sequence)

        def finish(self) -> Any:
            return iter(())

    auditor = Auditor((Stumbles, *laws.CHECKS))
    findings = [finding for fact in log()[:40] for finding in auditor.observe(fact)]
    assert len(findings) == 40
    assert {finding.law for finding in findings} == {"L4"}
    assert "Stumbles" in findings[0].reason
