"""The shoe as an aggregate: state, `decide`, `evolve`. Which card comes next, and that nobody knew.

Owns who may ask what of a shoe and hands each command to its rule. The state is in `state`, the rules in `preparing`
and `dealing`. Pure: seeds and cards come in as hidden arguments of enriched commands (`enriched`).
"""

from collections.abc import Callable
from typing import Any, Final

from services.game.authority import CommandContext, Role
from services.game.rejections import NotAuthorised
from services.shoe import commands as c
from services.shoe import dealing, observing, preparing
from services.shoe import enriched as x
from services.shoe.events import ShoeEvent
from services.shoe.rejections import DeviceNotRegistered, ObservedShoeInPlay
from services.shoe.state import LiveShoe, Shoe, evolve

__all__ = ["LiveShoe", "Shoe", "ShoeDecision", "authorise", "decide", "evolve"]

_PLAIN = (
    c.RegisterDevice
    | c.InspectDevice
    | c.LoadDecks
    | c.InspectCards
    | c.UnloadDecks
    | c.CutCards
    | c.PlaceCutCard
    | c.ReturnDiscards
    | c.RackCards
    | c.StartObservedShoe
    | c.ObserveCards
    | c.ObserveCutCard
    | c.ObserveTurnedCard
    | c.EndObservedShoe
)
_ENRICHED = x.CommitShuffle | x.CommitDiscards | x.TakeCards | x.AnswerPeek | x.OpenCard | x.OpenShoe | x.GiveUpShoe
ShoeDecision = _PLAIN | _ENRICHED
ShoeCommand = (
    _PLAIN
    | c.ShuffleCards
    | c.BurnCards
    | c.DrawCards
    | c.PeekCard
    | c.RevealCard
    | c.ReshuffleDiscards
    | c.RetireShoe
    | c.AbandonShoe
)

_NEEDS_AN_ORDER = (
    c.ShuffleCards
    | c.CutCards
    | c.PlaceCutCard
    | c.BurnCards
    | c.DrawCards
    | c.PeekCard
    | c.RevealCard
    | c.ReshuffleDiscards
    | c.ReturnDiscards
    | c.RetireShoe
)
_OBSERVE: Final[dict[type, Callable[[Shoe, Any], tuple[ShoeEvent, ...]]]] = {
    c.StartObservedShoe: observing.start,
    c.ObserveCards: observing.cards,
    c.ObserveCutCard: observing.cut_card,
    c.ObserveTurnedCard: observing.turned,
    c.EndObservedShoe: observing.end,
}

_TABLE: Final = frozenset({Role.SYSTEM})
_PIT: Final = frozenset({Role.DEALER, Role.DEVICE, Role.SYSTEM, Role.SUPERVISOR})
_OWNERS: Final = frozenset({Role.SUPERVISOR, Role.LICENSEE, Role.SYSTEM})

MAY: Final[dict[type, frozenset[Role]]] = {
    c.RegisterDevice: _OWNERS,
    c.InspectDevice: _OWNERS | {Role.DEALER},
    c.LoadDecks: _PIT,
    c.InspectCards: frozenset({Role.SUPERVISOR, Role.SYSTEM}),
    c.UnloadDecks: _PIT,
    c.ShuffleCards: _PIT,
    c.CutCards: _PIT | {Role.PLAYER},
    c.PlaceCutCard: _PIT,
    c.BurnCards: _PIT,
    c.DrawCards: _TABLE,
    c.PeekCard: _TABLE,
    c.RevealCard: _TABLE | {Role.SUPERVISOR},
    c.ReshuffleDiscards: frozenset({Role.SUPERVISOR, Role.SYSTEM}),
    c.ReturnDiscards: _TABLE,
    c.RackCards: frozenset({Role.SYSTEM, Role.SUPERVISOR}),
    c.RetireShoe: _PIT,
    c.AbandonShoe: frozenset({Role.SUPERVISOR}),
    c.StartObservedShoe: _TABLE,
    c.ObserveCards: _TABLE,
    c.ObserveCutCard: _TABLE,
    c.ObserveTurnedCard: _TABLE,
    c.EndObservedShoe: _TABLE,
}
"""Who may send which command. Cards go to the table's service alone, which acts as SYSTEM: nobody at the table may take, see
or ask about a card out of its turn, the dealer least of all (30-823). A supervisor turns a card up that a broken round left.
"""


def authorise(shoe: Shoe, command: ShoeCommand, context: CommandContext) -> None:
    """Refuse an actor whose role does not carry the act, and any device but the one that is enrolled here."""
    actor = context.actor
    if actor.role not in MAY[type(command)]:
        raise NotAuthorised(
            f"{actor.role.value} may not ask for {type(command).__name__}",
            role=actor.role.value,
            command=type(command).__name__,
        )
    if actor.role is Role.DEVICE and (shoe.device is None or shoe.device.id != actor.id):
        raise DeviceNotRegistered(f"device {actor.id} is not registered here", device_id=actor.id)
    if shoe.live is not None and shoe.live.observed and isinstance(command, _NEEDS_AN_ORDER):
        raise ObservedShoeInPlay(f"{shoe.live.id} holds physical cards", shoe_id=shoe.live.id)


def decide(shoe: Shoe, command: ShoeDecision, context: CommandContext) -> tuple[ShoeEvent, ...]:
    """Give the events of a lawful command, none when its effect stands already; raise a `Rejection` otherwise.

    Raises `ValueError` only when an enriched command does not belong to this state, which is a fault of the program.
    """
    match command:
        case (
            x.CommitShuffle()
            | x.CommitDiscards()
            | x.TakeCards()
            | x.AnswerPeek()
            | x.OpenCard()
            | x.OpenShoe()
            | x.GiveUpShoe()
        ):
            authorise(shoe, command.request, context)
            return _decide_hidden(shoe, command, context)
        case _:
            authorise(shoe, command, context)
            return _decide_plain(shoe, command, context)


def _decide_plain(shoe: Shoe, command: _PLAIN, context: CommandContext) -> tuple[ShoeEvent, ...]:
    match command:
        case c.RegisterDevice():
            return preparing.register_device(shoe, command)
        case c.InspectDevice():
            return preparing.inspect_device(shoe, command, context)
        case c.LoadDecks():
            return preparing.load_decks(shoe, command, context)
        case c.InspectCards():
            return preparing.inspect_cards(shoe, command, context)
        case c.UnloadDecks():
            return preparing.unload_decks(shoe, command)
        case c.CutCards():
            return preparing.cut_cards(shoe, command, context)
        case c.PlaceCutCard():
            return preparing.place_cut_card(shoe, command, context)
        case c.ReturnDiscards():
            return dealing.return_discards(shoe, command)
        case c.RackCards():
            return dealing.rack_cards(shoe, command)
        case _:
            return _OBSERVE[type(command)](shoe, command)


def _decide_hidden(shoe: Shoe, command: _ENRICHED, context: CommandContext) -> tuple[ShoeEvent, ...]:
    match command:
        case x.CommitShuffle():
            return preparing.shuffle_cards(shoe, command, context)
        case x.CommitDiscards():
            return dealing.commit_discards(shoe, command)
        case x.TakeCards():
            return dealing.take_cards(shoe, command)
        case x.AnswerPeek():
            return dealing.answer_peek(shoe, command)
        case x.OpenCard():
            return dealing.open_card(shoe, command)
        case x.OpenShoe():
            return dealing.open_shoe(shoe, command)
        case x.GiveUpShoe():
            return dealing.abandon_shoe(shoe, command, context)
