"""From a round's events to its record: replay to any step, card by card, chip by chip.

Owns the fold of the facts of one round (table, wager and shoe stream) into a RoundRecord. Pure: the same facts give the
same record. Works on a round in progress too, and on one that broke rules: it shows what was logged, the laws judge it.
"""

from collections.abc import Iterable

from services.surveillance import counting, narration, round_facts, shoe_facts, table_facts, wager_facts
from services.surveillance.facts import Fact
from services.surveillance.observed_round import ObservedRound, SeenCard, SeenHand
from services.surveillance.records import (
    CardView,
    DealerView,
    EventLine,
    HandView,
    LedgerLine,
    RoundRecord,
    SeatView,
    ShoeLine,
    StakeView,
    Step,
)
from services.surveillance.round_facts import SettlementLine
from services.surveillance.scene import TableScene


class RoundHistory:
    """Takes facts of one table in log order, `take` for each, and gives the record of the round `round_id`.

    Facts before the round tell whose chips lie where and which rules are posted; they may be left out where that is not
    known.
    """

    def __init__(self, round_id: str) -> None:
        self.round_id = round_id
        self._scene = TableScene(table_of(round_id))
        self._dealer = ""
        self._shoe: table_facts.ShoeAssigned | None = None
        self._racks: dict[str, int] = {}
        self._sessions: dict[str, int] = {}
        self._steps: list[Step] = []
        self._events: list[EventLine] = []
        self._ledger: list[LedgerLine] = []
        self._shoe_lines: list[ShoeLine] = []
        self._day = ""
        self._text = ""

    def take(self, fact: Fact) -> None:
        """Take the next fact."""
        mine = fact.envelope.round_id == self.round_id
        if fact.area == "wager":
            self._money(fact, mine=mine)
        elif fact.area == "shoe" and mine:
            line = _shoe_line(fact, self._next_step)
            self._shoe_lines.append(line)
            self._events.append(event_line(fact, self._next_step, line.note))
        elif fact.area == "table":
            self._at_table(fact, mine=mine)

    @property
    def found(self) -> bool:
        """Whether any event of the round was taken."""
        return bool(self._steps)

    @property
    def complete(self) -> bool:
        """Whether the round is over."""
        current = self._scene.round
        return current is not None and current.round_id == self.round_id and current.completed

    def record(self) -> RoundRecord:
        """The record as of the last fact; only after `found`."""
        current = self._scene.round or ObservedRound(round_id=self.round_id)
        number = self.round_id.rpartition("#")[2]
        return RoundRecord(
            round_id=self.round_id,
            table=table_of(self.round_id),
            number=int(number) if number.isdecimal() else 0,
            gaming_day=self._day,
            dealer=self._dealer,
            shoe_id=self._shoe.shoe_id if self._shoe else "",
            decks=self._shoe.decks if self._shoe else 0,
            rules_name=current.rules_name,
            rules_version=current.rules_version,
            rules_digest=current.rules_digest,
            rules_text=self._text,
            opened_time_us=self._steps[0].recorded_time_us if self._steps else 0,
            ended_time_us=self._steps[-1].recorded_time_us if self.complete else 0,
            complete=self.complete,
            staked_cents=current.staked_cents,
            returned_cents=current.returned_cents,
            win_cents=current.staked_cents - current.returned_cents if self.complete else 0,
            steps=tuple(self._steps),
            events=tuple(self._events),
            ledger=tuple(self._ledger),
            shoe=tuple(self._shoe_lines),
        )

    @property
    def _next_step(self) -> int:
        # Money and cards are recorded in their own streams before the table's event that follows from them.
        return len(self._steps) if self.complete else len(self._steps) + 1

    def _at_table(self, fact: Fact, *, mine: bool) -> None:
        event = fact.event
        if isinstance(event, table_facts.TableOpened | table_facts.DealerChanged) and not self._steps:
            self._dealer = event.dealer
        if not mine:
            if not self.found:
                self._scene.apply(fact)
            return
        if isinstance(event, table_facts.ShoeAssigned):
            self._shoe = event
        self._day = fact.envelope.gaming_day
        before = self._scene.round
        self._scene.apply(fact)
        self._text = self._text or self._scene.rules_text
        if self._scene.round is not None:
            step = self._step(fact, before)
            self._events.append(event_line(fact, self._next_step, step.note))
            self._steps.append(step)

    def _money(self, fact: Fact, *, mine: bool) -> None:
        event = fact.event
        if mine and isinstance(event, wager_facts.StakesHeld):
            # A hold's id names the seat: "<round>/<seat>/<kind>/<ordinal>" (DESIGN §5).
            self._sessions |= {hold.session: seat_of_hold(hold.hold) for hold in event.holds}
        if not self.complete:
            self._racks |= racks_of(event)
        if mine and event is not None:
            self._ledger += ledger_lines(fact, self._next_step)
            self._events.append(event_line(fact, self._next_step, ""))

    def _step(self, fact: Fact, before: ObservedRound | None) -> Step:
        current = self._scene.round or ObservedRound()
        envelope, event = fact.envelope, fact.event
        position = getattr(event, "position", 0)
        card = getattr(event, "card", None)
        return Step(
            number=len(self._steps) + 1,
            stream=envelope.stream,
            sequence=envelope.sequence,
            event=fact.name,
            actor_role=envelope.actor.role.value,
            actor_id=envelope.actor.id,
            occurred_time_us=envelope.occurred_time_us,
            recorded_time_us=envelope.recorded_time_us,
            phase=current.phase,
            note=narration.note(fact, before, current),
            seat=getattr(event, "seat", 0),
            hand=getattr(event, "hand", 0),
            card=CardView(position, card) if position and not isinstance(event, round_facts.HoleChecked) else None,
            dealer=dealer_view(current),
            seats=self._seat_views(current),
            staked_cents=current.staked_cents,
            returned_cents=current.returned_cents,
        )

    def _seat_views(self, current: ObservedRound) -> tuple[SeatView, ...]:
        racks = {seat: self._racks[session] for session, seat in self._sessions.items() if session in self._racks}
        turn = in_turn(current)
        views = []
        for seat in sorted(set(current.players) | set(current.hands)):
            hands = current.hands.get(seat, [])
            beside = tuple(
                stake_view(current, seat, kind, ordinal, cents)
                for (owner, kind, ordinal), cents in current.insurance.items()
                if owner == seat
            )
            views.append(
                SeatView(
                    seat=seat,
                    patron=current.players.get(seat, ""),
                    rack_cents=racks.get(seat),
                    hands=tuple(hand_view(current, hand, index, turn=turn) for index, hand in enumerate(hands)),
                    beside=beside,
                )
            )
        return tuple(views)


