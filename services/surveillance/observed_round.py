"""One round as surveillance folds it from the log: what lies on the felt and what is staked, with no opinion about it.

Owns the fold that the laws and the hand history share. Promises to take any event without raising, also one that breaks
every rule: what cannot be placed is remembered in `oddities` and the laws say what is wrong. Does not share code with
the table.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from services.game.cards import Card
from services.surveillance import counting
from services.surveillance import round_facts as facts
from services.surveillance.round_facts import Recipient


@dataclass(slots=True)
class SeenCard:
    """A card on the felt by its shoe position; `card` is None while nobody has seen it."""

    position: int
    card: Card | None
    face_down: bool


@dataclass(frozen=True, slots=True)
class SeenStake:
    """A stake as it was placed; (seat, kind, ordinal) names it."""

    seat: int
    kind: str
    ordinal: int
    amount_cents: int


@dataclass(slots=True)
class SeenHand:
    """A player's hand. `owed` counts the cards that the rules still have to give it, asked for and not yet dealt."""

    seat: int
    player: str
    cards: list[SeenCard] = field(default_factory=list)
    stakes: list[SeenStake] = field(default_factory=list)
    from_split: bool = False
    split_aces: bool = False
    doubled: bool = False
    stood: bool = False
    surrendered: bool = False
    surrender_declined: bool = False
    even_money: bool = False
    insured_cents: int = 0
    insurance_answered: bool = False
    voided: bool = False
    owed: int = 0

    @property
    def faces(self) -> list[Card]:
        """The cards that have been seen."""
        return [seen.card for seen in self.cards if seen.card is not None]

    @property
    def main_cents(self) -> int:
        """The first stake on the hand: the main wager, or the split's."""
        return self.stakes[0].amount_cents if self.stakes else 0

    @property
    def is_natural(self) -> bool:
        """A blackjack."""
        return counting.is_natural(self.faces, from_split=self.from_split)

    @property
    def is_bust(self) -> bool:
        """Over 21."""
        return counting.count(self.faces)[0] > 21


@dataclass(slots=True)
class ObservedRound:
    """A round in progress or past. `phase` is the DESIGN §5 word for where it stands."""

    round_id: str = ""
    rules_digest: str = ""
    rules_name: str = ""
    rules_version: int = 0
    first_of_shoe: bool = False
    phase: str = "BETTING"
    players: dict[int, str] = field(default_factory=dict)
    seats: tuple[int, ...] = ()
    hands: dict[int, list[SeenHand]] = field(default_factory=dict)
    dealer: dict[int, list[SeenCard]] = field(default_factory=dict)
    dealer_owed: int = 0
    insurance: dict[tuple[int, str, int], int] = field(default_factory=dict)
    insurance_closed: bool = False
    hole_checks: list[facts.HoleChecked] = field(default_factory=list)
    hole_revealed: bool = False
    lines: dict[tuple[int, str, int], facts.SettlementLine] = field(default_factory=dict)
    revisions: list[int] = field(default_factory=list)
    voided: bool = False
    picked_up: tuple[int, ...] = ()
    completed: bool = False
    staked_cents: int = 0
    returned_cents: int = 0
    oddities: list[str] = field(default_factory=list)

    @property
    def closed(self) -> bool:
        """Whether betting has been closed."""
        return bool(self.seats)

    @property
    def is_settled(self) -> bool:
        """Whether every stake has ended."""
        return self.voided or len(self.lines) >= len(self.stakes())

    @property
    def dealer_faces(self) -> list[Card]:
        """The dealer's cards that have been seen."""
        return [seen.card for seen in self.dealer.get(0, []) if seen.card is not None]

    @property
    def up_card(self) -> Card | None:
        """The dealer's first card that was dealt face up."""
        return next((seen.card for seen in self.dealer.get(0, []) if not seen.face_down), None)

    @property
    def dealer_natural(self) -> bool:
        """Whether the dealer's first two cards are seen and make a blackjack."""
        first_two = self.dealer.get(0, [])[:2]
        faces = [seen.card for seen in first_two if seen.card is not None]
        return counting.is_natural(faces, from_split=False)

    def hand(self, seat: int, hand: int) -> SeenHand | None:
        """The hand at that place now, None where there is none."""
        hands = self.hands.get(seat, [])
        return hands[hand] if 0 <= hand < len(hands) else None

    def stakes(self) -> dict[tuple[int, str, int], int]:
        """Every stake of the round in cents by (seat, kind, ordinal)."""
        placed = {
            (stake.seat, stake.kind, stake.ordinal): stake.amount_cents
            for hands in self.hands.values()
            for hand in hands
            for stake in hand.stakes
        }
        return placed | self.insurance

    def positions(self) -> dict[int, Card | None]:
        """Every dealt card by shoe position."""
        cards = {seen.position: seen.card for row in self.dealer.values() for seen in row}
        for hands in self.hands.values():
            for hand in hands:
                cards |= {seen.position: seen.card for seen in hand.cards}
        return cards

    def apply(self, event: Any) -> None:
        """Fold one event in; anything but a round's event changes nothing."""
        act = _ACTS.get(type(event))
        if act is not None:
            act(self, event)


