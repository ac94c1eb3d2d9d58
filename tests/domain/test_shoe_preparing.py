"""Before a card is dealt: device, decks, inspection, shuffle, cut (30-805, 30-806, 30-815 to 30-817)."""

import pytest

from services.game.authority import Actor, Role
from services.game.cards import Card, standard_deck
from services.game.rejections import NotAuthorised
from services.game.rule_options import CutCardFirst
from services.shoe import commands as c
from services.shoe import events as e
from services.shoe import rejections as r
from services.shoe.client import standard_deck_set
from services.shoe.commitment import composition_digest
from services.shoe.order import new_stack
from services.shoe.replies import status
from services.shoe.words import DeckSet, Defect, DeviceKind, RetireReason, ShoePhase, ShuffleReason
from tests.support.shoe_table import DEALER, PLAYER, SUPERVISOR, SYSTEM, ShoeTable, machine, ready

SHUFFLE = c.ShuffleCards("again", 10, CutCardFirst.PLAY_ONE_MORE, ShuffleReason.NEW_CARDS)


def test_a_shoe_is_prepared_step_by_step_and_the_phase_names_the_next() -> None:
    table = ShoeTable()
    phases = [table.state.phase]
    for step in (table.register, table.inspect, table.load, table.shuffle, table.cut):
        step()
        phases.append(table.state.phase)
    assert phases == [
        ShoePhase.NO_DEVICE,
        ShoePhase.EMPTY,
        ShoePhase.EMPTY,
        ShoePhase.INSPECTED,
        ShoePhase.SHUFFLED,
        ShoePhase.DEALING,
    ]


@pytest.mark.parametrize("kind", [DeviceKind.BATCH_SHUFFLER, DeviceKind.CONTINUOUS_SHUFFLER])
def test_30_805_a_shuffler_needs_the_divisions_approval(kind: DeviceKind) -> None:
    with pytest.raises(r.ApprovalMissing):
        ShoeTable().do(c.RegisterDevice("SH-1", kind, electronic=False, approval=""), SUPERVISOR)


def test_30_805_a_plain_shoe_needs_none() -> None:
    table = ShoeTable()
    command = c.RegisterDevice("SH-1", DeviceKind.DEALING_SHOE, electronic=False, approval="")
    assert len(table.do(command, SUPERVISOR)) == 1
    assert table.do(command, SUPERVISOR) == (e.NothingChanged("RegisterDevice"),)


def test_30_805_no_cards_are_loaded_without_an_inspection_that_gaming_day() -> None:
    table = ShoeTable().register()
    load = c.LoadDecks("SH-1", (standard_deck_set("DS-1"),))
    with pytest.raises(r.DeviceNotInspected) as refusal:
        table.do(load)
    assert refusal.value.facts["gaming_day"] == "2026-11-30"
    table.inspect(passed=False)
    with pytest.raises(r.DeviceNotInspected):
        table.do(load)
    table.inspect()
    table.day = "2026-12-01"
    with pytest.raises(r.DeviceNotInspected):
        table.do(load)
    table.day = "2026-11-30"
    assert isinstance(table.do(load)[0], e.DecksLoaded)


def test_30_805_the_next_gaming_day_needs_its_own_inspection_before_a_shuffle() -> None:
    table = ready()
    table.retire()
    table.day = "2026-12-01"
    with pytest.raises(r.DeviceNotInspected):
        table.do(SHUFFLE)
    table.inspect()
    assert isinstance(table.do(SHUFFLE)[0], e.CardsShuffled)


def test_30_805_a_device_that_fails_deals_no_further_card() -> None:
    table = ready().inspect(passed=False)
    with pytest.raises(r.DeviceNotInspected):
        table.draw()


def test_30_805_only_the_registered_device_is_inspected_and_loaded() -> None:
    table = ShoeTable().register()
    with pytest.raises(r.DeviceNotRegistered):
        table.do(c.InspectDevice("SH-2", passed=True, note=""), SUPERVISOR)
    with pytest.raises(r.DeviceNotRegistered):
        table.do(c.LoadDecks("SH-2", (standard_deck_set("DS-1"),)))


