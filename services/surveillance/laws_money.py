"""The law of money: L1, chips are conserved to the cent, and the half of L6 that a ledger states itself.

Owns an independent double-entry fold of the wager streams. Each event's movements must do exactly what the event says,
and what the event says about balances must be what the fold has. Amounts are integer cents. Shares no code with the
wager service.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from services.surveillance import wager_facts as w
from services.surveillance.facts import Fact
from services.surveillance.findings import Finding, found
from services.surveillance.scene import TableScene
from services.surveillance.table_facts import RackChanged
from services.surveillance.wager_facts import Currency

CHIPS, CASH = Currency.CHIPS, Currency.CASH
RECEIPTS_REMEMBERED = 4_096
MAY_BE_NEGATIVE = frozenset({"outside", "tray", "breakage"})

Changes = Mapping[tuple[Currency, str], int]


def rack(session: str) -> str:
    """A patron's free chips."""
    return f"rack/{session}"


def escrow(round_id: str) -> str:
    """The stakes in play of a round."""
    return f"escrow/{round_id}"


class ChipsConserved:
    """L1 and L6: two sides to every movement, no account overdrawn, and each event moves exactly what it says.

    The balances that an event states (rack, tray, drop, tips) must equal the fold of all movements before it and in it:
    that is the live state, bit for bit, as the ledger wrote it down (L6).
    """

    def __init__(self) -> None:
        self.balances: dict[str, dict[tuple[Currency, str], int]] = {}
        self._periods: dict[str, Period] = {}
        self._receipts: dict[str, OrderedDict[str, tuple[int, int]]] = {}

    def observe(self, fact: Fact, _scene: TableScene) -> Iterator[Finding]:
        """Fold one event of a wager stream in, and hold what the table says of a rack against it."""
        event = fact.event
        accounts = self.balances.setdefault(fact.key, {})
        if isinstance(event, RackChanged):
            yield from self._receipt(fact, event)
        if fact.area != "wager" or event is None:
            return
        yield from _post(fact, accounts)
        yield from _inner(fact)
        match event:
            case w.ChipsBought():
                self._note(fact.key, event.buy_in, (event.chips_cents, event.rack_cents))
            case w.TipGiven():
                self._note(fact.key, event.tip, (event.amount_cents, event.rack_cents))
            case w.ChipsCashedOut():
                self._note(fact.key, event.cash_out, (event.amount_cents, event.rack_cents))
            case _:
                pass
        yield from self._periods.setdefault(fact.key, Period()).observe(fact)
        for what, stated, folded in _stated(event, accounts):
            if stated != folded:
                yield found("L6", fact, f"states {stated} cents for {what}, folding the log gives {folded}")

    def _note(self, key: str, receipt: str, amounts: tuple[int, int]) -> None:
        receipts = self._receipts.setdefault(key, OrderedDict())
        receipts[receipt] = amounts
        if len(receipts) > RECEIPTS_REMEMBERED:
            receipts.popitem(last=False)

    def _receipt(self, fact: Fact, event: RackChanged) -> Iterator[Finding]:
        # A repeated request may be noted late, so the table is held against the ledger's own event, not against now.
        known = self._receipts.setdefault(fact.key, OrderedDict()).get(event.receipt)
        said = (event.amount_cents, event.rack_cents)
        if known != said:
            yield found(
                "L6", fact, f"the table notes {said} cents for {event.receipt}, the ledger {known or 'nothing'}"
            )

    def finish(self) -> Iterator[Finding]:
        """Over all accounts each currency sums to zero."""
        for key, accounts in self.balances.items():
            for currency in Currency:
                total = sum(cents for (kind, _), cents in accounts.items() if kind is currency)
                if total:
                    yield Finding("L1", f"wager:{key}", 0, "", f"{currency} sum to {total} cents over all accounts")


