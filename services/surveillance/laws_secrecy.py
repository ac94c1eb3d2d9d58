"""L12: nothing published depends on an unrevealed card; no seed, salt or face-down card shows before its time.

Owns the search. While a card lies face down, the payloads of the table's streams are kept (a round at most); when the
card is turned up, they are searched for it: for its salt anywhere, and for its face wherever a message names its
position, or names a card without a position. When a shoe retires, the shoe's payloads are searched for its seeds. Needs
no key.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message

from services.game.cards import Card
from services.surveillance import round_facts as r
from services.surveillance import shoe_facts as s
from services.surveillance.facts import Fact
from services.surveillance.findings import Finding, found
from services.surveillance.scene import TableScene
from services.wire.messages import message_class

LONGEST_WINDOW = 4_000
"""Events kept while a card is hidden; a round has at most a few hundred."""
SHOE_BYTES_KEPT = 4 * 1024 * 1024
"""Payload bytes kept of one shoe's life to be searched for its seeds; six decks make about 100 kB."""


@dataclass(slots=True)
class _Secrets:
    """What one table hides now, and what it has published since."""

    hidden: dict[int, str] = field(default_factory=dict)
    window: list[Fact] = field(default_factory=list)
    shoe_id: str = ""
    life: bytearray = field(default_factory=bytearray)
    starts: list[tuple[int, Fact]] = field(default_factory=list)


class NothingShownEarly:
    """L12, folded over all streams of a table."""

    def __init__(self) -> None:
        self._tables: dict[str, _Secrets] = {}

    def observe(self, fact: Fact, _scene: TableScene) -> Iterator[Finding]:
        """Keep what is published, and search it when a secret becomes known."""
        secrets = self._tables.setdefault(fact.key, _Secrets())
        if fact.area == "shoe":
            yield from _of_shoe(fact, secrets)
        elif fact.area == "table":
            yield from _of_table(fact, secrets)
        if secrets.hidden:
            if len(secrets.window) < LONGEST_WINDOW:
                secrets.window.append(fact)
        elif secrets.window:
            secrets.window = []

    def finish(self) -> Iterator[Finding]:
        """A card that still lies face down keeps its secret; what would show it cannot be known."""
        return iter(())


def _of_shoe(fact: Fact, secrets: _Secrets) -> Iterator[Finding]:
    event = fact.event
    match event:
        case s.CardsShuffled():
            secrets.life, secrets.starts = bytearray(), []
        case s.CardDrawn() | s.CardBurned() if event.face_down:
            if event.card is not None or event.salt:
                yield found("L12", fact, f"the card at {event.position} lies face down and is published with it")
            elif isinstance(event, s.CardDrawn):
                secrets.hidden[event.position] = event.shoe_id
        case s.CardRevealed() if event.position in secrets.hidden:
            yield from _search(fact, secrets, event.position, event.card, event.proof.salt)
            del secrets.hidden[event.position]
        case s.HiddenCardTurned() if event.position in secrets.hidden:
            yield from _search(fact, secrets, event.position, event.card, b"")
            del secrets.hidden[event.position]
        case s.ObservedShoeStarted() | s.ObservedShoeEnded():
            # Of physical cards that nobody turned over, nobody will ever know the face.
            secrets.hidden.clear()
        case s.ShoeRetired():
            yield from _search_seeds(fact, secrets, event)
            secrets.life, secrets.starts = bytearray(), []
            secrets.hidden.clear()
            return
        case _:
            pass
    if len(secrets.life) < SHOE_BYTES_KEPT:
        secrets.starts.append((len(secrets.life), fact))
        secrets.life += fact.envelope.payload


def _of_table(fact: Fact, secrets: _Secrets) -> Iterator[Finding]:
    match fact.event:
        case r.CardDealt() as dealt if dealt.face_down and dealt.card is not None:
            yield found("L12", fact, f"the table names {dealt.card} at {dealt.position}, which lies face down")
        case (r.HoleRevealed() | r.DoubleRevealed()) as shown if shown.position in secrets.hidden:
            yield found("L12", fact, f"the table shows the card at {shown.position} before the shoe has revealed it")
        case _:
            pass


def _search(fact: Fact, secrets: _Secrets, position: int, card: Card, salt: bytes) -> Iterator[Finding]:
    needle = str(card).encode()
    for earlier in secrets.window:
        payload = earlier.envelope.payload
        if earlier.name == "ObservationRecorded":
            # It names what lies open, without a position; a face-down card's face no intake takes (MalformedReading).
            continue
        if salt and salt in payload:
            yield found("L12", earlier, f"holds the salt of the card at {position}, which lay face down")
        elif needle in payload and _names(earlier, position, card):
            yield found("L12", earlier, f"names {card} at {position}, which lay face down until event {fact.sequence}")


def _search_seeds(fact: Fact, secrets: _Secrets, event: s.ShoeRetired) -> Iterator[Finding]:
    for number, seed in enumerate(event.seeds):
        at = secrets.life.find(seed) if len(seed) >= 16 else -1
        if at >= 0:
            shown = [earlier for start, earlier in secrets.starts if start <= at][-1]
            yield found("L12", shown, f"holds the seed of stack {number}, which was secret until event {fact.sequence}")


def _names(fact: Fact, position: int, card: Card) -> bool:
    """Whether the event's message says this card of this position, or this card of no position at all."""
    try:
        message = message_class(fact.envelope.type).FromString(fact.envelope.payload)
    except (KeyError, DecodeError):
        return True
    return _message_names(message, position, str(card), position_above=None)


def _message_names(message: Message, position: int, text: str, position_above: int | None) -> bool:
    fields = message.ListFields()
    own = {field.name: value for field, value in fields if field.name == "position"}
    here = own.get("position", position_above)
    for descriptor, value in fields:
        values = value if descriptor.is_repeated else (value,)
        if descriptor.message_type is not None:
            if descriptor.message_type.GetOptions().map_entry:
                continue
            if any(_message_names(inner, position, text, here) for inner in values):
                return True
        elif descriptor.type == FieldDescriptor.TYPE_STRING and any(one == text for one in values):
            return here is None or here == position
    return False
