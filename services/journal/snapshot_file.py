"""A snapshot as a file: what it holds behind a digest, written so that a reader finds it whole or not at all.

Promises: a file that was cut short, changed or is something else is refused with a reason, never half read. The digest tells
damage, not malice: whoever may write the folder can write a snapshot, so readers compare what it says with the log. Does not
know what is inside.
"""

import contextlib
import os
from hashlib import sha256
from pathlib import Path

_MAGIC = b"holecard snapshot 1\n"
_DIGEST_BYTES = 32


class SnapshotUnusable(Exception):
    """There is no such snapshot, or it is not to be used; the message says why. `missing` when there simply is none."""

    def __init__(self, reason: str, *, missing: bool = False) -> None:
        super().__init__(reason)
        self.missing = missing


def write_snapshot(path: Path, content: bytes) -> None:
    """Put the snapshot in the place of the one before; raises OSError, after which the one before is still there.

    Not forced to the disk: what a power cut leaves of it has another digest, and the log is read instead.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        with scratch.open("wb") as file:
            file.write(_MAGIC)
            file.write(sha256(content).digest())
            file.write(content)
        scratch.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            scratch.unlink()
        raise


def read_snapshot(path: Path) -> bytes:
    """What the snapshot holds; raises SnapshotUnusable."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise SnapshotUnusable(f"there is no {path.name}", missing=True) from None
    except OSError as error:
        raise SnapshotUnusable(f"it cannot be read: {error.strerror}") from error
    if not data.startswith(_MAGIC):
        raise SnapshotUnusable("it is no snapshot, or one of another Holecard")
    start = len(_MAGIC) + _DIGEST_BYTES
    content = data[start:]
    if sha256(content).digest() != data[len(_MAGIC) : start]:
        raise SnapshotUnusable("it is damaged: its digest is another")
    return content


def remove_snapshot(path: Path) -> None:
    """Make sure that nobody uses it again; a folder that does not allow it is left as it is."""
    with contextlib.suppress(OSError):
        path.unlink()
