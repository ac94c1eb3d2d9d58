"""A table's events, commands and answers on the wire: everything that a dataclass says is in its message, and back."""

from services.game.authority import Actor, CommandContext, Role
from services.game.round_words import Action
from services.game.rules import Limits
from services.table import client
from services.table import events as e
from services.table.deciding import decider
from services.table.table import empty, evolve
from services.table.views import view_of
from services.table.words import ChipCount, RackChange, SeatWager, WaitingFor
from services.wire.messages import service_descriptor
from services.wire.registry import EventTypes
from services.wire.rpc import Kind
from tests.support.table_desk import ROUND, TABLE, Desk

ONE_OF_EACH: tuple[e.OwnEvent, ...] = (
    e.RulesPosted("colorado", 3, "ab" * 32, "name = …", ("30-803(3)(a) Dealer …",)),
    e.TableOpened(2, f"{TABLE}/opening/2", "D-17"),
    e.TableCloseStarted(2, f"{TABLE}/closing/2"),
    e.TableClosed(2),
    e.LimitsAnnounced(Limits(500, 10_000, 100), 1_796_000_000_000_000),
    e.LimitsChanged(Limits(500, 10_000, 100), "cd" * 32, "name = …"),
    e.DealerChanged(4, "D-18", "D-17", 1),
    e.DealerBurnFinished(4, 0, "no shoe"),
    e.PlayerSeated(f"{TABLE}/session/9", "ann", 3, 50_000),
    e.RackOpened(f"{TABLE}/session/9"),
    e.PlayerLeaving(f"{TABLE}/session/9"),
    e.PlayerLeft(f"{TABLE}/session/9", "ann", 3, ""),
    e.RackChanged(f"{TABLE}/session/9", RackChange.BUY_IN, "slip-1", 10_000, 60_000),
    e.CashPlayed(ROUND, f"{TABLE}/session/9", 3, "main", "slip-2", 10_000),
    e.WagerSpoken(ROUND, f"{TABLE}/session/9", 3, "main", 1_000),
    e.ShoeAssigned(ROUND, "shoe-1", 6, continuous=True),
    e.ShuffleBecameDue(ROUND, "shoe-1"),
    e.CardsRanShort(ROUND, f"{ROUND}/reshuffle/1", 3),
    e.StakesReleased(ROUND, (f"{ROUND}/1/main/1",), "why"),
    e.DecisionTimerStarted(ROUND, 3, 1_796_000_030_000_000),
    e.DecisionTimedOut(ROUND, 3, 1_796_000_030_000_000),
    e.TableSuspended("a card fell"),
    e.TableResumed("discretion", "none"),
    e.NothingChanged("OpenBetting"),
)


def test_every_event_of_the_table_comes_back_as_it_went() -> None:
    types: EventTypes[e.TableEvent] = decider().events
    assert {type(event) for event in ONE_OF_EACH} == set(e.TABLE_EVENTS)
    for event in ONE_OF_EACH:
        name, version, payload = types.encode(event)
        assert name == f"holecard.table.v1.{type(event).__name__}"
        assert types.decode(name, version, payload) == event


def test_l6_folding_what_was_stored_gives_the_state_in_memory() -> None:
    desk = Desk()
    ann, _ = desk.dealt("8s 9s 7d 8h 8c ?", "ann", "bob")
    desk.act(ann, 1, Action.SPLIT)
    types = decider().events
    stored = [types.encode(event) for event in desk.log]
    folded = empty(TABLE)
    for name, version, payload in stored:
        folded = evolve(folded, types.decode(name, version, payload))
    assert folded == desk.table


def test_every_procedure_fits_its_messages_and_every_one_on_the_wire_is_served() -> None:
    for rpc in client.RPCS:
        rpc.check()
    described = service_descriptor(client.SERVICE)
    assert {method.name for method in described.methods} == {rpc.name for rpc in client.RPCS}
    streams = {method.name for method in described.methods if method.server_streaming}
    assert streams == {rpc.name for rpc in client.RPCS if rpc.kind is Kind.STREAM}


def test_a_table_in_the_middle_of_a_round_comes_back_as_it_went() -> None:
    desk = Desk()
    desk.dealt("As 9s Ad Ks 8c ?", "ann", "bob")
    view = view_of(desk.table, 12, WaitingFor.SHOE, "the shoe cannot be reached")
    assert client.GET_TABLE.decode_reply(client.GET_TABLE.encode_reply(view)) == view
    empty = view_of(Desk().table, 0, WaitingFor.NOBODY, "")
    assert client.GET_TABLE.decode_reply(client.GET_TABLE.encode_reply(empty)) == empty


def test_commands_come_as_they_went() -> None:
    for rpc, command in (
        (client.PLACE_WAGERS, client.PlaceWagers(ROUND, (SeatWager("s", 1, "main", 500),))),
        (client.ACT, client.Act(ROUND, "s", 1, 2, Action.SPLIT, 500, 7)),
        (client.OPEN_TABLE, client.OpenTable("text", (ChipCount(500, 3),), "D-1")),
    ):
        context = _context()
        call = rpc.decode_request(rpc.encode_request(TABLE, context, command))  # type: ignore[arg-type]  # three kinds
        assert call.request == command
        assert call.table == TABLE
        assert call.header is not None
        assert call.header.actor == context.actor


def _context() -> CommandContext:
    return CommandContext("r-1", Actor(Role.DEALER, "D-17"), 1, "2026-11-30")
