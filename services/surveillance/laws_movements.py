"""L1, what a movement of money is called: its reason and its reference follow from the event that carries it (DESIGN §7).

A false word moves no cent by itself, and is what a statement shows and an audit of the drop or the tips adds up. Owns the
table of reasons. Shares no code with the wager service.
"""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from services.surveillance import wager_facts as w
from services.surveillance.facts import Fact
from services.surveillance.findings import Finding, found
from services.surveillance.scene import TableScene
from services.surveillance.wager_facts import Movement, Reason

Way = tuple[type, str, str]


def _kind(account: str) -> str:
    """An account without the patron's or the round's name: "rack/x" is a rack."""
    return account.partition("/")[0]


REASONS: Final[Mapping[Way, Reason]] = MappingProxyType(
    {
        (w.LedgerOpened, "outside", "tray"): Reason.OPENING,
        (w.LedgerClosed, "breakage", "tray"): Reason.CLOSING,
        (w.LedgerClosed, "tray", "breakage"): Reason.CLOSING,
        (w.LedgerClosed, "tray", "outside"): Reason.CLOSING,
        (w.LedgerClosed, "tips", "outside"): Reason.CLOSING,
        (w.LedgerClosed, "drop", "outside"): Reason.CLOSING,
        (w.SeatSessionOpened, "outside", "rack"): Reason.CARRIED_IN,
        (w.SeatSessionClosed, "rack", "outside"): Reason.CASHED_OUT,
        (w.ChipsBought, "outside", "drop"): Reason.CASH_DROPPED,
        (w.ChipsBought, "tray", "rack"): Reason.CHIPS_SOLD,
        (w.ChipsBrought, "outside", "rack"): Reason.CARRIED_IN,
        (w.ChipsCashedOut, "rack", "outside"): Reason.CASHED_OUT,
        (w.TipGiven, "rack", "tips"): Reason.TIP,
        (w.StakesHeld, "rack", "escrow"): Reason.STAKE_HELD,
        (w.HoldsVoided, "escrow", "rack"): Reason.STAKE_VOIDED,
        (w.RoundSettled, "escrow", "rack"): Reason.STAKE_RETURNED,
        (w.RoundSettled, "escrow", "tray"): Reason.STAKE_LOST,
        (w.RoundSettled, "tray", "rack"): Reason.PAID,
        (w.RoundSettled, "escrow", "tips"): Reason.TIP,
        (w.RoundSettled, "tray", "tips"): Reason.TIP,
        (w.RoundSettled, "tray", "breakage"): Reason.BREAKAGE,
        (w.RoundSettled, "breakage", "tray"): Reason.BREAKAGE,
        (w.TrayFilled, "outside", "tray"): Reason.FILL,
        (w.TrayCredited, "tray", "outside"): Reason.CREDIT,
        (w.PaymentCorrected, "tray", "rack"): Reason.CORRECTION,
        (w.PaymentCorrected, "rack", "tray"): Reason.CORRECTION,
    }
)
"""Why money goes from one kind of account to another in an event; any other way is none of that event's."""

_REFERENCES: Final[Mapping[type, Callable[[Any], set[str]]]] = MappingProxyType(
    {
        w.LedgerOpened: lambda e: {e.opening},
        w.LedgerClosed: lambda e: {e.closing},
        w.SeatSessionOpened: lambda e: {e.session},
        w.SeatSessionClosed: lambda e: {e.session},
        w.ChipsBought: lambda e: {e.buy_in},
        w.ChipsBrought: lambda e: {e.sighting},
        w.ChipsCashedOut: lambda e: {e.cash_out},
        w.TipGiven: lambda e: {e.tip},
        w.StakesHeld: lambda e: {hold.hold for hold in e.holds},
        w.HoldsVoided: lambda e: {hold.hold for hold in e.holds},
        w.RoundSettled: lambda e: {line.holds[0] for line in e.lines if line.holds},
        w.TrayFilled: lambda e: {e.slip},
        w.TrayCredited: lambda e: {e.slip},
        w.PaymentCorrected: lambda e: {e.correction},
    }
)


class MovementsNamed:
    """Each movement says why it was made and by which business id; keeps no state."""

    def observe(self, fact: Fact, _scene: TableScene) -> Iterator[Finding]:
        """Look at the movements of one event."""
        event = fact.event
        if fact.area != "wager" or event is None:
            return
        references = _REFERENCES[type(event)](event)
        for movement in event.movements:
            yield from _named(fact, movement, references)
        yield from _whose(fact, event)

    def finish(self) -> Iterator[Finding]:
        """Nothing is left open at the end."""
        return iter(())


def _named(fact: Fact, movement: Movement, references: set[str]) -> Iterator[Finding]:
    way = (type(fact.event), _kind(movement.source), _kind(movement.target))
    reason = REASONS.get(way)
    if reason is None:
        yield found(
            "L1", fact, f"moves money from {movement.source} to {movement.target}, which {fact.name} never does"
        )
    elif movement.reason is not reason:
        yield found(
            "L1",
            fact,
            f"{movement.source} to {movement.target} is booked as {movement.reason}, it is {reason} (DESIGN §7)",
        )
    if movement.reference not in references:
        wanted = ", ".join(sorted(references)[:3])
        yield found(
            "L1", fact, f"the movement to {movement.target} refers to {movement.reference!r:.120}, not {wanted}"
        )


def _whose(fact: Fact, event: Any) -> Iterator[Finding]:
    """A stake that moves under a hold's id moves by that hold's amount, from or to its own rack."""
    match event:
        case w.StakesHeld() | w.HoldsVoided():
            held = {hold.hold: (f"rack/{hold.session}", hold.amount_cents) for hold in event.holds}
        case _:
            return
    for movement in event.movements:
        account = movement.source if isinstance(event, w.StakesHeld) else movement.target
        if held.get(movement.reference, (account, movement.amount_cents)) != (account, movement.amount_cents):
            yield found(
                "L1",
                fact,
                f"{movement.amount_cents} cents of {account} move under {movement.reference}, which is another stake",
            )
