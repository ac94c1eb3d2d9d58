"""Everything that happens to a shoe. Secrets are sealed bytes; a card is named only once the table may see it.

Seeds and face-down cards are encrypted before they get here (DESIGN §6), so that the journal, every topic and every
backup can be read by anyone without seeing a card before its time. Positions count from 1 and never repeat in a shoe.
"""

from dataclasses import dataclass

from services.game.cards import Card
from services.game.rule_options import CutCardFirst
from services.shoe.words import BurnReason, CardProof, DeviceKind, RetireReason, ShuffleReason


@dataclass(frozen=True, slots=True)
class DeviceRegistered:
    """A device was enrolled at this table; it replaces the one before."""

    device_id: str
    kind: DeviceKind
    electronic: bool
    approval: str


@dataclass(frozen=True, slots=True)
class DeviceInspected:
    """The device passed or failed the inspection of a gaming day, "2026-11-30" (30-805)."""

    device_id: str
    passed: bool
    note: str
    gaming_day: str


@dataclass(frozen=True, slots=True)
class DecksLoaded:
    """Whole decks went into the device; `composition` is the digest of what they hold together (30-806, 30-815)."""

    device_id: str
    decks: int
    deck_set_ids: tuple[str, ...]
    composition: bytes


@dataclass(frozen=True, slots=True)
class CardsInspected:
    """Dealer and supervisor found the cards in order (30-815)."""

    dealer: str
    supervisor: str
    decks: int
    composition: bytes


@dataclass(frozen=True, slots=True)
class DeckSetRejected:
    """A deck set was found defective and may not come back to this table (30-815)."""

    deck_set_id: str
    finding: str
    dealer: str
    supervisor: str


@dataclass(frozen=True, slots=True)
class DecksUnloaded:
    """All decks left the device."""

    deck_set_ids: tuple[str, ...]
    note: str


@dataclass(frozen=True, slots=True)
class CardsShuffled:
    """A new shoe began: its order is fixed and committed (30-816, DESIGN §6).

    `seed_hash` and `root` are public from now on; `sealed_seed` opens only inside the shoe service. `root` is empty for
    a continuous shuffler. `algorithm` names the published recipe.
    """

    shoe_id: str
    shuffle_id: str
    device_id: str
    continuous: bool
    decks: int
    algorithm: str
    composition: bytes
    seed_hash: bytes
    root: bytes
    sealed_seed: bytes
    min_cut_cards: int
    cut_card_first: CutCardFirst
    reason: ShuffleReason


@dataclass(frozen=True, slots=True)
class CardsCut:
    """The first `depth` cards of a stack went behind the others (30-817); `stack` 0 is the full shoe."""

    shoe_id: str
    stack: int
    depth: int
    cutter: str


@dataclass(frozen=True, slots=True)
class CutCardPlaced:
    """The cutting card stands with so many cards behind it (30-817)."""

    shoe_id: str
    cards_behind: int


@dataclass(frozen=True, slots=True)
class CardDrawn:
    """One card left the shoe for the table (30-818, 30-820).

    Face up: `card` and `salt` are set and prove it together with the root. Face down: they are unset, `sealed_card`
    holds them, and `leaf` is their fingerprint. `left` cards remain. `last_round`: no other round from this shoe.
    """

    shoe_id: str
    decks: int
    draw_id: str
    round_id: str
    position: int
    face_down: bool
    card: Card | None
    salt: bytes
    leaf: bytes
    sealed_card: bytes
    left: int
    last_round: bool


@dataclass(frozen=True, slots=True)
class CardBurned:
    """One card went to the discard rack unplayed (30-819); fields as in `CardDrawn`."""

    shoe_id: str
    burn_id: str
    round_id: str
    reason: BurnReason
    position: int
    face_down: bool
    card: Card | None
    salt: bytes
    leaf: bytes
    sealed_card: bytes
    left: int
    last_round: bool


@dataclass(frozen=True, slots=True)
class FeltTaken:
    """Cards of a round without a hole card begin to lie on the felt: until they are racked the shoe stays shut."""

    shoe_id: str
    round_id: str


@dataclass(frozen=True, slots=True)
class FeltCleared:
    """The cards of the round lie in the discard rack (30-822)."""

    shoe_id: str
    round_id: str


@dataclass(frozen=True, slots=True)
class HoleCardChecked:
    """The no-peek device said whether the hole card makes blackjack with the up card (30-823)."""

    shoe_id: str
    round_id: str
    position: int
    up_position: int
    makes_blackjack: bool


@dataclass(frozen=True, slots=True)
class CardRevealed:
    """A face-down card was turned up, with the proof that it lay there all along (30-823)."""

    shoe_id: str
    round_id: str
    position: int
    card: Card
    proof: CardProof


