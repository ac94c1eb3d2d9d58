"""From surveillance's record of a round to the replay page's records.

Owns what of a record is shown where, and at which step a ledger line or a shoe event counts. Promises to add nothing: cards,
totals, stakes and outcomes are the record's.
"""

from services.console.formatting import phase_words, sentence_of
from services.console.rule_words import rules_view
from services.console.views import (
    CardView,
    EventView,
    FeltView,
    FindingView,
    HandView,
    LedgerLine,
    RoundPage,
    SeatView,
    ShoeLine,
    ShoeView,
    StakeView,
    StepView,
)
from services.surveillance import client

CARDS_IN_A_DECK = 52


def round_page(
    record: client.RoundRecord,
    zone: str,
    *,
    findings: tuple[FindingView, ...] = (),
    previous: str = "",
    following: str = "",
) -> RoundPage:
    """A round as the replay page shows it; `previous` and `following` are the rounds around it, "" for none."""
    rules = rules_view(record.rules_text, record.rules_name, record.rules_version, record.rules_digest)
    lettering = rules.lettering if rules is not None else ""
    last = len(record.steps) - 1
    felts = [step_felt(record, step, lettering) for step in record.steps]
    return RoundPage(
        id=record.round_id,
        status=_status(record),
        zone=zone,
        gaming_day=record.gaming_day,
        started_us=record.opened_time_us,
        ended_us=record.ended_time_us,
        handle_cents=record.staked_cents,
        win_cents=record.win_cents,
        steps=tuple(
            StepView(index, _sentence(step.note), step.occurred_time_us, felt)
            for index, (step, felt) in enumerate(zip(record.steps, felts, strict=True))
        ),
        events=tuple(_event(line, last) for line in record.events),
        ledger=_ledger(record, last),
        shoe=_shoe(record, last),
        rules=rules,
        findings=findings,
        previous=previous,
        next=following,
    )


def _status(record: client.RoundRecord) -> str:
    if not record.complete:
        return "in play"
    return "voided" if any(step.event == "RoundVoided" for step in record.steps) else "complete"


def step_felt(record: client.RoundRecord, step: client.Step, lettering: str) -> FeltView:
    """The picture right after a step."""
    fresh = step.card.position if step.card is not None else 0
    seats = tuple(_seat(seat, fresh) for seat in step.seats)
    turn = next((seat.number for seat in seats if seat.active), 0)
    drawn = max((card.position for card in _cards(step)), default=0)
    return FeltView(
        table=record.table,
        round=record.round_id,
        phase=phase_words(step.phase),
        turn=f"Seat {turn} to act" if turn else "",
        dealer=(_dealer(step.dealer, fresh),) if step.dealer.cards else (),
        seats=seats,
        shoe=ShoeView(record.shoe_id, drawn, record.decks * CARDS_IN_A_DECK) if record.decks and drawn else None,
        lettering=lettering,
    )


def _cards(step: client.Step) -> list[client.CardView]:
    return [*step.dealer.cards, *(card for seat in step.seats for hand in seat.hands for card in hand.cards)]


def _card(card: client.CardView, fresh: int) -> CardView:
    return CardView(
        None if card.card is None else str(card.card), card.position, fresh=bool(fresh) and card.position == fresh
    )


def _dealer(dealer: client.DealerView, fresh: int) -> HandView:
    total, soft = read_total(dealer.total)
    cards = tuple(_card(card, fresh) for card in dealer.cards)
    natural = total == 21 and len(cards) == 2 and all(card.text for card in cards)
    return HandView(0, cards, total, soft, blackjack=natural)


def _seat(seat: client.SeatView, fresh: int) -> SeatView:
    hands = tuple(_hand(hand, fresh) for hand in seat.hands)
    return SeatView(
        number=seat.seat,
        patron=seat.patron,
        rack_cents=seat.rack_cents,
        hands=hands,
        beside=tuple(_stake(stake) for stake in seat.beside),
        active=any(hand.active for hand in hands),
    )


