"""Sequences across tables, shoes and racks that once broke something: whoever finds another one keeps it here."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from services.game.authority import Actor, Role
from services.runtime.failures import ServiceUnavailable
from services.shoe import client as shoe
from services.shoe.events import CardBurned
from services.shoe.service import EVENT_TYPES
from services.table import client as tables
from services.table.client import Action, TablePhase, TableView
from services.wager import client as wager
from services.wire.refusal import Refused
from tests.support.table_house import DEALER, RULES, SUPERVISOR, TABLE, Fault, House, broken_laws, player

DEVICE = Actor(Role.DEVICE, "SH-1")


def rules(**options: str) -> str:
    """Colorado's rule file with other options, as TOML writes them."""
    text = RULES
    for key, value in options.items():
        text, changed = re.subn(rf"(?m)^{key} = .*$", f"{key} = {value}", text)
        assert changed == 1, key
    return text


async def betting(house: House, *sessions: str, cents: int = 1_000) -> str:
    """A round open for wagers with one wager for each session, on seats 1, 2, …; gives its id."""
    round_id = (await house.table.open_betting(TABLE, house.context())).round_id
    wagers = tuple(tables.SeatWager(session, seat, "main", cents) for seat, session in enumerate(sessions, start=1))
    await house.table.place_wagers(TABLE, house.context(), tables.PlaceWagers(round_id, wagers))
    return round_id


async def dealt(house: House, *sessions: str, cents: int = 1_000) -> str:
    round_id = await betting(house, *sessions, cents=cents)
    await house.table.close_betting(TABLE, house.context(), round_id)
    return round_id


async def stand_all(house: House) -> TableView:
    """Everybody stands and nobody insures, until the table is idle or waits for somebody."""
    while True:
        view = await house.table.get_table(TABLE)
        if view.round is None or not view.round.questions:
            return view
        question = view.round.questions[0]
        action = Action.STAND if Action.STAND in question.actions else Action.DECLINE_INSURANCE
        act = tables.Act(view.round.round_id, question.session, question.seat, question.hand, action)
        await house.table.act(TABLE, house.context(), act)


async def until(house: House, wanted: Callable[[TableView], bool]) -> TableView:
    """Wait for what the table does by itself."""
    async for view in house.table.watch_table(TABLE):
        if wanted(view):
            return view
    raise AssertionError("the table is gone")


async def refusal(answer: object) -> str:
    """The name of the rule that refuses."""
    with pytest.raises(Refused) as caught:
        await answer  # type: ignore[misc]  # any of the clients' coroutines
    return caught.value.name


