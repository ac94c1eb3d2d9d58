"""Where money can be: currencies, the names of accounts, and movements between two of them.

Every movement takes from one account what it gives to another, so the sum over all accounts of a currency is zero by
construction; `apply_movements` still checks it, because a log can be damaged. Bounds keep every amount in 64 bits.
Does not know why money moves.

The accounts of one table:

- `tray`            the table's chips, without those that `breakage` accounts for
- `breakage`        what rounding kept in the tray (negative: gave away); tray + breakage is what a count of the tray finds
- `rack/<session>`  a patron's free chips
- `escrow/<round>`  stakes in play
- `tips`            chips given to the dealers
- `drop`            cash in the drop box
- `outside`         all else: cage, count room, the patron's pocket; negative by as much as the table holds
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from services.wager.rejections import AmountNotWholeCents, AmountOutOfRange, CountMalformed

TRAY = "tray"
BREAKAGE = "breakage"
TIPS = "tips"
DROP = "drop"
OUTSIDE = "outside"
RACK = "rack/"
ESCROW = "escrow/"

MAX_AMOUNT_CENTS = 10**12
# What all accounts of a table may hold together, and what one payment may come to: far above any tray, far below 2^63.
MAX_HOLDINGS_CENTS = 10**15
MAX_DENOMINATIONS = 32


class Currency(StrEnum):
    """Kinds of money that never mix: the house's chips, and cash. Tournament and promotional chips will be further ones."""

    CHIPS = "chips"
    CASH = "cash"


class Reason(StrEnum):
    """Why one movement happened."""

    OPENING = "opening"
    CARRIED_IN = "carried-in"
    CASH_DROPPED = "cash-dropped"
    CHIPS_SOLD = "chips-sold"
    STAKE_HELD = "stake-held"
    STAKE_VOIDED = "stake-voided"
    STAKE_RETURNED = "stake-returned"
    STAKE_LOST = "stake-lost"
    PAID = "paid"
    BREAKAGE = "breakage"
    TIP = "tip"
    CASHED_OUT = "cashed-out"
    FILL = "fill"
    CREDIT = "credit"
    CORRECTION = "correction"
    CLOSING = "closing"


@dataclass(frozen=True, slots=True)
class Movement:
    """`amount_cents` (at least 1) of `currency` from account `source` to account `target`.

    `reference` is the business id behind it: a hold, a buy-in, a slip.
    """

    source: str
    target: str
    currency: Currency
    amount_cents: int
    reason: Reason
    reference: str


@dataclass(frozen=True, slots=True)
class Count:
    """`quantity` notes or chips of one denomination."""

    denomination_cents: int
    quantity: int


Balances = Mapping[Currency, Mapping[str, int]]


class LedgerDamaged(Exception):
    """Movements that no decision of this ledger can have made: the log was altered or the code is wrong. Not a refusal."""


def rack(session: str) -> str:
    """The account of a seat session's free chips."""
    return RACK + session


def escrow(round_id: str) -> str:
    """The account of a round's stakes in play."""
    return ESCROW + round_id


def check_amount(amount: object, what: str, *, minimum: int = 1, maximum: int = MAX_AMOUNT_CENTS) -> int:
    """`amount` itself when it is an int (no bool, no float) within bounds.

    Raises AmountNotWholeCents or AmountOutOfRange, naming `what`.
    """
    if type(amount) is not int:
        raise AmountNotWholeCents(f"{what} must be whole cents, not {amount!r:.60}", what=what, given=f"{amount!r:.60}")
    if not minimum <= amount <= maximum:
        raise AmountOutOfRange(
            f"{what} must be {minimum} to {maximum} cents, not {_shown(amount)}",
            what=what,
            given=_shown(amount),
            minimum_cents=minimum,
            maximum_cents=maximum,
        )
    return amount


def _shown(amount: int) -> str:
    # An absurd number may have more digits than Python will print; its size is all that matters then.
    return str(amount) if amount.bit_length() <= 256 else f"a number of {amount.bit_length()} bits"


def count_total(counts: tuple[Count, ...], what: str) -> int:
    """What notes or chips come to, 0 for none; raises CountMalformed, AmountNotWholeCents or AmountOutOfRange."""
    if len(counts) > MAX_DENOMINATIONS or len({c.denomination_cents for c in counts}) != len(counts):
        raise CountMalformed(f"{what} must name each denomination once", what=what, lines=len(counts))
    total = 0
    for count in counts:
        denomination = check_amount(count.denomination_cents, f"a denomination of {what}")
        total += denomination * check_amount(count.quantity, f"a quantity of {what}")
    return check_amount(total, what, minimum=0)


def balance(balances: Balances, account: str, currency: Currency = Currency.CHIPS) -> int:
    """What the account holds; 0 for one that nothing moved through."""
    return balances.get(currency, {}).get(account, 0)


def apply_movements(balances: Balances, movements: Iterable[Movement]) -> Balances:
    """The balances afterwards; accounts at zero are left out, so that past racks and rounds take no room.

    Raises LedgerDamaged when a currency does not sum to zero or an account is overdrawn that cannot be.
    """
    changed: dict[Currency, dict[str, int]] = {}
    for movement in movements:
        accounts = changed.get(movement.currency)
        if accounts is None:
            accounts = changed[movement.currency] = dict(balances.get(movement.currency, {}))
        if movement.amount_cents < 1 or movement.source == movement.target:
            raise LedgerDamaged(f"not a movement: {movement}")
        accounts[movement.source] = accounts.get(movement.source, 0) - movement.amount_cents
        accounts[movement.target] = accounts.get(movement.target, 0) + movement.amount_cents
    if not changed:
        return balances
    return {**balances, **{currency: _settled(currency, accounts) for currency, accounts in changed.items()}}


def _settled(currency: Currency, accounts: dict[str, int]) -> dict[str, int]:
    if sum(accounts.values()):
        raise LedgerDamaged(f"{currency} sum to {sum(accounts.values())} cents, not to zero")
    if accounts.get(TRAY, 0) + accounts.get(BREAKAGE, 0) < 0:
        raise LedgerDamaged(f"the tray holds less than nothing: {accounts}")
    for account, cents in accounts.items():
        if cents < 0 and account not in {TRAY, BREAKAGE, OUTSIDE}:
            raise LedgerDamaged(f"{account} is overdrawn by {-cents} cents of {currency}")
    return {account: cents for account, cents in accounts.items() if cents}
