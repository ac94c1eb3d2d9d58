"""The play: each hand in its turn hits, stands, doubles, splits or surrenders (30-813, 30-814, 30-821, 30-826, 30-829).

Owns the choices and turns. Promises that only the hand in turn acts and only its player, or the dealer for him; what is
legal for it is `round_legality`. Cards come afterwards, by `round_dealing`.
"""

from services.game.hand import total
from services.game.round_betting import check_chips, check_whole
from services.game.round_commands import (
    DeclineSurrender,
    DoubleDown,
    Hit,
    Split,
    Stand,
    StandByTimeout,
    SurrenderHand,
    decided_by,
)
from services.game.round_events import (
    HandDoubled,
    HandHit,
    HandSplit,
    HandStood,
    HandSurrendered,
    RoundEvent,
    SurrenderDeclined,
)
from services.game.round_flow import (
    after_early_answer,
    asked_early,
    card_for_hand,
    face_of_double,
    seek_turn,
)
from services.game.round_legality import hands_of, verify_choice
from services.game.round_marks import (
    AT_BETTING,
    AT_COMPLETE,
    AT_DEALER,
    AT_DEALING,
    AT_PEEK,
    AT_PICKUP,
    AT_PLAYERS,
    AT_SETTLING,
    BY_SYSTEM,
    DOUBLE_DOWN,
    HIT,
    PLAYING,
    SPLIT_PAIR,
    STAND,
    STOOD,
    SURRENDER,
    SURRENDERED,
)
from services.game.round_rejections import (
    BettingStillOpen,
    CardsDue,
    DoubleOverOriginal,
    HandClosed,
    HitAfterDouble,
    HitOn21,
    HitSplitAces,
    NotYourHand,
    NotYourTurn,
    RoundOver,
    SplitWagerNotEqual,
    SurrenderNotOffered,
    UnknownHand,
)
from services.game.round_settlement import settle_ripe
from services.game.round_state import HandState, RoundState, hand_at
from services.game.round_words import Action, Stake
from services.game.rule_options import Surrender
from services.game.wager_kinds import DOUBLE, SPLIT


def hit(draft: RoundState, command: Hit) -> tuple[RoundEvent, ...]:
    """Ask for one card."""
    hand = _in_turn(draft, command.seat, command.hand, command.player, HIT)
    verify_choice(draft, hand, HIT)
    event = HandHit(hand.seat, hand.number, decided_by(command.player))
    apply_hand_hit(draft, event)
    return (event,)


def apply_hand_hit(draft: RoundState, event: HandHit) -> None:
    """Fold: a card is due."""
    draft.pending = (card_for_hand(event.seat, event.hand),)


def stand(draft: RoundState, command: Stand) -> tuple[RoundEvent, ...]:
    """Take no more cards; always legal in turn."""
    hand = _in_turn(draft, command.seat, command.hand, command.player, STAND)
    event = HandStood(hand.seat, hand.number, decided_by(command.player))
    apply_hand_stood(draft, event)
    return (event,)


def apply_hand_stood(draft: RoundState, event: HandStood) -> None:
    """Fold: the next hand's turn."""
    _hand(draft, event.seat, event.hand).status = STOOD
    seek_turn(draft)


def stand_by_timeout(draft: RoundState, command: StandByTimeout) -> tuple[RoundEvent, ...]:
    """Let the system decide for a player who did not: the hand stands, or is kept when early surrender was asked."""
    asked = asked_early(draft)
    if asked is not None and (asked.seat, asked.number) == (command.seat, command.hand):
        kept = SurrenderDeclined(asked.seat, asked.number, BY_SYSTEM)
        apply_surrender_declined(draft, kept)
        return (kept,)
    hand = _in_turn(draft, command.seat, command.hand, "", STAND)
    event = HandStood(hand.seat, hand.number, BY_SYSTEM)
    apply_hand_stood(draft, event)
    return (event,)


