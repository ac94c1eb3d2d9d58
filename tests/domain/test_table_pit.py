"""What the pit decides: rules, limits, opening, closing, suspension (30-803, 30-804, 30-809, 30-819, 30-828, 30-830)."""

import hashlib

import pytest

from services.game import round_commands as rc
from services.game import round_events as re
from services.game.authority import Actor, Role
from services.game.rejections import NotAuthorised, Rejection
from services.game.round import begin, evolve_all
from services.game.round_words import Action
from services.game.rule_rejections import GameNotApproved, LimitsContradict, RuleFileRefused
from services.game.rules import Approval, ApprovalStatus, Limits, Soft17, canonical_text, parse_rules
from services.table import commands as c
from services.table import events as e
from services.table import rejections as r
from services.table.words import ChipCount, SeatWager
from tests.support.table_desk import COLORADO, DEALER, LICENSEE, NOW, ROUND, SUPERVISOR, TABLE, Desk, player, rules_with

MINUTE = 60_000_000
TRAY = (ChipCount(500, 100),)


def test_30_803_a_table_opens_only_with_rules_on_display() -> None:
    with pytest.raises(r.RulesNotPosted):
        Desk().do(c.OpenTable("", TRAY, "D-1"), SUPERVISOR)


def test_30_803_posting_records_the_whole_rule_set_and_its_notices() -> None:
    desk = Desk()
    (posted,) = desk.do(c.PostRules(canonical_text(COLORADO)), LICENSEE)
    assert isinstance(posted, e.RulesPosted)
    assert parse_rules(posted.rules_text) == COLORADO
    assert posted.digest == hashlib.sha256(posted.rules_text.encode()).hexdigest() == COLORADO.digest
    assert [notice.split()[0] for notice in posted.notices][:4] == [f"30-803(3)({letter})" for letter in "abcd"]
    assert desk.do(c.PostRules(canonical_text(COLORADO)), LICENSEE) == (e.NothingChanged("PostRules"),)
    opened = desk.do(c.OpenTable("", TRAY, "D-1"), SUPERVISOR)
    assert opened == (e.TableOpened(1, f"{TABLE}/opening/1", "D-1"),)


def test_30_804_a_round_can_be_replayed_from_the_log_alone() -> None:
    desk = Desk()
    desk.dealt("As 7d Ks ?", "ann")
    rules = [event for event in desk.log if isinstance(event, e.RulesPosted | e.LimitsChanged)][-1]
    opened = next(event for event in desk.log if isinstance(event, re.RoundOpened))
    rest = [event for event in desk.log if isinstance(event, re.RoundEvent) and event is not opened]
    assert desk.table.play is not None
    assert evolve_all(begin(opened, parse_rules(rules.rules_text)), rest) == desk.table.play.round


@pytest.mark.parametrize("status", [ApprovalStatus.DRAFT, ApprovalStatus.WITHDRAWN])
def test_30_830_a_game_that_is_not_approved_is_not_dealt(status: ApprovalStatus) -> None:
    text = canonical_text(rules_with(approval=Approval(status, "ref")))
    with pytest.raises(GameNotApproved):
        Desk().do(c.OpenTable(text, TRAY, "D-1"), SUPERVISOR)
    desk = Desk()
    desk.do(c.PostRules(text), SUPERVISOR)
    with pytest.raises(GameNotApproved):
        desk.do(c.OpenTable("", TRAY, "D-1"), SUPERVISOR)


@pytest.mark.parametrize("text", [" ", "decks = 6.5", "what = 1", "x" * 70_000])
def test_30_804_a_rule_file_that_cannot_be_read_is_refused_by_name(text: str) -> None:
    desk = Desk()
    with pytest.raises((RuleFileRefused, r.RulesNotPosted)):
        desk.do(c.PostRules(text), SUPERVISOR)
    assert desk.log == []


@pytest.mark.parametrize("actor", [DEALER, player("ann"), Actor(Role.SURVEILLANCE, "S-1")])
def test_the_pit_alone_posts_opens_and_closes(actor: Actor) -> None:
    desk = Desk()
    desk.open()
    for command in (
        c.PostRules(canonical_text(COLORADO)),
        c.OpenTable("", TRAY, "D-1"),
        c.CloseTable(),
        c.AnnounceLimits(c.ChangeLimits(1_000, 10_000, 500), NOW),
    ):
        with pytest.raises(NotAuthorised):
            desk.do(command, actor)


