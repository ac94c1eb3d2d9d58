"""A refused command on the wire: google.rpc.Status with our typed Rejection as its detail.

Callers get `Refused`, the same in both forms of a client. Does not decide anything.
"""

from collections.abc import Mapping
from typing import Any, cast

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import DecodeError
from google.rpc.status_pb2 import Status

from services.game.rejections import Rejection
from services.wire.messages import message_class

STATUS_DETAILS_KEY = "grpc-status-details-bin"

# A status travels in headers, of which gRPC takes 8 KB; beyond that the answer is lost and looks like an overload. One
# character takes up to 12 bytes there (percent-encoded UTF-8).
MOST_STATUS_CHARACTERS = 200
MOST_MESSAGE_CHARACTERS = 400
MOST_FACTS_BYTES = 1_200

_REJECTION = message_class("holecard.common.v1.Rejection")


class Refused(Exception):
    """Another service refused a command: nothing changed there.

    `name` is the broken rule ("StakeBelowMinimum"), `rule` its section, `remedy` what to do instead, `facts` the numbers
    and names behind it, as text.
    """

    def __init__(self, name: str, rule: str, message: str, remedy: str, facts: Mapping[str, str]) -> None:
        super().__init__(f"{name} ({rule}): {message}")
        self.name = name
        self.rule = rule
        self.message = message
        self.remedy = remedy
        self.facts = dict(facts)

    @classmethod
    def of(cls, rejection: Rejection) -> "Refused":
        """The caller's form of a rejection."""
        facts = {key: str(value) for key, value in rejection.facts.items()}
        return cls(rejection.name, rejection.rule, rejection.message, rejection.remedy, facts)


def encode_refusal(refused: Refused, code: int) -> bytes:
    """The bytes of the status detail, `code` being the gRPC status number; what is too long for a header is cut."""
    detail = AnyMessage()
    detail.Pack(
        _REJECTION(
            name=refused.name,
            rule=refused.rule,
            message=_cut(refused.message, MOST_MESSAGE_CHARACTERS),
            remedy=refused.remedy,
            facts=_cut_facts(refused.facts),
        )
    )
    data: bytes = Status(code=code, message=status_text(refused), details=[detail]).SerializeToString()
    return data


def status_text(error: Exception) -> str:
    """What a gRPC status says of `error`, short enough for a header whatever the request held."""
    return _cut(str(error), MOST_STATUS_CHARACTERS)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _cut_facts(facts: Mapping[str, str]) -> dict[str, str]:
    """The facts, long ones shortened, as many as there is room for."""
    kept: dict[str, str] = {}
    room = MOST_FACTS_BYTES
    for name, value in facts.items():
        short = _cut(value, 100)
        room -= len(name) + len(short.encode("utf-8", "replace")) + 8
        if room < 0:
            break
        kept[name] = short
    return kept


def decode_refusal(data: bytes) -> Refused | None:
    """The refusal in a status detail, or None where there is none of ours."""
    try:
        status = Status.FromString(data)
    except DecodeError:
        return None
    for detail in status.details:
        if detail.Is(_REJECTION.DESCRIPTOR):
            message = cast("Any", _REJECTION())
            detail.Unpack(message)
            return Refused(message.name, message.rule, message.message, message.remedy, message.facts)
    return None
