"""The sealer port: AES-256-GCM (NIST SP 800-38D) under a key that never enters a journal.

What is sealed is bound to its context (stream and purpose), so a sealed card moved to another place does not open there.
"""

import os
from pathlib import Path
from typing import Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from services.runtime.entropy import Entropy

KEY_BYTES = 32
NONCE_BYTES = 12


class SealBroken(RuntimeError):
    """Sealed bytes that this key does not open in this context: another house's key, or altered bytes."""


class KeyUnusable(RuntimeError):
    """The key file is missing, too open or not a key."""


class Sealer(Protocol):
    """Closes and opens secrets."""

    def seal(self, plain: bytes, context: bytes) -> bytes:
        """`plain`, sealed for `context`; a new nonce every time."""
        ...

    def unseal(self, sealed: bytes, context: bytes) -> bytes:
        """What was sealed for that context; raises SealBroken."""
        ...


class AesGcmSealer:
    """Seals with one 32-byte key; nonces are 96 random bits, enough for 2^32 seals under one key."""

    def __init__(self, key: bytes, entropy: Entropy) -> None:
        if len(key) != KEY_BYTES:
            raise KeyUnusable(f"a sealing key has {KEY_BYTES} bytes, this one has {len(key)}")
        self._cipher = AESGCM(key)
        self._entropy = entropy

    def __repr__(self) -> str:
        return "AesGcmSealer(key hidden)"

    def seal(self, plain: bytes, context: bytes) -> bytes:
        """Nonce, ciphertext and tag."""
        nonce = self._entropy.draw(NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, plain, context)

    def unseal(self, sealed: bytes, context: bytes) -> bytes:
        """What was sealed for that context; raises SealBroken."""
        try:
            return self._cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], context)
        except (InvalidTag, ValueError) as error:
            raise SealBroken("these bytes do not open under this key and context") from error


def load_or_create_key(path: Path, entropy: Entropy) -> bytes:
    """The key in `path`, made there with mode 0600 when the file does not exist; raises KeyUnusable."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _read_key(path)
    except OSError as error:
        raise KeyUnusable(f"the key file {path} cannot be made: {error.strerror}") from error
    key = entropy.draw(KEY_BYTES)
    with os.fdopen(descriptor, "wb") as file:
        file.write(key)
        file.flush()
        os.fsync(file.fileno())
    # Without this the file's name could be lost in a power cut while events sealed under the key are kept.
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return key


def _read_key(path: Path) -> bytes:
    try:
        if path.stat().st_mode & 0o077:
            raise KeyUnusable(f"the key file {path} can be read by others: chmod 600 it")
        key = path.read_bytes()
    except OSError as error:
        raise KeyUnusable(f"the key file {path} cannot be read: {error.strerror}") from error
    if len(key) != KEY_BYTES:
        raise KeyUnusable(f"{path} is not a sealing key: it has {len(key)} bytes instead of {KEY_BYTES}")
    return key
