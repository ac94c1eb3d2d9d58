"""The nine notices that every player must be able to see, (a) to (i) of 30-803(3), rendered from the rule set.

Owns their wording, in our own words. Promises that each is true of the rules it was made from. Knows no table and no
sign.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from services.game.rule_options import (
    DealerShows,
    DoubleOn,
    Face,
    InsuranceRule,
    MidShoeEntry,
    Rounding,
    Soft17,
    SplitBy,
    Surrender,
)
from services.game.rules import HouseRules, MainResult, PayRule


@dataclass(frozen=True, slots=True)
class Notice:
    """One notice of 30-803(3).

    `letter` is a to i. `text` is never empty. `applies` is False when the section asks for the notice only "if
    applicable" and this house has nothing to restrict; `wall_sign` says that a sign for all tables may carry it
    (30-803(4)).
    """

    letter: str
    text: str
    applies: bool
    wall_sign: bool

    @property
    def section(self) -> str:
        """The paragraph that asks for it, e.g. "30-803(3)(a)"."""
        return f"30-803(3)({self.letter})"


def notices(rules: HouseRules) -> tuple[Notice, ...]:
    """Render all nine notices, in the order of the section."""
    texts = (
        ("a", _dealer(rules), True),
        ("b", _odds(rules), rules.dealer_shows is DealerShows.UP_CARD),
        ("c", _limits(rules), True),
        ("d", "A copy of all blackjack rules is given to any player who asks.", True),
        ("e", *_surrender(rules)),
        ("f", *_doubling(rules)),
        ("g", *_splitting(rules)),
        ("h", *_special_pays(rules)),
        ("i", *_tips(rules)),
    )
    return tuple(Notice(letter, text, applies, wall_sign=letter >= "d") for letter, text, applies in texts)


def dollars(cents: int) -> str:
    """Write an amount as "$5" or "$12.50", with commas from a thousand on."""
    whole, rest = divmod(cents, 100)
    return f"${whole:,}.{rest:02d}" if rest else f"${whole:,}"


def spoken_odds(odds: Fraction) -> str:
    """Write odds as a layout does: "3 to 2"."""
    return f"{odds.numerator} to {odds.denominator}"


def _dealer(rules: HouseRules) -> str:
    if rules.soft17 is Soft17.HIT:
        return "Dealer must hit on soft 17, draw to 16 and stand on every other 17."
    return "Dealer must draw to 16 and stand on all 17s."


_INSURANCE: Final = {
    InsuranceRule.UP_TO_HALF: "Insurance pays {odds}, for up to half of the wager.",
    InsuranceRule.EXACTLY_HALF: "Insurance pays {odds}, for exactly half of the wager.",
    InsuranceRule.OFF: "Insurance is not offered.",
}


def _odds(rules: HouseRules) -> str:
    insurance = _INSURANCE[rules.insurance].format(odds=spoken_odds(rules.insurance_pays))
    even_money = " Even money is paid on a blackjack against an ace on request." if rules.even_money else ""
    return f"Blackjack pays {spoken_odds(rules.blackjack_pays)}. {insurance}{even_money}"


def _limits(rules: HouseRules) -> str:
    limits = rules.limits
    least, most = dollars(limits.minimum_cents), dollars(limits.maximum_cents)
    said = [f"Minimum {least}, maximum {most}, in steps of {dollars(limits.increment_cents)}."]
    if rules.spots_per_player > 1:
        where = " side by side" if rules.spot_adjacent else ""
        each = dollars(limits.minimum_cents * rules.spot_minimum_multiplier)
        said.append(f"Up to {rules.spots_per_player} hands a player{where}, each for at least {each}.")
    else:
        said.append("One hand a player.")
    if rules.mid_shoe_entry is MidShoeEntry.CLOSED:
        said.append("No entry before the next shuffle.")
    elif rules.mid_shoe_entry is MidShoeEntry.LIMITED:
        said.append(f"Maximum {dollars(rules.mid_shoe_limit_cents)} for who enters before the next shuffle.")
    said.extend(
        f"Wager {kind.name}: {dollars(kind.minimum_cents)} to {dollars(kind.maximum_cents)}."
        for kind in rules.wager_kinds
        if kind.maximum_cents
    )
    return " ".join(said)


_SURRENDER: Final = {
    Surrender.LATE: "A player may surrender his first two cards for half the wager once the dealer has no blackjack.",
    Surrender.EARLY: "A player may surrender his first two cards for half the wager before the dealer checks.",
    Surrender.EARLY_VS_TEN: (
        "A player may surrender his first two cards for half the wager: against a ten before the dealer checks, "
        "otherwise once the dealer has no blackjack."
    ),
}


def _surrender(rules: HouseRules) -> tuple[str, bool]:
    if rules.surrender is Surrender.NONE:
        return "Surrender is not offered.", True
    after = "A split hand may surrender too." if rules.surrender_after_split else "A split hand may not surrender."
    return f"{_SURRENDER[rules.surrender]} {after}", True


_DOUBLE: Final = {
    DoubleOn.ANY_TWO: "Any first two cards may be doubled",
    DoubleOn.NINE_TO_ELEVEN: "Only totals of 9, 10 and 11 may be doubled",
    DoubleOn.TEN_ELEVEN: "Only totals of 10 and 11 may be doubled",
    DoubleOn.HARD_ONLY: "Only hard totals may be doubled",
}


def _doubling(rules: HouseRules) -> tuple[str, bool]:
    said = [
        _DOUBLE[rules.double_on] + (", for less if wished." if rules.double_for_less else ", for the full wager only.")
    ]
    if not rules.double_after_split:
        said.append("No doubling after a split.")
    elif not rules.double_after_split_aces:
        said.append("No doubling of split aces.")
    if rules.double_card_face is Face.DOWN:
        said.append("The card of a double is dealt face down.")
    free = (
        rules.double_on is DoubleOn.ANY_TWO
        and rules.double_for_less
        and rules.double_after_split
        and rules.double_after_split_aces
    )
    return " ".join(said), not free


def _splitting(rules: HouseRules) -> tuple[str, bool]:
    said = [f"Pairs of equal {rules.split_by.value} may be split to {rules.max_hands} hands."]
    said.append(f"Aces may be split to {rules.max_hands} hands." if rules.resplit_aces else "Aces may be split once.")
    said.append("Split aces play on." if rules.hit_split_aces else "Each split ace gets one card.")
    said.append("A split ace with a ten counts 21 and is no blackjack.")
    free = rules.split_by is SplitBy.VALUE and rules.resplit_aces and rules.hit_split_aces
    return " ".join(said), not free


_STANDARD_NETS: Final = {
    MainResult.NATURAL_TIE: Fraction(0),
    MainResult.EVEN_MONEY: Fraction(1),
    MainResult.WIN: Fraction(1),
    MainResult.TIE: Fraction(0),
    MainResult.LOSE: Fraction(-1),
    MainResult.BUST: Fraction(-1),
    MainResult.SURRENDER: Fraction(-1, 2),
}


def _special_pays(rules: HouseRules) -> tuple[str, bool]:
    said = [
        _pay_line(rule)
        for rule in rules.main_pays
        if rule.net is not None and not (rule.is_plain and _STANDARD_NETS.get(rule.result) == rule.net)
    ]
    if rules.rounding is Rounding.DOWN_TO_CHIP:
        said.append(f"Payments are rounded down to {dollars(rules.chip_cents)}.")
    elif rules.rounding is Rounding.UP_TO_CHIP:
        said.append(f"Payments are rounded up to {dollars(rules.chip_cents)}.")
    if not said:
        return "There is no special payment schedule: a winning wager pays 1 to 1.", False
    return " ".join(said), True


def _pay_line(rule: PayRule) -> str:
    conditions = [
        text
        for known, text in (
            (rule.hand_total, f"total {rule.hand_total}"),
            (rule.least_cards, f"{rule.least_cards} or more cards"),
            (rule.doubled, "doubled" if rule.doubled else "not doubled"),
            (rule.dealer_total, f"dealer's total {rule.dealer_total}"),
        )
        if known is not None
    ]
    what = rule.result.value.replace("-", " ").capitalize() + (f" ({', '.join(conditions)})" if conditions else "")
    net = rule.net or Fraction(0)
    if net > 0:
        return f"{what} pays {spoken_odds(net)}."
    if net == 0:
        return f"{what} returns the wager."
    return f"{what} loses the wager." if net == -1 else f"{what} loses {spoken_odds(-net)} of the wager."


def _tips(rules: HouseRules) -> tuple[str, bool]:
    if not rules.tips:
        return "Tips are not accepted.", True
    if not rules.tip_bets:
        return "Tips are accepted; wagers for the dealer are not.", True
    return "Tips, and wagers for the dealer, are accepted.", False
