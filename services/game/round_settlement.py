"""Who is paid what, and when: at once where the dealer cannot change it, else when the dealer is done (30-807 to 30-812).

Owns results and settlement lines. Promises that each stake is settled exactly once and that lines say why. Amounts come from
`round_pay`. A wager beside the hand's own is decided by the evaluator that its kind names; insurance is one of them.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from services.game.quick import quick
from services.game.round_commands import SettleWagers
from services.game.round_events import RoundEvent, WagersSettled
from services.game.round_flow import dealer_has_blackjack, surrender_is_early
from services.game.round_pay import Paid
from services.game.round_rejections import SettlementNotDue
from services.game.round_state import HandState, RoundState, hand_at
from services.game.round_words import Cause, HandStatus, Outcome, Phase, SettlementLine, Stake
from services.game.rule_options import DealerBlackjackTakes
from services.game.wager_kinds import BY_DEALER_BLACKJACK, MAIN, FinishedHand, MainResult

_line = quick(SettlementLine)
_settled = quick(WagersSettled)

Verdict = tuple[Paid, Cause]
NOTHING_BACK: Final = Fraction(0)
_LOST: Final = Fraction(-1)


def settle_ripe(draft: RoundState) -> tuple[RoundEvent, ...]:
    """Settle at once what the dealer's cards cannot change any more: busts, early surrenders, naturals that stand, lost insurance."""
    lines: list[SettlementLine] = []
    for hand in draft.hands:
        if hand.side:
            _side_lines(draft, hand, lines)
        if not hand.settled and hand.status in _RIPE_STATUSES:
            result = _result_now(draft, hand)
            if result is not None:
                _hand_lines(draft, hand, *result, lines)
    return _record(draft, lines)


def settle_wagers(draft: RoundState, _command: SettleWagers) -> tuple[RoundEvent, ...]:
    """Settle every open stake against the dealer's finished hand."""
    if draft.phase is not Phase.SETTLING or any(hand.hidden is not None for hand in draft.hands):
        raise SettlementNotDue(f"the round is in phase {draft.phase.value}", phase=draft.phase.value)
    lines: list[SettlementLine] = []
    for hand in draft.hands:
        if hand.side:
            _side_lines(draft, hand, lines)
        if not hand.settled:
            _hand_lines(draft, hand, *_result(draft, hand), lines)
    return _record(draft, lines)


def settle_voided(draft: RoundState, hands: tuple[HandState, ...]) -> tuple[RoundEvent, ...]:
    """Give back every open stake of these hands, insurance too (30-828(1))."""
    lines: list[SettlementLine] = []
    for hand in hands:
        for stake in hand.side if hand.settled else (*hand.stakes, *hand.side):
            amount = stake.amount_cents
            paid = Paid(Outcome.PUSH, Fraction(amount), amount, NOTHING_BACK)
            _add(hand, stake, paid, Cause.VOIDED, lines)
    return _record(draft, lines)


def apply_wagers_settled(draft: RoundState, event: WagersSettled) -> None:
    """Fold: the stakes are settled; hands settled before the end leave the layout at once (30-821)."""
    at_the_end = draft.phase is Phase.SETTLING
    for line in event.lines:
        draft.returned_cents += line.returned_cents
        hand = hand_at(draft, line.seat, line.hand)
        if hand is None:
            raise LookupError(f"a settlement line names no hand: seat {line.seat} hand {line.hand}")
        if hand.side and any(stake.kind == line.kind for stake in hand.side):
            hand.side = tuple([s for s in hand.side if (s.kind, s.ordinal) != (line.kind, line.ordinal)])
        elif not hand.settled:
            hand.settled = True
            if not at_the_end:
                draft.rack += hand.positions
    draft.revision = event.revision
    if at_the_end and not any(hand.side or not hand.settled for hand in draft.hands):
        draft.phase = Phase.PICKUP


_RIPE_STATUSES: Final = frozenset({HandStatus.BUST, HandStatus.NATURAL, HandStatus.SURRENDERED, HandStatus.EVEN_MONEY})


def _record(draft: RoundState, lines: list[SettlementLine]) -> tuple[RoundEvent, ...]:
    if not lines:
        return ()
    event = _settled(draft.revision + 1, tuple(lines))
    apply_wagers_settled(draft, event)
    return (event,)