def test_30_805_a_device_is_not_replaced_while_it_holds_cards() -> None:
    table = ready()
    other = c.RegisterDevice("SH-2", DeviceKind.DEALING_SHOE, electronic=False, approval="")
    with pytest.raises(r.DeviceInUse):
        table.do(other, SUPERVISOR)
    table.retire()
    table.do(c.UnloadDecks("end of day"))
    assert isinstance(table.do(other, SUPERVISOR)[0], e.DeviceRegistered)


def test_30_806_every_deck_is_the_standard_52() -> None:
    table = ShoeTable().register().inspect()
    deck = standard_deck()
    short, doubled = DeckSet("DS-1", deck[1:]), DeckSet("DS-1", (*deck[1:], Card.parse("As")))
    with pytest.raises(r.DeckIncomplete) as refusal:
        table.do(c.LoadDecks("SH-1", (short,)))
    assert refusal.value.facts["missing"] == "2c"
    with pytest.raises(r.DeckIncomplete) as refusal:
        table.do(c.LoadDecks("SH-1", (doubled,)))
    assert (refusal.value.facts["missing"], refusal.value.facts["extra"]) == ("2c", "As")


@pytest.mark.parametrize("names", [(), ("DS-1", "DS-1"), tuple(f"DS-{n}" for n in range(17))])
def test_30_806_one_to_sixteen_decks_each_once(names: tuple[str, ...]) -> None:
    table = ShoeTable().register().inspect()
    with pytest.raises(r.DeckCountRefused):
        table.do(c.LoadDecks("SH-1", tuple(map(standard_deck_set, names))))


def test_30_806_a_loaded_device_takes_no_more_decks_and_a_repeat_changes_nothing() -> None:
    table = ShoeTable().register().inspect()
    load = c.LoadDecks("SH-1", (standard_deck_set("DS-1"),))
    table.do(load)
    assert table.do(load) == (e.NothingChanged("LoadDecks"),)
    with pytest.raises(r.DeviceInUse):
        table.do(c.LoadDecks("SH-1", (standard_deck_set("DS-2"),)))


def test_30_815_cards_are_inspected_by_dealer_and_supervisor_before_the_shuffle() -> None:
    table = ShoeTable().register().inspect()
    table.do(c.LoadDecks("SH-1", (standard_deck_set("DS-1"), standard_deck_set("DS-2"))))
    with pytest.raises(r.CardsNotInspected):
        table.do(SHUFFLE)
    with pytest.raises(r.InspectionNotVerified):
        table.do(c.InspectCards("S-2", "S-2", ()), SUPERVISOR)
    with pytest.raises(r.InspectionNotVerified):
        table.do(c.InspectCards("D-11", "S-3", ()), SUPERVISOR)
    with pytest.raises(NotAuthorised):
        table.do(c.InspectCards("D-11", "S-2", ()), DEALER)
    (event,) = table.do(c.InspectCards("D-11", "S-2", ()), SUPERVISOR)
    assert event == e.CardsInspected("D-11", "S-2", 2, composition_digest(new_stack(2)))


def test_30_815_digital_cards_are_inspected_by_their_composition() -> None:
    table = ShoeTable().register().inspect()
    table.do(c.LoadDecks("SH-1", (standard_deck_set("DS-1"),)))
    (event,) = table.do(c.InspectCards("D-11", "S-2", ()), SYSTEM)
    assert isinstance(event, e.CardsInspected)
    assert event.composition == composition_digest(list(reversed(standard_deck())))


