"""What a stake brings: from a result to exact money, by the pay rules of the rule set and its one rounding rule (30-810).

Owns the pay table of one rule set. Promises exact amounts: due = returned + breakage, the stake included. Decides no result.
"""

from fractions import Fraction
from typing import Final, NamedTuple

from services.game.house_rules import HouseRules
from services.game.money import pay
from services.game.round_words import Outcome
from services.game.wager_kinds import FinishedHand, MainResult, net_of

_MOST_AMOUNTS: Final = 10_000
_MOST_TABLES: Final = 256


class Paid(NamedTuple):
    """What comes back for one stake: see `SettlementLine` for the words."""

    outcome: Outcome
    due: Fraction
    returned_cents: int
    breakage: Fraction


_OUTCOMES: Final = {
    MainResult.NATURAL: Outcome.BLACKJACK,
    MainResult.EVEN_MONEY: Outcome.EVEN_MONEY,
    MainResult.BUST: Outcome.BUST,
    MainResult.SURRENDER: Outcome.SURRENDER,
}


class PayTable:
    """The pay of one rule set. Amounts once worked out are kept, since the same stakes come again and again."""

    __slots__ = ("_chip_cents", "_known", "_plain", "_rules", "insurance_net")

    def __init__(self, rules: HouseRules) -> None:
        self._rules = rules
        self._known: dict[tuple[MainResult, int], Paid] = {}
        conditional = {rule.result for rule in rules.main_pays if not rule.is_plain}
        self._plain = frozenset(MainResult) - conditional
        self._chip_cents = rules.chip_cents
        self.insurance_net = rules.insurance_pays

    def main(self, hand: FinishedHand, stake_cents: int) -> Paid:
        """Pay a stake that goes with its hand (30-807, 30-808, 30-810, 30-829)."""
        result = hand.result
        known = self._known.get((result, stake_cents))
        if known is None:
            net = net_of(self._rules.main_pays, self._rules.blackjack_pays, hand)
            known = self.by_net(_OUTCOMES.get(result, outcome_of(net)), net, stake_cents)
            if result in self._plain and len(self._known) < _MOST_AMOUNTS:
                self._known[result, stake_cents] = known
        return known

    def plain(self, result: MainResult, stake_cents: int) -> Paid | None:
        """Give the pay of a result that depends on nothing else, if it was worked out before."""
        return self._known.get((result, stake_cents))

    def by_net(self, outcome: Outcome, net: Fraction, stake_cents: int) -> Paid:
        """Pay `net` times the stake (-1 loses it, 0 gives it back). A gain is rounded by itself, the stake returns whole."""
        gain = net * stake_cents
        kept_whole = stake_cents if net >= 0 else 0
        payment = pay(gain if net >= 0 else stake_cents + gain, self._rules.rounding, self._chip_cents)
        return Paid(outcome, stake_cents + gain, kept_whole + payment.paid_cents, payment.breakage)


def outcome_of(net: Fraction) -> Outcome:
    """Give the plain outcome of a gain: a win, a push or a loss."""
    if net > 0:
        return Outcome.WIN
    return Outcome.LOSE if net < 0 else Outcome.PUSH


_TABLES: Final[dict[str, PayTable]] = {}


def pay_table(rules: HouseRules) -> PayTable:
    """Give the one pay table of a rule set, by its digest; only the cost depends on what was asked before."""
    table = _TABLES.get(rules.digest)
    if table is None:
        if len(_TABLES) >= _MOST_TABLES:
            _TABLES.clear()
        table = _TABLES[rules.digest] = PayTable(rules)
    return table