def seat_of_hold(hold: str) -> int:
    """The seat in a hold's id, 0 where it has none."""
    parts = hold.rpartition("#")[2].split("/")
    return int(parts[1]) if len(parts) > 1 and parts[1].isdecimal() else 0


def table_of(round_id: str) -> str:
    """The key of the table that a round belongs to."""
    return round_id.rpartition("#")[0]


def history(facts: Iterable[Fact], round_id: str) -> RoundRecord | None:
    """The record of a round from the facts of its table, None when they hold nothing of it."""
    rounds = RoundHistory(round_id)
    for fact in facts:
        rounds.take(fact)
    return rounds.record() if rounds.found else None


def hand_view(current: ObservedRound, hand: SeenHand, index: int, *, turn: SeenHand | None) -> HandView:
    """A hand as it is drawn."""
    return HandView(
        hand=index,
        cards=tuple(CardView(seen.position, seen.card) for seen in hand.cards),
        total=counting.total_text(hand.faces),
        status=status_of(hand),
        in_turn=hand is turn,
        stakes=tuple(
            stake_view(current, stake.seat, stake.kind, stake.ordinal, stake.amount_cents) for stake in hand.stakes
        ),
    )


def stake_view(current: ObservedRound, seat: int, kind: str, ordinal: int, cents: int) -> StakeView:
    """A stake and how it ended, if it did."""
    line: SettlementLine | None = current.lines.get((seat, kind, ordinal))
    if line is None:
        return StakeView(kind, ordinal, cents, "", "", None, 0)
    return StakeView(kind, ordinal, cents, line.outcome.value, line.cause.value, line.due, line.returned_cents)


def dealer_view(current: ObservedRound) -> DealerView:
    """The dealer's cards as they lie."""
    row: list[SeenCard] = [seen for cards in current.dealer.values() for seen in cards]
    return DealerView(
        tuple(CardView(seen.position, seen.card) for seen in row), counting.total_text(current.dealer_faces)
    )


