"""Who is paid what, and when (30-807 to 30-812).

At once where the dealer cannot change it, else when the dealer is done. Owns results and settlement lines. Promises that
each stake is settled exactly once and that lines say why. Amounts come from `round_pay`. A wager beside the hand's own is
decided by the evaluator that its kind names; insurance is one of them.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from services.game.round_commands import SettleWagers
from services.game.round_events import RoundEvent, WagersSettled
from services.game.round_flow import dealer_has_blackjack, surrender_is_early
from services.game.round_marks import (
    AT_PICKUP,
    AT_SETTLING,
    BUST,
    NATURAL,
    PLAYING,
    STOOD,
    SURRENDERED,
    TOOK_EVEN_MONEY,
)
from services.game.round_pay import Column, Paid
from services.game.round_rejections import SettlementNotDue
from services.game.round_state import HandState, RoundState
from services.game.round_words import Cause, Outcome, SettlementLine, Stake
from services.game.rule_options import DealerBlackjackTakes
from services.game.wager_kinds import BY_DEALER_BLACKJACK, BY_HAND, MAIN, FinishedHand

Verdict = tuple[Paid, Cause]
Result = tuple[Column, Cause]
NOTHING_BACK: Final = Fraction(0)
_LOST: Final = Fraction(-1)
_TAKES_ORIGINAL: Final = DealerBlackjackTakes.ORIGINAL
# Names of their own, as in `round_marks`: every settled stake asks for one.
_HIGHER_TOTAL: Final = Cause.HIGHER_TOTAL
_DEALER_BUST: Final = Cause.DEALER_BUST
_DEALER_BLACKJACK: Final = Cause.DEALER_BLACKJACK
_TIE: Final = Cause.TIE
_PLAYER_BUST: Final = Cause.PLAYER_BUST
_A_NATURAL: Final = Cause.NATURAL


def settle_ripe(draft: RoundState) -> tuple[RoundEvent, ...]:
    """Settle at once what the dealer's cards cannot change any more.

    Busts, even money, surrenders and naturals that stand, insurance that is decided.
    """
    lines: list[SettlementLine] = []
    for hand in draft.hands:
        if hand.side:
            _side_lines(draft, hand, lines, ripe=True)
        status = hand.status
        if status is PLAYING or status is STOOD or hand.settled:
            continue
        result = _result_now(draft, hand)
        if result is not None:
            _hand_lines(draft, hand, result, lines)
    return _record(draft, lines)


def settle_wagers(draft: RoundState, _command: SettleWagers) -> tuple[RoundEvent, ...]:
    """Settle every open stake against the dealer's finished hand."""
    if draft.phase is not AT_SETTLING:
        raise SettlementNotDue(f"the round is in phase {draft.phase.value}", phase=draft.phase.value)
    lines: list[SettlementLine] = []
    blackjack = dealer_has_blackjack(draft)
    for hand in draft.hands:
        if hand.hidden is not None and not hand.settled:
            raise SettlementNotDue("a doubled hand's card lies face down still", position=hand.hidden)
        if hand.side:
            _side_lines(draft, hand, lines, ripe=False)
        if not hand.settled:
            _hand_lines(draft, hand, _result_at_end(draft, hand, blackjack=blackjack), lines)
    return _record(draft, lines)


def _result_at_end(draft: RoundState, hand: HandState, *, blackjack: bool | None) -> Result:
    """The result of a hand against the dealer's finished one."""
    if hand.status is not STOOD:
        return _result_now(draft, hand) or _result_against_blackjack(draft, hand)
    pays = draft.pays
    if blackjack:
        return pays.lose, _DEALER_BLACKJACK
    dealer, mine = draft.dealers[0].total.value, hand.total.value
    if dealer > 21:
        return pays.win, _DEALER_BUST
    if mine == dealer:
        return pays.tie, _TIE
    return (pays.win if mine > dealer else pays.lose), _HIGHER_TOTAL


def settle_voided(draft: RoundState, hands: tuple[HandState, ...]) -> tuple[RoundEvent, ...]:
    """Give back every open stake of these hands, insurance too (30-828(1))."""
    lines: list[SettlementLine] = []
    for hand in hands:
        for stake in hand.side if hand.settled else (*hand.stakes, *hand.side):
            _add(hand, stake, _given_back(stake), Cause.VOIDED, lines)
    return _record(draft, lines)


def apply_wagers_settled(draft: RoundState, event: WagersSettled) -> None:
    """Fold: the stakes are settled; hands settled before the end leave the layout at once (30-821)."""
    at_the_end = draft.phase is AT_SETTLING
    hands = draft.hands
    at = 0
    returned = 0
    for line in event.lines:
        returned += line.returned_cents
        seat, number = line.seat, line.hand
        hand = hands[at]
        while hand.seat != seat or hand.number != number:
            # Lines come in playing order: one that names no hand runs off the end, an IndexError.
            at += 1
            hand = hands[at]
        if hand.side and [stake for stake in hand.side if stake.kind == line.kind]:
            hand.side = tuple([s for s in hand.side if (s.kind, s.ordinal) != (line.kind, line.ordinal)])
        elif not hand.settled:
            hand.settled = True
            if not at_the_end:
                draft.rack += hand.positions
    draft.returned_cents += returned
    draft.revision = event.revision
    if at_the_end:
        for hand in hands:
            if hand.side or not hand.settled:
                return
        draft.phase = AT_PICKUP