def test_30_815_a_defective_set_is_pulled_with_all_others_and_may_not_come_back() -> None:
    table = ShoeTable().register().inspect()
    sets = (standard_deck_set("DS-1"), standard_deck_set("DS-2"))
    table.do(c.LoadDecks("SH-1", sets))
    with pytest.raises(r.UnknownDeckSet):
        table.do(c.InspectCards("D-11", "S-2", (Defect("DS-9", "crimped"),)), SUPERVISOR)
    events = table.do(c.InspectCards("D-11", "S-2", (Defect("DS-2", "7h crimped"),)), SUPERVISOR)
    assert [type(event) for event in events] == [e.DeckSetRejected, e.DecksUnloaded]
    assert table.state.phase is ShoePhase.EMPTY
    with pytest.raises(r.DeckSetWithdrawn):
        table.do(c.LoadDecks("SH-1", sets))
    assert isinstance(table.do(c.LoadDecks("SH-1", sets[:1]))[0], e.DecksLoaded)


def test_30_816_a_shuffle_commits_before_the_first_card_and_hides_the_seed() -> None:
    table = ShoeTable().register().inspect().load().shuffle()
    event = table.events[-1]
    assert isinstance(event, e.CardsShuffled)
    assert event.shoe_id == "black-hawk/BJ-07/shoe-1"
    assert (len(event.root), len(event.seed_hash), event.decks) == (32, 32, 6)
    seed = table.vault._seed(table.live, table.live.stacks[0])
    assert seed not in event.sealed_seed
    assert len(seed) == 32


def test_30_816_the_same_shuffle_id_answers_the_same_shoe_and_other_content_is_refused() -> None:
    table = ShoeTable().register().inspect().load()
    table.do(SHUFFLE)
    root = table.live.stacks[0].root
    assert table.do(SHUFFLE) == ()
    assert table.live.stacks[0].root == root
    with pytest.raises(r.IdReused):
        table.do(c.ShuffleCards("again", 5, CutCardFirst.PLAY_ONE_MORE, ShuffleReason.NEW_CARDS))
    with pytest.raises(r.ShoeNotRetired):
        table.do(c.ShuffleCards("other", 10, CutCardFirst.PLAY_ONE_MORE, ShuffleReason.NEW_CARDS))


def test_30_816_every_shoe_has_its_own_seed() -> None:
    table = ready()
    table.retire()
    table.shuffle()
    shuffles = [event for event in table.events if isinstance(event, e.CardsShuffled)]
    assert len({event.seed_hash for event in shuffles}) == 2
    assert [event.shoe_id[-6:] for event in shuffles] == ["shoe-1", "shoe-2"]


def test_30_816_nothing_is_shuffled_without_cards() -> None:
    with pytest.raises(r.DecksNotLoaded):
        ShoeTable().register().inspect().do(SHUFFLE)
    with pytest.raises(r.CardsNotShuffled):
        ShoeTable().register().draw()


@pytest.mark.parametrize("depth", [-1, 0, 9, 303, 312, 10_000])
def test_30_817_a_cut_keeps_its_distance_from_either_end(depth: int) -> None:
    table = ShoeTable().register().inspect().load().shuffle()
    with pytest.raises(r.CutTooCloseToEnd) as refusal:
        table.do(c.CutCards(table.live.id, depth, "seat 1"), PLAYER)
    assert refusal.value.facts["min_cut_cards"] == 10


@pytest.mark.parametrize("depth", [10, 156, 302])
def test_30_817_the_cut_rotates_the_committed_order(depth: int) -> None:
    table = ShoeTable().register().inspect().load().shuffle()
    root = table.live.stacks[0].root
    table.do(c.CutCards(table.live.id, depth, "seat 1"), PLAYER)
    table.do(c.PlaceCutCard(table.live.id, 78))
    table.draw()
    proof = table.vault.proof(table.live, 1)
    assert proof.stack_position == depth + 1
    assert table.live.stacks[0].root == root


def test_30_817_no_card_before_the_cut_and_the_cutting_card() -> None:
    table = ShoeTable().register().inspect().load().shuffle()
    with pytest.raises(r.CardsNotCut):
        table.draw()
    with pytest.raises(r.CardsNotCut):
        table.do(c.PlaceCutCard(table.live.id, 78))
    table.do(c.CutCards(table.live.id, 100, "seat 1"), PLAYER)
    with pytest.raises(r.CutCardNotPlaced):
        table.draw()


