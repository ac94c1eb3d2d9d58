"""One sentence for each event of a table, as a surveillance operator would say it.

Owns words only. Amounts are shown in dollars and cents; nothing is worked out here that the fold does not know.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from services.surveillance import counting
from services.surveillance import round_facts as r
from services.surveillance import table_facts as t
from services.surveillance.facts import Fact
from services.surveillance.observation_text import is_observation, observation_text
from services.surveillance.observed_round import ObservedRound
from services.surveillance.round_facts import DecidedBy, Recipient


def money(cents: int) -> str:
    """Cents as dollars: 129050 is "$1,290.50", 500 is "$5"."""
    whole, rest = divmod(abs(cents), 100)
    return f"{'-' if cents < 0 else ''}${whole:,}" + (f".{rest:02d}" if rest else "")


def note(fact: Fact, _before: ObservedRound | None, current: ObservedRound) -> str:
    """What happened, in a sentence without its full stop; the event's name where there are no words for it."""
    if is_observation(fact):
        return observation_text(fact)
    sentence = _SENTENCES.get(type(fact.event))
    return sentence(fact.event, current) if sentence is not None else fact.name


def _place(current: ObservedRound, event: Any) -> str:
    several = len(current.hands.get(event.seat, [])) > 1
    return f"seat {event.seat} hand {event.hand + 1}" if several else f"seat {event.seat}"


def _by(event: Any) -> str:
    return {DecidedBy.SYSTEM: " (time-out)", DecidedBy.DEALER: " (dealer)"}.get(event.by, "")


def _dealt(event: r.CardDealt, current: ObservedRound) -> str:
    what = str(event.card) if event.card is not None else "a card face down"
    if event.to is Recipient.DEALER:
        total = counting.total_text(current.dealer_faces)
        return f"{what} to the dealer" + (f": {total}" if event.card is not None else "")
    hand = current.hand(event.seat, event.hand)
    total = counting.total_text(hand.faces) if hand is not None else ""
    if hand is not None and hand.is_natural:
        total = "blackjack"
    bust = ", bust" if hand is not None and hand.is_bust else ""
    return f"{what} to {_place(current, event)}: {total}{bust}"


def _settled(event: r.WagersSettled, _: ObservedRound) -> str:
    parts = [
        f"seat {line.seat} {line.kind} {money(line.stake_cents)} {line.outcome.value}, {money(line.returned_cents)} back"
        for line in event.lines
    ]
    return "; ".join(parts) or "nothing to settle"


def _opened(event: r.RoundOpened, _: ObservedRound) -> str:
    return f"betting is open under {event.rules_name} version {event.rules_version}"


def _checked(event: r.HoleChecked, _: ObservedRound) -> str:
    return "the dealer checks: blackjack" if event.makes_blackjack else "the dealer checks: no blackjack"


_SENTENCES: Mapping[type, Callable[[Any, ObservedRound], str]] = MappingProxyType(
    {
        r.RoundOpened: _opened,
        r.WagerPlaced: lambda e, _: f"seat {e.seat} stakes {money(e.amount_cents)} ({e.kind})",
        r.BettingClosed: lambda e, _: "no more wagers; cards go to seats " + ", ".join(map(str, e.seats)),
        r.CardDealt: _dealt,
        r.InsurancePlaced: lambda e, _: f"seat {e.seat} insures for {money(e.amount_cents)}{_by(e)}",
        r.InsuranceDeclined: lambda e, _: f"seat {e.seat} does without insurance{_by(e)}",
        r.EvenMoneyTaken: lambda e, _: f"seat {e.seat} takes even money{_by(e)}",
        r.InsuranceClosed: lambda e, _: f"insurance is closed{_by(e)}",
        r.HoleChecked: _checked,
        r.SurrenderDeclined: lambda e, c: f"{_place(c, e)} keeps the hand{_by(e)}",
        r.HandHit: lambda e, c: f"{_place(c, e)} hits{_by(e)}",
        r.HandStood: lambda e, c: f"{_place(c, e)} stands{_by(e)}",
        r.HandDoubled: lambda e, c: f"{_place(c, e)} doubles with {money(e.amount_cents)}{_by(e)}",
        r.HandSplit: lambda e, _: f"seat {e.seat} splits with {money(e.amount_cents)}{_by(e)}",
        r.HandSurrendered: lambda e, c: f"{_place(c, e)} surrenders{_by(e)}",
        r.HoleRevealed: lambda e, c: f"the dealer turns over {e.card}: {counting.total_text(c.dealer_faces)}",
        r.DoubleRevealed: lambda e, c: f"{_place(c, e)} turns over {e.card}",
        r.HandVoided: lambda e, c: f"{_place(c, e)} is a push by {e.supervisor}: {e.reason}",
        r.RoundVoided: lambda e, _: f"every open hand is a push by {e.supervisor}: {e.reason}",
        r.WagersSettled: _settled,
        r.CardsPickedUp: lambda e, _: f"{len(e.order)} cards go to the discard rack",
        r.RoundCompleted: lambda e, _: (
            f"the round is over: {money(e.staked_cents)} staked, {money(e.returned_cents)} back"
        ),
        t.ShoeAssigned: lambda e, _: f"dealt from shoe {e.shoe_id}, {e.decks} decks",
        t.ShuffleBecameDue: lambda _e, _c: "the cutting card came out: the last round of this shoe",
        t.CardsRanShort: lambda e, _: f"{e.needed} cards were needed: the discards were shuffled",
        t.StakesReleased: lambda e, _: f"{len(e.holds)} stakes of no wager go back: {e.reason}",
        t.DecisionTimedOut: lambda _e, _c: "nobody answered in time",
        t.ObservingStarted: lambda _e, _c: "devices observe this table from now on",
        t.IrregularityFound: lambda e, _: f"irregularity {e.irregularity}: {e.message}",
        t.CardSetAside: lambda e, _: f"{e.card or 'a card face down'} is set aside: it belongs to no hand",
        t.TableSuspended: lambda e, _: f"play stops: {e.reason}",
        t.TableResumed: lambda e, _: f"play goes on: {e.remedy} ({e.basis})",
    }
)