def _opened(r: ObservedRound, e: facts.RoundOpened) -> None:
    r.round_id, r.rules_digest = e.round_id, e.rules_digest
    r.rules_name, r.rules_version, r.first_of_shoe = e.rules_name, e.rules_version, e.first_of_shoe
    r.players = {seated.seat: seated.player for seated in e.seats}


def _wager(r: ObservedRound, e: facts.WagerPlaced) -> None:
    hands = r.hands.setdefault(e.seat, [])
    if not hands:
        # A seat that was left and taken again while betting was open belongs to whoever wagers on it first (30-809).
        r.players[e.seat] = e.player
        hands.append(SeenHand(e.seat, e.player))
    hand = r.hand(e.seat, e.hand)
    if hand is None:
        r.oddities.append(f"a wager on hand {e.hand} of seat {e.seat}, which is not there")
        hand = hands[0]
    hand.stakes.append(SeenStake(e.seat, e.kind, e.ordinal, e.amount_cents))
    r.staked_cents += e.amount_cents


def _closed(r: ObservedRound, e: facts.BettingClosed) -> None:
    r.seats, r.phase = e.seats, "DEALING"
    for seat in e.seats:
        for hand in r.hands.get(seat, []):
            hand.owed = 2


def _dealt(r: ObservedRound, e: facts.CardDealt) -> None:
    seen = SeenCard(e.position, e.card, e.face_down)
    if e.to is Recipient.DEALER:
        r.dealer.setdefault(e.dealer_hand, []).append(seen)
        if r.hole_revealed:
            r.phase = "DEALER"
        elif (
            r.up_card is not None and r.phase == "DEALING" and all(not h.owed for row in r.hands.values() for h in row)
        ):
            r.phase = "PLAYERS"
        return
    hand = r.hand(e.seat, e.hand)
    if hand is None:
        r.oddities.append(f"a card for hand {e.hand} of seat {e.seat}, which is not there")
        r.hands.setdefault(e.seat, []).append(hand := SeenHand(e.seat, r.players.get(e.seat, "")))
    hand.cards.append(seen)
    hand.owed -= 1


def _insured(r: ObservedRound, e: facts.InsurancePlaced) -> None:
    r.insurance[e.seat, e.kind, e.ordinal] = e.amount_cents
    r.staked_cents += e.amount_cents
    r.phase = "INSURANCE"
    hand = r.hand(e.seat, e.hand)
    if hand is not None:
        hand.insured_cents += e.amount_cents
        hand.insurance_answered = True


def _answered(r: ObservedRound, e: facts.InsuranceDeclined | facts.EvenMoneyTaken) -> None:
    r.phase = "INSURANCE"
    hand = r.hand(e.seat, e.hand)
    if hand is not None:
        hand.insurance_answered = True
        hand.even_money = hand.even_money or isinstance(e, facts.EvenMoneyTaken)


def _insurance_closed(r: ObservedRound, _: facts.InsuranceClosed) -> None:
    r.insurance_closed, r.phase = True, "PEEK"


def _checked(r: ObservedRound, e: facts.HoleChecked) -> None:
    r.hole_checks.append(e)
    r.phase = "DEALER" if e.makes_blackjack else "PLAYERS"


def _hit(r: ObservedRound, e: facts.HandHit) -> None:
    r.phase = "PLAYERS"
    hand = r.hand(e.seat, e.hand)
    if hand is not None:
        hand.owed += 1


def _stood(r: ObservedRound, e: facts.HandStood) -> None:
    r.phase = "PLAYERS"
    hand = r.hand(e.seat, e.hand)
    if hand is not None:
        hand.stood = True


