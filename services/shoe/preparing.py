"""What must happen before a card is dealt: device, inspection, decks, shuffle, cut (30-805, 30-806, 30-815 to 30-817).

Owns those decisions, pure. Each function answers the events of a lawful command, none when its effect stands already,
or raises the rejection named after the broken rule.
"""

from collections.abc import Sequence

from services.game.authority import CommandContext, Role
from services.game.cards import Card
from services.game.composition import Composition
from services.shoe import commands as c
from services.shoe import events as e
from services.shoe import rejections as r
from services.shoe.commitment import composition_digest
from services.shoe.enriched import CommitShuffle
from services.shoe.order import ALGORITHM
from services.shoe.state import Device, LiveShoe, Shoe, Stack
from services.shoe.words import DeckSet, DeviceKind, ShoePhase

MOST_DECKS = 16
ID_LENGTH = 128
TEXT_LENGTH = 500


def register_device(shoe: Shoe, command: c.RegisterDevice) -> tuple[e.ShoeEvent, ...]:
    """Enrol a device; shufflers and electronics need the Division's approval (30-805)."""
    checked_id(command.device_id, "device_id")
    checked_text(command.approval, "approval")
    if (command.electronic or command.kind is not DeviceKind.DEALING_SHOE) and not command.approval:
        raise r.ApprovalMissing(f"{command.device_id} needs an approval", device_id=command.device_id)
    known = shoe.device
    wanted = (command.device_id, command.kind, command.electronic, command.approval)
    if known is not None and (known.id, known.kind, known.electronic, known.approval) == wanted:
        return nothing_changed(command)
    if shoe.live is not None or shoe.decks:
        raise r.DeviceInUse("the device in use still holds cards", device_id=known.id if known else "")
    return (e.DeviceRegistered(command.device_id, command.kind, command.electronic, command.approval),)


def inspect_device(shoe: Shoe, command: c.InspectDevice, context: CommandContext) -> tuple[e.ShoeEvent, ...]:
    """Record the inspection of the context's gaming day, pass or fail; a fail stops the device at once (30-805)."""
    device = _device(shoe, command.device_id)
    checked_text(command.note, "note")
    return (e.DeviceInspected(device.id, command.passed, command.note, context.gaming_day),)


def load_decks(shoe: Shoe, command: c.LoadDecks, context: CommandContext) -> tuple[e.ShoeEvent, ...]:
    """Load whole decks into a device that passed today (30-805, 30-806)."""
    device = _device(shoe, command.device_id)
    ids = tuple(deck.id for deck in command.deck_sets)
    _inspected_today(device, context)
    if shoe.decks:
        if ids == shoe.deck_set_ids and shoe.live is None and not shoe.inspected:
            return nothing_changed(command)
        raise r.DeviceInUse(f"{device.id} holds {shoe.decks} decks", device_id=device.id, decks=shoe.decks)
    if not 1 <= len(ids) <= MOST_DECKS or len(set(ids)) != len(ids):
        raise r.DeckCountRefused(f"{len(ids)} deck sets, each once, cannot be loaded", decks=len(ids))
    for deck in command.deck_sets:
        _check_deck(shoe, deck)
    cards = [card for deck in command.deck_sets for card in deck.cards]
    return (e.DecksLoaded(device.id, len(ids), ids, composition_digest(cards)),)


def inspect_cards(shoe: Shoe, command: c.InspectCards, context: CommandContext) -> tuple[e.ShoeEvent, ...]:
    """Accept the cards, or pull every deck when one is defective (30-815)."""
    if not shoe.decks:
        raise r.DecksNotLoaded("there are no cards to inspect")
    if shoe.live is not None:
        raise r.ShoeNotRetired("the cards are in play", shoe_id=shoe.live.id)
    _check_inspectors(shoe, command, context)
    unknown = [defect.deck_set_id for defect in command.defects if defect.deck_set_id not in shoe.deck_set_ids]
    if unknown:
        raise r.UnknownDeckSet(f"{unknown[0]} is not in the device", deck_set_id=unknown[0])
    for defect in command.defects:
        checked_text(defect.finding, "finding")
    if command.defects:
        rejected = tuple(
            e.DeckSetRejected(defect.deck_set_id, defect.finding, command.dealer, command.supervisor)
            for defect in command.defects
        )
        return (*rejected, e.DecksUnloaded(shoe.deck_set_ids, "a deck set was found defective"))
    if shoe.inspected:
        return nothing_changed(command)
    return (e.CardsInspected(command.dealer, command.supervisor, shoe.decks, shoe.composition),)


