"""The heads of a journal's streams, kept outside it: what a chain cannot show by itself (failure G11).

Whoever may write the journal's file can cut off a stream's tail together with the heads recorded in it, or write the tail
anew with every hash after it: what is left is a sound, shorter history. A record of heads that lies elsewhere, on another
disk or in another person's hands, catches both. Owns that file's format, "holecard-heads/1". Does not sign it.
"""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from services.journal.errors import JournalUnavailable
from services.journal.findings import Damage, Finding
from services.journal.port import Recorded, StreamHead

FORMAT = "holecard-heads/1"
HASH_HEX = 64


class HeadsUnusable(JournalUnavailable):
    """The file of heads cannot be read or written, or is none."""


class HeadsSeen:
    """Rides along with a check and remembers where each stream ends; finds nothing."""

    def __init__(self) -> None:
        self._heads: dict[str, StreamHead] = {}

    def see(self, recorded: Recorded) -> None:
        """Take the next event."""
        envelope = recorded.envelope
        self._heads[envelope.stream] = StreamHead(envelope.stream, envelope.sequence, recorded.hash)

    def findings(self) -> tuple[Finding, ...]:
        """Nothing."""
        return ()

    @property
    def heads(self) -> tuple[StreamHead, ...]:
        """The last event of each stream, by name."""
        return tuple(self._heads[name] for name in sorted(self._heads))


class HeadsKept:
    """Rides along with a check: every head that was recorded outside must still be in its stream, as it was."""

    def __init__(self, heads: Sequence[StreamHead]) -> None:
        self._wanted = {head.stream: head for head in heads}
        self._reached: dict[str, int] = {}
        self._rewritten: list[Finding] = []
        self._met: set[str] = set()

    def see(self, recorded: Recorded) -> None:
        """Compare the event that once was a head."""
        envelope = recorded.envelope
        head = self._wanted.get(envelope.stream)
        if head is None:
            return
        self._reached[head.stream] = envelope.sequence
        if envelope.sequence != head.sequence:
            return
        self._met.add(head.stream)
        if recorded.hash != head.hash:
            reason = "it was another event when its head was recorded outside: the history up to here was written anew"
            self._rewritten.append(Finding(Damage.FORKED, head.stream, head.sequence, reason, recorded.position.offset))

    def findings(self) -> Iterator[Finding]:
        """What was rewritten, then what was cut off."""
        yield from self._rewritten
        for name, head in sorted(self._wanted.items()):
            if name not in self._met:
                reached = self._reached.get(name, 0)
                reason = f"the stream ends at {reached}, but its head {head.sequence} was recorded outside"
                yield Finding(Damage.TRUNCATED, name, reached + 1, reason)


def write_heads(path: Path, heads: Sequence[StreamHead]) -> None:
    """Write the file whole or not at all; raises HeadsUnusable."""
    content = {
        "format": FORMAT,
        "streams": [{"stream": h.stream, "sequence": h.sequence, "hash": h.hash.hex()} for h in heads],
    }
    beside = path.with_name(f"{path.name}.new")
    try:
        with beside.open("w", encoding="utf-8") as file:
            json.dump(content, file, indent=1, ensure_ascii=False)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        raise HeadsUnusable(f"the heads cannot be written to {path}: {error.strerror}") from error


def read_heads(path: Path) -> tuple[StreamHead, ...]:
    """The heads in the file; raises HeadsUnusable."""
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise HeadsUnusable(f"the heads in {path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise HeadsUnusable(f"{path} holds no heads: {error}") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT or not isinstance(content.get("streams"), list):
        raise HeadsUnusable(f"{path} holds no heads of the format {FORMAT}")
    return tuple(_head(path, entry) for entry in content["streams"])


def _head(path: Path, entry: Any) -> StreamHead:
    try:
        stream, sequence, digest = entry["stream"], entry["sequence"], bytes.fromhex(entry["hash"])
    except (TypeError, KeyError, ValueError) as error:
        raise HeadsUnusable(f"{path} holds an entry that is no head: {entry!r:.100}") from error
    if not isinstance(stream, str) or type(sequence) is not int or sequence < 1 or len(digest) * 2 != HASH_HEX:
        raise HeadsUnusable(f"{path} holds an entry that is no head: {entry!r:.100}")
    return StreamHead(stream, sequence, digest)