def _doubled(r: ObservedRound, e: facts.HandDoubled) -> None:
    r.phase = "PLAYERS"
    r.staked_cents += e.amount_cents
    hand = r.hand(e.seat, e.hand)
    if hand is not None:
        hand.doubled = True
        hand.owed += 1
        hand.stakes.append(SeenStake(e.seat, e.kind, e.ordinal, e.amount_cents))


def _split(r: ObservedRound, e: facts.HandSplit) -> None:
    r.phase = "PLAYERS"
    r.staked_cents += e.amount_cents
    hand = r.hand(e.seat, e.hand)
    if hand is None or not hand.cards:
        r.oddities.append(f"a split of hand {e.hand} of seat {e.seat}, which is not there")
        return
    moved = hand.cards.pop()
    aces = bool(hand.cards and hand.cards[0].card is not None and hand.cards[0].card.rank == "A")
    hand.from_split, hand.split_aces, hand.owed = True, aces, hand.owed + 1
    new = SeenHand(e.seat, hand.player, [moved], [], from_split=True, split_aces=aces, owed=1)
    new.stakes.append(SeenStake(e.seat, e.kind, e.ordinal, e.amount_cents))
    r.hands[e.seat].insert(e.new_hand, new)


def _surrendered(r: ObservedRound, e: facts.HandSurrendered) -> None:
    hand = r.hand(e.seat, e.hand)
    if hand is not None:
        hand.surrendered = True


def _kept(r: ObservedRound, e: facts.SurrenderDeclined) -> None:
    hand = r.hand(e.seat, e.hand)
    if hand is not None:
        hand.surrender_declined = True


def _hole(r: ObservedRound, e: facts.HoleRevealed) -> None:
    r.hole_revealed, r.phase = True, "DEALER"
    _turn_up(r, r.dealer.get(e.dealer_hand, []), e.position, e.card)


def _double_card(r: ObservedRound, e: facts.DoubleRevealed) -> None:
    hand = r.hand(e.seat, e.hand)
    _turn_up(r, hand.cards if hand is not None else [], e.position, e.card)


def _turn_up(r: ObservedRound, row: list[SeenCard], position: int, card: Card) -> None:
    seen = next((seen for seen in row if seen.position == position), None)
    if seen is None:
        r.oddities.append(f"a card turned over at position {position}, where none lies")
    else:
        seen.card = card


def _hand_voided(r: ObservedRound, e: facts.HandVoided) -> None:
    hand = r.hand(e.seat, e.hand)
    if hand is not None:
        hand.voided = True


def _round_voided(r: ObservedRound, _: facts.RoundVoided) -> None:
    r.voided, r.phase = True, "SETTLING"


def _settled(r: ObservedRound, e: facts.WagersSettled) -> None:
    r.revisions.append(e.revision)
    for line in e.lines:
        r.lines[line.seat, line.kind, line.ordinal] = line
        r.returned_cents += line.returned_cents
    if r.is_settled:
        r.phase = "SETTLING"


def _picked_up(r: ObservedRound, e: facts.CardsPickedUp) -> None:
    r.picked_up, r.phase = e.order, "PICKUP"


def _completed(r: ObservedRound, _: facts.RoundCompleted) -> None:
    r.completed, r.phase = True, "COMPLETE"


_ACTS: Mapping[type, Callable[[ObservedRound, Any], None]] = MappingProxyType(
    {
        facts.RoundOpened: _opened,
        facts.WagerPlaced: _wager,
        facts.BettingClosed: _closed,
        facts.CardDealt: _dealt,
        facts.InsurancePlaced: _insured,
        facts.InsuranceDeclined: _answered,
        facts.EvenMoneyTaken: _answered,
        facts.InsuranceClosed: _insurance_closed,
        facts.HoleChecked: _checked,
        facts.HandHit: _hit,
        facts.HandStood: _stood,
        facts.HandDoubled: _doubled,
        facts.HandSplit: _split,
        facts.HandSurrendered: _surrendered,
        facts.SurrenderDeclined: _kept,
        facts.HoleRevealed: _hole,
        facts.DoubleRevealed: _double_card,
        facts.HandVoided: _hand_voided,
        facts.RoundVoided: _round_voided,
        facts.WagersSettled: _settled,
        facts.CardsPickedUp: _picked_up,
        facts.RoundCompleted: _completed,
    }
)