def _result_now(draft: RoundState, hand: HandState) -> tuple[MainResult, Cause] | None:
    """The result of a hand that needs no more of the dealer, None when it does."""
    status = hand.status
    if status is HandStatus.BUST:
        return MainResult.BUST, Cause.PLAYER_BUST
    if status is HandStatus.EVEN_MONEY:
        return MainResult.EVEN_MONEY, Cause.EVEN_MONEY_TAKEN
    if status is HandStatus.SURRENDERED and surrender_is_early(draft):
        return MainResult.SURRENDER, Cause.SURRENDERED
    if dealer_has_blackjack(draft) is False:
        if status is HandStatus.NATURAL:
            return MainResult.NATURAL, Cause.NATURAL
        if status is HandStatus.SURRENDERED:
            return MainResult.SURRENDER, Cause.SURRENDERED
    return None


def _result(draft: RoundState, hand: HandState) -> tuple[MainResult, Cause]:
    """Compare a hand with the dealer's finished hand (30-807, 30-808)."""
    if hand.status is not HandStatus.STOOD:
        early = _result_now(draft, hand)
        if early is not None:
            return early
        if hand.status is HandStatus.NATURAL:
            return MainResult.NATURAL_TIE, Cause.BJ_TIE
        return MainResult.LOSE, Cause.DEALER_BLACKJACK
    if dealer_has_blackjack(draft):
        return MainResult.LOSE, Cause.DEALER_BLACKJACK
    dealer = draft.dealers[0].total.value
    mine = hand.total.value
    if dealer > 21:
        return MainResult.WIN, Cause.DEALER_BUST
    if mine > dealer:
        return MainResult.WIN, Cause.HIGHER_TOTAL
    if mine < dealer:
        return MainResult.LOSE, Cause.HIGHER_TOTAL
    return MainResult.TIE, Cause.TIE


def _hand_lines(
    draft: RoundState, hand: HandState, result: MainResult, cause: Cause, lines: list[SettlementLine]
) -> None:
    """Write a line for each stake of the hand. A dealer's blackjack may take the original wager only (30-813, 30-814)."""
    pays = draft.pays
    original_only = (
        cause is Cause.DEALER_BLACKJACK and draft.rules.dealer_blackjack_takes is DealerBlackjackTakes.ORIGINAL
    )
    for stake in hand.stakes:
        amount = stake.amount_cents
        if original_only and stake.kind != MAIN:
            returned = Paid(Outcome.PUSH, Fraction(amount), amount, NOTHING_BACK)
            _add(hand, stake, returned, Cause.ORIGINAL_ONLY, lines)
            continue
        paid = pays.plain(result, amount) or pays.main(_finished(draft, hand, result), amount)
        _add(hand, stake, paid, cause, lines)


def _finished(draft: RoundState, hand: HandState, result: MainResult) -> FinishedHand:
    dealer = draft.dealers[0]
    known = dealer.total.value if dealer.hole is None and len(dealer.cards) > 1 else None
    return FinishedHand(result, hand.total.value, len(hand.cards), hand.doubled, known)


def _add(hand: HandState, stake: Stake, paid: Paid, cause: Cause, lines: list[SettlementLine]) -> None:
    outcome, due, returned_cents, breakage = paid
    lines.append(
        _line(
            hand.seat,
            hand.number,
            hand.player,
            stake.kind,
            stake.ordinal,
            outcome,
            cause,
            stake.amount_cents,
            due,
            returned_cents,
            breakage,
        )
    )


def _side_lines(draft: RoundState, hand: HandState, lines: list[SettlementLine]) -> None:
    """Settle the wagers beside the hand's own that can be decided by now."""
    for stake in hand.side:
        kind = draft.rules.wager_kind(stake.kind)
        if kind is None:
            raise LookupError(f"the rules declare no wager {stake.kind}")
        verdict = EVALUATORS[kind.resolved_by](draft, hand, stake)
        if verdict is not None:
            _add(hand, stake, *verdict, lines)


def _insurance(draft: RoundState, _hand: HandState, stake: Stake) -> Verdict | None:
    """Insurance wins against a dealer's blackjack and loses else, whatever becomes of the hand (30-812)."""
    blackjack = dealer_has_blackjack(draft)
    if blackjack is None or (blackjack and draft.dealers[0].hole is not None):
        return None
    pays = draft.pays
    if blackjack:
        return pays.by_net(Outcome.WIN, pays.insurance_net, stake.amount_cents), Cause.DEALER_BLACKJACK
    return pays.by_net(Outcome.LOSE, _LOST, stake.amount_cents), Cause.NO_DEALER_BLACKJACK


EVALUATORS: Final[dict[str, Callable[[RoundState, HandState, Stake], Verdict | None]]] = {
    BY_DEALER_BLACKJACK: _insurance
}
"""By the name in `WagerKind.resolved_by`: what has become of a wager beside the hand's own, None while that is open."""
