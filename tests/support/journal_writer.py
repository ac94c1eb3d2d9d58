"""A process that appends to a journal until it is killed, and says on stdout what was acknowledged to it.

`python -m tests.support.journal_writer KIND PLACE SEED`; one line for each acknowledged append: stream, first sequence, and
the hashes of its events. Every payload says how many events its append has, so that half an append can be told.
"""

import asyncio
import os
import random
import sys

from services.journal.kafka_journal import Claimant, KafkaJournal
from services.journal.port import Journal
from services.journal.sqlite import SqliteJournal
from tests.support.journal_events import new_event
from tests.support.kafka_broker import from_place

WRITERS = 12


async def open_journal(kind: str, place: str) -> Journal:
    """Open the journal that an adapter's test names by kind and place."""
    if kind == "sqlite":
        return SqliteJournal.open(place)
    if kind == "kafka":
        return await KafkaJournal.open(*from_place(place), Claimant("journal-writer"))
    raise ValueError(f"no such kind of journal: {kind}")


async def write(journal: Journal, writer: int, rng: random.Random) -> None:
    """Append commands of one to six events to a stream of one's own, for ever."""
    stream = f"table:black-hawk/BJ-{writer}"
    heads = {head.stream: head.sequence for head in await journal.streams()}
    sequence = heads.get(stream, 0)
    while True:
        size = rng.randint(1, 6)
        events = [
            new_event(
                sequence + at, payload=f"{at}/{size} ".encode() * rng.randint(1, 90), request_id=f"{stream}-{sequence}"
            )
            for at in range(1, size + 1)
        ]
        recorded = await journal.append(stream, sequence, events)
        hashes = ",".join(one.hash.hex() for one in recorded)
        # One write system call for a line: the pipe never holds half an acknowledgement.
        os.write(1, f"{stream} {sequence + 1} {hashes}\n".encode())
        sequence += size


async def main(kind: str, place: str, seed: int) -> None:
    """Run all writers until the process ends."""
    journal = await open_journal(kind, place)
    os.write(1, b"open\n")
    await asyncio.gather(*(write(journal, writer, random.Random(seed + writer)) for writer in range(WRITERS)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
