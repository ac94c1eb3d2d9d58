"""What people did at an observed table, from the first bet to the pick-up: the round folds it by its own rules.

Owns this fold, pure. Promises that what the round would refuse is recorded as an irregularity named after the broken rule,
and that wagers are settled as soon as every card is out.
"""

from collections.abc import Callable, Mapping
from typing import Final

from services.game import round as game
from services.game import round_commands as rc
from services.game import round_steps as steps
from services.game.rejections import Rejection
from services.game.round_words import Phase, Wager
from services.game.wager_kinds import MAIN
from services.table import commands as c
from services.table import events as e
from services.table import playing
from services.table.observed_look import Events, Look, hands_of
from services.table.readings import IrregularityKind as Irregular
from services.table.readings import ReadingKind
from services.table.table import Table, evolve
from services.table.work import settled

_K = ReadingKind


def with_settlement(table: Table, events: Events) -> Events:
    """These events, and the settlement where every card is out: the round decides it, nobody has to be asked."""
    state = table
    for event in events:
        state = evolve(state, event)
    while is_ripe(state):
        more = settled(state)
        for event in more:
            state = evolve(state, event)
        events = (*events, *more)
    return events


def is_ripe(table: Table) -> bool:
    """Whether every card is out and the wagers are to be decided."""
    play = table.live
    if play is None or table.suspended or play.round.phase is Phase.BETTING:
        return False
    return isinstance(game.next_step(play.round), steps.SettleHands)


def round_started(look: Look) -> Events:
    """Open the next round under the rules in force."""
    play = look.play
    if play is not None:
        if play.round.phase is Phase.BETTING:
            return ()
        return look.irregular(Irregular.ROUND_OUT_OF_ORDER, f"a round begins and {play.id} is not over")
    shoe_id, decks, last_round = look.known.shoe or ("", 0, False)
    opening = c.OpenRound(look.observation.received_time_us, shoe_id, decks, continuous=False)
    try:
        opened = playing.open_round(look.table, opening, look.context)
    except Rejection as rejection:
        return look.refused(Irregular.ROUND_OUT_OF_ORDER, rejection)
    if not last_round:
        return opened
    return (*opened, *look.irregular(Irregular.ROUND_OUT_OF_ORDER, "a round begins after the cutting card (30-816)"))


def bet(look: Look) -> Events:
    """Before the close the state remembers it; after it, another sum than was wagered is a late bet."""
    play, reading = look.play, look.observation.reading
    if play is None or play.round.phase in {Phase.BETTING, Phase.SETTLING, Phase.PICKUP}:
        return ()
    hands = hands_of(play, reading.seat)
    if hands and all(hand.settled for hand in hands):
        return ()
    wagered = sum(stake.amount_cents for hand in hands for stake in hand.stakes)
    if reading.amount_cents == wagered or reading.amount_cents in {hand.wager_cents for hand in hands}:
        return ()
    message = f"{reading.amount_cents} cents lie on seat {reading.seat} after the close, {wagered} were wagered"
    return look.irregular(Irregular.BET_AFTER_CLOSE, message, due_cents=wagered)


def betting_closed(look: Look) -> Events:
    """What lies on the layout becomes the wagers, seat by seat; what the rules do not allow stays out of the round."""
    play = look.play
    if play is None:
        return look.irregular(Irregular.ROUND_OUT_OF_ORDER, "betting is closed and no round is open")
    if play.round.phase is not Phase.BETTING:
        return ()
    events: list[e.TableEvent] = []
    wrongs: list[tuple[int, int, Rejection]] = []
    round_ = play.round
    for seat, cents in look.table.watch.bets.items():
        stay = look.table.at(seat)
        try:
            wager = Wager(seat, stay.patron if stay is not None else "", MAIN, cents)
            placed = game.decide(round_, rc.PlaceWagers((wager,)))
        except Rejection as rejection:
            wrongs.append((seat, cents, rejection))
            continue
        round_ = game.evolve_all(round_, placed)
        events += placed
    if events:
        events += game.decide(round_, rc.CloseBetting())
    state = look.table
    for event in events:
        state = evolve(state, event)
    return (*events, *_wrong_wagers(look, state, wrongs))


def _wrong_wagers(look: Look, state: Table, wrongs: list[tuple[int, int, Rejection]]) -> Events:
    events: Events = ()
    for seat, cents, rejection in wrongs:
        message = f"seat {seat}, {cents} cents: {rejection.message}"
        more = Look(state, look.observation, look.known, look.context).irregular(
            Irregular.WAGER_NOT_ALLOWED, message, rejection=rejection
        )
        for event in more:
            state = evolve(state, event)
        events = (*events, *more)
    return events


