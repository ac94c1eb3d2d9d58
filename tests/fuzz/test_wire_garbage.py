"""Whatever bytes come over the wire: a clear status, never a failure inside the service, never an outage, nothing half done.

An outage status (UNAVAILABLE, RESOURCE_EXHAUSTED) would be as bad as a failure: clients ask again for ever.
Floats and NaN cannot come at all: no message has a field that could hold one, which the last test makes sure of.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import FieldDescriptor

from services.journal.fsck import fsck
from services.runtime.caller import MESSAGE_LIMIT_BYTES
from services.wire.messages import message_class
from services.wire.rpc import Kind, Rpc
from tests.support.audit import wrong
from tests.support.hosted import Hosted, hosted, play_rounds
from tests.support.seeds import seeded
from tests.support.wire_extremes import extremes, plausible, request_message

ANSWERS = {
    grpc.StatusCode.OK,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.NOT_FOUND,
}
IN_FLIGHT = 16


def procedures(house: Hosted) -> list[Rpc[Any, Any]]:
    """Every procedure of every service."""
    return [rpc for dispatcher in house.house.dispatchers.values() for rpc in dispatcher.use_cases]


async def failures_of(house: Hosted, requests: list[tuple[Rpc[Any, Any], str, bytes]]) -> list[str]:
    """Send everything, many at once; what was not answered as it should be."""
    seen: Counter[str] = Counter()
    found: list[str] = []
    room = asyncio.Semaphore(IN_FLIGHT)

    async def one(rpc: Rpc[Any, Any], name: str, data: bytes) -> None:
        async with room:
            code, text = await house.send(rpc, data)
        seen[code.name] += 1
        if code not in ANSWERS:
            found.append(f"{rpc.name} {name}: {code.name} {text[:200]}")

    await asyncio.gather(*(one(*request) for request in requests))
    print(len(requests), "requests:", dict(seen))
    return found


async def still_plays(house: Hosted, folder: Path) -> None:
    """The house plays on, and its whole log is lawful. The table that was shot at may rightly wait for its supervisor."""
    resume = next(rpc for rpc in procedures(house) if rpc.name == "Resume")
    code, text = await house.send(resume, plausible(request_message(resume)).SerializeToString())
    assert code in ANSWERS, text
    await play_rounds(house, 2, seed=9, tables=2, mischief=0)
    assert wrong(folder / "data" / "journal.db") == []


async def test_random_and_damaged_bytes_to_every_procedure(tmp_path: Path) -> None:
    chance = seeded("tests/fuzz/test_wire_garbage.py")
    async with hosted(tmp_path) as house:
        corpus = (await play_rounds(house, 2)).requests
        requests: list[tuple[Rpc[Any, Any], str, bytes]] = []
        for rpc in procedures(house):
            valid = corpus.get(rpc, [])[:3] or [plausible(request_message(rpc)).SerializeToString()]
            requests += [(rpc, "random", chance.randbytes(chance.randrange(80))) for _ in range(5)]
            requests += [(rpc, "damaged", _damaged(chance, data)) for data in valid for _ in range(8)]
        assert await failures_of(house, requests) == []
        await still_plays(house, tmp_path)


def _damaged(chance: random.Random, data: bytes) -> bytes:
    """The bytes with one to three bits flipped, some cut off or said twice."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 3)):
        if changed:
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    match chance.randrange(4):
        case 0:
            return bytes(changed[: chance.randrange(len(changed) + 1)])
        case 1:
            return bytes(changed + changed)
        case _:
            return bytes(changed)


@pytest.mark.timeout(240)
async def test_c02_every_field_of_every_procedure_at_its_extremes(tmp_path: Path) -> None:
    """int64 ends, unknown enum numbers, missing parts, thousands of entries, texts that deceive the eye or a database."""
    async with hosted(tmp_path) as house:
        corpus = (await play_rounds(house, 2)).requests
        requests = []
        for rpc in procedures(house):
            kind = request_message(rpc)
            bases = [kind.FromString(data) for data in corpus.get(rpc, [])[:1]] or [plausible(kind)]
            requests += [(rpc, name, data) for base in bases for name, data in extremes(base)]
        assert await failures_of(house, requests) == []
        await still_plays(house, tmp_path)


Change = Callable[[Any], None]


def _set_header(name: str, value: Any) -> Change:
    return lambda message: setattr(message.header, name, value)


def _set_actor(name: str, value: Any) -> Change:
    return lambda message: setattr(message.header.actor, name, value)