@dataclass(frozen=True, slots=True)
class DiscardsReshuffled:
    """The discards became a new stack behind the cards that are left, to finish one round (30-828).

    `recycled` are their shoe positions; the new positions are `first_position` to `first_position + size - 1`.
    """

    shoe_id: str
    reshuffle_id: str
    round_id: str
    stack: int
    recycled: tuple[int, ...]
    first_position: int
    size: int
    seed_hash: bytes
    root: bytes
    sealed_seed: bytes


@dataclass(frozen=True, slots=True)
class DiscardsReturned:
    """Cards went back into the continuous shuffler (30-816), after `after` draws and burns of this shoe."""

    shoe_id: str
    return_id: str
    positions: tuple[int, ...]
    after: int


@dataclass(frozen=True, slots=True)
class ShoeRetired:
    """The shoe ended and its seeds are public: with them anyone can derive and check every card (DESIGN §6).

    drawn + burned + undealt - recycled = 52 x decks, and each card exactly `decks` times: `missing` and `extra` list
    the exceptions (a card once for each piece) and `broken_roots` the stacks whose order does not open its commitment;
    all three are empty unless something is badly wrong. `recycled` counts reshuffled and returned cards.
    """

    shoe_id: str
    reason: RetireReason
    decks: int
    seeds: tuple[bytes, ...]
    drawn: int
    burned: int
    undealt: int
    recycled: int
    missing: tuple[Card, ...]
    extra: tuple[Card, ...]
    broken_roots: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ShoeAbandoned:
    """The shoe ended unopened: its seeds cannot be read any more, so its order stays unproved (DESIGN §6).

    `authorised_by` is the supervisor, `reason` his words. `face_down` are drawn cards that nobody saw, `undealt` how many
    cards never left. The cards in the device are to be counted by hand before they are shuffled again (30-815).
    """

    shoe_id: str
    reason: str
    authorised_by: str
    decks: int
    drawn: int
    burned: int
    undealt: int
    face_down: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NothingChanged:
    """A command's effect stood already. Recorded where the command, repeated later, could act after all (DESIGN §3)."""

    command: str


@dataclass(frozen=True, slots=True)
class ObservedShoeStarted:
    """A physical shoe is in use and a device watches it: its order is known to nobody, so nothing was committed.

    Its cards follow as `CardDrawn` and `CardBurned` without leaf, salt or seal; their ids name the observations.
    """

    shoe_id: str
    observation: str
    device_id: str
    decks: int
    note: str


@dataclass(frozen=True, slots=True)
class CutCardSeen:
    """The cutting card came out of an observed shoe after so many cards: no other round from it (30-816)."""

    shoe_id: str
    observation: str
    after: int


@dataclass(frozen=True, slots=True)
class ImpossibleCardSeen:
    """The card at `position`, now or right after this, is one more than the decks hold: the `copies`-th of its kind."""

    shoe_id: str
    observation: str
    position: int
    card: Card
    copies: int
    decks: int


@dataclass(frozen=True, slots=True)
class HiddenCardTurned:
    """A card of an observed shoe that lay face down was turned over."""

    shoe_id: str
    round_id: str
    observation: str
    position: int
    card: Card


@dataclass(frozen=True, slots=True)
class ObservedShoeEnded:
    """The physical cards were taken out; `unseen` of the cards that left it never showed their face."""

    shoe_id: str
    observation: str
    decks: int
    drawn: int
    burned: int
    undealt: int
    unseen: int
    extra: tuple[Card, ...]


EVENTS: tuple[type, ...] = (
    DeviceRegistered,
    DeviceInspected,
    DecksLoaded,
    CardsInspected,
    DeckSetRejected,
    DecksUnloaded,
    CardsShuffled,
    CardsCut,
    CutCardPlaced,
    CardDrawn,
    CardBurned,
    FeltTaken,
    FeltCleared,
    HoleCardChecked,
    CardRevealed,
    DiscardsReshuffled,
    DiscardsReturned,
    ShoeRetired,
    ShoeAbandoned,
    NothingChanged,
    ObservedShoeStarted,
    CutCardSeen,
    ImpossibleCardSeen,
    HiddenCardTurned,
    ObservedShoeEnded,
)

ShoeEvent = (
    DeviceRegistered
    | DeviceInspected
    | DecksLoaded
    | CardsInspected
    | DeckSetRejected
    | DecksUnloaded
    | CardsShuffled
    | CardsCut
    | CutCardPlaced
    | CardDrawn
    | CardBurned
    | FeltTaken
    | FeltCleared
    | HoleCardChecked
    | CardRevealed
    | DiscardsReshuffled
    | DiscardsReturned
    | ShoeRetired
    | ShoeAbandoned
    | NothingChanged
    | ObservedShoeStarted
    | CutCardSeen
    | ImpossibleCardSeen
    | HiddenCardTurned
    | ObservedShoeEnded
)