def _record(draft: RoundState, lines: list[SettlementLine]) -> tuple[RoundEvent, ...]:
    if not lines:
        return ()
    event = WagersSettled(draft.revision + 1, tuple(lines))
    apply_wagers_settled(draft, event)
    return (event,)


def _result_now(draft: RoundState, hand: HandState) -> Result | None:
    """Give the result of a hand that needs no more of the dealer, None when it does."""
    status = hand.status
    pays = draft.pays
    if status is BUST:
        return pays.bust, _PLAYER_BUST
    if status is TOOK_EVEN_MONEY:
        return pays.even_money, Cause.EVEN_MONEY_TAKEN
    if status is SURRENDERED and surrender_is_early(draft):
        return pays.surrender, Cause.SURRENDERED
    if dealer_has_blackjack(draft) is False:
        if status is NATURAL:
            return pays.natural, _A_NATURAL
        if status is SURRENDERED:
            return pays.surrender, Cause.SURRENDERED
    return None


def _result_against_blackjack(draft: RoundState, hand: HandState) -> Result:
    """What waited for the dealer met a blackjack: a natural ties, a late surrender loses all (30-808, 30-829)."""
    if hand.status is NATURAL:
        return draft.pays.natural_tie, Cause.BJ_TIE
    return draft.pays.lose, _DEALER_BLACKJACK


def _hand_lines(draft: RoundState, hand: HandState, result: Result, lines: list[SettlementLine]) -> None:
    """Write a line for each stake of the hand.

    A dealer's blackjack may take the original wager only, and gives doubles and splits back (30-813, 30-814).
    """
    column, cause = result
    original_only = cause is _DEALER_BLACKJACK and draft.rules.dealer_blackjack_takes is _TAKES_ORIGINAL
    seat, number, player = hand.seat, hand.number, hand.player
    for stake in hand.stakes:
        kind, amount = stake.kind, stake.amount_cents
        if original_only and kind != MAIN:
            _add(hand, stake, _given_back(stake), Cause.ORIGINAL_ONLY, lines)
            continue
        paid = column.known.get(amount)
        if paid is None:
            paid = draft.pays.main(column, _finished(draft, hand, column), amount)
        outcome, due, returned, breakage = paid
        lines.append(
            SettlementLine(seat, number, player, kind, stake.ordinal, outcome, cause, amount, due, returned, breakage)
        )


def _given_back(stake: Stake) -> Paid:
    return Paid(Outcome.PUSH, Fraction(stake.amount_cents), stake.amount_cents, NOTHING_BACK)


def _finished(draft: RoundState, hand: HandState, column: Column) -> FinishedHand:
    dealer = draft.dealers[0]
    known = dealer.total.value if dealer.hole is None and len(dealer.cards) > 1 else None
    return FinishedHand(column.result, hand.total.value, len(hand.cards), hand.doubled, known)


def _add(hand: HandState, stake: Stake, paid: Paid, cause: Cause, lines: list[SettlementLine]) -> None:
    outcome, due, returned, breakage = paid
    kind, ordinal, amount = stake.kind, stake.ordinal, stake.amount_cents
    lines.append(
        SettlementLine(
            hand.seat, hand.number, hand.player, kind, ordinal, outcome, cause, amount, due, returned, breakage
        )
    )


def _side_lines(draft: RoundState, hand: HandState, lines: list[SettlementLine], *, ripe: bool) -> None:
    """Settle the wagers beside the hand's own that can be decided by now; one that rides on the hand goes with it."""
    for stake in hand.side:
        kind = draft.rules.wager_kind(stake.kind)
        if kind is None:
            raise LookupError(f"the rules declare no wager {stake.kind}")
        if ripe and kind.resolved_by == BY_HAND and (hand.status is PLAYING or hand.status is STOOD):
            continue
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
        return pays.by_net(Outcome.WIN, pays.insurance_net, stake.amount_cents), _DEALER_BLACKJACK
    return pays.by_net(Outcome.LOSE, _LOST, stake.amount_cents), Cause.NO_DEALER_BLACKJACK


def _with_hand(draft: RoundState, hand: HandState, stake: Stake) -> Verdict | None:
    """A tip bet is decided with the hand that it rides on, and paid by the same rule (30-803(3)(i), 30-810)."""
    if draft.phase is AT_SETTLING:
        result: Result | None = _result_at_end(draft, hand, blackjack=dealer_has_blackjack(draft))
    else:
        result = _result_now(draft, hand)
    if result is None:
        return None
    column, cause = result
    return draft.pays.main(column, _finished(draft, hand, column), stake.amount_cents), cause


EVALUATORS: Final[dict[str, Callable[[RoundState, HandState, Stake], Verdict | None]]] = {
    BY_DEALER_BLACKJACK: _insurance,
    BY_HAND: _with_hand,
}
"""By the name in `WagerKind.resolved_by`: what has become of a wager beside the hand's own, None while that is open."""