def double_down(draft: RoundState, command: DoubleDown) -> tuple[RoundEvent, ...]:
    """Raise the wager, at most to twice the original, for exactly one card."""
    hand = _in_turn(draft, command.seat, command.hand, command.player, DOUBLE_DOWN)
    verify_choice(draft, hand, DOUBLE_DOWN)
    amount = command.amount_cents
    check_whole(amount)
    whole = hand.wager_cents
    least = draft.rules.smallest_stake_cents if draft.rules.double_for_less else whole
    if amount == 0:
        amount = whole
    if not least <= amount <= whole:
        raise DoubleOverOriginal(
            f"a double of this hand is {least} to {whole} cents",
            seat=hand.seat,
            hand=hand.number,
            stake_cents=amount,
            minimum_cents=least,
            maximum_cents=whole,
        )
    check_chips(draft.rules, amount, seat=hand.seat, hand=hand.number)
    ordinal = 1 + sum([other.doubled for other in draft.hands if other.seat == hand.seat])
    event = HandDoubled(hand.seat, hand.number, DOUBLE, ordinal, amount, decided_by(command.player))
    apply_hand_doubled(draft, event)
    return (event,)


def apply_hand_doubled(draft: RoundState, event: HandDoubled) -> None:
    """Fold: the stake is locked and one card is due."""
    hand = _hand(draft, event.seat, event.hand)
    hand.doubled = True
    hand.stakes = (*hand.stakes, Stake(event.kind, event.ordinal, event.amount_cents))
    draft.staked_cents += event.amount_cents
    draft.pending = (card_for_hand(event.seat, event.hand, face_down=face_of_double(draft.rules)),)


def split(draft: RoundState, command: Split) -> tuple[RoundEvent, ...]:
    """Make two hands of a pair, with an equal wager on the new one."""
    hand = _in_turn(draft, command.seat, command.hand, command.player, SPLIT_PAIR)
    verify_choice(draft, hand, SPLIT_PAIR)
    amount = command.amount_cents
    check_whole(amount)
    if amount not in (0, hand.wager_cents):
        raise SplitWagerNotEqual(
            f"the second wager is {hand.wager_cents} cents like the first",
            seat=hand.seat,
            hand=hand.number,
            stake_cents=amount,
            wager_cents=hand.wager_cents,
        )
    ordinal = hands_of(draft, hand.seat)
    event = HandSplit(
        hand.seat, hand.number, hand.number + 1, SPLIT, ordinal, hand.wager_cents, decided_by(command.player)
    )
    apply_hand_split(draft, event)
    return (event,)


def apply_hand_split(draft: RoundState, event: HandSplit) -> None:
    """Fold: the second card begins a hand right after this one; this one gets its next card first (30-814)."""
    hand = _hand(draft, event.seat, event.hand)
    first, second = hand.cards
    new = HandState(
        seat=hand.seat,
        number=event.new_hand,
        player=hand.player,
        stakes=(Stake(event.kind, event.ordinal, event.amount_cents),),
        wager_cents=hand.wager_cents,
        cards=(second,),
        positions=hand.positions[1:],
        total=total((second,)),
        from_split=True,
        split_aces=second.is_ace,
        answered=hand.answered,
        kept=hand.kept,
    )
    hand.cards = (first,)
    hand.positions = hand.positions[:1]
    hand.total = total((first,))
    hand.from_split = True
    hand.split_aces = first.is_ace
    at = draft.hands.index(hand) + 1
    for later in draft.hands[at:]:
        if later.seat == hand.seat:
            later.number += 1
    draft.hands = (*draft.hands[:at], new, *draft.hands[at:])
    draft.staked_cents += event.amount_cents
    draft.pending = (card_for_hand(hand.seat, hand.number),)


def surrender_hand(draft: RoundState, command: SurrenderHand) -> tuple[RoundEvent, ...]:
    """Give up half the wager; with late surrender and an unchecked hole card the dealer's blackjack still takes all."""
    hand = asked_early(draft)
    if hand is None or (hand.seat, hand.number) != (command.seat, command.hand):
        hand = _in_turn(draft, command.seat, command.hand, command.player, SURRENDER)
    elif command.player and command.player != hand.player:
        raise NotYourHand("this hand is another player's", seat=hand.seat, hand=hand.number, player=command.player)
    verify_choice(draft, hand, SURRENDER)
    event = HandSurrendered(hand.seat, hand.number, decided_by(command.player))
    apply_hand_surrendered(draft, event)
    return (event, *settle_ripe(draft))


