"""What can be asked of a shoe, in the words of the pit. Field rules are checked where the command is decided.

Each command that moves cards carries an id given by the caller. Asked again with that id, also under a new request id,
it gets the first answer; the same id with other content is refused (DESIGN §5).
"""

from dataclasses import dataclass

from services.game.cards import Card
from services.game.rule_options import CutCardFirst
from services.shoe.words import BurnReason, DeckSet, Defect, DeviceKind, RetireReason, ShuffleReason


@dataclass(frozen=True, slots=True)
class RegisterDevice:
    """Enrol the device of a table. `approval` is the Division's reference, mandatory for shufflers and electronics."""

    device_id: str
    kind: DeviceKind
    electronic: bool
    approval: str


@dataclass(frozen=True, slots=True)
class InspectDevice:
    """Record the daily inspection (30-805): undamaged, working, not compromised; `note` says what was found."""

    device_id: str
    passed: bool
    note: str


@dataclass(frozen=True, slots=True)
class LoadDecks:
    """Put decks into the device: one to sixteen sets, each a whole deck (30-806)."""

    device_id: str
    deck_sets: tuple[DeckSet, ...]


@dataclass(frozen=True, slots=True)
class InspectCards:
    """Record that `dealer` checked every deck and `supervisor` verified it (30-815), with what they found."""

    dealer: str
    supervisor: str
    defects: tuple[Defect, ...]


@dataclass(frozen=True, slots=True)
class UnloadDecks:
    """Take all decks out of the device, for new cards or at the end of the day."""

    note: str


@dataclass(frozen=True, slots=True)
class ShuffleCards:
    """Shuffle all loaded cards into a new shoe and commit to the order (30-816).

    `min_cut_cards` is the house's cut distance and `cut_card_first` what follows when the cutting card comes first.
    """

    shuffle_id: str
    min_cut_cards: int
    cut_card_first: CutCardFirst
    reason: ShuffleReason


@dataclass(frozen=True, slots=True)
class CutCards:
    """Cut the stack (30-817): the first `depth` cards go behind the others. `cutter` is a seat or a badge."""

    shoe_id: str
    depth: int
    cutter: str


@dataclass(frozen=True, slots=True)
class PlaceCutCard:
    """Insert the cutting card with so many cards behind it (30-817)."""

    shoe_id: str
    cards_behind: int


@dataclass(frozen=True, slots=True)
class BurnCards:
    """Put the next `count` cards into the discard rack (30-819), face down unless `face_up`.

    `round_id` is the round in play, empty between rounds.
    """

    burn_id: str
    round_id: str
    count: int
    reason: BurnReason
    face_up: bool


@dataclass(frozen=True, slots=True)
class DrawCards:
    """Draw one card for each entry of `face_down` (1 to 64), in order (30-818, 30-820).

    `shoe_id` names the shoe that the wagers were placed on, "" for whichever is in play. `until_racked` announces that the
    round's cards keep the shoe from being opened until `RackCards`: no hole card guards the order meanwhile.
    """

    draw_id: str
    round_id: str
    face_down: tuple[bool, ...]
    shoe_id: str = ""
    until_racked: bool = False


@dataclass(frozen=True, slots=True)
class PeekCard:
    """Ask the no-peek device (30-823) whether the face-down card makes blackjack with the up card; nothing else."""

    shoe_id: str
    position: int
    up_position: int


@dataclass(frozen=True, slots=True)
class RevealCard:
    """Turn a drawn card face up (30-821, 30-823), with its proof."""

    shoe_id: str
    position: int


@dataclass(frozen=True, slots=True)
class ReshuffleDiscards:
    """Shuffle the discards alone (30-828): fewer than `needed` cards are left to finish `round_id`. A cut follows."""

    reshuffle_id: str
    round_id: str
    needed: int


@dataclass(frozen=True, slots=True)
class ReturnDiscards:
    """Put cards of finished rounds back into the continuous shuffler (30-816), by their shoe positions."""

    return_id: str
    positions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RackCards:
    """Say that the cards of a round lie in the discard rack (30-822), so that the shoe may be opened again."""

    shoe_id: str
    round_id: str


@dataclass(frozen=True, slots=True)
class AbandonShoe:
    """Give up a shoe that the sealing key does not open any more, by a supervisor's word and for this `reason`."""

    shoe_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class RetireShoe:
    """End the shoe between rounds: reveal its seeds and reconcile its cards (30-816, DESIGN §6)."""

    shoe_id: str
    reason: RetireReason


# Observed shoes: what devices saw of physical cards (DESIGN §5); sent by the table alone, never refused for what was seen.


@dataclass(frozen=True, slots=True)
class SeenCard:
    """One card that left a physical shoe. `observation` is its id; face down it has no face for anybody."""

    observation: str
    card: Card | None
    face_down: bool
    burned: bool


@dataclass(frozen=True, slots=True)
class StartObservedShoe:
    """A physical shoe with so many decks is in use from now on; one that was in use before has ended."""

    observation: str
    device_id: str
    decks: int
    note: str


@dataclass(frozen=True, slots=True)
class ObserveCards:
    """Record cards that left the shoe, in this order. Where no start was seen, a shoe of `decks` begins with them."""

    round_id: str
    device_id: str
    decks: int
    cards: tuple[SeenCard, ...]


@dataclass(frozen=True, slots=True)
class ObserveCutCard:
    """The cutting card came out."""

    observation: str


@dataclass(frozen=True, slots=True)
class ObserveTurnedCard:
    """A card that lay face down was turned over."""

    observation: str
    position: int
    card: Card


@dataclass(frozen=True, slots=True)
class EndObservedShoe:
    """The cards were taken out."""

    observation: str