def status_of(hand: SeenHand) -> str:
    """What became of a hand so far."""
    marks = (
        (hand.voided, "voided"),
        (hand.even_money, "even-money"),
        (hand.surrendered, "surrendered"),
        (hand.is_bust, "bust"),
        (hand.is_natural, "natural"),
        (hand.doubled, "doubled"),
        (hand.stood or counting.count(hand.faces)[0] == 21, "stood"),
    )
    return next((word for applies, word in marks if applies), "playing")


def in_turn(current: ObservedRound) -> SeenHand | None:
    """The hand that has the turn: a doubled one until its card is there, else the first that can still choose."""
    if current.phase != "PLAYERS" or current.voided:
        return None
    for seat in current.seats:
        # It chooses no more, but the turn is its own until its card lies there.
        waiting = next((hand for hand in current.hands.get(seat, []) if hand.doubled and hand.owed > 0), None)
        if waiting is not None:
            return waiting
    for seat in current.seats:
        for hand in current.hands.get(seat, []):
            if status_of(hand) != "playing" or (hand.split_aces and len(hand.cards) > 1):
                continue
            return hand
    return None


def racks_of(event: object) -> dict[str, int]:
    """The rack balances that a ledger's event states, by session."""
    match event:
        case wager_facts.SeatSessionOpened():
            return {event.session: event.chips_cents}
        case wager_facts.StakesHeld() | wager_facts.HoldsVoided():
            return {hold.session: hold.rack_cents for hold in event.holds}
        case wager_facts.RoundSettled():
            return {balance.session: balance.rack_cents for balance in event.racks}
        case (
            wager_facts.ChipsBought()
            | wager_facts.ChipsBrought()
            | wager_facts.TipGiven()
            | wager_facts.ChipsCashedOut()
            | wager_facts.PaymentCorrected()
        ):
            return {event.session: event.rack_cents}
        case wager_facts.SeatSessionClosed():
            return {event.session: 0}
        case _:
            return {}


def event_line(fact: Fact, step: int, note: str) -> EventLine:
    """An event with everything that its envelope says."""
    envelope = fact.envelope
    cause = envelope.cause
    return EventLine(
        step=step,
        stream=envelope.stream,
        sequence=envelope.sequence,
        type=envelope.type,
        note=note,
        actor_role=envelope.actor.role.value,
        actor_id=envelope.actor.id,
        request_id=envelope.request_id,
        cause_stream=cause.stream if cause is not None else "",
        cause_sequence=cause.sequence if cause is not None else 0,
        occurred_time_us=envelope.occurred_time_us,
        recorded_time_us=envelope.recorded_time_us,
        digest=fact.hash,
    )


def ledger_lines(fact: Fact, step: int) -> list[LedgerLine]:
    """The movements of one event of a ledger."""
    return [
        LedgerLine(
            step=step,
            sequence=fact.sequence,
            recorded_time_us=fact.envelope.recorded_time_us,
            event=fact.name,
            source=movement.source,
            target=movement.target,
            currency=movement.currency.value,
            amount_cents=movement.amount_cents,
            reason=movement.reason.value,
            reference=movement.reference,
        )
        for movement in fact.event.movements
    ]


def _shoe_line(fact: Fact, step: int) -> ShoeLine:
    event = fact.event
    return ShoeLine(
        step=step,
        sequence=fact.sequence,
        recorded_time_us=fact.envelope.recorded_time_us,
        event=fact.name,
        position=getattr(event, "position", 0),
        card=getattr(event, "card", None),
        note=_shoe_note(event),
    )


def _shoe_note(event: object) -> str:
    match event:
        case shoe_facts.CardDrawn() | shoe_facts.CardBurned():
            last = ", the last round of this shoe" if event.last_round else ""
            return f"{'face down, ' if event.face_down else ''}{event.left} left{last}"
        case shoe_facts.HoleCardChecked():
            return "makes blackjack" if event.makes_blackjack else "no blackjack"
        case shoe_facts.CardRevealed():
            return f"proved in stack {event.proof.stack} at {event.proof.stack_position}"
        case shoe_facts.DiscardsReshuffled():
            return f"{event.size} discards shuffled again"
        case _:
            return ""
