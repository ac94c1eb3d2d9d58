"""Counting a shoe when it ends (30-806, 30-816; law L2).

Owns the comparison of what was dealt and left with what was loaded and committed. Promises to report a difference,
never to hide or refuse it: a shoe that does not add up must end all the same, with the alarm in its last event.
"""

from services.game.composition import Composition
from services.shoe.enriched import Opened
from services.shoe.events import ShoeRetired
from services.shoe.state import LiveShoe
from services.shoe.words import RetireReason


def reconcile(live: LiveShoe, reason: RetireReason, opened: Opened) -> ShoeRetired:
    """Give the shoe's last event.

    A card that was seen counts as seen; one that never was counts as its seed says. Cards that left the shoe twice
    (reshuffled discards, cards returned to the machine) count once.
    """
    out = [card.seen or told for card, told in zip(live.out, opened.out, strict=True)]
    twice = [position for stack in live.stacks for position in stack.recycled]
    twice += [position for entry in live.returned for position in entry.positions]
    held = Composition.of([*out, *opened.undealt])
    reused = Composition.of(out[position - 1] for position in twice)
    wrong = tuple(
        (card, have - again - live.decks)
        for (card, have), (_, again) in zip(held, reused, strict=True)
        if have - again != live.decks
    )
    burned = sum(card.burned is not None for card in live.out)
    return ShoeRetired(
        shoe_id=live.id,
        reason=reason,
        decks=live.decks,
        seeds=opened.seeds,
        drawn=len(live.out) - burned,
        burned=burned,
        undealt=len(opened.undealt),
        recycled=len(twice),
        missing=tuple(card for card, surplus in wrong for _ in range(-surplus)),
        extra=tuple(card for card, surplus in wrong for _ in range(surplus)),
        broken_roots=tuple(
            stack.number
            for stack, root, seed_hash in zip(live.stacks, opened.roots, opened.seed_hashes, strict=True)
            if (stack.root, stack.seed_hash) != (root, seed_hash)
        ),
    )