def _post(fact: Fact, accounts: dict[tuple[Currency, str], int]) -> Iterator[Finding]:
    """Book the movements of an event, and compare them with what the event says."""
    event = fact.event
    moved: defaultdict[tuple[Currency, str], int] = defaultdict(int)
    for movement in event.movements:
        if movement.amount_cents < 1 or movement.source == movement.target:
            yield found("L1", fact, f"is not a movement of money: {movement}")
        moved[movement.currency, movement.source] -= movement.amount_cents
        moved[movement.currency, movement.target] += movement.amount_cents
    moved = defaultdict(int, {account: cents for account, cents in moved.items() if cents})
    said = {account: cents for account, cents in _said(event, accounts).items() if cents}
    for currency, name in sorted(set(moved) | set(said)):
        actual, wanted = moved.get((currency, name), 0), said.get((currency, name), 0)
        if actual != wanted:
            yield found("L1", fact, f"{name} changes by {actual} cents of {currency}, the event says {wanted}")
    for account, cents in moved.items():
        now = accounts.get(account, 0) + cents
        accounts[account] = now
        if not now:
            del accounts[account]
        if now < 0 and account[1] not in MAY_BE_NEGATIVE:
            yield found("L1", fact, f"{account[1]} is overdrawn by {-now} cents of {account[0]}")
    if _counted_tray(accounts) < 0:
        yield found("L1", fact, f"the tray holds {_counted_tray(accounts)} cents")


@dataclass(slots=True)
class Period:
    """What a table came to between opening and closing, in cents; the closing states it too (L6)."""

    opener: int = 0
    fills: int = 0
    credits: int = 0
    handle: int = 0

    def observe(self, fact: Fact) -> Iterator[Finding]:
        """Fold one event of the ledger in."""
        match fact.event:
            case w.LedgerOpened() as event:
                self.opener, self.fills, self.credits, self.handle = event.opener_cents, 0, 0, 0
            case w.TrayFilled() as event:
                self.fills += event.amount_cents
            case w.TrayCredited() as event:
                self.credits += event.amount_cents
            case w.RoundSettled() as event:
                self.handle += sum(line.stake_cents for line in event.lines)
            case w.LedgerClosed() as event:
                win = event.closer_cents + event.drop_cents + self.credits - self.opener - self.fills
                for what, stated, folded in (
                    ("win", event.win_cents, win),
                    ("handle", event.handle_cents, self.handle),
                ):
                    if stated != folded:
                        yield found("L6", fact, f"states {stated} cents of {what}, folding the log gives {folded}")
            case _:
                pass


def _counted_tray(accounts: Changes) -> int:
    return accounts.get((CHIPS, "tray"), 0) + accounts.get((CHIPS, "breakage"), 0)


def _said(event: Any, accounts: Changes) -> Changes:
    """How the accounts must change for what the event says to be true."""
    rule = _RULES.get(type(event))
    return rule(event, accounts) if rule is not None else {}


def _pair(source: str, target: str, cents: int, currency: Currency = CHIPS) -> dict[tuple[Currency, str], int]:
    return {(currency, source): -cents, (currency, target): cents}


def _all_out(event: w.LedgerClosed, accounts: Changes) -> Changes:
    # The closer empties the table: tray and breakage are one pile of chips.
    emptied = {account: -cents for account, cents in accounts.items() if account[1] in {"tray", "breakage"}}
    gone = {(CHIPS, "tips"): -event.tips_cents, (CASH, "drop"): -event.drop_cents, (CASH, "outside"): event.drop_cents}
    return {**emptied, **gone, (CHIPS, "outside"): event.closer_cents + event.tips_cents}


def _bought(event: w.ChipsBought, _: Changes) -> Changes:
    cash = sum(count.denomination_cents * count.quantity for count in event.cash)
    return _pair("outside", "drop", cash, CASH) | _pair("tray", rack(event.session), event.chips_cents)


def _held(event: w.StakesHeld, _: Changes) -> Changes:
    changes: defaultdict[tuple[Currency, str], int] = defaultdict(int)
    for hold in event.holds:
        changes[CHIPS, rack(hold.session)] -= hold.amount_cents
        changes[CHIPS, escrow(event.round_id)] += hold.amount_cents
    return changes


def _voided(event: w.HoldsVoided, _: Changes) -> Changes:
    changes: defaultdict[tuple[Currency, str], int] = defaultdict(int)
    for hold in event.holds:
        changes[CHIPS, rack(hold.session)] += hold.amount_cents
        changes[CHIPS, escrow(event.round_id)] -= hold.amount_cents
    return changes


