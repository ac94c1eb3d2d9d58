"""Betting: wagers before the cards, by several seats and several hands a player (30-807, 30-809, 30-811, 30-827).

Owns what may be wagered and by whom. Promises that a command of many wagers stands whole or not at all, and that the
same wager again changes nothing. Whether the player has the chips is the wager service's business.
"""

from services.game.house_rules import HouseRules
from services.game.round_commands import CloseBetting, PlaceWagers
from services.game.round_events import BettingClosed, RoundEvent, WagerPlaced
from services.game.round_flow import first_cards
from services.game.round_marks import AT_BETTING, AT_DEALING, PLAYING, VOIDED
from services.game.round_rejections import (
    BettingClosed as BettingIsClosed,
)
from services.game.round_rejections import (
    MultiSpot,
    MultiSpotMinimum,
    NoMidShoeEntry,
    NoWagers,
    SeatLimit,
    SpotNotAdjacent,
    StakeAboveMaximum,
    StakeBelowMinimum,
    StakeNotInIncrement,
    StakeNotWhole,
    WagerKindNotOffered,
    WagerLocked,
    WagerNeedsAnother,
    WrongArea,
)
from services.game.round_settlement import EVALUATORS
from services.game.round_state import DealerHandState, HandState, RoundState
from services.game.round_words import Stake, Wager
from services.game.rule_options import Limits, MidShoeEntry
from services.game.wager_kinds import MAIN, Moment

_OPEN_ENTRY = MidShoeEntry.OPEN


def place_wagers(draft: RoundState, command: PlaceWagers) -> tuple[RoundEvent, ...]:
    """Check all wagers of the command against each other and what stands already, then record the new ones."""
    standing: dict[tuple[int, str], int] = {}
    owners: dict[int, str] = {}
    for hand in draft.hands:
        owners[hand.seat] = hand.player
        for stake in (*hand.stakes, *hand.side):
            standing[hand.seat, stake.kind] = stake.amount_cents
    new: list[Wager] = []
    rules, holders = draft.rules, draft.holders
    betting = draft.phase is AT_BETTING
    voided = {hand.seat for hand in draft.hands if hand.status is VOIDED}
    for wager in command.wagers:
        seat, player, kind = wager.seat, wager.player, wager.kind
        if betting and voided and seat in voided:
            raise WagerLocked(f"the wager of seat {seat} was given back: the next round takes another", seat=seat)
        if (seat, kind) in standing and _stands_already(standing[seat, kind], owners[seat], wager):
            continue
        if not betting:
            raise BettingIsClosed("betting is closed", seat=seat, phase=draft.phase.value)
        check_whole(wager.amount_cents)
        holder = owners.get(seat) or holders.get(seat, player)
        if holder != player or not player or not 0 < seat <= rules.max_seats:
            _refuse_area(draft, wager)
        if kind == MAIN:
            _check_main(draft, wager)
        else:
            _check_side_wager(rules, wager, standing)
        standing[seat, kind] = wager.amount_cents
        owners[seat] = player
        new.append(wager)
    if len(set(owners.values())) < len(owners):
        for player in {wager.player for wager in new if wager.kind == MAIN}:
            mains = {seat: standing[seat, MAIN] for seat, owner in owners.items() if owner == player}
            _check_spots(draft.rules, player, mains)
    events = tuple([WagerPlaced(w.seat, w.player, 0, w.kind, 1, w.amount_cents) for w in new])
    for event in events:
        apply_wager_placed(draft, event)
    return events


def apply_wager_placed(draft: RoundState, event: WagerPlaced) -> None:
    """Fold: the stake is locked on its seat's hand."""
    stake = Stake(event.kind, event.ordinal, event.amount_cents)
    draft.staked_cents += event.amount_cents
    if event.kind == MAIN:
        hand = HandState(event.seat, 0, event.player, (stake,), event.amount_cents)
        hands = (*draft.hands, hand)
        if len(hands) > 1 and hands[-2].seat > event.seat:
            hands = tuple(sorted(hands, key=lambda placed: placed.seat))
        draft.hands = hands
        return
    for hand in draft.hands:
        if hand.seat == event.seat:
            hand.side = (*hand.side, stake)


def close_betting(draft: RoundState, _command: CloseBetting) -> tuple[RoundEvent, ...]:
    """End betting; the hands with a wager get cards."""
    if draft.phase is not AT_BETTING:
        raise BettingIsClosed("betting is closed already", phase=draft.phase.value)
    seats = tuple([hand.seat for hand in draft.hands if hand.status is PLAYING])
    if not seats:
        raise NoWagers("nobody has a wager")
    event = BettingClosed(seats)
    apply_betting_closed(draft, event)
    return (event,)


def apply_betting_closed(draft: RoundState, event: BettingClosed) -> None:
    """Fold: the first cards are due."""
    rules = draft.rules
    draft.phase = AT_DEALING
    draft.dealers = (DealerHandState(),)
    draft.pending = first_cards(event.seats, rules.hole_card, rules.dealer_shows)


def _stands_already(amount: int, owner: str, wager: Wager) -> bool:
    """Tell whether just this wager stands; raise `WagerLocked` when the player's own stands with another amount."""
    if owner != wager.player:
        return False
    if amount == wager.amount_cents and type(wager.amount_cents) is int:
        return True
    raise WagerLocked(
        f"seat {wager.seat} has {amount} cents on {wager.kind} already",
        seat=wager.seat,
        kind=wager.kind,
        stake_cents=amount,
    )


def check_whole(amount_cents: object) -> None:
    """Refuse what is not an integer: floats, NaN, text, and truth values, which Python would count as 0 and 1."""
    if type(amount_cents) is not int:
        raise StakeNotWhole(f"{amount_cents!r:.40} is no whole number of cents", amount=f"{amount_cents!r:.40}")


