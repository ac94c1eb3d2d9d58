"""Whether the holder of a certificate may make a call: role by procedure, floor, and in whose name.

Owns the rule, not the table of who may call what (services/access). A command's own service still judges the actor's
authority over the act (30-828); here it is settled that the actor is who the command says.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from services.game.authority import Actor
from services.game.rejections import Breach, Rejection
from services.runtime.identity import EVERY, PASSED_ON_BY_GATEWAYS, CertificateRole, Grant, Identity
from services.runtime.table_key import floor_of
from services.wire.rpc import Call, Rpc

_PASSED_ON = frozenset(CertificateRole(role.value) for role in PASSED_ON_BY_GATEWAYS)


class ProcedureNotYours(Rejection):
    """No role in the certificate may call this procedure."""

    rule = "DESIGN §5"
    remedy = "Let somebody whose role carries it call; services/README.md lists who may do what."
    breach = Breach.AUTHORITY


class FloorNotYours(Rejection):
    """The call concerns a floor, or all floors together, that the certificate does not reach."""

    rule = "DESIGN §1"
    remedy = "Ask about your own floor, with a certificate of that floor."
    breach = Breach.AUTHORITY


class ActorNotYours(Rejection):
    """The command says that somebody acts for whom the certificate's holder may not speak."""

    rule = "DESIGN §5"
    remedy = "Act under your own name and role, or let the actor's own certificate send the command."
    breach = Breach.AUTHORITY


class Reach(StrEnum):
    """What a call's floor is read from: the table's key, a `floor` field ("" is all floors), a round's id, or nothing."""

    TABLE = "table"
    TABLE_OR_FLOOR = "table or floor"
    ROUND = "round"
    HOUSE = "house"


@dataclass(frozen=True, slots=True)
class Access:
    """Who may call one procedure. Services always may; gateways where one whom they pass on may.

    `own` is the field of the request that must name the caller himself, "" where there is none: a device reports as itself.
    """

    roles: frozenset[CertificateRole]
    reach: Reach = Reach.TABLE
    own: str = ""

    def admits(self, role: CertificateRole) -> bool:
        """Whether a certificate with that role opens the procedure."""
        if role is CertificateRole.GATEWAY:
            return CertificateRole.GATEWAY in self.roles or bool(self.roles & _PASSED_ON)
        return role is CertificateRole.SERVICE or role in self.roles


AccessTable = Mapping[Rpc[Any, Any], Access]
SERVICES_ONLY = Access(frozenset())
"""What holds for a procedure that no table names."""


def admit(identity: Identity, access: Access, rpc: Rpc[Any, Any], call: Call[Any]) -> None:
    """Raise ProcedureNotYours, FloorNotYours or ActorNotYours unless the holder may make this call."""
    opened = [grant for grant in identity.grants if access.admits(grant.role)]
    if not opened:
        raise ProcedureNotYours(f"the role {_roles(identity.grants)} may not call {rpc.name}", procedure=rpc.name)
    floors = floors_asked(access.reach, call)
    for floor in floors:
        if not any(grant.reaches(floor) for grant in opened):
            where = f"floor {floor[:40]!r}" if floor else "all floors together"
            raise FloorNotYours(f"this certificate does not reach {where}", floor=floor[:40])
    if access.own:
        _check_own(opened, getattr(call.request, access.own), floors)
    if call.header is not None and not _speaks_for(identity.grants, call.header.actor, floors):
        actor = call.header.actor
        raise ActorNotYours(
            f"this certificate may not act as {actor.role.value} {actor.id[:64]!r}",
            role=actor.role.value,
            actor=actor.id[:64],
        )


def _check_own(opened: Collection[Grant], name: str, floors: Collection[str]) -> None:
    for grant in opened:
        if all(map(grant.reaches, floors)) and (grant.role is CertificateRole.SERVICE or grant.id in {EVERY, name}):
            return
    raise ActorNotYours(f"this certificate is not {name[:64]!r}'s", actor=name[:64])


def floors_asked(reach: Reach, call: Call[Any]) -> frozenset[str]:
    """The floors that a call is about: "" is all of them together, none at all where it is about the house itself."""
    if reach is Reach.HOUSE:
        return frozenset()
    named = [call.table] if call.table or reach is Reach.TABLE else []
    if reach is Reach.ROUND:
        named.append(call.request.round_id)
    if reach is Reach.TABLE_OR_FLOOR and (call.request.floor or not named):
        named.append(call.request.floor)
    return frozenset(map(floor_of, named))


def _speaks_for(grants: Collection[Grant], actor: Actor, floors: Collection[str]) -> bool:
    return any(grant.speaks_for(actor) and all(map(grant.reaches, floors)) for grant in grants)


def _roles(grants: Collection[Grant]) -> str:
    return " or ".join(dict.fromkeys(grant.role.value for grant in grants))
