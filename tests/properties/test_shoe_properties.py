"""Whatever is asked of a shoe in whatever order: cards are conserved at every prefix, and strangers can check them all.

Rerun one failing example with the blob that Hypothesis prints, or all: `pytest tests/properties/test_shoe_properties.py`.
"""

from dataclasses import asdict

from hypothesis import given, settings
from hypothesis import strategies as st

from services.game.composition import Composition
from services.game.rejections import Rejection
from services.shoe import commands as c
from services.shoe import events as e
from services.shoe import replies
from services.shoe.commitment import inclusion_path, leaf_hash, leaves_of, levels_of, merkle_root, root_of_path
from services.shoe.order import new_stack, salt, shuffled, stack_position
from services.shoe.state import Shoe, evolve
from services.shoe.words import BurnReason
from tests.support.shoe_outsider import verify
from tests.support.shoe_table import SUPERVISOR, SYSTEM, TABLE, ShoeTable, machine, ready
from tests.support.shoe_transcript import as_json

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("draw"), st.integers(1, 20), st.integers(0, 7)),
        st.tuples(st.just("burn"), st.integers(1, 5), st.just(0)),
        st.tuples(st.just("round"), st.just(0), st.just(0)),
        st.tuples(st.just("reveal"), st.integers(1, 60), st.just(0)),
        st.tuples(st.just("reshuffle"), st.just(0), st.just(0)),
        st.tuples(st.just("return"), st.integers(1, 60), st.integers(1, 10)),
        st.tuples(st.just("recut"), st.integers(0, 60), st.just(0)),
    ),
    max_size=40,
)


def conserved(table: ShoeTable) -> None:
    """dealt + burned + undealt = 52 x decks, each card exactly `decks` times, counting recycled cards once (L2)."""
    live = table.live
    opened = table.vault.open(live)
    twice = [position for stack in live.stacks for position in stack.recycled]
    twice += [position for entry in live.returned for position in entry.positions]
    cards = Composition.of([*opened.out, *opened.undealt]).remove(opened.out[position - 1] for position in twice)
    assert cards.is_decks(live.decks)
    assert len(live.out) + live.left - live.recycled == 52 * live.decks
    assert len(opened.undealt) == live.left
    assert [card.position for card in live.out] == list(range(1, len(live.out) + 1))
    for card, told in zip(live.out, opened.out, strict=True):
        assert card.seen in {None, told}


def take_step(table: ShoeTable, step: tuple[str, int, int], number: int) -> int:
    """Try one step; a refusal is an answer too. Gives the number of the round in play."""
    word, first, second = step
    live, round_id = table.live, f"{TABLE}#{number}"
    before = table.state
    try:
        match word:
            case "draw":
                table.draw_faces("".join("d" if index % 8 == second else "u" for index in range(first)), round_id)
            case "burn":
                table.do(
                    c.BurnCards(table.new_id("b"), round_id, first, BurnReason.SUPERVISOR_ORDER, face_up=first % 2 == 0)
                )
            case "round":
                return number + 1
            case "reveal":
                table.do(c.RevealCard(live.id, first), SYSTEM)
            case "reshuffle":
                table.do(c.ReshuffleDiscards(table.new_id("x"), round_id, 64), SUPERVISOR)
            case "return":
                table.do(c.ReturnDiscards(table.new_id("r"), tuple(range(first, first + second))))
            case "recut":
                table.do(c.CutCards(live.id, first, "seat 2"), SUPERVISOR)
    except Rejection:
        assert table.state is before
    return number


def played(table: ShoeTable, steps: list[tuple[str, int, int]]) -> None:
    number = 1
    for step in steps:
        number = take_step(table, step, number)
        conserved(table)
    folded = Shoe(table=TABLE)
    for event in table.events:
        folded = evolve(folded, event)
    assert folded == table.state
    for position in table.live.face_down:
        table.do(c.RevealCard(table.live.id, position))
    shoe_id = table.live.id
    end = table.retire()
    assert (end.missing, end.extra, end.broken_roots) == ((), (), ())
    assert verify(as_json(replies.transcript(table.state, shoe_id))) == []


@settings(max_examples=60, deadline=None)
@given(steps=STEPS, decks=st.integers(1, 2), seed=st.text(max_size=8))
def test_e08_any_shoe_conserves_its_cards_and_convinces_an_outsider(
    steps: list[tuple[str, int, int]], decks: int, seed: str
) -> None:
    played(ready(decks, seed=seed, depth=30, behind=1), steps)


@settings(max_examples=60, deadline=None)
@given(steps=STEPS, seed=st.text(max_size=8))
def test_e08_any_continuous_shuffler_conserves_its_content_and_convinces_an_outsider(
    steps: list[tuple[str, int, int]], seed: str
) -> None:
    played(machine(1, seed=seed), steps)


@settings(max_examples=40, deadline=None)
@given(seed=st.binary(min_size=32, max_size=32), decks=st.integers(1, 8), cut=st.floats(0, 1), place=st.floats(0, 1))
def test_the_revealed_order_opens_the_commitment_for_any_seed_cut_and_decks(
    seed: bytes, decks: int, cut: float, place: float
) -> None:
    order = shuffled(new_stack(decks), seed)
    size = len(order)
    leaves = leaves_of(order, seed)
    root = merkle_root(leaves)
    assert Composition.of(order).is_decks(decks)
    depth = round(cut * size)
    rotated = [order[stack_position(position, size, depth) - 1] for position in range(1, size + 1)]
    assert rotated == [*order[depth:], *order[:depth]]
    index = min(round(place * size), size - 1)
    path = inclusion_path(levels_of(leaves), index)
    assert root_of_path(leaves[index], index, size, path) == root
    other = next(card for card in new_stack(1) if card is not order[index])
    forged = leaf_hash(index + 1, other, salt(seed, index + 1))
    assert root_of_path(forged, index, size, path) != root


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_e08_the_outsider_finds_any_altered_card_seed_or_cut(data: st.DataObject) -> None:
    table = ready(1, seed=str(data.draw(st.integers(0, 10**6))), behind=1)
    table.draw(30)
    shoe_id = table.live.id
    table.retire()
    transcript = as_json(replies.transcript(table.state, shoe_id))
    assert verify(transcript) == []
    what = data.draw(st.sampled_from(["card", "seed", "cut", "root", "order"]))
    cards, stack = transcript["cards"], transcript["stacks"][0]
    match what:
        case "card":
            index = data.draw(st.integers(0, 29))
            others = [str(card) for card in new_stack(1) if str(card) != cards[index]["card"]]
            cards[index]["card"] = data.draw(st.sampled_from(others))
        case "seed":
            stack["seed"] = data.draw(st.binary(min_size=32, max_size=32)).hex()
        case "cut":
            stack["cut_depth"] += data.draw(st.integers(1, 20))
        case "root":
            stack["root"] = bytes(32).hex()
        case "order":
            cards[3], cards[4] = cards[4], cards[3]
    assert verify(transcript)


def test_a_transcript_holds_no_card_that_nobody_saw() -> None:
    table = ready(1, behind=1)
    table.do(c.BurnCards("b", "", 3, BurnReason.AFTER_SHUFFLE, face_up=False))
    table.draw(2)
    shoe_id = table.live.id
    assert isinstance(table.retire(), e.ShoeRetired)
    records = asdict(replies.transcript(table.state, shoe_id))["cards"]
    assert [record["card"] is None for record in records] == [True, True, True, False, False]