def choice(look: Look) -> Events:
    """A signal of the hand in turn, or an answer to the offer of insurance."""
    reading, play = look.observation.reading, look.play
    if play is None:
        return look.irregular(Irregular.ACTION_NOT_ALLOWED, f"{reading.kind.value} and no round is in play")
    step = game.next_step(play.round)
    hand = step.hand if isinstance(step, steps.AwaitDecision) and step.seat == reading.seat else 0
    try:
        return game.decide(play.round, CHOICES[reading.kind](reading.seat, hand, reading.amount_cents))
    except Rejection as rejection:
        return look.refused(Irregular.ACTION_NOT_ALLOWED, rejection)


def hole_checked(look: Look) -> Events:
    """The no-peek device's yes or no (30-823)."""
    play = look.play
    if play is None:
        return look.irregular(Irregular.ACTION_NOT_ALLOWED, "a hole card is checked and no round is in play")
    try:
        return game.decide(play.round, rc.RecordHoleCheck(look.observation.reading.makes_blackjack))
    except Rejection as rejection:
        return look.refused(Irregular.ACTION_NOT_ALLOWED, rejection)


def dealer_done(look: Look) -> Events:
    """The dealer's hand is complete, if it is."""
    play = look.play
    if play is None or play.round.phase in {Phase.SETTLING, Phase.PICKUP} or is_ripe(look.table):
        return ()
    message = f"the dealer ends {play.id}, which waits for {type(game.next_step(play.round)).__name__}"
    return look.irregular(Irregular.DEALER_ENDED_EARLY, message)


def payment(look: Look) -> Events:
    """What lies with a seat after paying is what its hands were returned, to the cent."""
    reading, play = look.observation.reading, look.play or look.table.play
    lines = [line for line in play.lines if line.seat == reading.seat] if play is not None else []
    due = sum(line.returned_cents for line in lines)
    open_ = play is not None and any(not hand.settled for hand in hands_of(play, reading.seat))
    if open_ or (reading.amount_cents != due and (lines or reading.amount_cents)):
        when = "before its hand is decided" if open_ else f"{due} are due"
        message = f"{reading.amount_cents} cents lie with seat {reading.seat} after paying, {when}"
        return look.irregular(Irregular.PAYMENT_WRONG, message, due_cents=due)
    return ()


def picked_up(look: Look) -> Events:
    """The round is over, if every wager is settled."""
    play = look.play
    if play is None:
        return ()
    if play.round.phase is not Phase.PICKUP:
        message = f"the cards are picked up while {play.id} waits for {type(game.next_step(play.round)).__name__}"
        return look.irregular(Irregular.DEALER_ENDED_EARLY, message)
    return game.decide(play.round, rc.PickUpHands())


def tray(look: Look) -> Events:
    """A count between rounds is what the ledger has."""
    counted, kept = look.observation.reading.amount_cents, look.known.tray_cents
    if kept is None or counted - kept in {0, look.table.watch.tray_difference_cents}:
        return ()
    message = f"the tray holds {counted} cents, the ledger {kept}"
    return look.irregular(Irregular.TRAY_DIFFERS, message, due_cents=kept, stops=False)


CHOICES: Final[Mapping[ReadingKind, Callable[[int, int, int], rc.Command]]] = {
    _K.HIT_SIGNALLED: lambda seat, hand, _: rc.Hit(seat, hand),
    _K.STAND_SIGNALLED: lambda seat, hand, _: rc.Stand(seat, hand),
    _K.DOUBLE_SIGNALLED: lambda seat, hand, cents: rc.DoubleDown(seat, hand, "", cents),
    _K.SPLIT_SIGNALLED: lambda seat, hand, _: rc.Split(seat, hand),
    _K.SURRENDER_SIGNALLED: lambda seat, hand, _: rc.SurrenderHand(seat, hand),
    _K.HAND_KEPT: lambda seat, hand, _: rc.DeclineSurrender(seat, hand),
    _K.INSURANCE_SEEN: lambda seat, _, cents: rc.TakeInsurance(seat, "", cents),
    _K.INSURANCE_DECLINED: lambda seat, _, __: rc.DeclineInsurance(seat),
    _K.EVEN_MONEY_TAKEN: lambda seat, _, __: rc.TakeEvenMoney(seat),
    _K.INSURANCE_CLOSED: lambda _, __, ___: rc.CloseInsurance(),
}
"""The round's command for each signal of a seat: (seat, hand, cents)."""