def check_chips(rules: HouseRules, amount_cents: int, **facts: int | str) -> None:
    """Refuse a stake that cannot be laid, or given back, in whole chips where payments are made in chips (30-810)."""
    step = rules.smallest_stake_cents
    if amount_cents % step:
        raise StakeNotInIncrement(
            f"{amount_cents} cents is no multiple of {step}",
            **{**facts, "stake_cents": amount_cents},
            increment_cents=step,
        )


def _refuse_area(draft: RoundState, wager: Wager) -> None:
    """A wager lies on the player's own seat, or on a free one (30-803, 30-827); never on another's."""
    seat, most = wager.seat, draft.rules.max_seats
    if not 1 <= seat <= most:
        raise SeatLimit(f"the table has seats 1 to {most}", seat=seat, max_seats=most)
    if not wager.player:
        raise WrongArea("a wager needs a player", seat=seat)
    raise WrongArea(f"seat {seat} is another player's", seat=seat, player=wager.player)


def _check_main(draft: RoundState, wager: Wager) -> None:
    """The posted limits, and who may join before the shuffle (30-809)."""
    limits = draft.rules.limits
    amount = wager.amount_cents
    if not limits.minimum_cents <= amount <= limits.maximum_cents or amount % limits.increment_cents:
        _refuse_amount(limits, wager)
    if draft.rules.mid_shoe_entry is not _OPEN_ENTRY and not draft.first_of_shoe:
        _check_entry(draft, wager)


def _refuse_amount(limits: Limits, wager: Wager) -> None:
    amount = wager.amount_cents
    facts: dict[str, int | str] = {"seat": wager.seat, "stake_cents": amount}
    if amount < limits.minimum_cents:
        least = limits.minimum_cents
        raise StakeBelowMinimum(f"{amount} cents is under the posted minimum of {least}", **facts, minimum_cents=least)
    if amount > limits.maximum_cents:
        most = limits.maximum_cents
        raise StakeAboveMaximum(f"{amount} cents is over the posted maximum of {most}", **facts, maximum_cents=most)
    step = limits.increment_cents
    raise StakeNotInIncrement(f"{amount} cents is no multiple of {step}", **facts, increment_cents=step)


def _check_entry(draft: RoundState, wager: Wager) -> None:
    """Who sat out the round before may have to wait for the shuffle (30-809).

    A player not named at the opening sat out.
    """
    rules = draft.rules
    if any(seated.player == wager.player and not seated.sat_out for seated in draft.seats):
        return
    facts: dict[str, int | str] = {"seat": wager.seat, "player": wager.player}
    if rules.mid_shoe_entry is MidShoeEntry.CLOSED:
        raise NoMidShoeEntry("the table is closed to new players until the shuffle", **facts)
    if wager.amount_cents > rules.mid_shoe_limit_cents:
        raise NoMidShoeEntry(
            f"until the shuffle a new player wagers at most {rules.mid_shoe_limit_cents} cents",
            **facts,
            stake_cents=wager.amount_cents,
            maximum_cents=rules.mid_shoe_limit_cents,
        )


def _check_side_wager(rules: HouseRules, wager: Wager, standing: dict[tuple[int, str], int]) -> None:
    """A wager of another kind is bounded by its declaration in the rule set (DESIGN §5)."""
    kind = rules.wager_kind(wager.kind)
    facts: dict[str, int | str] = {"seat": wager.seat, "kind": wager.kind, "stake_cents": wager.amount_cents}
    if kind is None or kind.placed_at is not Moment.BETTING or kind.resolved_by not in EVALUATORS:
        raise WagerKindNotOffered(f"this game takes no {wager.kind!r:.40} wager before the cards", **facts)
    amount = wager.amount_cents
    check_chips(rules, amount, seat=wager.seat, kind=wager.kind)
    bounds = [(kind.minimum_cents or 1, kind.maximum_cents)]
    if kind.requires:
        other = standing.get((wager.seat, kind.requires))
        if other is None:
            raise WagerNeedsAnother(f"{kind.name} needs a {kind.requires} wager on seat {wager.seat}", **facts)
        bounds += [(-int(-(kind.least or 0) * other // 1), int(kind.most * other // 1) if kind.most is not None else 0)]
    for least, most in bounds:
        if amount < least:
            raise StakeBelowMinimum(f"{kind.name} takes at least {least} cents", **facts, minimum_cents=least)
        if most and amount > most:
            raise StakeAboveMaximum(f"{kind.name} takes at most {most} cents", **facts, maximum_cents=most)


def _check_spots(rules: HouseRules, player: str, mains: dict[int, int]) -> None:
    """Several hands of one player: their number, their place and their minimum (30-827)."""
    spots = len(mains)
    if spots <= 1:
        return
    if spots > rules.spots_per_player:
        raise MultiSpot(
            f"{player} has {spots} hands, the house allows {rules.spots_per_player}",
            player=player,
            hands=spots,
            spots_per_player=rules.spots_per_player,
        )
    if rules.spot_adjacent and max(mains) - min(mains) != spots - 1:
        raise SpotNotAdjacent(
            "a player's hands lie side by side", player=player, seats=" ".join(map(str, sorted(mains)))
        )
    minimum = rules.limits.minimum_cents * rules.spot_minimum_multiplier
    lowest = min(mains.values())
    if lowest < minimum:
        raise MultiSpotMinimum(
            f"with several hands each wager is at least {minimum} cents",
            player=player,
            stake_cents=lowest,
            minimum_cents=minimum,
        )