def _set_table(table: str) -> Change:
    return lambda message: setattr(message, "table", table)


LACKS: dict[str, tuple[Change, str]] = {
    "no header": (lambda message: message.ClearField("header"), "header is missing"),
    "no actor": (lambda message: message.header.ClearField("actor"), "actor"),
    "empty actor id": (_set_actor("id", ""), "MalformedHeader"),
    "an actor id that looks like another": (_set_actor("id", "p\u0430ul"), "MalformedHeader"),
    "unspecified role": (_set_actor("role", 0), "Role"),
    "unknown role": (_set_actor("role", 77), "Role"),
    "empty request id": (_set_header("request_id", ""), "RequestIdMissing"),
    "long request id": (_set_header("request_id", "r" * 129), "RequestIdMissing"),
    "a request id with a line break": (_set_header("request_id", "r\n"), "MalformedHeader"),
    "time before 1970": (_set_header("occurred_time_us", -1), "MalformedHeader"),
    "malformed table": (_set_table("Black Hawk/7"), "MalformedTableKey"),
    "no table": (_set_table(""), "MalformedTableKey"),
}


@pytest.mark.parametrize("lack", LACKS)
async def test_c10_what_a_command_must_have_is_named_when_it_is_missing(tmp_path: Path, lack: str) -> None:
    change, named = LACKS[lack]
    async with hosted(tmp_path, ("shoe", "table", "wager")) as house:
        commands = [rpc for rpc in procedures(house) if rpc.kind is Kind.COMMAND]
        assert len(commands) > 40
        for rpc in commands:
            message = plausible(request_message(rpc))
            change(message)
            code, text = await house.send(rpc, message.SerializeToString())
            assert (code, named in text) == (grpc.StatusCode.INVALID_ARGUMENT, True), f"{rpc.name}: {code} {text}"
        assert fsck(house.house.settings.journal_path).events == 0


async def test_unknown_methods_services_and_tables(tmp_path: Path) -> None:
    async with hosted(tmp_path) as house:
        service = procedures(house)[0].service
        for path in (f"/{service}/DealMeAnAce", "/holecard.shoe.v2.ShoeService/DrawCards", "/", "/x"):
            code, _ = await house.send_to(path, b"")
            assert code is grpc.StatusCode.UNIMPLEMENTED, path
        for rpc in procedures(house):
            if rpc.kind is Kind.COMMAND:
                continue
            kind = request_message(rpc)
            for table in ("black-hawk/BJ-77", "nowhere", "../..", "x" * 200):
                message = plausible(kind)
                if "table" in kind.DESCRIPTOR.fields_by_name:
                    message.table = table
                code, text = await house.send(rpc, message.SerializeToString())
                assert code in ANSWERS, f"{rpc.name} {table}: {code} {text}"


async def test_a_message_over_the_limit_is_turned_away_and_the_house_goes_on(tmp_path: Path) -> None:
    async with hosted(tmp_path, ("shoe", "table", "wager")) as house:
        rpc = next(rpc for rpc in procedures(house) if rpc.name == "PostRules")
        message = plausible(request_message(rpc))
        message.rules_text = "x" * (10 * 1024 * 1024)
        data = message.SerializeToString()
        assert len(data) > MESSAGE_LIMIT_BYTES
        # Our own channels refuse to send it; a foreign client's request is refused by the server.
        async with grpc.aio.insecure_channel(
            f"127.0.0.1:{house.house.grpc_port}", options=[("grpc.max_send_message_length", -1)]
        ) as foreign:
            for channel in (house.channel, foreign):
                call: Any = channel.unary_unary(rpc.path)
                with pytest.raises(grpc.aio.AioRpcError) as refused:
                    await call(data, timeout=20)
                assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        await play_rounds(house, 1)


def _fields(kind: Any, seen: set[str]) -> list[FieldDescriptor]:
    if kind.full_name in seen:
        return []
    seen.add(kind.full_name)
    found = list(kind.fields)
    for field in kind.fields:
        if field.message_type is not None:
            found += _fields(field.message_type, seen)
    return found


async def test_c02_no_request_can_hold_a_float_or_nan(tmp_path: Path) -> None:
    floats = {FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FLOAT}
    async with hosted(tmp_path) as house:
        for rpc in procedures(house):
            package = rpc.service.rpartition(".")[0]
            for name in (f"{package}.{rpc.name}Request", f"{package}.{rpc.name}Response"):
                fields = _fields(message_class(name).DESCRIPTOR, set())
                assert [field.full_name for field in fields if field.type in floats] == []