def unload_decks(shoe: Shoe, command: c.UnloadDecks) -> tuple[e.ShoeEvent, ...]:
    """Take the decks out once the shoe is retired."""
    checked_text(command.note, "note")
    if shoe.live is not None:
        raise r.ShoeNotRetired("the cards are in play", shoe_id=shoe.live.id)
    return (e.DecksUnloaded(shoe.deck_set_ids, command.note),) if shoe.decks else nothing_changed(command)


def shuffle_cards(shoe: Shoe, command: CommitShuffle, context: CommandContext) -> tuple[e.ShoeEvent, ...]:
    """Begin a new shoe with a committed order (30-816); the device must have passed today (30-805)."""
    request = command.request
    checked_id(request.shuffle_id, "shuffle_id")
    for known in (shoe.live, shoe.last):
        if known is not None and known.shuffle_id == request.shuffle_id:
            same = (known.min_cut_cards, known.cut_card_first) == (request.min_cut_cards, request.cut_card_first)
            return repeated(request.shuffle_id, same=same)
    if shoe.live is not None:
        raise r.ShoeNotRetired(f"{shoe.live.id} is in play", shoe_id=shoe.live.id)
    if shoe.device is None or not shoe.decks:
        raise r.DecksNotLoaded("there are no cards to shuffle")
    if not shoe.inspected:
        raise r.CardsNotInspected("the cards have not been inspected")
    _inspected_today(shoe.device, context)
    most = (52 * shoe.decks - 1) // 2
    if not 1 <= request.min_cut_cards <= most:
        raise r.CutTooCloseToEnd(f"a cut distance is 1 to {most} cards", min_cut_cards=request.min_cut_cards)
    return (
        e.CardsShuffled(
            shoe_id=command.shoe_id,
            shuffle_id=request.shuffle_id,
            device_id=shoe.device.id,
            continuous=shoe.device.kind is DeviceKind.CONTINUOUS_SHUFFLER,
            decks=shoe.decks,
            algorithm=ALGORITHM,
            composition=shoe.composition,
            seed_hash=command.commitment.seed_hash,
            root=command.commitment.root,
            sealed_seed=command.commitment.sealed_seed,
            min_cut_cards=request.min_cut_cards,
            cut_card_first=request.cut_card_first,
            reason=request.reason,
        ),
    )


def cut_cards(shoe: Shoe, command: c.CutCards, context: CommandContext) -> tuple[e.ShoeEvent, ...]:
    """Cut the newest stack, once, at the house's distance from either end (30-817).

    A few discards may be fewer than twice the distance: then the middle is far enough. A supervisor may order the cut
    again before the first card of the stack.
    """
    live = live_shoe(shoe, command.shoe_id)
    checked_id(command.cutter, "cutter")
    if live.continuous:
        raise r.NoCutInContinuousShuffler("a continuous shuffler is not cut")
    stack = live.stacks[-1]
    if stack.cut_depth is not None:
        if stack.cut_depth == command.depth:
            return ()
        if context.actor.role is not Role.SUPERVISOR or len(live.out) >= stack.first:
            raise r.CardsAlreadyCut(f"the stack was cut at {stack.cut_depth}", depth=stack.cut_depth)
    nearest = cut_distance(live, stack)
    if not nearest <= command.depth <= stack.size - nearest:
        raise r.CutTooCloseToEnd(
            f"a cut at {command.depth} of {stack.size} is nearer than {nearest} cards to an end",
            depth=command.depth,
            cards=stack.size,
            min_cut_cards=nearest,
        )
    return (e.CardsCut(live.id, stack.number, command.depth, command.cutter),)


def place_cut_card(shoe: Shoe, command: c.PlaceCutCard, context: CommandContext) -> tuple[e.ShoeEvent, ...]:
    """Place the cutting card between the centre and the back of the stack that was just cut (30-817).

    A supervisor may order it to be placed again before the first card is out: the posted penetration may ask for it.
    """
    live = live_shoe(shoe, command.shoe_id)
    if live.continuous:
        raise r.NoCutInContinuousShuffler("a continuous shuffler has no cutting card")
    if live.phase is ShoePhase.SHUFFLED:
        raise r.CardsNotCut("the stack has not been cut")
    if live.cards_behind is not None:
        if live.cards_behind == command.cards_behind:
            return ()
        if context.actor.role is not Role.SUPERVISOR or live.out:
            raise r.CutCardAlreadyPlaced("the cutting card is placed", cards_behind=live.cards_behind)
    cards = 52 * live.decks
    if not 1 <= command.cards_behind <= cards // 2:
        raise r.CutCardMisplaced(
            f"{command.cards_behind} of {cards} cards behind the cutting card",
            cards_behind=command.cards_behind,
            most=cards // 2,
        )
    return (e.CutCardPlaced(live.id, command.cards_behind),)