def test_30_804_nothing_that_is_posted_changes_during_a_round() -> None:
    desk = Desk()
    desk.dealt("Ts 7d 9h ?", "ann")
    before = desk.table
    for command in (c.PostRules(canonical_text(rules_with(decks=8))), c.CloseTable(), c.SetDealer("D-2")):
        with pytest.raises(r.RoundInProgress):
            desk.do(command, SUPERVISOR)
    assert desk.table is before


def test_an_open_table_is_not_opened_again() -> None:
    desk = Desk()
    desk.open()
    with pytest.raises(r.TableAlreadyOpen):
        desk.open()


def test_30_809_limits_change_at_once_at_a_table_without_players() -> None:
    desk = Desk()
    desk.open()
    announced, changed = desk.do(c.AnnounceLimits(c.ChangeLimits(1_000, 20_000, 500), NOW), LICENSEE)
    assert isinstance(announced, e.LimitsAnnounced)
    assert isinstance(changed, e.LimitsChanged)
    assert desk.table.rules is not None
    assert desk.table.rules.limits == announced.limits == changed.limits
    assert changed.digest == desk.table.rules.digest != COLORADO.digest


def test_30_809_limits_change_between_rounds_after_the_posted_notice() -> None:
    desk = Desk()
    (ann,) = desk.dealt("Ts 7d 9h ?", "ann")
    (announced,) = desk.do(c.AnnounceLimits(c.ChangeLimits(2_000, 20_000, 500), NOW), SUPERVISOR)
    assert isinstance(announced, e.LimitsAnnounced)
    assert announced.effective_from_us == NOW + 30 * MINUTE
    _end_round(desk, ROUND)
    desk.betting(now_us=NOW + 30 * MINUTE - 1)
    assert desk.wager(ann, 1, 1_000)
    _end_round(desk, f"{TABLE}#2")
    desk.betting(now_us=NOW + 30 * MINUTE)
    assert desk.table.live is not None
    assert desk.table.live.round.rules.limits.minimum_cents == 2_000
    assert desk.table.announced is None
    with pytest.raises(Rejection, match="minimum"):
        desk.wager(ann, 1, 1_000)


def _end_round(desk: Desk, round_id: str) -> None:
    desk.do(c.VoidRound(round_id, "test"), SUPERVISOR)
    desk.do(c.PlayOn(rc.PickUpHands()))


def test_30_809_limits_that_contradict_are_refused() -> None:
    desk = Desk()
    desk.open()
    for limits in ((0, 100, 100), (1_000, 500, 100), (500, 1_000, 0), (-5, 5, 5)):
        with pytest.raises(LimitsContradict):
            desk.do(c.AnnounceLimits(c.ChangeLimits(*limits), NOW), SUPERVISOR)


def test_30_819_another_dealer_burns_by_the_houses_rule() -> None:
    desk = Desk()
    desk.open()
    assert desk.do(c.SetDealer(DEALER.id)) == (e.NothingChanged("SetDealer"),)
    (changed,) = desk.do(c.SetDealer("D-2"))
    assert changed == e.DealerChanged(1, "D-2", DEALER.id, 0)
    desk.betting()
    _end_round(desk, ROUND)
    (changed,) = desk.do(c.SetDealer("D-3"))
    assert changed == e.DealerChanged(2, "D-3", "D-2", 1)
    assert desk.table.burn_due == 1


def test_30_828_only_a_supervisor_resumes_and_voids() -> None:
    desk = Desk()
    desk.dealt("Ts 7d 9h ?", "ann")
    desk.do(c.Suspend("a card fell"), DEALER)
    for actor in (DEALER, LICENSEE, player("ann"), Actor(Role.SYSTEM, "table")):
        for command in (c.Resume("discretion", "none"), c.VoidHand(ROUND, 1, 0, "x"), c.VoidRound(ROUND, "x")):
            with pytest.raises(r.NotSupervisor):
                desk.do(command, actor)
    assert desk.do(c.Resume("828-listed", "the card was used"), SUPERVISOR) == (
        e.TableResumed("828-listed", "the card was used"),
    )


def test_30_828_a_card_that_left_the_shoe_before_play_stopped_is_laid_down() -> None:
    desk = Desk()
    (ann,) = desk.dealt("5s 7d 4h ?", "ann")
    desk.act(ann, 1, Action.HIT)
    desk.do(c.Suspend("a card fell"), DEALER)
    desk.deal("2c")
    assert desk.table.live is not None
    assert desk.table.live.round.hands[0].total.value == 11