def test_30_817_a_stack_is_cut_once_and_only_a_supervisor_orders_it_again() -> None:
    table = ShoeTable().register().inspect().load().shuffle()
    cut = c.CutCards(table.live.id, 100, "seat 1")
    table.do(cut, PLAYER)
    assert table.do(cut, PLAYER) == ()
    again = c.CutCards(table.live.id, 120, "seat 2")
    with pytest.raises(r.CardsAlreadyCut):
        table.do(again, PLAYER)
    assert table.do(again, SUPERVISOR) == (e.CardsCut(table.live.id, 0, 120, "seat 2"),)
    table.do(c.PlaceCutCard(table.live.id, 78))
    table.draw()
    with pytest.raises(r.CardsAlreadyCut):
        table.do(cut, SUPERVISOR)


@pytest.mark.parametrize("behind", [0, -1, 157, 312])
def test_30_817_the_cutting_card_stands_between_centre_and_back(behind: int) -> None:
    table = ShoeTable().register().inspect().load().shuffle()
    table.do(c.CutCards(table.live.id, 100, "seat 1"), PLAYER)
    with pytest.raises(r.CutCardMisplaced):
        table.do(c.PlaceCutCard(table.live.id, behind))


def test_30_817_the_cutting_card_is_placed_once() -> None:
    table = ready()
    assert table.do(c.PlaceCutCard(table.live.id, 78)) == ()
    with pytest.raises(r.CutCardAlreadyPlaced):
        table.do(c.PlaceCutCard(table.live.id, 79))


def test_30_817_a_continuous_shuffler_is_dealt_without_a_cut() -> None:
    table = machine()
    with pytest.raises(r.NoCutInContinuousShuffler):
        table.do(c.CutCards(table.live.id, 20, "seat 1"), PLAYER)
    with pytest.raises(r.NoCutInContinuousShuffler):
        table.do(c.PlaceCutCard(table.live.id, 13))
    assert len(table.draw(2)) == 2


def test_a_command_for_another_shoe_is_refused() -> None:
    table = ready()
    table.retire()
    first = "black-hawk/BJ-07/shoe-1"
    table.shuffle()
    with pytest.raises(r.WrongShoe):
        table.do(c.CutCards(first, 20, "seat 1"), PLAYER)
    with pytest.raises(r.WrongShoe):
        table.do(c.RetireShoe(first, RetireReason.HOUSE_CHOICE))


@pytest.mark.parametrize("actor", [PLAYER, Actor(Role.SURVEILLANCE, "V-1"), Actor(Role.DEALER, "D-11")])
def test_30_805_players_surveillance_and_dealers_register_no_devices(actor: Actor) -> None:
    with pytest.raises(NotAuthorised):
        ShoeTable().do(c.RegisterDevice("SH-1", DeviceKind.DEALING_SHOE, electronic=False, approval=""), actor)


def test_the_status_sums_up_what_a_conductor_needs() -> None:
    table = ready()
    table.draw_faces("ud")
    shown = status(table.state)
    assert (shown.phase, shown.decks, shown.size, shown.drawn, shown.left) == (ShoePhase.DEALING, 6, 312, 2, 310)
    assert (shown.face_down, shown.inspected_day, shown.shoe_id) == ((2,), "2026-11-30", table.live.id)


def test_texts_that_are_kept_for_ever_are_short() -> None:
    table = ShoeTable()
    with pytest.raises(r.TextTooLong):
        table.do(c.RegisterDevice("SH-1", DeviceKind.DEALING_SHOE, electronic=False, approval="x" * 501), SUPERVISOR)
    table.register()
    with pytest.raises(r.TextTooLong):
        table.do(c.InspectDevice("SH-1", passed=True, note="x" * 501), SUPERVISOR)
    with pytest.raises(r.IdMissing):
        table.do(c.RegisterDevice("x" * 129, DeviceKind.DEALING_SHOE, electronic=False, approval=""), SUPERVISOR)
    table.inspect().load().shuffle()
    with pytest.raises(r.IdMissing):
        table.do(c.CutCards(table.live.id, 20, ""), PLAYER)
