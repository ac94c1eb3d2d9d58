"""Who may call what: the whole matrix of roles and procedures, floors and actors, and the page that shows it."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.access import ACCESS
from services.floor import gateway_client as gateway
from services.game.authority import Actor, Role
from services.game.rejections import Breach, Rejection
from services.runtime.admission import (
    SERVICES_ONLY,
    Access,
    ActorNotYours,
    FloorNotYours,
    ProcedureNotYours,
    Reach,
    admit,
    floors_asked,
)
from services.runtime.identity import CertificateRole, Grant, Identity
from services.shoe import client as shoe
from services.shoe.shoe import MAY
from services.surveillance import client as surveillance
from services.table import client as table
from services.wager import client as wager
from services.wager.ledger import AUTHORITY
from services.wire.rpc import Call, CommandHeader, Kind, Rpc
from tests.support.access_table import README, written

ROOMS = (shoe, table, wager, surveillance, gateway)
RPCS = tuple(ACCESS)
OF_A_FLOOR = tuple(role for role in CertificateRole if role is not CertificateRole.SERVICE)
FLOOR = "black-hawk"
TABLE = f"{FLOOR}/BJ-07"
ACTOR_OF = {role: Role(role.value) for role in CertificateRole if role.value in set(Role)}


def holder(*grants: Grant) -> Identity:
    now = datetime(2026, 12, 1, tzinfo=UTC)
    return Identity(grants, serial="1", fingerprint="0" * 64, not_before=now, not_after=now)


def call(rpc: Rpc[Any, Any], key: str = TABLE, actor: Actor | None = None) -> Call[Any]:
    header = CommandHeader("r-1", actor, 0, None) if actor is not None else None
    floor = key.partition("/")[0]
    asked: Any = type("Asked", (), {"floor": floor, "round_id": f"{key}#1", "device": "X-1", "supervisor": "X-1"})()
    return Call("" if ACCESS[rpc].reach in {Reach.ROUND, Reach.HOUSE} else key, header, asked)


def own_actor(role: CertificateRole) -> Actor:
    """Somebody for whom a holder of the role speaks, if there is anybody."""
    if role is CertificateRole.GATEWAY:
        return Actor(Role.DEALER, "X-1")
    return Actor(ACTOR_OF.get(role, Role.SYSTEM), "X-1")


def refusal(identity: Identity, rpc: Rpc[Any, Any], asked: Call[Any]) -> type[Rejection] | None:
    """The rule that the call breaks, None where it is let in."""
    try:
        admit(identity, ACCESS.get(rpc, SERVICES_ONLY), rpc, asked)
    except Rejection as rejection:
        refused = rejection
    else:
        return None
    assert refused.breach is Breach.AUTHORITY
    assert refused.rule
    assert refused.remedy
    return type(refused)


def test_every_procedure_of_the_house_stands_in_the_table() -> None:
    known = {value for room in ROOMS for value in vars(room).values() if isinstance(value, Rpc)}
    assert len(known) > 50
    missing = sorted(rpc.name for rpc in known - set(ACCESS))
    assert not missing, f"say in services/access.py who may call {', '.join(missing)}"
    assert set(ACCESS) <= known


def test_the_page_shows_the_table_as_the_code_has_it() -> None:
    text = README.read_text(encoding="utf-8")
    assert text == written(text), "run `python -m tests.support.access_table`"


@pytest.mark.parametrize("role", OF_A_FLOOR)
def test_each_role_opens_what_the_table_says_on_its_own_floor_and_nothing_elsewhere(role: CertificateRole) -> None:
    identity = holder(Grant(FLOOR, role, "X-1"))
    for rpc in RPCS:
        actor = own_actor(role) if rpc.kind is Kind.COMMAND else None
        opened = ACCESS[rpc].admits(role)
        assert refusal(identity, rpc, call(rpc, actor=actor)) is (None if opened else ProcedureNotYours), rpc.name
        if opened and ACCESS[rpc].reach is not Reach.HOUSE:
            assert refusal(identity, rpc, call(rpc, "denver/BJ-07", actor)) is FloorNotYours, rpc.name


@pytest.mark.parametrize("role", OF_A_FLOOR)
def test_each_role_speaks_for_itself_and_a_gateway_for_three(role: CertificateRole) -> None:
    identity = holder(Grant(FLOOR, role, "X-1"))
    spoken_for = {Role.DEVICE, Role.DEALER, Role.PLAYER} if role is CertificateRole.GATEWAY else set()
    for rpc in RPCS:
        if rpc.kind is not Kind.COMMAND or not ACCESS[rpc].admits(role):
            continue
        for actor in (Actor(actor_role, name) for actor_role in Role for name in ("X-1", "X-2", "*")):
            mine = actor.role in spoken_for or (actor.role.value == role.value and actor.id == "X-1")
            assert refusal(identity, rpc, call(rpc, actor=actor)) is (None if mine else ActorNotYours), (
                rpc.name,
                actor,
            )


@pytest.mark.parametrize("rpc", RPCS, ids=lambda rpc: rpc.name)
def test_a_service_may_call_everything_for_everybody(rpc: Rpc[Any, Any]) -> None:
    for role in Role:
        actor = Actor(role, "anybody") if rpc.kind is Kind.COMMAND else None
        assert refusal(holder(Grant("*", CertificateRole.SERVICE, "table")), rpc, call(rpc, actor=actor)) is None


def test_30_828_no_gateway_speaks_for_a_supervisor_unless_the_house_says_so() -> None:
    boss = Actor(Role.SUPERVISOR, "S-1")
    gateway = Grant(FLOOR, CertificateRole.GATEWAY, "gw-1")
    for rpc in (table.RESUME, table.VOID_HAND, table.VOID_ROUND):
        assert refusal(holder(gateway), rpc, call(rpc, actor=boss)) is ProcedureNotYours
        with_supervisors = holder(gateway, Grant(FLOOR, CertificateRole.SUPERVISOR, "*"))
        assert refusal(with_supervisors, rpc, call(rpc, actor=boss)) is None
        of_another_floor = holder(gateway, Grant("denver", CertificateRole.SUPERVISOR, "*"))
        assert refusal(of_another_floor, rpc, call(rpc, actor=boss)) is FloorNotYours


def test_who_only_reads_commands_nothing() -> None:
    readers = {CertificateRole.SURVEILLANCE, CertificateRole.OPS, CertificateRole.CONSOLE}
    for rpc, access in ACCESS.items():
        if rpc.kind is Kind.COMMAND:
            assert not access.roles & readers, rpc.name


def test_cards_and_settlements_are_the_services_alone() -> None:
    for rpc in (shoe.DRAW_CARDS, shoe.PEEK_CARD, wager.HOLD_STAKES, wager.SETTLE_ROUND, wager.BUY_IN):
        assert ACCESS[rpc] == SERVICES_ONLY


def test_hands_and_findings_are_for_oversight_alone() -> None:
    oversight = {CertificateRole.SURVEILLANCE, CertificateRole.REGULATOR, CertificateRole.CONSOLE}
    for rpc in (surveillance.LIST_ROUNDS, surveillance.GET_ROUND, surveillance.LIST_FINDINGS):
        assert ACCESS[rpc].roles == oversight


def test_nobody_is_let_in_whom_the_service_would_refuse_whatever_he_says() -> None:
    judged = [(rpc, MAY[rpc.request]) for rpc in ACCESS if rpc.request in MAY]
    judged += [(rpc, AUTHORITY[rpc.request]) for rpc in ACCESS if rpc.request in AUTHORITY]
    assert len(judged) > 25
    for rpc, actors in judged:
        opened = {ACTOR_OF[role] for role in ACCESS[rpc].roles}
        assert opened <= actors, f"{rpc.name}: {opened - actors}"


def test_a_procedure_that_no_table_names_is_for_services_alone() -> None:
    unknown = Rpc("holecard.shoe.v1.ShoeService", "Unnamed", shoe.GetShoe, shoe.ShoeAnswer, Kind.QUERY)
    for role in CertificateRole:
        told = refusal(holder(Grant("*", role, "X-1")), unknown, Call(TABLE, None, shoe.GetShoe()))
        assert told is (None if role is CertificateRole.SERVICE else ProcedureNotYours)


def test_a_device_reports_as_itself_alone() -> None:
    shoe_7 = holder(Grant(FLOOR, CertificateRole.DEVICE, "shoe-7"))
    any_device = holder(Grant(FLOOR, CertificateRole.DEVICE, "*"))
    of_two_floors = holder(
        Grant("denver", CertificateRole.DEVICE, "tray-7"), Grant(FLOOR, CertificateRole.DEVICE, "shoe-7")
    )
    for rpc in (gateway.REPORT, gateway.GET_DEVICE):
        for device, told in (("shoe-7", None), ("tray-7", ActorNotYours), ("", ActorNotYours), ("*", ActorNotYours)):
            asked: Any = type("Asked", (), {"device": device})()
            assert refusal(shoe_7, rpc, Call(TABLE, None, asked)) is told
            assert refusal(of_two_floors, rpc, Call(TABLE, None, asked)) is told
            assert refusal(any_device, rpc, Call(TABLE, None, asked)) is None


def test_all_floors_together_are_only_for_who_reaches_all() -> None:
    everything = Call("", None, surveillance.ListRounds())
    for floor, told in (("*", None), (FLOOR, FloorNotYours)):
        watcher = holder(Grant(floor, CertificateRole.SURVEILLANCE, "V-1"))
        assert refusal(watcher, surveillance.LIST_ROUNDS, everything) is told


def test_a_question_that_names_two_floors_needs_both() -> None:
    watcher = holder(Grant(FLOOR, CertificateRole.SURVEILLANCE, "V-1"))
    both = Call(TABLE, None, surveillance.ListTables("denver"))
    assert refusal(watcher, surveillance.LIST_TABLES, both) is FloorNotYours
    hidden = Call(TABLE, None, surveillance.GetRound("denver/BJ-01#1"))
    assert refusal(watcher, surveillance.GET_ROUND, hidden) is FloorNotYours


keys = st.one_of(
    st.sampled_from(["", "*", "black-hawk/BJ-07", "denver/BJ-01", "/", "*/BJ-07", "black-hawk", "BLACK-HAWK/BJ-07"]),
    st.text(max_size=20),
)


@settings(max_examples=60)
@given(reach=st.sampled_from(Reach), key=keys, floor=keys, round_id=keys)
def test_however_a_question_is_put_one_floors_grant_reaches_no_other(
    reach: Reach, key: str, floor: str, round_id: str
) -> None:
    asked: Any = type("Asked", (), {"floor": floor, "round_id": round_id})()
    put: Call[Any] = Call(key, None, asked)
    access = Access(frozenset({CertificateRole.SURVEILLANCE}), reach)
    watcher = holder(Grant(FLOOR, CertificateRole.SURVEILLANCE, "V-1"))
    try:
        admit(watcher, access, surveillance.LIST_ROUNDS, put)
    except FloorNotYours:
        assert floors_asked(reach, put) != {FLOOR}
    else:
        assert floors_asked(reach, put) <= {FLOOR}
        if reach is Reach.TABLE:
            assert key.partition("/")[0] == FLOOR
        if reach is Reach.TABLE_OR_FLOOR:
            assert {text.partition("/")[0] for text in (key, floor) if text} == {FLOOR}
