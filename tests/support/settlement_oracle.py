"""A second opinion on a round: blackjack played and paid anew from the fact sheet of Rule 8, sharing no code with the game.

Reads cards, wagers and the rule set's plain values; asks `choose` where a player chooses, naming whom it asks and what it
would allow. Knows no events, no phases and no table. Written to be checked against 30-807 to 30-829 by eye.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from services.game.cards import Card
from services.game.house_rules import HouseRules

Choose = Callable[[int, int, frozenset[str]], tuple[str, int]]
"""Seat, hand and what is allowed, to the choice and its extra stake in cents."""


@dataclass
class Spot:
    """A hand: its cards, its stakes by kind and ordinal, and how it ended if it ended by itself."""

    cards: list[Card]
    stakes: list[tuple[str, int, int]]
    from_split: bool = False
    aces: bool = False
    kept: bool = False
    fate: str = ""

    @property
    def wager(self) -> int:
        return self.stakes[0][2]


@dataclass
class Played:
    """The dealer's cards, and what comes back for each stake: (seat, hand, kind, ordinal) -> cents."""

    dealer: list[Card]
    returned: dict[tuple[int, int, str, int], int]


def count(cards: list[Card]) -> tuple[int, bool]:
    """The best total, and whether an ace in it counts 11 (30-806)."""
    low = sum(1 if card.rank == "A" else 10 if card.rank in "TJQK" else int(card.rank) for card in cards)
    soft = any(card.rank == "A" for card in cards) and low <= 11
    return (low + 10 if soft else low), soft