def _hand(hand: client.HandView, fresh: int) -> HandView:
    total, soft = read_total(hand.total)
    stakes = tuple(_stake(stake) for stake in hand.stakes)
    decided = bool(stakes) and all(stake.outcome for stake in stakes)
    return HandView(
        number=hand.hand,
        cards=tuple(_card(card, fresh) for card in hand.cards),
        total=total,
        soft=soft,
        blackjack=hand.status == "natural",
        stakes=stakes,
        active=hand.in_turn,
        note=hand.status,
        outcome=stakes[0].outcome if decided else "",
        net_cents=sum(stake.net_cents for stake in stakes) if decided else 0,
    )


def _stake(stake: client.StakeView) -> StakeView:
    net = stake.returned_cents - stake.amount_cents if stake.outcome else 0
    return StakeView(stake.kind, stake.amount_cents, stake.outcome, net)


def read_total(text: str) -> tuple[int, bool]:
    """A total as it is said, "soft 17", as a number and whether it is soft; 0 for ""."""
    soft = text.startswith("soft ")
    digits = text.removeprefix("soft ")
    return (int(digits) if digits.isdecimal() else 0), soft


def _sentence(note: str) -> str:
    return note[:1].upper() + note[1:]


def _event(line: client.EventLine, last: int) -> EventView:
    name = sentence_of(line.type.rpartition(".")[2])
    at_table = line.stream.startswith("table:")
    return EventView(
        step=_index(line.step, last),
        stream=line.stream,
        sequence=line.sequence,
        type=line.type,
        sentence=_sentence(line.note or name) if at_table else f"{name}: {line.note}" if line.note else name,
        occurred_us=line.occurred_time_us,
        recorded_us=line.recorded_time_us,
        actor_role=line.actor_role,
        actor_id=line.actor_id,
        request_id=line.request_id,
        cause=f"{line.cause_stream} {line.cause_sequence}" if line.cause_sequence else "",
        digest=line.digest.hex(),
    )


def _ledger(record: client.RoundRecord, last: int) -> tuple[LedgerLine, ...]:
    return tuple(
        LedgerLine(
            step=_index(line.step, last),
            sequence=line.sequence,
            source=line.source,
            target=line.target,
            currency=line.currency,
            cents=line.amount_cents,
            reason=line.reason,
            reference=line.reference,
        )
        for line in record.ledger
    )


def _shoe(record: client.RoundRecord, last: int) -> tuple[ShoeLine, ...]:
    """Every shoe event that concerns a card: drawn at the step that lays it, turned up at the step that shows it."""
    laid: dict[int, tuple[int, str]] = {}
    shown: dict[int, int] = {}
    for index, step in enumerate(record.steps):
        if step.card is not None:
            laid.setdefault(step.card.position, (index, _place(step)))
            if step.card.card is not None:
                shown.setdefault(step.card.position, index)
    lines, seen = [], set()
    for line in record.shoe:
        if not line.position:
            continue
        late = _index(line.step, last)
        step_index, place = laid.get(line.position, (late, _burned(line.event)))
        if line.position in seen:
            step_index, place = shown.get(line.position, late), f"{place}, turned up"
        elif line.card is None:
            place = f"{place}, face down"
        seen.add(line.position)
        lines.append(ShoeLine(step_index, line.position, None if line.card is None else str(line.card), place))
    return tuple(lines)


def _place(step: client.Step) -> str:
    if not step.seat:
        return "dealer"
    several = any(seat.seat == step.seat and len(seat.hands) > 1 for seat in step.seats)
    return f"seat {step.seat} hand {step.hand + 1}" if several else f"seat {step.seat}"


def _burned(event: str) -> str:
    return "burned" if event == "CardBurned" else "shoe"


def _index(step: int, last: int) -> int:
    """A step counted from 1 as one counted from 0; what came after the last step belongs to it."""
    return min(max(step - 1, 0), last)