def test_30_804_the_shoe_is_as_posted() -> None:
    desk = Desk()
    desk.open()
    for decks, continuous in ((5, False), (8, False), (6, True)):
        with pytest.raises(r.ShoeNotAsPosted):
            desk.do(c.OpenRound(NOW, "shoe-1", decks, continuous=continuous))
    assert desk.do(c.OpenRound(NOW, "shoe-1", 6, continuous=False))


def test_30_809_limits_are_not_posted_past_those_who_are_seated() -> None:
    desk = Desk()
    desk.open()
    higher = canonical_text(rules_with(limits=Limits(5_000, 10_000, 500)))
    desk.seat("ann", 3)
    with pytest.raises(r.LimitsNeedNotice):
        desk.do(c.PostRules(higher), SUPERVISOR)
    with pytest.raises(r.PlayersStillSeated):
        desk.do(c.PostRules(canonical_text(rules_with(max_seats=2))), SUPERVISOR)
    assert desk.do(c.PostRules(canonical_text(rules_with(max_seats=3))), SUPERVISOR)


def test_30_809_limits_that_were_announced_outlive_another_posting() -> None:
    desk = Desk()
    desk.open()
    desk.seat("ann", 3)
    desk.do(c.AnnounceLimits(c.ChangeLimits(5_000, 10_000, 500), NOW), SUPERVISOR)
    announced = desk.table.announced
    desk.do(c.PostRules(canonical_text(rules_with(soft17=Soft17.STAND))), SUPERVISOR)
    assert desk.table.announced == announced is not None
    desk.betting(now_us=NOW + 31 * 60_000_000)
    assert desk.table.rules is not None
    assert (desk.table.rules.limits.minimum_cents, desk.table.rules.soft17) == (5_000, Soft17.STAND)


def test_30_828_nothing_is_played_while_play_is_suspended() -> None:
    desk = Desk()
    (ann,) = desk.dealt("5s 7d 4h ?", "ann")
    desk.do(c.Suspend("a card fell"), DEALER)
    with pytest.raises(r.PlaySuspended):
        desk.act(ann, 1, Action.HIT)
    with pytest.raises(r.PlaySuspended):
        desk.do(c.PlaceWagers(ROUND, (SeatWager(ann, 1, "main", 2_000),)))
    with pytest.raises(r.PlaySuspended):
        desk.do(c.OpenRound(NOW, "shoe-1", 6, continuous=False))
    assert desk.do(c.Suspend("again"), DEALER) == (e.NothingChanged("Suspend"),)
    # The supervisor's two remedies do not wait for the resumption.
    assert desk.do(c.VoidHand(ROUND, 1, 0, "the card was seen"), SUPERVISOR)


def test_30_828_what_is_decided_says_why() -> None:
    desk = Desk()
    desk.dealt("Ts 7d 9h ?", "ann")
    for command in (
        c.Suspend(" "),
        c.Suspend("x" * 501),
        c.VoidHand(ROUND, 1, 0, ""),
        c.VoidRound(ROUND, ""),
    ):
        with pytest.raises(r.ReasonMissing):
            desk.do(command, SUPERVISOR)
    with pytest.raises(r.NotSuspended):
        desk.do(c.Resume("discretion", "none"), SUPERVISOR)


def test_players_do_not_stop_play() -> None:
    desk = Desk()
    desk.open()
    with pytest.raises(NotAuthorised):
        desk.do(c.Suspend("I lose"), player("ann"))


def test_a_table_closes_when_everyone_has_left() -> None:
    desk = Desk()
    desk.open()
    ann = desk.seat("ann", 1)
    with pytest.raises(r.PlayersStillSeated):
        desk.do(c.CloseTable(), SUPERVISOR)
    desk.do(c.LeaveSeat(ann))
    desk.happened(e.PlayerLeft(ann, "ann", 1, ""))
    assert desk.do(c.CloseTable(), SUPERVISOR) == (e.TableCloseStarted(1, f"{TABLE}/closing/1"),)
    assert desk.do(c.CloseTable(), SUPERVISOR) == (e.NothingChanged("CloseTable"),)
    with pytest.raises(r.TableAlreadyOpen):
        desk.open()
    desk.happened(e.TableClosed(1))
    desk.open()
    assert desk.table.period == 2
