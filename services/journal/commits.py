"""How a journal tells whoever measures it what it has committed; the same for both adapters."""

from collections.abc import Callable

CommitObserver = Callable[[int, int, float], None]
"""Called with the events of a group commit, their stored bytes, and the seconds from its beginning to its being durable.

It is called in the writer's thread before anyone is answered: it must be quick and must not raise.
"""


def nobody(_events: int, _stored_bytes: int, _seconds: float) -> None:
    """The observer until there is one."""