def _settled(event: w.RoundSettled, _: Changes) -> Changes:
    changes: defaultdict[tuple[Currency, str], int] = defaultdict(int)
    for line in event.lines:
        changes[CHIPS, escrow(event.round_id)] -= line.stake_cents
        changes[CHIPS, "tips" if line.for_dealers else rack(line.session)] += line.returned_cents
        changes[CHIPS, "breakage"] += line.breakage_cents
        changes[CHIPS, "tray"] += line.stake_cents - line.returned_cents - line.breakage_cents
    return changes


def _corrected(event: w.PaymentCorrected, _: Changes) -> Changes:
    paid = event.amount_cents if event.direction is w.Direction.PAY else -event.amount_cents
    return _pair("tray", rack(event.session), paid)


_RULES: Mapping[type, Callable[[Any, Changes], Changes]] = MappingProxyType(
    {
        w.LedgerOpened: lambda e, _: _pair("outside", "tray", e.opener_cents),
        w.LedgerClosed: _all_out,
        w.SeatSessionOpened: lambda e, _: _pair("outside", rack(e.session), e.chips_cents),
        w.ChipsBought: _bought,
        w.ChipsBrought: lambda e, _: _pair("outside", rack(e.session), e.amount_cents),
        w.StakesHeld: _held,
        w.HoldsVoided: _voided,
        w.RoundSettled: _settled,
        w.TipGiven: lambda e, _: _pair(rack(e.session), "tips", e.amount_cents),
        w.ChipsCashedOut: lambda e, _: _pair(rack(e.session), "outside", e.amount_cents),
        w.SeatSessionClosed: lambda e, _: _pair(rack(e.session), "outside", e.chips_cents),
        w.TrayFilled: lambda e, _: _pair("outside", "tray", e.amount_cents),
        w.TrayCredited: lambda e, _: _pair("tray", "outside", e.amount_cents),
        w.PaymentCorrected: _corrected,
    }
)


def _inner(fact: Fact) -> Iterator[Finding]:
    """What must hold inside one event."""
    event = fact.event
    if isinstance(event, w.ChipsBought):
        cash = sum(count.denomination_cents * count.quantity for count in event.cash)
        if cash != event.chips_cents:
            yield found("L1", fact, f"{cash} cents of cash were bought for {event.chips_cents} cents in chips (30-831)")
    if isinstance(event, w.RoundSettled):
        for line in event.lines:
            if line.due != line.returned_cents + line.breakage_cents + line.residual:
                yield found("L1", fact, f"{line.due} cents due are not what was returned and what broke, {line.holds}")
            if abs(line.residual) >= 1:
                yield found("L1", fact, f"{line.residual} cents of {line.holds} are in no account")


def _stated(event: Any, accounts: Changes) -> Iterator[tuple[str, int, int]]:
    """The balances that an event states, and what the fold has: (account, stated, folded)."""

    def of_rack(session: str) -> int:
        return accounts.get((CHIPS, rack(session)), 0)

    match event:
        case w.ChipsBought() | w.ChipsBrought() | w.TipGiven() | w.ChipsCashedOut() | w.PaymentCorrected():
            yield rack(event.session), event.rack_cents, of_rack(event.session)
        case w.StakesHeld() | w.HoldsVoided():
            # Several stakes of one rack: the last one states what is left after the event.
            for session, cents in {hold.session: hold.rack_cents for hold in event.holds}.items():
                yield rack(session), cents, of_rack(session)
        case w.RoundSettled():
            for balance in event.racks:
                yield rack(balance.session), balance.rack_cents, of_rack(balance.session)
        case w.SeatSessionClosed():
            yield rack(event.session), 0, of_rack(event.session)
        case w.TrayFilled() | w.TrayCredited():
            yield "tray", event.tray_cents, _counted_tray(accounts)
        case w.LedgerClosed():
            for (currency, name), cents in accounts.items():
                if name != "outside":
                    yield f"{name} in {currency}", 0, cents
        case _:
            pass
