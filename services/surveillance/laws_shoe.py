"""L2: each position drawn once and in order, every card `decks` times, and the revealed order opens the commitment.

Owns an independent fold of the shoe streams (see shoe_opening for the recipe). Memory is one shoe per table. What is
checked while the shoe is in play needs no secret; the rest is checked when the shoe retires and its seeds are public.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from services.game.authority import Role
from services.game.cards import Card
from services.surveillance import shoe_facts as s
from services.surveillance import shoe_opening as opening
from services.surveillance.facts import Fact
from services.surveillance.findings import Finding, found
from services.surveillance.laws_observed import observed_card, observed_shoe
from services.surveillance.scene import TableScene


@dataclass(slots=True)
class Stack:
    """One committed order: the full shoe, or discards shuffled again within a round."""

    first: int
    size: int
    seed_hash: bytes
    root: bytes
    depth: int | None = None
    recycled: tuple[int, ...] = ()


@dataclass(slots=True)
class OutCard:
    """A card that left the shoe; `card` None while it has not been seen."""

    card: Card | None
    leaf: bytes
    salt: bytes
    burned: bool


@dataclass(slots=True)
class ShoeInPlay:
    """A shoe from its shuffle to its retirement."""

    shoe_id: str
    decks: int
    continuous: bool
    algorithm: str
    composition: bytes
    stacks: list[Stack]
    out: list[OutCard] = field(default_factory=list)
    returned: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    gone: set[int] = field(default_factory=set)
    seen: Counter[Card] = field(default_factory=Counter)
    retired: bool = False
    observed: bool = False
    """A physical shoe: its cards are counted, its order was never committed to and cannot be opened."""
    impossible: set[int] = field(default_factory=set)

    @property
    def recycled(self) -> int:
        """How many cards left the shoe more than once."""
        return sum(len(stack.recycled) for stack in self.stacks) + sum(len(back) for _, back in self.returned)

    @property
    def left(self) -> int:
        """How many cards are still inside."""
        if self.continuous:
            return 52 * self.decks - len(self.out) + self.recycled
        left = sum(stack.size for stack in self.stacks) - len(self.out)
        return max(left, 0) if self.observed else left

    def place(self, position: int) -> tuple[int, int]:
        """The stack of a shoe position, and the place in its committed order (0 where no stack holds it)."""
        if self.continuous:
            return 0, position
        for number, stack in enumerate(self.stacks):
            if stack.first <= position < stack.first + stack.size:
                index = position - stack.first + 1
                return number, opening.place_before_cut(index, stack.size, stack.depth or 0)
        return 0, 0


class ShoeWhole:
    """L2, folded over the shoe streams of all tables."""

    def __init__(self) -> None:
        self._shoes: dict[str, ShoeInPlay] = {}

    def observe(self, fact: Fact, _scene: TableScene) -> Iterator[Finding]:
        """Fold one event of a shoe stream in."""
        event = fact.event
        if fact.area != "shoe" or event is None:
            return
        if isinstance(event, s.CardsShuffled):
            yield from self._shuffled(fact, event)
            return
        if isinstance(event, s.ObservedShoeStarted):
            yield from self._watched(fact, event)
            return
        if not hasattr(event, "shoe_id"):
            return
        shoe = self._shoes.get(fact.key)
        if shoe is None or shoe.retired or shoe.shoe_id != event.shoe_id:
            if not isinstance(event, s.CardRevealed):
                yield found("L2", fact, f"the shoe {event.shoe_id} is not in play")
            return
        yield from _in_play(fact, shoe, event)

    def finish(self) -> Iterator[Finding]:
        """A shoe in play is not opened yet; nothing can be said of it."""
        return iter(())

    def _watched(self, fact: Fact, event: s.ObservedShoeStarted) -> Iterator[Finding]:
        before = self._shoes.get(fact.key)
        if before is not None and not before.retired:
            yield found("L2", fact, f"a new shoe begins while {before.shoe_id} is in play")
        stack = Stack(1, 52 * event.decks, b"", b"")
        self._shoes[fact.key] = ShoeInPlay(
            event.shoe_id, event.decks, continuous=False, algorithm="", composition=b"", stacks=[stack], observed=True
        )

    def _shuffled(self, fact: Fact, event: s.CardsShuffled) -> Iterator[Finding]:
        before = self._shoes.get(fact.key)
        if before is not None and not before.retired:
            yield found("L2", fact, f"a new shoe begins while {before.shoe_id} is in play")
        if not 1 <= event.decks <= opening.MOST_DECKS:
            yield found("L2", fact, f"a shoe of {event.decks} decks (30-806)")
            self._shoes.pop(fact.key, None)
            return
        if len(event.seed_hash) != 32 or (len(event.root) != 32 and not event.continuous):
            yield found("L2", fact, "the order is not committed to: fingerprint or root is missing")
        if event.composition != opening.composition_of(event.decks):
            yield found("L2", fact, f"the digest of the cards is not that of {event.decks} decks")
        stack = Stack(1, 52 * event.decks, event.seed_hash, event.root)
        self._shoes[fact.key] = ShoeInPlay(
            event.shoe_id, event.decks, event.continuous, event.algorithm, event.composition, [stack]
        )


def _in_play(fact: Fact, shoe: ShoeInPlay, event: Any) -> Iterator[Finding]:
    match event:
        case s.CardsCut():
            yield from _cut(fact, shoe, event)
        case s.CardDrawn() | s.CardBurned():
            yield from _out(fact, shoe, event)
        case s.CardRevealed():
            yield from _revealed(fact, shoe, event)
        case s.DiscardsReshuffled():
            yield from _reshuffled(fact, shoe, event)
        case s.DiscardsReturned():
            shoe.returned.append((event.after, event.positions))
            if event.after != len(shoe.out):
                yield found("L2", fact, f"cards came back after {event.after} draws, {len(shoe.out)} were made")
            yield from _check_reuse(fact, shoe, event.positions)
        case s.ShoeRetired():
            yield from _retired(fact, shoe, event)
            shoe.retired = True
        case s.ShoeAbandoned():
            yield from _abandoned(fact, shoe, event)
            shoe.retired = True
        case _ if shoe.observed:
            yield from observed_shoe(fact, shoe, event)
        case _:
            pass


def _cut(fact: Fact, shoe: ShoeInPlay, event: s.CardsCut) -> Iterator[Finding]:
    if not 0 <= event.stack < len(shoe.stacks):
        yield found("L2", fact, f"there is no stack {event.stack} to cut")
        return
    stack = shoe.stacks[event.stack]
    if len(shoe.out) >= stack.first:
        yield found("L2", fact, f"stack {event.stack} is cut after its first card is out")
    if not 0 < event.depth < stack.size:
        yield found("L2", fact, f"a cut of {event.depth} cards in a stack of {stack.size}")
    stack.depth = event.depth


def _out(fact: Fact, shoe: ShoeInPlay, event: s.CardDrawn | s.CardBurned) -> Iterator[Finding]:
    expected = len(shoe.out) + 1
    if shoe.observed:
        yield from observed_card(fact, shoe, event)
    if event.position != expected:
        yield found(
            "L2", fact, f"position {event.position} comes out, {expected} is next: each is drawn once and in order"
        )
    if len(shoe.out) < event.position <= len(shoe.out) + (shoe.left or int(shoe.observed)):
        # A gap is one finding, not one for each later card.
        shoe.out += [OutCard(None, b"", b"", burned=False) for _ in range(event.position - expected)]
        shoe.out.append(OutCard(event.card, event.leaf, event.salt, burned=isinstance(event, s.CardBurned)))
    else:
        return
    if event.left != shoe.left:
        yield found("L2", fact, f"{event.left} cards are said to be left, {shoe.left} are")
    if (event.card is None) is not event.face_down:
        yield found("L2", fact, "a face-down card is named, or a face-up card is not")
    if event.card is not None:
        _, place = shoe.place(event.position)
        if event.leaf and opening.leaf(place, event.card, event.salt) != event.leaf:
            yield found("L2", fact, f"the card {event.card} does not open its leaf")
        yield from _check_seen(fact, shoe, event.card)


def _revealed(fact: Fact, shoe: ShoeInPlay, event: s.CardRevealed) -> Iterator[Finding]:
    if not 1 <= event.position <= len(shoe.out):
        yield found("L2", fact, f"the card at position {event.position} is revealed and was never drawn")
        return
    out, proof = shoe.out[event.position - 1], event.proof
    if out.card is not None and out.card != event.card:
        yield found("L2", fact, f"the card at {event.position} was {out.card} and is now {event.card}")
    number, place = shoe.place(event.position)
    one = opening.leaf(place, event.card, proof.salt)
    stack = shoe.stacks[number]
    stated = (proof.position, proof.stack, proof.leaf)
    if stated != (event.position, number, one):
        yield found("L2", fact, f"the proof of the card at {event.position} is made out for another card or place")
    if out.leaf and one != out.leaf:
        yield found("L2", fact, f"the card at {event.position} does not open the leaf it was drawn with")
    if not shoe.continuous:
        if (proof.stack_position, proof.size, proof.root) != (place, stack.size, stack.root):
            yield found("L2", fact, f"the proof of the card at {event.position} names another tree than was published")
        if opening.root_from_proof(one, place, stack.size, proof.path) != stack.root:
            yield found("L2", fact, f"the proof of the card at {event.position} does not lead to the published root")
    if out.card is None:
        out.card, out.salt = event.card, proof.salt
        if event.position not in shoe.gone:
            yield from _check_seen(fact, shoe, event.card)


def _check_seen(fact: Fact, shoe: ShoeInPlay, card: Card) -> Iterator[Finding]:
    """No card is out more often than there are decks; a card that went back counts no more."""
    shoe.seen[card] += 1
    if shoe.seen[card] > shoe.decks and not shoe.observed:
        yield found("L2", fact, f"{card} is out {shoe.seen[card]} times in a shoe of {shoe.decks} decks")


def _reshuffled(fact: Fact, shoe: ShoeInPlay, event: s.DiscardsReshuffled) -> Iterator[Finding]:
    yield from _check_reuse(fact, shoe, event.recycled)
    first = len(shoe.out) + shoe.left + 1
    if event.stack != len(shoe.stacks) or event.size != len(event.recycled) or event.first_position != first:
        yield found(
            "L2", fact, f"the discards' stack {event.stack} of {event.size} from {event.first_position} does not fit"
        )
    # As many cards as went back are in it, whatever the event says.
    shoe.stacks.append(Stack(first, len(event.recycled), event.seed_hash, event.root, None, tuple(event.recycled)))


def _check_reuse(fact: Fact, shoe: ShoeInPlay, positions: tuple[int, ...]) -> Iterator[Finding]:
    for place in positions:
        if not 1 <= place <= len(shoe.out):
            yield found("L2", fact, f"the card at {place} goes back and was never out")
        elif place in shoe.gone:
            yield found("L2", fact, f"the card at {place} goes back a second time")
        else:
            shoe.gone.add(place)
            card = shoe.out[place - 1].card
            if card is not None:
                shoe.seen[card] -= 1


def _retired(fact: Fact, shoe: ShoeInPlay, event: s.ShoeRetired) -> Iterator[Finding]:
    burned = sum(out.burned for out in shoe.out)
    said = (event.drawn, event.burned, event.undealt, event.recycled)
    counted = (len(shoe.out) - burned, burned, shoe.left, shoe.recycled)
    if said != counted:
        yield found("L2", fact, f"drawn, burned, undealt, recycled are said to be {said}, they are {counted}")
    if sum(said[:3]) - said[3] != 52 * shoe.decks:
        yield found("L2", fact, f"dealt + burned + undealt - recycled is not {52 * shoe.decks}")
    if event.missing or event.extra or event.broken_roots:
        yield found("L2", fact, f"the shoe itself reports missing {_names(event.missing)}, extra {_names(event.extra)}")
    if shoe.algorithm != opening.RECIPE:
        yield found("L2", fact, f"the recipe {shoe.algorithm!r} is not known, so the order cannot be checked")
        return
    if len(event.seeds) != len(shoe.stacks):
        yield found("L2", fact, f"{len(event.seeds)} seeds are revealed for {len(shoe.stacks)} stacks")
        return
    for number, (stack, seed) in enumerate(zip(shoe.stacks, event.seeds, strict=True)):
        if opening.fingerprint(seed) != stack.seed_hash:
            yield found("L2", fact, f"the seed of stack {number} is not the one whose fingerprint was published")
            return
    yield from _opened_continuous(fact, shoe, event) if shoe.continuous else _opened(fact, shoe, event)


def _abandoned(fact: Fact, shoe: ShoeInPlay, event: s.ShoeAbandoned) -> Iterator[Finding]:
    """A commitment that stays unopened proves nothing: that is always a finding, and it names the abandonment."""
    yield found(
        "L2",
        fact,
        f"the shoe {event.shoe_id} was abandoned by {event.authorised_by} ({event.reason!r:.200}): its commitment stays "
        f"unopened, {event.undealt} undealt cards and {len(event.face_down)} face-down ones are proved by nobody",
    )
    burned = sum(out.burned for out in shoe.out)
    unseen = tuple(place for place, out in enumerate(shoe.out, start=1) if out.card is None and not out.burned)
    said = (event.decks, event.drawn, event.burned, event.undealt, tuple(event.face_down))
    counted = (shoe.decks, len(shoe.out) - burned, burned, shoe.left, unseen)
    if said != counted:
        yield found("L2", fact, f"decks, drawn, burned, undealt, face down are said to be {said}, they are {counted}")
    if fact.envelope.actor.role is not Role.SUPERVISOR or fact.envelope.actor.id != event.authorised_by:
        yield found(
            "L2", fact, f"the shoe is abandoned by a {fact.envelope.actor.role.value}: a pit supervisor decides"
        )


def _opened(fact: Fact, shoe: ShoeInPlay, event: s.ShoeRetired) -> Iterator[Finding]:
    told: dict[int, Card] = {}
    for number, (stack, seed) in enumerate(zip(shoe.stacks, event.seeds, strict=True)):
        content = list(opening.FACTORY_ORDER) * shoe.decks if number == 0 else []
        for place in sorted(stack.recycled):
            card = told.get(place)
            if card is None:
                yield found("L2", fact, f"the discard at {place} is not known when stack {number} is made of it")
                return
            content.append(card)
        order = opening.shuffled_order(content, seed)
        if opening.commitment(order, seed) != stack.root:
            yield found("L2", fact, f"the order of stack {number} does not open the published root")
            return
        for index in range(1, stack.size + 1):
            place = opening.place_before_cut(index, stack.size, stack.depth or 0)
            told[stack.first + index - 1] = order[place - 1]
    yield from _compare(fact, shoe, told, event.seeds)
    held = Counter(card for place, card in told.items() if place not in shoe.gone)
    wrong = sorted(str(card) for card in opening.FACTORY_ORDER if held[card] != shoe.decks)
    if wrong:
        yield found("L2", fact, f"not {shoe.decks} times in the shoe: {', '.join(wrong)}")


def _opened_continuous(fact: Fact, shoe: ShoeInPlay, event: s.ShoeRetired) -> Iterator[Finding]:
    machine = opening.ContinuousOrder(shoe.decks, event.seeds[0])
    told: dict[int, Card] = {}
    backs = list(shoe.returned)
    for position in range(1, len(shoe.out) + 1):
        while backs and backs[0][0] < position:
            machine.give_back(told[place] for place in sorted(backs.pop(0)[1]) if place in told)
        card = machine.draw()
        if card is None:
            yield found("L2", fact, f"the machine is empty before draw {position}")
            return
        told[position] = card
    yield from _compare(fact, shoe, told, event.seeds)


def _compare(fact: Fact, shoe: ShoeInPlay, told: dict[int, Card], seeds: tuple[bytes, ...]) -> Iterator[Finding]:
    for position, out in enumerate(shoe.out, start=1):
        number, place = shoe.place(position)
        card = told.get(position)
        if card is not None and out.leaf != opening.leaf(place, card, opening.salt_at(seeds[number], place)):
            yield found(
                "L2", fact, f"position {position} left the shoe with a leaf that is not that of its card {card}"
            )
        if out.card is not None and told.get(position) != out.card:
            yield found(
                "L2",
                fact,
                f"position {position} was dealt as {out.card}, the committed order has {told.get(position)} there",
            )


def _names(cards: tuple[Card, ...]) -> str:
    return ", ".join(str(card) for card in cards) or "none"
