"""A refused command on the wire: google.rpc.Status with our typed Rejection as its detail.

Callers get `Refused`, the same in both forms of a client. Does not decide anything.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, cast

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import DecodeError
from google.rpc import code_pb2
from google.rpc.status_pb2 import Status

from services.game.rejections import Breach, Rejection
from services.wire.messages import message_class

STATUS_DETAILS_KEY = "grpc-status-details-bin"

# A status travels in headers, of which gRPC takes 8 KB; beyond that the answer is lost and looks like an overload. One
# character takes up to 12 bytes there (percent-encoded UTF-8).
MOST_STATUS_CHARACTERS = 200
MOST_MESSAGE_CHARACTERS = 400
MOST_FACTS_BYTES = 1_200

STATUS_CODES: dict[Breach, int] = {
    Breach.RULE: code_pb2.FAILED_PRECONDITION,
    Breach.AUTHORITY: code_pb2.PERMISSION_DENIED,
    Breach.IDENTITY: code_pb2.UNAUTHENTICATED,
    Breach.FORM: code_pb2.INVALID_ARGUMENT,
}
"""The gRPC status number of each kind of refusal."""

_BREACHES = defaultdict(lambda: Breach.RULE, {code: breach for breach, code in STATUS_CODES.items()})
_REJECTION = message_class("holecard.common.v1.Rejection")


class Refused(Exception):
    """Another service refused a command: nothing changed there.

    `name` is the broken rule ("StakeBelowMinimum"), `rule` its section, `remedy` what to do instead, `facts` the numbers
    and names behind it, as text, and `breach` the kind of rule.
    """

    def __init__(
        self,
        name: str,
        rule: str,
        message: str,
        remedy: str,
        facts: Mapping[str, str],
        breach: Breach = Breach.RULE,
    ) -> None:
        super().__init__(f"{name} ({rule}): {message}")
        self.name = name
        self.rule = rule
        self.message = message
        self.remedy = remedy
        self.facts = dict(facts)
        self.breach = breach

    @classmethod
    def of(cls, rejection: Rejection) -> "Refused":
        """The caller's form of a rejection."""
        facts = {key: str(value) for key, value in rejection.facts.items()}
        return cls(rejection.name, rejection.rule, rejection.message, rejection.remedy, facts, rejection.breach)


def encode_refusal(refused: Refused) -> bytes:
    """The bytes of the status with its detail; what is too long for a header is cut."""
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
    data: bytes = Status(
        code=STATUS_CODES[refused.breach], message=status_text(refused), details=[detail]
    ).SerializeToString()
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
            return Refused(
                message.name, message.rule, message.message, message.remedy, message.facts, _BREACHES[status.code]
            )
    return None
