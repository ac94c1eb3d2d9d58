"""A process that claims a partition again and again from others like it and carries out commands while it owns it.

`python -m tests.support.contender NAME PLACE SEED`; one line on stdout for each command that was acknowledged: table,
request, first and last sequence. A command whose outcome is not known is sent again under its id until it is answered, as a
client does. Runs the product's own journal and host of aggregates; the aggregate is a list that takes no entry twice.
"""

import asyncio
import contextlib
import os
import random
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256

from services.game.authority import Actor, CommandContext, EventId, Role
from services.game.rejections import Rejection
from services.journal.errors import JournalError
from services.journal.kafka_errors import PartitionNotOwned
from services.journal.kafka_journal import Claimant, KafkaJournal
from services.runtime.aggregate import AggregateHost, Decider, Outcome
from services.wire.registry import EventTypes
from tests.support.kafka_broker import from_place

TABLES = 4
State = tuple[EventId, ...]


class EffectTwice(Rejection):
    """An entry that is there already: what the test must never see."""

    rule = "test"
    remedy = "Find out who wrote it before."


def _decide(state: State, command: State, _context: CommandContext) -> State:
    if set(command) & set(state):
        raise EffectTwice(f"{command} is there already")
    return command


DECIDER: Decider[State, State, EventId] = Decider(
    area="table",
    initial=lambda _key: (),
    decide=_decide,
    evolve=lambda state, event: (*state, event),
    events=EventTypes("holecard.common.v1", (EventId,)),
    round_of=lambda _state, _event: "",
)


def _commands(name: str, chance: random.Random) -> Iterator[tuple[str, State, CommandContext]]:
    number = 0
    while True:
        number += 1
        request = f"{name}-{number}"
        entries = tuple(EventId(request, at + 1) for at in range(chance.randrange(1, 5)))
        digest = sha256(request.encode()).digest()
        actor = Actor(Role.DEALER, "D-1")
        yield (
            f"black-hawk/BJ-{chance.randrange(TABLES)}",
            entries,
            CommandContext(request, actor, number, "", None, digest),
        )


async def contend(name: str, place: str, seed: int) -> None:
    """Contend until the process is told to end; then the command in hand is finished first."""
    ending = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ending.set)
    chance = random.Random(seed)
    cluster, layout = from_place(place)
    cluster = replace(cluster, client_id=name)
    journal = await KafkaJournal.open(cluster, layout, Claimant(name), partitions=())
    host = AggregateHost(journal, DECIDER)
    os.write(1, b"open\n")
    for key, entries, context in _commands(name, chance):
        if ending.is_set():
            break
        outcome = await _carried_out(journal, host, key, entries, context, chance)
        # One write system call for a line: the pipe never holds half an acknowledgement.
        line = f"{key} {context.request_id} {outcome.first_sequence} {outcome.last_sequence}\n"
        os.write(1, line.encode())
    await journal.close()


async def _carried_out(
    journal: KafkaJournal,
    host: AggregateHost[State, State, EventId],
    key: str,
    entries: State,
    context: CommandContext,
    chance: random.Random,
) -> Outcome[State, EventId]:
    while True:
        try:
            return await host.execute(key, entries, context, lambda outcome: outcome)
        except PartitionNotOwned:
            await asyncio.sleep(chance.uniform(0.0, 1.5))
            with contextlib.suppress(JournalError):
                await journal.claim(journal.layout.numbers)
        except JournalError:
            await asyncio.sleep(0.1)


if __name__ == "__main__":
    asyncio.run(contend(sys.argv[1], sys.argv[2], int(sys.argv[3])))
