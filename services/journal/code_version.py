"""Which code this process runs, as a digest: what one build remembered is not taken over by another.

Promises: the digest changes with every change of the source it is over. Does not know what is remembered.
"""

import importlib
from functools import cache
from hashlib import sha256
from pathlib import Path


@cache
def code_digest(*modules: str) -> bytes:
    """SHA-256 over the source of these modules, by full name; of a package all modules directly in it."""
    digest = sha256()
    for name in modules:
        for path in _sources(name):
            content = path.read_bytes()
            digest.update(f"{name}/{path.name} {len(content)}\n".encode())
            digest.update(content)
    return digest.digest()


def _sources(name: str) -> list[Path]:
    module = importlib.import_module(name)
    folders = [Path(folder) for folder in getattr(module, "__path__", ())]
    if folders:
        return sorted(path for folder in folders for path in folder.glob("*.py"))
    if not module.__file__:
        raise ValueError(f"{name} has no source")
    return [Path(module.__file__)]
