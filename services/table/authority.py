"""Who may do what at a table: the rungs of the ladder (services/game/authority) for each kind of act."""

import re

from services.game.authority import CommandContext, Role
from services.game.rejections import NotAuthorised
from services.table.rejections import IdMalformed, NotSupervisor, NotYourSession, ReasonMissing
from services.table.table import SeatSession

PIT = frozenset({Role.SUPERVISOR, Role.LICENSEE})
"""Opens and closes the table, posts rules and limits (30-803, 30-804)."""
FLOOR = frozenset({Role.DEALER, Role.DEVICE, Role.SUPERVISOR})
"""Carries the procedure: dealers, and devices for them (30-818 to 30-822)."""
ANYONE_ON_DUTY = FLOOR | {Role.LICENSEE, Role.REGULATOR, Role.SURVEILLANCE, Role.SYSTEM}
"""May stop play; going on is another matter."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._:@+-]{0,63}")


def require(context: CommandContext, roles: frozenset[Role], act: str) -> None:
    """Raise NotAuthorised unless the actor's role is one of these."""
    if context.actor.role not in roles:
        raise NotAuthorised(
            f"a {context.actor.role.value} may not {act}", role=context.actor.role.value, actor=context.actor.id
        )


def require_supervisor(context: CommandContext, act: str) -> None:
    """Raise NotSupervisor unless a pit supervisor acts (30-828(1))."""
    if context.actor.role is not Role.SUPERVISOR:
        raise NotSupervisor(
            f"a {context.actor.role.value} may not {act}", role=context.actor.role.value, actor=context.actor.id
        )


def require_own(context: CommandContext, stay: SeatSession) -> None:
    """A player acts in his own session only; dealer, device and supervisor carry out any patron's signal (30-821)."""
    if context.actor.role is Role.PLAYER:
        if context.actor.id != stay.patron:
            raise NotYourSession(
                f"session {stay.session} belongs to another patron", session=stay.session, actor=context.actor.id
            )
    else:
        require(context, FLOOR, "act for a player")


def chooser(context: CommandContext, patron: str) -> str:
    """Who chooses, in the round's words: the patron, also through a terminal, or "" when a dealer read his signal."""
    return patron if context.actor.role in {Role.PLAYER, Role.DEVICE} else ""


def check_name(value: str, what: str) -> str:
    """`value` itself when it is a patron's or badge number; raises IdMalformed."""
    if not _NAME.fullmatch(value):
        raise IdMalformed(f"{what} {value[:80]!r} is not usable as an id", what=what, given=value[:80])
    return value


def check_reason(value: str, what: str = "reason") -> str:
    """`value` itself when it says something in at most 500 printable characters; raises ReasonMissing."""
    if not value.strip() or len(value) > 500 or not value.isprintable():
        raise ReasonMissing(f"a {what} of 1 to 500 printable characters is missing", what=what, length=len(value))
    return value