def apply_hand_surrendered(draft: RoundState, event: HandSurrendered) -> None:
    """Fold: the hand is out; the next one's turn."""
    _hand(draft, event.seat, event.hand).status = SURRENDERED
    if draft.phase is AT_PEEK:
        after_early_answer(draft)
    else:
        seek_turn(draft)


def decline_surrender(draft: RoundState, command: DeclineSurrender) -> tuple[RoundEvent, ...]:
    """Keep the hand when early surrender is asked."""
    hand = asked_early(draft)
    if hand is None or (hand.seat, hand.number) != (command.seat, command.hand):
        raise NotYourTurn("this hand is not asked for surrender now", seat=command.seat, hand=command.hand)
    if command.player and command.player != hand.player:
        raise NotYourHand("this hand is another player's", seat=hand.seat, hand=hand.number, player=command.player)
    event = SurrenderDeclined(hand.seat, hand.number, decided_by(command.player))
    apply_surrender_declined(draft, event)
    return (event,)


def apply_surrender_declined(draft: RoundState, event: SurrenderDeclined) -> None:
    """Fold: the next hand is asked, then the check follows."""
    _hand(draft, event.seat, event.hand).kept = True


def _hand(draft: RoundState, seat: int, number: int) -> HandState:
    turn = draft.turn
    if turn < len(draft.hands):
        hand = draft.hands[turn]
        if hand.seat == seat and hand.number == number:
            return hand
    found = hand_at(draft, seat, number)
    if found is None:
        raise LookupError(f"an event names no hand: seat {seat} hand {number}")
    return found


def _in_turn(draft: RoundState, seat: int, number: int, player: str, action: Action) -> HandState:
    """Give the hand if it may act now; else raise why not."""
    if draft.phase is AT_PLAYERS and not draft.pending:
        hand = draft.hands[draft.turn]
        if hand.seat == seat and hand.number == number and player in ("", hand.player):
            return hand
    return _refuse_turn(draft, seat, number, player, action)


def _refuse_turn(draft: RoundState, seat: int, number: int, player: str, action: Action) -> HandState:
    facts: dict[str, int | str] = {"seat": seat, "hand": number, "action": action.value, "phase": draft.phase.value}
    phase = draft.phase
    if phase is AT_BETTING:
        raise BettingStillOpen("no cards are out yet", **facts)
    hand = hand_at(draft, seat, number)
    if hand is None:
        raise UnknownHand(f"seat {seat} has no hand {number} in this round", **facts)
    if player not in ("", hand.player):
        raise NotYourHand(f"seat {seat} is another player's", **facts)
    if phase in (AT_PICKUP, AT_COMPLETE):
        raise RoundOver("the round's wagers are settled", **facts)
    if phase is AT_DEALING:
        raise CardsDue("the first cards are not all out yet", **facts)
    if hand.status is not PLAYING:
        _refuse_closed(draft, hand, action, facts)
    if phase in (AT_DEALER, AT_SETTLING):
        raise RoundOver("the players' turns are over", **facts)
    if action is SURRENDER and draft.rules.surrender is Surrender.NONE:
        raise SurrenderNotOffered("the house does not offer surrender", **facts)
    if phase is AT_PLAYERS and draft.hands[draft.turn] is hand:
        # In turn, so only its card is missing; a single split card can be neither doubled nor split.
        if hand.doubled and action is HIT:
            raise HitAfterDouble("a doubled hand gets exactly one card", **facts)
        if action in (DOUBLE_DOWN, SPLIT_PAIR, SURRENDER):
            verify_choice(draft, hand, action)
        raise CardsDue("the hand's card has not come yet", **facts)
    raise NotYourTurn(f"it is not the turn of seat {seat} hand {number}", **facts)


def _refuse_closed(draft: RoundState, hand: HandState, action: Action, facts: dict[str, int | str]) -> None:
    if action is HIT:
        if hand.doubled:
            raise HitAfterDouble("a doubled hand gets exactly one card", **facts)
        if hand.total.value == 21:
            raise HitOn21("a hand with 21 gets no more cards", **facts)
        if hand.split_aces and not draft.rules.hit_split_aces:
            raise HitSplitAces("split aces get one card each", **facts)
    raise HandClosed(f"the hand has {hand.status.value}", **facts, status=hand.status.value)
