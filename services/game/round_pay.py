"""What a stake brings: from a result to exact money, by the rule set's pay rules and its one rounding rule (30-810).

Owns the pay table of one rule set. Promises exact amounts: due = returned + breakage, the stake included. Decides no
result.
"""

from fractions import Fraction
from typing import Final, NamedTuple

from services.game.house_rules import HouseRules
from services.game.money import pay
from services.game.round_words import Outcome
from services.game.wager_kinds import FinishedHand, MainResult, net_of

_MOST_AMOUNTS: Final = 10_000
_MOST_TABLES: Final = 256
_OUTCOMES: Final = {
    MainResult.NATURAL: Outcome.BLACKJACK,
    MainResult.EVEN_MONEY: Outcome.EVEN_MONEY,
    MainResult.BUST: Outcome.BUST,
    MainResult.SURRENDER: Outcome.SURRENDER,
}


class Paid(NamedTuple):
    """What comes back for one stake: see `SettlementLine` for the words."""

    outcome: Outcome
    due: Fraction
    returned_cents: int
    breakage: Fraction


class Column:
    """One result's pay. `known` keeps, by stake in cents, what does not depend on the hand: the same stakes come again."""

    __slots__ = ("keeps", "known", "result")

    def __init__(self, result: MainResult, *, keeps: bool) -> None:
        self.result = result
        self.keeps = keeps
        self.known: dict[int, Paid] = {}


class PayTable:
    """The pay of one rule set: a column for each result of the main wager (30-807, 30-808, 30-812, 30-829)."""

    __slots__ = (
        "_chip_cents",
        "_rules",
        "bust",
        "even_money",
        "insurance_net",
        "lose",
        "natural",
        "natural_tie",
        "surrender",
        "tie",
        "win",
    )

    def __init__(self, rules: HouseRules) -> None:
        conditional = {rule.result for rule in rules.main_pays if not rule.is_plain}
        columns = {result: Column(result, keeps=result not in conditional) for result in MainResult}
        self._rules = rules
        self._chip_cents = rules.chip_cents
        self.insurance_net = rules.insurance_pays
        self.natural = columns[MainResult.NATURAL]
        self.natural_tie = columns[MainResult.NATURAL_TIE]
        self.even_money = columns[MainResult.EVEN_MONEY]
        self.win = columns[MainResult.WIN]
        self.tie = columns[MainResult.TIE]
        self.lose = columns[MainResult.LOSE]
        self.bust = columns[MainResult.BUST]
        self.surrender = columns[MainResult.SURRENDER]

    def __reduce__(self) -> "tuple[object, tuple[HouseRules]]":
        # A copy elsewhere takes the rules, not what was worked out from them meanwhile.
        return pay_table, (self._rules,)

    def main(self, column: Column, hand: FinishedHand, stake_cents: int) -> Paid:
        """Pay a stake that goes with its hand; the hand's facts matter only where the pay rules ask for them."""
        net = net_of(self._rules.main_pays, self._rules.blackjack_pays, hand)
        paid = self.by_net(_OUTCOMES.get(column.result, outcome_of(net)), net, stake_cents)
        if column.keeps and len(column.known) < _MOST_AMOUNTS:
            column.known[stake_cents] = paid
        return paid

    def by_net(self, outcome: Outcome, net: Fraction, stake_cents: int) -> Paid:
        """Pay `net` times the stake (-1 loses it, 0 gives it back).

        A gain is rounded by itself, the stake returns whole.
        """
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
