"""One remote procedure as a value: its path, the dataclasses it takes and gives, and how both go over the wire.

Server and client are written against the same value, so they cannot disagree. Does not send anything (see
services/runtime).
"""

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Generic, TypeVar, cast

from google.protobuf.message import Message

from services.game.authority import Actor, CommandContext, EventId
from services.wire.mapping import MalformedMessage, Mapper, mapper
from services.wire.messages import message_class

Q = TypeVar("Q")
A = TypeVar("A")

_BESIDES = ("header", "table")


class Kind(StrEnum):
    """A command may change something and is answered once; a query changes nothing; a stream answers again and again."""

    COMMAND = "command"
    QUERY = "query"
    STREAM = "stream"


@dataclass(frozen=True, slots=True)
class CommandHeader:
    """The part of a command's context that its sender knows; the receiver adds the gaming day."""

    request_id: str
    actor: Actor
    occurred_time_us: int
    cause: EventId | None

    @classmethod
    def of(cls, context: CommandContext) -> "CommandHeader":
        """The header that carries this context."""
        return cls(context.request_id, context.actor, context.occurred_time_us, context.cause)


@dataclass(frozen=True, slots=True)
class Call(Generic[Q]):
    """A request as it arrived: the table's key ("" where the procedure has none), the header of a command, the content."""

    table: str
    header: CommandHeader | None
    request: Q


@dataclass(frozen=True)
class Rpc(Generic[Q, A]):
    """A procedure `name` of `service` ("holecard.shoe.v1.ShoeService"), taking `request` and giving `reply`.

    Its messages are `<name>Request` and `<name>Response` in the service's package.
    """

    service: str
    name: str
    request: type[Q]
    reply: type[A]
    kind: Kind = Kind.COMMAND

    @property
    def path(self) -> str:
        """The gRPC method path."""
        return f"/{self.service}/{self.name}"

    @cached_property
    def _request_mapper(self) -> Mapper[Q]:
        package = self.service.rpartition(".")[0]
        return Mapper(self.request, message_class(f"{package}.{self.name}Request"), besides=_BESIDES)

    @cached_property
    def _reply_mapper(self) -> Mapper[A]:
        package = self.service.rpartition(".")[0]
        return Mapper(self.reply, message_class(f"{package}.{self.name}Response"))

    def check(self) -> None:
        """Raise MappingMismatch where dataclasses and messages differ, or a command's message lacks its header."""
        names = self._request_mapper.message.DESCRIPTOR.fields_by_name
        if self.kind is Kind.COMMAND and not {"header", "table"} <= set(names):
            raise MalformedMessage(f"{self.name}Request is a command and needs the fields header and table")
        _ = self._reply_mapper

    def encode_request(self, table: str, context: CommandContext | None, request: Q) -> bytes:
        """The request's bytes; `context` is needed for commands only."""
        message = cast("Any", self._request_mapper.to_message(request))
        if table:
            message.table = table
        if context is not None:
            message.header.CopyFrom(_HEADER.to_message(CommandHeader.of(context)))
        return cast("bytes", message.SerializeToString())

    def decode_request(self, data: bytes) -> Call[Q]:
        """The request in `data`; raises MalformedMessage, also for a command without a header or request id."""
        message = cast("Any", self._request_mapper.parse(data))
        header = None
        if self.kind is Kind.COMMAND:
            if not message.HasField("header"):
                raise MalformedMessage(f"{self.name} is a command: its header is missing", field="header")
            header = _HEADER.from_message(message.header)
        table = message.table if "table" in message.DESCRIPTOR.fields_by_name else ""
        return Call(table, header, self._request_mapper.from_message(message))

    def digest(self, table: str, actor: Actor, request: Q) -> bytes:
        """SHA-256 over what a command asks and who asks it, the same on both ends and for every retry."""
        message: Message = self._request_mapper.to_message(request)
        content = message.SerializeToString(deterministic=True)
        head = "\x00".join((self.path, table, actor.role, actor.id)).encode()
        return hashlib.sha256(len(head).to_bytes(4, "big") + head + content).digest()

    def encode_reply(self, reply: A) -> bytes:
        """The reply's bytes."""
        return self._reply_mapper.encode(reply)

    def decode_reply(self, data: bytes) -> A:
        """The reply in `data`; raises MalformedMessage."""
        return self._reply_mapper.decode(data)


_HEADER: Mapper[CommandHeader] = mapper(CommandHeader, "holecard.common.v1.CommandHeader")
