"""From a table's own view, as it is live, to a picture.

Owns the words for whose move it is. Cards of a live table have no shoe position: the table's view names none.
"""

from collections.abc import Mapping

from services.console.formatting import phase_words
from services.console.views import CardView, FeltView, HandView, SeatView, ShoeView, StakeView
from services.table import client

BESIDE = frozenset({"insurance"})
"""Wager kinds that lie beside a hand instead of on it, as on the cloth."""


def live_felt(
    view: client.TableView,
    *,
    racks: Mapping[int, int],
    shoe: ShoeView | None = None,
    lettering: str = "",
    seat_count: int = 7,
) -> FeltView:
    """The table as it stands; `racks` are the free chips in cents by seat, as far as they are known."""
    play = view.round
    asked = {(question.seat, question.hand) for question in play.questions} if play is not None else set()
    patrons = {seat.seat: seat.patron for seat in view.seats}
    hands: dict[int, list[HandView]] = {}
    beside: dict[int, tuple[StakeView, ...]] = {}
    for hand in play.hands if play is not None else ():
        patrons.setdefault(hand.seat, hand.patron)
        lines = (
            [line for line in play.lines if (line.seat, line.hand) == (hand.seat, hand.hand)]
            if play is not None
            else []
        )
        shown = _hand(hand, lines, active=(hand.seat, hand.hand) in asked)
        hands.setdefault(hand.seat, []).append(shown)
        beside[hand.seat] = (*beside.get(hand.seat, ()), *_stakes(hand, lines, beside=True))
    return FeltView(
        table=view.table,
        round=play.round_id if play is not None else "",
        phase="suspended" if view.suspended else phase_words(view.phase.value),
        turn=turn_words(view),
        seat_count=seat_count,
        dealer=tuple(_dealer(number, dealer) for number, dealer in enumerate(play.dealer)) if play is not None else (),
        seats=tuple(
            SeatView(
                seat,
                patrons[seat],
                racks.get(seat),
                tuple(sorted(hands.get(seat, []), key=lambda hand: hand.number)),
                beside.get(seat, ()),
                active=any(place[0] == seat for place in asked),
            )
            for seat in sorted(patrons)
        ),
        shoe=shoe,
        lettering=lettering,
    )


def turn_words(view: client.TableView) -> str:
    """Whose move it is: "Seat 3 to act", "Insurance: seats 1, 4", "Suspended: …"; "" where nobody is asked."""
    if view.suspended:
        return f"Stopped: {view.suspension_reason}"
    if view.waiting_for is not client.WaitingFor.NOBODY:
        return f"Waiting for the {view.waiting_for.value} service"
    if view.round is None or not view.round.questions:
        return "Shuffle is due" if view.shuffle_due else ""
    seats = sorted({question.seat for question in view.round.questions})
    if view.phase is client.TablePhase.INSURANCE:
        return f"Insurance: {'seat' if len(seats) == 1 else 'seats'} {', '.join(map(str, seats))}"
    hand = view.round.questions[0].hand
    return f"Seat {seats[0]}{f' hand {hand + 1}' if hand else ''} to act"


def _hand(hand: client.HandView, lines: list[client.SettlementLine], *, active: bool) -> HandView:
    stakes = _stakes(hand, lines, beside=False)
    decided = bool(stakes) and all(stake.outcome for stake in stakes)
    return HandView(
        number=hand.hand,
        cards=_cards(hand),
        total=hand.total,
        soft=hand.soft,
        blackjack=hand.status is client.HandStatus.NATURAL,
        stakes=stakes,
        active=active,
        note=hand.status.value,
        outcome=stakes[0].outcome if decided else "",
        net_cents=sum(stake.net_cents for stake in stakes) if decided else 0,
    )


def _stakes(hand: client.HandView, lines: list[client.SettlementLine], *, beside: bool) -> tuple[StakeView, ...]:
    """The hand's stakes on it, or those beside it, each with how it ended."""
    ended = {(line.kind, line.ordinal): line for line in lines}
    stakes = []
    for stake in hand.stakes:
        if (stake.kind in BESIDE) is beside:
            line = ended.get((stake.kind, stake.ordinal))
            outcome = line.outcome.value if line is not None else ""
            net = line.returned_cents - line.stake_cents if line is not None else 0
            stakes.append(StakeView(stake.kind, stake.amount_cents, outcome, net))
    return tuple(stakes)


def _dealer(number: int, dealer: client.DealerView) -> HandView:
    natural = dealer.total == 21 and len(dealer.cards) == 2 and not dealer.hidden
    return HandView(number, _cards(dealer), dealer.total, dealer.soft, blackjack=natural)


def _cards(hand: client.HandView | client.DealerView) -> tuple[CardView, ...]:
    return (*(CardView(str(card)) for card in hand.cards), *(CardView(None) for _ in range(hand.hidden)))
