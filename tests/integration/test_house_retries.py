"""Retries over the wire: whatever is sent twice, by whom and however, has one effect (C08, C10, B18, D01)."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc

from services.floor.simulation import Callers, Plan, Simulation
from services.game.authority import Actor, CommandContext, Role
from services.game.profiles import profile
from services.house import House
from services.runtime.caller import GrpcCaller, open_channel
from services.runtime.clock import SystemClock
from services.surveillance.facts import Fact
from services.surveillance.laws import check
from services.table.client import Act, Action, PlaceWagers, SeatView, SeatWager, TableClient, TablePhase
from services.wager.client import WagerClient
from services.wire.refusal import Refused
from services.wire.rpc import Kind
from tests.support.audit import facts_of, wrong
from tests.support.hosted import TABLE, hosted, play_rounds, settings_in
from tests.support.repeating import Lossy, Repeating
from tests.support.seeds import seeded
from tests.support.wire_extremes import plausible, request_message

STAKE_CENTS = 500
DEALER = Actor(Role.DEALER, "D-BJ-01")
NOW_US = 1_796_000_000_000_000


async def play(caller: Any, rounds: int, seed: int) -> Simulation:
    """Simulated players through one caller; ends after so many rounds."""
    plan = Plan(tables=2, seats=3, rounds=rounds, mischief=0, seed=seed)
    simulation = Simulation(plan, (profile("colorado"),), Callers(caller, caller, caller), SystemClock())
    await simulation.run(lambda _figures, _seconds: None)
    return simulation


def doubled(facts: Iterable[Fact]) -> list[str]:
    """Effects that the log holds more than once, by their business identity."""
    seen: Counter[str] = Counter()
    for fact in facts:
        event = fact.event
        match fact.name:
            case "RackChanged":
                seen[f"{fact.stream} rack {event.receipt}"] += 1
            case "ChipsBought":
                seen[f"{fact.stream} buy-in {event.buy_in}"] += 1
            case "WagerPlaced":
                seen[f"{fact.envelope.round_id} wager {event.seat} {event.kind} {event.ordinal}"] += 1
            case "WagersSettled":
                seen[f"{fact.envelope.round_id} settled {event.revision}"] += 1
            case "CardDrawn":
                seen[f"{event.shoe_id} card {event.position}"] += 1
            case "TrayFilled":
                seen[f"{fact.stream} slip {event.slip}"] += 1
            case "CardsShuffled":
                seen[f"{fact.stream} shuffle {event.shuffle_id}"] += 1
            case "RoundOpened":
                seen[f"{fact.envelope.round_id} opened"] += 1
            case _:
                pass
    return [f"{what} × {count}" for what, count in seen.items() if count > 1]


async def test_b18_c08_every_command_five_times_at_once_and_again_under_a_new_id(tmp_path: Path) -> None:
    chance = seeded("tests/integration/test_house_retries.py")
    async with hosted(tmp_path, ("shoe", "table", "wager")) as house:
        caller = Repeating(house.caller, chance)
        simulation = await play(caller, 8, chance.randrange(10**6))
        print(dict(caller.seen))
        assert caller.wrong == []
        assert not simulation.figures.surprises
        for name in (
            "OpenTable",
            "SeatPlayer",
            "BuyIn",
            "OpenBetting",
            "PlaceWagers",
            "CloseBetting",
            "Act",
            "CutCards",
        ):
            assert caller.seen[name], f"{name} was never sent"
    facts = facts_of(settings_in(tmp_path).journal_path)
    assert doubled(facts) == []
    assert wrong(settings_in(tmp_path).journal_path) == []


async def test_b18_five_identical_calls_of_every_procedure_give_one_answer(tmp_path: Path) -> None:
    """Every command there is, also those that no simulated player sends; most are refused, and then all five alike."""
    accepted: list[str] = []
    async with hosted(tmp_path, ("shoe", "table", "wager")) as house:
        corpus = (await play_rounds(house, 3)).requests
        commands = [rpc for d in house.house.dispatchers.values() for rpc in d.use_cases if rpc.kind is Kind.COMMAND]
        for rpc in commands:
            kind = request_message(rpc)
            for message in (*(kind.FromString(data) for data in corpus.get(rpc, [])[-1:]), plausible(kind)):
                message.header.request_id = f"five-{rpc.name}-{len(accepted)}"
                data = message.SerializeToString()
                answers = await asyncio.gather(*(house.send(rpc, data) for _ in range(5)))
                assert len(set(answers)) == 1, f"{rpc.name}: {answers}"
                accepted += [rpc.name] if answers[0][0] is grpc.StatusCode.OK else []
    print(f"{len(accepted)} accepted of {len(commands)} procedures: {sorted(set(accepted))}")
    assert len(set(accepted)) >= 10
    facts = facts_of(settings_in(tmp_path).journal_path)
    assert doubled(facts) == []
    assert wrong(settings_in(tmp_path).journal_path) == []


async def test_c10_g01_services_in_processes_of_their_own_lose_requests_and_answers(tmp_path: Path) -> None:
    """The table in one house, shoe and wager in another with a journal of their own; the line between them loses much."""
    chance = seeded("tests/integration/test_house_retries.py")
    async with hosted(tmp_path / "cell", ("shoe", "wager")) as cell:
        address = f"127.0.0.1:{cell.house.grpc_port}"
        settings = replace(settings_in(tmp_path / "tables"), addresses={"shoe": address, "wager": address})
        tables = House(settings, ("table",))
        lossy = Lossy(cell.caller, chance)
        tables._callers = {"shoe": lossy, "wager": lossy}
        async with tables:
            channel = open_channel(f"127.0.0.1:{tables.grpc_port}")
            try:
                front = GrpcCaller(channel)
                plan = Plan(tables=2, seats=3, rounds=6, mischief=0, seed=chance.randrange(10**6))
                callers = Callers(cell.caller, front, cell.caller)
                simulation = Simulation(plan, (profile("colorado"),), callers, SystemClock())
                await simulation.run(lambda _figures, _seconds: None)
            finally:
                await channel.close()
    print(dict(lossy.lost))
    for name in ("DrawCards", "HoldStakes", "SettleRound"):
        assert lossy.lost[name], f"no answer to {name} was lost"
    # Each journal is whole by itself; the laws look at both, in the order in which things were recorded.
    facts = facts_of(settings.journal_path) + facts_of(settings_in(tmp_path / "cell").journal_path)
    facts.sort(key=lambda fact: fact.envelope.recorded_time_us)
    assert doubled(facts) == []
    assert [str(finding) for finding in check(facts)] == []
    assert simulation.figures.rounds >= 6


async def test_d01_a_wager_at_the_close_is_dealt_or_not_charged_over_grpc(tmp_path: Path) -> None:
    chance = seeded("tests/integration/test_house_retries.py")
    accepted = late = 0
    async with hosted(tmp_path, ("shoe", "table", "wager")) as house:
        await play_rounds(house, 1)
        table, wager = TableClient(house.caller), WagerClient(house.caller)
        for number in range(25):
            round_id = (await table.open_betting(TABLE, _by(DEALER, f"open-{number}"))).round_id
            seats = (await table.get_table(TABLE)).seats
            before = {seat.session: (await wager.read_statement(TABLE, seat.session)).rack_cents for seat in seats}

            wagered = [seat for seat in seats if before[seat.session] >= STAKE_CENTS]
            bets = [_bet(table, chance.uniform(0, 0.008), seat, round_id) for seat in wagered]
            *stood, _ = await asyncio.gather(*bets, _close(table, chance.uniform(0, 0.008), round_id))
            accepted += sum(map(bool, stood))
            late += len(stood) - sum(map(bool, stood))
            view = await table.get_table(TABLE)
            staked = {hand.seat for hand in view.round.hands} if view.round is not None else set()
            assert staked == {seat.seat for seat, stands in zip(wagered, stood, strict=True) if stands}
            await _play_out(house.caller, number)
            for seat in seats:
                if seat.seat not in staked:
                    assert (await wager.read_statement(TABLE, seat.session)).rack_cents == before[seat.session]
    print(f"{accepted} wagers dealt, {late} refused and not charged")
    assert accepted
    assert late
    assert wrong(settings_in(tmp_path).journal_path) == []


async def _bet(table: TableClient, pause: float, seat: SeatView, round_id: str) -> bool:
    """Wager after a pause; whether it stands."""
    await asyncio.sleep(pause)
    command = PlaceWagers(round_id, (SeatWager(seat.session, seat.seat, "main", STAKE_CENTS),))
    context = _by(Actor(Role.PLAYER, seat.patron), f"{round_id}/bet/{seat.seat}")
    try:
        await table.place_wagers(TABLE, context, command)
    except Refused as refused:
        if refused.name not in {"BettingClosed", "NoRoundInProgress", "RoundOver", "WrongRound"}:
            raise
        return False
    return True


async def _close(table: TableClient, pause: float, round_id: str) -> None:
    """Close betting after a pause, and again while nobody has a wager yet: then there is nothing to deal (30-820)."""
    for attempt in range(100):
        await asyncio.sleep(pause)
        try:
            await table.close_betting(TABLE, _by(DEALER, f"{round_id}/close/{attempt}"), round_id)
        except Refused as refused:
            if refused.name != "NoWagers":
                raise
        else:
            return


def _by(actor: Actor, request_id: str) -> CommandContext:
    return CommandContext(request_id, actor, NOW_US, "")


async def _play_out(caller: GrpcCaller, number: int) -> None:
    """The dealer answers for everybody, standing and declining, until the round is over."""
    table = TableClient(caller)
    for step in range(200):
        view = await table.get_table(TABLE)
        if view.phase is TablePhase.IDLE or view.round is None:
            return
        for question in view.round.questions:
            wishes = (Action.STAND, Action.DECLINE_INSURANCE, Action.DECLINE_SURRENDER)
            action = next(wish for wish in wishes if wish in question.actions)
            act = Act(view.round.round_id, question.session, question.seat, question.hand, action)
            context = _by(Actor(Role.PLAYER, question.patron), f"out-{number}-{step}-{question.seat}")
            await table.act(TABLE, context, act)
    raise AssertionError("the round never ended")
