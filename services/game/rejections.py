"""What every refused command has in common; the rejections of the round itself are in `round_rejections`.

A rejection is named after the broken rule, changes nothing, and tells the sender what to do instead.
"""

from enum import StrEnum
from typing import ClassVar


class Breach(StrEnum):
    """What a refused command broke: a rule of the game or house, authority, the form, or that its sender must be known."""

    RULE = "rule"
    AUTHORITY = "authority"
    IDENTITY = "identity"
    FORM = "form"


class Rejection(Exception):
    """A command that breaks a rule.

    Subclasses set `rule` (the section of Rule 8 or of DESIGN.md) and `remedy` (what to do instead, a sentence). `facts`
    are the numbers and names behind the refusal: integers (cents for names ending in `_cents`) or short words.
    `breach` is the kind of rule; subclasses inherit it.
    """

    rule: ClassVar[str] = ""
    remedy: ClassVar[str] = ""
    breach: ClassVar[Breach] = Breach.RULE

    def __init__(self, message: str, /, **facts: int | str) -> None:
        super().__init__(message)
        self.message = message
        self.facts = facts

    @property
    def name(self) -> str:
        """The class's name, which is the stable name on the wire and in metrics."""
        return type(self).__name__


class NotAuthorised(Rejection):
    """The actor's role does not carry this act (30-828(1): only a pit supervisor decides; 30-801)."""

    rule = "30-828"
    remedy = "Let a person whose role carries this act send it."
    breach = Breach.AUTHORITY
