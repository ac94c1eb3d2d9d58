"""What is sealed opens only under its key and in its context, and no text shows the key."""

from pathlib import Path

import pytest

from services.runtime.entropy import ReplayableEntropy
from services.runtime.sealing import AesGcmSealer, KeyUnusable, SealBroken, load_or_create_key

ENTROPY = ReplayableEntropy("sealing")
KEY = ENTROPY.draw(32)


def test_what_is_sealed_opens_again() -> None:
    sealer = AesGcmSealer(KEY, ENTROPY)
    assert sealer.unseal(sealer.seal(b"As", b"shoe:x#1"), b"shoe:x#1") == b"As"


def test_the_same_card_never_looks_the_same() -> None:
    sealer = AesGcmSealer(KEY, ENTROPY)
    assert len({sealer.seal(b"As", b"") for _ in range(100)}) == 100


@pytest.mark.parametrize("spoil", ["key", "context", "bytes", "short"])
def test_anything_else_breaks_the_seal(spoil: str) -> None:
    sealed = AesGcmSealer(KEY, ENTROPY).seal(b"As", b"here")
    opener = AesGcmSealer(ENTROPY.draw(32) if spoil == "key" else KEY, ENTROPY)
    if spoil == "bytes":
        sealed = sealed[:-1] + bytes([sealed[-1] ^ 1])
    with pytest.raises(SealBroken):
        opener.unseal(sealed[:5] if spoil == "short" else sealed, b"there" if spoil == "context" else b"here")


def test_the_key_is_made_once_with_mode_0600_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "shoe.key"
    key = load_or_create_key(path, ENTROPY)
    assert path.stat().st_mode & 0o777 == 0o600
    assert load_or_create_key(path, ENTROPY) == key
    assert key.hex() not in repr(AesGcmSealer(key, ENTROPY))


@pytest.mark.parametrize("problem", ["open to others", "too short", "a folder"])
def test_a_key_file_that_cannot_be_trusted_is_refused(tmp_path: Path, problem: str) -> None:
    path = tmp_path / "shoe.key"
    if problem == "a folder":
        path.mkdir()
        path.chmod(0o700)
    else:
        path.write_bytes(b"short" if problem == "too short" else bytes(32))
        path.chmod(0o644 if problem == "open to others" else 0o600)
    with pytest.raises(KeyUnusable):
        load_or_create_key(path, ENTROPY)