async def test_a_player_seats_himself_without_chips_from_nowhere(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.sqlite") as house:
        await house.ready()
        rich = tables.SeatPlayer("eve", 1, 10**12)
        assert await refusal(house.table.seat_player(TABLE, house.context(player("eve")), rich)) == "NotAuthorised"
        poor = tables.SeatPlayer("eve", 1)
        await house.table.seat_player(TABLE, house.context(player("eve")), poor)
        assert (await house.wager.read_table_money(TABLE)).racks_cents == 0


async def test_30_804_the_shoe_holds_the_decks_that_are_posted(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.sqlite") as house:
        await house.prepare_shoe(decks=1, behind=13)
        await house.open_table()
        assert await refusal(house.table.open_betting(TABLE, house.context())) == "ShoeNotAsPosted"
        await house.table.post_rules(TABLE, house.context(SUPERVISOR), tables.PostRules(rules(decks="1")))
        await house.table.open_betting(TABLE, house.context())


async def test_30_823_nobody_at_the_table_turns_the_hole_card_or_draws_a_card(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.sqlite") as house:
        (ann,) = await house.ready("ann")
        round_id = await dealt(house, ann)
        status = await house.shoe.get_shoe(TABLE)
        (hole,) = status.face_down
        for actor in (DEALER, DEVICE, player("ann")):
            context = house.context(actor)
            for answer in (
                house.shoe.reveal_card(TABLE, context, shoe.RevealCard(status.shoe_id, hole)),
                house.shoe.peek_card(TABLE, context, shoe.PeekCard(status.shoe_id, hole, 2)),
                house.shoe.draw_cards(TABLE, context, shoe.DrawCards("forged", round_id, (False,))),
            ):
                assert await refusal(answer) == "NotAuthorised"
        assert (await stand_all(house)).phase is TablePhase.IDLE
        assert await broken_laws(house) == []


async def test_30_822_without_a_hole_card_no_order_is_opened_while_its_cards_lie_on_the_felt(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.sqlite") as house:
        (ann,) = await house.ready("ann", seed_rules=rules(hole_card='"no-hole-card"'))
        await dealt(house, ann)
        status = await house.shoe.get_shoe(TABLE)
        assert status.face_down == ()
        retire = shoe.RetireShoe(status.shoe_id, shoe.RetireReason.HOUSE_CHOICE)
        assert await refusal(house.shoe.retire_shoe(TABLE, house.context(), retire)) == "CardsOnFelt"
        # A dealer says nothing about the felt; the table does when it picks the cards up.
        racked = shoe.RackCards(status.shoe_id, f"{TABLE}#1")
        assert await refusal(house.shoe.rack_cards(TABLE, house.context(), racked)) == "NotAuthorised"
        assert (await stand_all(house)).phase is TablePhase.IDLE
        assert (await house.shoe.retire_shoe(TABLE, house.context(), retire)).balanced
        assert await broken_laws(house) == []


@pytest.mark.parametrize("suspended", [False, True])
@pytest.mark.parametrize("whole_round", [False, True])
async def test_30_828_voiding_while_a_draw_is_unanswered_loses_no_card(
    tmp_path: Path, *, suspended: bool, whole_round: bool
) -> None:
    async with House(tmp_path / "journal.sqlite", fault=(fault := Fault())) as house:
        ann, bob = await house.ready("ann", "bob")
        round_id = await betting(house, ann, bob)
        # The shoe gives the first cards out, the answer is lost, and then nobody can reach the shoe.
        fault.lost_answer = "DrawCards"
        await house.table.close_betting(TABLE, house.context(), round_id)
        assert fault.names[-1] == "DrawCards"
        if suspended:
            await house.table.suspend(TABLE, house.context(), "the shoe jammed")
        void = tables.VoidRound(round_id, "the shoe jammed")
        one = tables.VoidHand(round_id, 1, 0, "the shoe jammed")

        async def call() -> object:
            if whole_round:
                return await house.table.void_round(TABLE, house.context(SUPERVISOR), void)
            return await house.table.void_hand(TABLE, house.context(SUPERVISOR), one)

        with pytest.raises(ServiceUnavailable):
            await call()
        fault.away.clear()
        await call()
        if suspended:
            resume = tables.Resume("30-828(1)", "the cards that were out lie on the felt")
            await house.table.resume(TABLE, house.context(SUPERVISOR), resume)
        await until(house, lambda view: view.phase is TablePhase.IDLE or bool(view.round and view.round.questions))
        assert (await stand_all(house)).phase is TablePhase.IDLE
        assert (await house.shoe.get_shoe(TABLE)).face_down == ()
        assert await broken_laws(house) == []


async def test_30_822_a_machine_that_was_changed_before_its_cards_came_back_holds_nothing_up(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.sqlite", fault=(fault := Fault())) as house:
        await house.prepare_machine()
        await house.open_table(rules=rules(shuffle='"continuous"'))
        ann = await house.seat("ann", 1)
        fault.away.add("ReturnDiscards")
        await dealt(house, ann)
        await stand_all(house)
        view = await house.table.get_table(TABLE)
        assert (view.phase, view.waiting_for) == (TablePhase.PICKUP, tables.WaitingFor.SHOE)
        status = await house.shoe.get_shoe(TABLE)
        retire = shoe.RetireShoe(status.shoe_id, shoe.RetireReason.DEVICE_FAULT)
        await house.shoe.retire_shoe(TABLE, house.context(), retire)
        fault.away.clear()
        await until(house, lambda view: view.phase is TablePhase.IDLE)
        assert await broken_laws(house) == []


async def test_30_809_posting_rules_is_no_way_around_the_notice_of_limits(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.sqlite") as house:
        await house.ready("ann", "bob", "cyd")
        for text, rule in (
            (rules(minimum_cents="50000"), "LimitsNeedNotice"),
            (rules(max_seats="2"), "PlayersStillSeated"),
        ):
            post = tables.PostRules(text)
            assert await refusal(house.table.post_rules(TABLE, house.context(SUPERVISOR), post)) == rule
        await house.table.post_rules(TABLE, house.context(SUPERVISOR), tables.PostRules(rules(max_seats="3")))


async def test_30_810_what_is_staked_on_top_can_be_paid_in_chips(tmp_path: Path) -> None:
    odd = {Action.INSURE: 499, Action.DOUBLE: 701}
    lawful = {Action.INSURE: 500, Action.DOUBLE: 1_000}
    async with House(tmp_path / "journal.sqlite") as house:
        text = rules(rounding='"down-to-chip"', chip_cents="500", increment_cents="500")
        (ann,) = await house.ready("ann", seed_rules=text)
        met: set[Action] = set()
        while met != set(odd):
            round_id = await dealt(house, ann, cents=1_500)
            view = await house.table.get_table(TABLE)
            for question in view.round.questions if view.round else ():
                for action in (set(question.actions) & set(odd)) - met:
                    act = tables.Act(round_id, ann, 1, 0, action, odd[action])
                    assert await refusal(house.table.act(TABLE, house.context(), act)) == "StakeNotInIncrement"
                    act = tables.Act(round_id, ann, 1, 0, action, lawful[action])
                    await house.table.act(TABLE, house.context(), act)
                    met.add(action)
                    break
            assert (await stand_all(house)).phase is TablePhase.IDLE
        assert (await house.wager.read_statement(TABLE, ann)).rack_cents % 500 == 0
        assert await broken_laws(house) == []


async def test_chips_are_not_bought_with_a_stake_in_play_whoever_is_asked(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.sqlite") as house:
        (ann,) = await house.ready("ann")
        await dealt(house, ann)
        cash = (wager.Count(10_000, 1),)
        direct = wager.BuyIn("b-1", ann, cash, 10_000)
        assert await refusal(house.wager.buy_in(TABLE, house.context(), direct)) == "StakeInPlay"
        await stand_all(house)
        await house.wager.buy_in(TABLE, house.context(), direct)


async def test_l9_a_stake_given_back_between_two_deaths_is_not_taken_for_one_that_is_held(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    async with House(path) as house:
        (ann,) = await house.ready("ann")
        round_id = (await house.table.open_betting(TABLE, house.context())).round_id

    async def place(house: House, cents: int) -> None:
        wagers = (tables.SeatWager(ann, 1, "main", cents),)
        await house.table.place_wagers(TABLE, house.context(), tables.PlaceWagers(round_id, wagers))

    # The chips are held and the process dies; another amount gives them back and the process dies again.
    for cents, calls in ((1_000, 1), (2_000, 2)):
        fault = Fault(at=calls, before=False)
        async with House(path, fault=fault) as house:
            with pytest.raises(ServiceUnavailable):
                await place(house, cents)
            assert fault.names[-1] == ("HoldStakes", "VoidHolds")[calls - 1]
    async with House(path) as house:
        await place(house, 1_000)
        assert (await house.wager.read_table_money(TABLE)).escrow_cents == 1_000
        await house.table.close_betting(TABLE, house.context(), round_id)
        assert (await stand_all(house)).phase is TablePhase.IDLE
        assert await broken_laws(house) == []


async def test_30_819_where_it_is_posted_everyone_sees_the_card_that_a_new_dealer_burns(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.sqlite") as house:
        (ann,) = await house.ready("ann", seed_rules=rules(burn_card_visible='"always"'))
        await dealt(house, ann)
        await stand_all(house)
        await house.table.set_dealer(TABLE, house.context(), tables.SetDealer("D-18"))
        burned = [envelope for envelope in await house.log(f"shoe:{TABLE}") if envelope.type.endswith(".CardBurned")]
        (event,) = [EVENT_TYPES.decode(one.type, one.schema_version, one.payload) for one in burned]
        assert isinstance(event, CardBurned)
        assert event.card is not None


async def test_30_804_a_shoe_that_was_changed_for_another_while_betting_was_open_stops_the_table(
    tmp_path: Path,
) -> None:
    async with House(tmp_path / "journal.sqlite") as house:
        (ann,) = await house.ready("ann")
        round_id = await betting(house, ann)
        status = await house.shoe.get_shoe(TABLE)
        retire = shoe.RetireShoe(status.shoe_id, shoe.RetireReason.HOUSE_CHOICE)
        await house.shoe.retire_shoe(TABLE, house.context(), retire)
        await house.shoe.unload_decks(TABLE, house.context(), shoe.UnloadDecks("new cards"))
        await house.prepare_shoe(shuffle="2", decks=2, behind=26)
        await house.table.close_betting(TABLE, house.context(), round_id)
        view = await house.table.get_table(TABLE)
        assert view.suspended
        assert "deals no more" in view.suspension_reason
        void = tables.VoidRound(round_id, "other cards than posted")
        await house.table.void_round(TABLE, house.context(SUPERVISOR), void)
        await house.table.resume(TABLE, house.context(SUPERVISOR), tables.Resume("30-828(1)", "the hands were pushed"))
        await until(house, lambda view: view.phase is TablePhase.IDLE)
        assert await broken_laws(house) == []


@pytest.mark.parametrize("other", [{"min_cut_cards": "20"}, {"cut_card_first": '"shuffle-now"'}])
async def test_30_816_a_shoe_that_was_shuffled_by_other_rules_is_not_dealt(
    tmp_path: Path, other: dict[str, str]
) -> None:
    async with House(tmp_path / "journal.sqlite") as house:
        await house.ready("ann", seed_rules=rules(**other))
        assert await refusal(house.table.open_betting(TABLE, house.context())) == "ShoeNotReady"
