"""Whatever a message can carry, the ledger answers with events or with a refusal that fits on the wire; nothing else.

To rerun a failure: `pytest tests/fuzz/test_wager_commands.py --hypothesis-seed=<the seed printed>`.
"""

from dataclasses import fields, is_dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.game.authority import Role
from services.game.rejections import Rejection
from services.wager import commands
from services.wager.books import Ledger
from services.wager.commands import Command
from services.wager.events import WagerEvent
from services.wager.ledger import decide, evolve
from services.wager.service import wager_events
from services.wire.refusal import Refused, decode_refusal, encode_refusal
from tests.support.ledger import ROUND, TABLE, LedgerAtWork, context, line, stake

INT64 = st.integers(-(2**63), 2**63 - 1)
NEAR = st.sampled_from([0, 1, 2, 7, 8, 10_00, 20_00, 10**12, 10**12 + 1, 10**15])
# Ids that exist beside ids that do not, so that refusals deep inside are reached too.
KNOWN = st.sampled_from(
    [
        "ann",
        "bob",
        "open-1",
        "buy/ann",
        ROUND,
        f"{TABLE}#2",
        f"{ROUND}/1/main/1",
        f"{ROUND}/1/main/2",
        f"{ROUND}/settle/1",
    ]
)
TYPES = wager_events()


def value_of(hint: Any) -> st.SearchStrategy[Any]:
    """Anything that the wire mapper could put into a field of that type."""
    if get_origin(hint) is tuple:
        return st.lists(value_of(get_args(hint)[0]), max_size=4).map(tuple)
    if hint is int:
        return st.one_of(NEAR, INT64)
    if hint is str:
        return st.one_of(KNOWN, KNOWN, st.sampled_from(["main", "win", ""]), st.text(max_size=300))
    if hint is bool:
        return st.booleans()
    if hint is Fraction:
        ratios = st.builds(Fraction, INT64, st.one_of(st.just(1), st.integers(1, 2**63 - 1)))
        return st.one_of(NEAR.map(Fraction), ratios)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return st.sampled_from(hint)
    assert isinstance(hint, type)
    assert is_dataclass(hint)
    hints = get_type_hints(hint)
    return st.builds(hint, *(value_of(hints[field.name]) for field in fields(hint)))


@cache
def a_ledger() -> Ledger:
    """Ann has one stake settled and one in play."""
    work = LedgerAtWork()
    work.sit("ann")
    work.sit("bob", 2)
    first, second = stake("ann", 10_00), stake("ann", 10_00, ordinal=2)
    work.hold(first, second)
    work.settle(line(first, due=20_00), final=False)
    return work.state


def outcome_of(command: Command) -> tuple[WagerEvent, ...] | Rejection:
    role = Role.SYSTEM if isinstance(command, commands.HoldStakes | commands.SettleRound) else Role.SUPERVISOR
    try:
        return decide(a_ledger(), command, context(role))
    except Rejection as rejection:
        return rejection


@pytest.mark.parametrize("kind", Command.__args__, ids=lambda kind: str(kind.__name__))
@settings(max_examples=80, deadline=None, print_blob=True)
@given(data=st.data())
def test_any_command_is_carried_out_or_refused(kind: type[Command], data: st.DataObject) -> None:
    outcome = outcome_of(data.draw(value_of(kind)))
    if isinstance(outcome, Rejection):
        assert outcome.rule
        assert outcome.remedy
        refused = Refused.of(outcome)
        on_the_wire = encode_refusal(refused)
        assert len(on_the_wire) < 4_000
        read = decode_refusal(on_the_wire)
        assert read is not None
        assert (read.name, read.facts) == (outcome.name, refused.facts)
        return
    ledger = a_ledger()
    for event in outcome:
        assert TYPES.decode(*TYPES.encode(event)) == event
        # The fold checks that the accounts sum to zero and that none is overdrawn.
        ledger = evolve(ledger, event)
