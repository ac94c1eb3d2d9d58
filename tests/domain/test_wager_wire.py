"""The wager's dataclasses and messages say the same, field by field, and every event survives the wire."""

from fractions import Fraction
from typing import Any

import pytest

from services.game.authority import Role
from services.game.money import Rounding
from services.wager import client, commands
from services.wager.accounts import Count
from services.wager.books import RECEIPT_FIELDS, Ledger
from services.wager.events import EVENTS, Direction, WagerEvent
from services.wager.ledger import AUTHORITY, evolve
from services.wager.service import wager_events
from services.wire.messages import service_descriptor
from services.wire.rpc import Rpc
from tests.support.ledger import ROUND, TABLE, LedgerAtWork, counts, line, settlement, stake


def a_whole_day() -> LedgerAtWork:
    """A run in which every kind of event happens."""
    work = LedgerAtWork(tray_cents=1_000_00)
    work.sit("ann", cents=100_00)
    main, voided, odd = stake("ann", 10_00), stake("ann", 5_00, ordinal=2), stake("ann", 1_29, ordinal=3)
    work.hold(main, voided, odd)
    work.do(commands.VoidHolds(ROUND, (voided.hold,), "not taken"))
    rounding = Rounding.UP_TO_CHIP
    work.do(
        settlement(
            line(main, due=0, outcome="lose", cause="dealer-blackjack"),
            line(odd, due=Fraction(129 * 5, 2), outcome="blackjack", rounding=rounding, hand=1),
            rounding=rounding,
        )
    )
    work.do(
        commands.CorrectPayment("k-1", f"{ROUND}/settle/1", ROUND, main.hold, Direction.PAY, 10_00, "a push after all"),
        Role.SUPERVISOR,
    )
    work.do(commands.BringChips("observed/console-7/9/chips/1/500", "ann", 5_00), Role.SYSTEM)
    work.do(commands.GiveTip("t-1", "ann", 1_00), Role.SYSTEM)
    work.do(commands.CashOut("c-1", "ann", 1_00), Role.DEALER)
    work.do(commands.CloseSeatSession("ann"), Role.SYSTEM)
    work.do(commands.FillTray("s-1", (Count(25_00, 4),)), Role.SUPERVISOR)
    work.do(commands.CreditTray("s-2", counts(7)), Role.SUPERVISOR)
    work.do(commands.CloseLedger("close-1"), Role.SUPERVISOR)
    return work


def test_every_kind_of_event_survives_the_wire_and_folds_to_the_same_state() -> None:
    work, types = a_whole_day(), wager_events()
    assert {type(event) for event in work.log} == set(EVENTS)
    folded = Ledger.of(TABLE)
    for event in work.log:
        read: WagerEvent = types.decode(*types.encode(event))
        assert read == event
        folded = evolve(folded, read)
    assert folded == work.state


@pytest.mark.parametrize("rpc", client.RPCS, ids=lambda rpc: str(rpc.name))
def test_requests_and_replies_match_their_messages(rpc: Rpc[Any, Any]) -> None:
    rpc.check()


def test_the_service_has_exactly_these_procedures() -> None:
    assert [method.name for method in service_descriptor(client.SERVICE).methods] == [rpc.name for rpc in client.RPCS]


def test_every_command_has_its_authority() -> None:
    kinds = set(commands.Command.__args__)
    assert set(AUTHORITY) == kinds
    rounds = {commands.HoldStakes, commands.VoidHolds, commands.SettleRound}
    assert {kind for kind in RECEIPT_FIELDS if kind.__module__ == commands.__name__} == kinds - rounds
