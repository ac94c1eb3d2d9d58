"""From a table's state to what may be shown of it.

Pure. Promises that no card lying face down is in it: the state has none, and counts of them are all that is given.
"""

from services.game import round as game
from services.game import round_steps as steps
from services.game.round_state import HandState
from services.game.round_words import Phase
from services.table.replies import (
    DealerView,
    HandView,
    Question,
    RoundView,
    SeatView,
    TableSummary,
    TableView,
)
from services.table.table import Play, SeatSession, Table
from services.table.words import SeatPhase, TablePhase, WaitingFor


def view_of(table: Table, sequence: int, waiting_for: WaitingFor, waiting_reason: str) -> TableView:
    """All that may be shown of a table."""
    rules = table.rules
    if table.suspended and waiting_for is WaitingFor.NOBODY:
        waiting_for, waiting_reason = WaitingFor.SUPERVISOR, table.suspended
    return TableView(
        table=table.key,
        sequence=sequence,
        phase=phase_of(table),
        suspended=bool(table.suspended),
        suspension_reason=table.suspended,
        waiting_for=waiting_for,
        waiting_reason=waiting_reason,
        rules_name=rules.name if rules else "",
        rules_version=rules.version if rules else 0,
        rules_digest=rules.digest if rules else "",
        limits=rules.limits if rules else None,
        dealer=table.dealer,
        shuffle_due=_shuffle_due(table),
        rounds=table.rounds,
        seats=tuple(_seat(table, stay) for stay in table.seats),
        round=_round(table, table.play) if table.play is not None else None,
    )


def summary_of(view: TableView) -> TableSummary:
    """One line of a floor's list."""
    return TableSummary(
        table=view.table,
        sequence=view.sequence,
        phase=view.phase,
        suspended=view.suspended,
        waiting_for=view.waiting_for,
        dealer=view.dealer,
        players=len(view.seats),
        rounds=view.rounds,
    )


def phase_of(table: Table) -> TablePhase:
    """What the table is doing."""
    if table.live is not None:
        return TablePhase[table.live.round.phase.name]
    if table.closing:
        return TablePhase.CLOSING
    return TablePhase.IDLE if table.is_open else TablePhase.CLOSED


def _shuffle_due(table: Table) -> bool:
    dealt_from = table.play.shoe.shoe_id if table.play is not None and table.play.shoe is not None else ""
    return bool(table.spent_shoe) and table.spent_shoe == dealt_from


def _seat(table: Table, stay: SeatSession) -> SeatView:
    betting = table.live is not None and table.live.round.phase is Phase.BETTING and not table.suspended
    may_wager = betting and stay.phase is SeatPhase.SEATED and not table.has_stake(stay.patron)
    return SeatView(stay.seat, stay.session, stay.patron, stay.phase, may_wager)


def _round(table: Table, play: Play) -> RoundView:
    complete = not play.live
    return RoundView(
        round_id=play.id,
        shoe_id=play.shoe.shoe_id if play.shoe else "",
        decks=play.shoe.decks if play.shoe else 0,
        rules_digest=play.round.rules.digest,
        turn=play.turn,
        deadline_us=play.timer.deadline_us if play.timer else 0,
        questions=() if table.suspended else _questions(table, play),
        hands=tuple(_hand(table, play, hand) for hand in play.round.hands),
        dealer=tuple(
            DealerView(dealer.cards, int(dealer.hole is not None), dealer.total.value, dealer.total.soft)
            for dealer in play.round.dealers
        ),
        lines=play.lines,
        complete=complete,
        staked_cents=play.round.staked_cents if complete else 0,
        returned_cents=play.round.returned_cents if complete else 0,
    )


def _questions(table: Table, play: Play) -> tuple[Question, ...]:
    match game.next_step(play.round):
        case steps.AwaitInsurance(seats):
            asked = [(seat, 0, game.allowed_actions(play.round, seat)) for seat in seats]
        case steps.AwaitDecision(seat, hand, allowed):
            asked = [(seat, hand, allowed)]
        case _:
            asked = []
    return tuple(
        Question(seat, hand, _session(table, play, seat), play.players.get(seat, ""), tuple(sorted(actions)))
        for seat, hand, actions in asked
    )


def _hand(table: Table, play: Play, hand: HandState) -> HandView:
    return HandView(
        seat=hand.seat,
        hand=hand.number,
        session=_session(table, play, hand.seat),
        patron=hand.player,
        cards=hand.cards,
        hidden=int(hand.hidden is not None),
        total=hand.total.value,
        soft=hand.total.soft,
        status=hand.status,
        wager_cents=hand.wager_cents,
        stakes=(*hand.stakes, *hand.side),
    )


def _session(table: Table, play: Play, seat: int) -> str:
    stay = table.of_patron(play.players.get(seat, ""))
    return stay.session if stay is not None else ""