def paid(rules: HouseRules, stake: int, gain: Fraction) -> int:
    """The stake with its gain; a gain, or what is left of a lost stake, is rounded to chips by the posted rule (30-810)."""
    base, part = (stake, gain * stake) if gain >= 0 else (0, stake + gain * stake)
    unit, up = _unit(rules), rules.rounding.value == "up-to-chip"
    return base + int(-(-part // unit) if up else part // unit) * unit


def _unit(rules: HouseRules) -> int:
    return 1 if rules.rounding.value == "exact" else rules.chip_cents


def play(rules: HouseRules, shoe: Iterator[Card], wagers: dict[int, int], choose: Choose) -> Played:
    """Deal, ask, draw and pay one round."""
    seats = {seat: [Spot([next(shoe)], [("main", 1, wagers[seat])])] for seat in sorted(wagers)}
    first = [spots[0] for spots in seats.values()]
    dealer = [next(shoe)]
    for spot in first:
        spot.cards.append(next(shoe))
    hole_way, up = rules.hole_card.value, dealer[0].rank
    if hole_way != "no-hole-card":
        dealer.append(next(shoe))
    ten_up, ace_up = up in "TJQK", up == "A"
    for spot in first:
        spot.fate = "natural" if count(spot.cards)[0] == 21 else ""
    insured = _insurance(rules, seats, choose) if ace_up else {}
    early = rules.surrender.value == "early" or (rules.surrender.value == "early-vs-ten" and ten_up)
    peeks = (hole_way == "peek-ace-ten" and (ace_up or ten_up)) or (hole_way == "peek-ace" and ace_up)
    if peeks and early:
        _early_surrender(seats, choose)
    if not (peeks and count(dealer)[0] == 21):
        for seat, spots in seats.items():
            _turns(rules, seat, spots, shoe, choose)
    _draw_dealer(rules, dealer, seats, shoe, waiting=bool(insured), early=early)
    return Played(dealer, _settle(rules, dealer, seats, insured, early=early))


def _settle(
    rules: HouseRules, dealer: list[Card], seats: dict[int, list[Spot]], insured: dict[int, int], *, early: bool
) -> dict[tuple[int, int, str, int], int]:
    returned = {}
    natural = len(dealer) == 2 and count(dealer)[0] == 21
    for seat, spots in seats.items():
        for number, spot in enumerate(spots):
            for kind, ordinal, stake in spot.stakes:
                gain = _gain(rules, spot, kind, count(dealer)[0], natural=natural, early=early)
                returned[seat, number, kind, ordinal] = paid(rules, stake, gain)
    for seat, stake in insured.items():
        returned[seat, 0, "insurance", 1] = paid(rules, stake, rules.insurance_pays if natural else Fraction(-1))
    return returned


def _insurance(rules: HouseRules, seats: dict[int, list[Spot]], choose: Choose) -> dict[int, int]:
    """Against an ace: up to half, or even money for a blackjack (30-812)."""
    insured = {}
    for seat, (spot,) in seats.items():
        allowed = {"insure"} if rules.insurance.value != "off" and spot.wager >= 2 * _unit(rules) else set()
        allowed |= {"even-money"} if rules.even_money and spot.fate == "natural" else set()
        if allowed:
            do, amount = choose(seat, 0, frozenset(allowed | {"decline-insurance"}))
            if do == "insure":
                insured[seat] = amount
            spot.fate = "even-money" if do == "even-money" else spot.fate
    return insured


def _early_surrender(seats: dict[int, list[Spot]], choose: Choose) -> None:
    """Before the dealer's check every hand is asked, and asked no more after it (30-829)."""
    for seat, (spot,) in seats.items():
        if not spot.fate:
            gives_up = choose(seat, 0, frozenset({"surrender", "decline-surrender"}))[0] == "surrender"
            spot.fate, spot.kept = ("surrender", False) if gives_up else ("", True)


def _turns(rules: HouseRules, seat: int, spots: list[Spot], shoe: Iterator[Card], choose: Choose) -> None:
    """One hand after the other, each completed before the next (30-813, 30-814, 30-821, 30-826, 30-829)."""
    doubles = number = 0
    while number < len(spots):
        spot = spots[number]
        if len(spot.cards) == 1:
            spot.cards.append(next(shoe))
        allowed = _allowed(rules, spot, len(spots))
        if spot.fate or count(spot.cards)[0] >= 21 or (spot.aces and allowed == {"stand"}):
            spot.fate = spot.fate or ("bust" if count(spot.cards)[0] > 21 else "stood")
            number += 1
            continue
        do, amount = choose(seat, number, allowed)
        if do == "split":
            stake = ("split", len(spots), spot.wager)
            aces = spot.cards[0].rank == "A"
            spots.insert(number + 1, Spot([spot.cards.pop()], [stake], from_split=True, aces=aces, kept=spot.kept))
            spot.from_split, spot.aces = True, aces
        elif do == "hit":
            spot.cards.append(next(shoe))
        elif do == "double":
            doubles += 1
            spot.stakes.append(("double", doubles, amount))
            spot.cards.append(next(shoe))
            # A card that lies face down tells nobody that the hand is bust: the dealer plays against it.
            spot.fate = "bust" if count(spot.cards)[0] > 21 and rules.double_card_face.value == "up" else "stood"
        else:
            spot.fate = {"stand": "stood", "surrender": "surrender", "void": "void"}[do]


def _allowed(rules: HouseRules, spot: Spot, hands: int) -> frozenset[str]:
    two = len(spot.cards) == 2
    total, soft = count(spot.cards)
    doubled = {
        "any-two": True,
        "nine-to-eleven": 9 <= total <= 11,
        "ten-eleven": 10 <= total <= 11,
        "hard-only": not soft,
    }
    first, second = spot.cards[:2]
    alike = {"value": count([first]) == count([second]), "rank": first.rank == second.rank}
    after_split = rules.double_after_split and (rules.double_after_split_aces or not spot.aces)
    choices = {
        "stand": True,
        "hit": rules.hit_split_aces or not spot.aces,
        "double": two and doubled[rules.double_on.value] and (after_split or not spot.from_split),
        "split": two
        and alike[rules.split_by.value]
        and hands < rules.max_hands
        and (rules.resplit_aces or not spot.aces),
        "surrender": two
        and rules.surrender.value != "none"
        and not spot.kept
        and (rules.surrender_after_split or not spot.from_split),
    }
    return frozenset(name for name, legal in choices.items() if legal)


def _draw_dealer(
    rules: HouseRules,
    dealer: list[Card],
    seats: dict[int, list[Spot]],
    shoe: Iterator[Card],
    *,
    waiting: bool,
    early: bool,
) -> None:
    """To 17, and over a soft 17 where posted, when some hand needs it or the house always draws (30-826)."""
    fates = {spot.fate or "stood" for spots in seats.values() for spot in spots}
    may_be_natural = dealer[0].rank in "TJQKA"
    waiting |= "stood" in fates or (may_be_natural and ("natural" in fates or ("surrender" in fates and not early)))
    needs = "stood" in fates or rules.dealer_draws_when_decided
    if len(dealer) == 1 and (waiting or needs):
        dealer.append(next(shoe))
    while needs and (count(dealer)[0] < 17 or (count(dealer) == (17, True) and rules.soft17.value == "hit")):
        dealer.append(next(shoe))


def _gain(rules: HouseRules, spot: Spot, kind: str, dealer: int, *, natural: bool, early: bool) -> Fraction:
    """What a stake gains for one cent of it (30-807, 30-808, 30-810, 30-812 to 30-814, 30-829)."""
    if spot.fate == "void":
        return Fraction(0)
    if count(spot.cards)[0] > 21:
        return Fraction(-1)
    if spot.fate == "even-money":
        return Fraction(1)
    if spot.fate == "natural":
        return Fraction(0) if natural else rules.blackjack_pays
    if spot.fate == "surrender" and (early or not natural):
        return Fraction(-1, 2)
    if natural:
        given_back = kind != "main" and rules.dealer_blackjack_takes.value == "original"
        return Fraction(0) if given_back else Fraction(-1)
    mine = count(spot.cards)[0]
    return Fraction(1) if dealer > 21 or mine > dealer else Fraction(0) if mine == dealer else Fraction(-1)