def cut_distance(live: LiveShoe, stack: Stack) -> int:
    """How far from either end a stack must be cut, in cards (30-817)."""
    return min(live.min_cut_cards, stack.size // 2)


def live_shoe(shoe: Shoe, shoe_id: str | None = None) -> LiveShoe:
    """Give the shoe in play, refusing when there is none or when the command names another one."""
    if shoe_id is not None:
        check_not_given_up(shoe, shoe_id)
    if shoe.live is None:
        raise r.CardsNotShuffled("no shoe is in play")
    if shoe_id is not None and shoe_id != shoe.live.id:
        raise r.WrongShoe(f"{shoe_id!r} is not in play", shoe_id=shoe_id[:ID_LENGTH], in_play=shoe.live.id)
    return shoe.live


def check_not_given_up(shoe: Shoe, shoe_id: str) -> None:
    """Refuse the shoe that was abandoned last: nothing of it can be shown any more."""
    last = shoe.last
    if last is not None and last.id == shoe_id and last.abandoned is not None:
        raise r.ShoeGivenUp(f"{shoe_id} was abandoned: {last.abandoned.reason}", shoe_id=shoe_id)


def nothing_changed(command: object) -> tuple[e.ShoeEvent, ...]:
    """Record that the effect stands: repeated after a restart, under the same id, the command must not act (DESIGN §3)."""
    return (e.NothingChanged(type(command).__name__),)


def repeated(command_id: str, *, same: bool) -> tuple[e.ShoeEvent, ...]:
    """Answer a known id: nothing new for the same content, a refusal for other content (DESIGN §5)."""
    if not same:
        raise r.IdReused(f"{command_id} was used with other content", id=command_id)
    return ()


def checked_id(text: str, name: str) -> None:
    """Refuse an id that is empty, too long, or not plainly legible."""
    if not 1 <= len(text) <= ID_LENGTH:
        raise r.IdMissing(f"{name} has 1 to {ID_LENGTH} characters", name=name, length=len(text))
    if not text.isascii() or not text.isprintable() or text != text.strip():
        raise r.IdMalformed(f"{name} {text!r} is not usable as an id", name=name)


def checked_text(text: str, name: str) -> None:
    """Refuse words that are too long or cannot be printed; none are allowed here."""
    if len(text) > TEXT_LENGTH:
        raise r.TextTooLong(f"{name} has at most {TEXT_LENGTH} characters", name=name, length=len(text))
    if not text.isprintable():
        raise r.TextUnprintable(f"{name} has characters that cannot be printed", name=name)


def _device(shoe: Shoe, device_id: str) -> Device:
    if shoe.device is None or shoe.device.id != device_id:
        raise r.DeviceNotRegistered(f"{device_id!r} is not registered here", device_id=device_id[:ID_LENGTH])
    return shoe.device


def _inspected_today(device: Device, context: CommandContext) -> None:
    if not device.passed_day or device.passed_day != context.gaming_day:
        raise r.DeviceNotInspected(
            f"{device.id} has no pass for {context.gaming_day}", device_id=device.id, gaming_day=context.gaming_day
        )


def _check_deck(shoe: Shoe, deck: DeckSet) -> None:
    checked_id(deck.id, "deck_set_id")
    if deck.id in shoe.withdrawn:
        raise r.DeckSetWithdrawn(f"{deck.id} was found defective", deck_set_id=deck.id)
    wrong = Composition.of(deck.cards).differences(Composition.of_decks(1))
    if wrong:
        raise r.DeckIncomplete(
            f"{deck.id} is not a standard deck",
            deck_set_id=deck.id,
            cards=len(deck.cards),
            missing=_names([card for card, surplus in wrong if surplus < 0]),
            extra=_names([card for card, surplus in wrong if surplus > 0]),
        )


def _names(cards: Sequence[Card]) -> str:
    return " ".join(str(card) for card in cards)


def _check_inspectors(shoe: Shoe, command: c.InspectCards, context: CommandContext) -> None:
    checked_id(command.dealer, "dealer")
    checked_id(command.supervisor, "supervisor")
    if command.dealer == command.supervisor:
        raise r.InspectionNotVerified("the dealer cannot verify himself", dealer=command.dealer)
    by_supervisor = context.actor.role is Role.SUPERVISOR and context.actor.id == command.supervisor
    by_electronics = context.actor.role is Role.SYSTEM and shoe.device is not None and shoe.device.electronic
    if not (by_supervisor or by_electronics):
        raise r.InspectionNotVerified("the named supervisor sends the inspection", supervisor=command.supervisor)
