"""The round as the table runs it: who may wager and choose, and for which round and question a command is meant.

Owns the checks that need the seats, and hands the rest to the round (services/game/round), which knows the game's rules.
Promises that an answer counts once under whatever request id (B18, C08) and that order is by sequence, never by time (D01).
"""

from services.game import round as game
from services.game import round_commands as rc
from services.game import round_events as re
from services.game.authority import CommandContext, Role
from services.game.round_steps import AwaitDecision, AwaitInsurance
from services.game.round_words import Action, Phase, SeatedPlayer, Wager
from services.game.rules import HouseRules, Shuffle
from services.table import commands as c
from services.table import events as e
from services.table import rejections as r
from services.table.authority import FLOOR, chooser, require, require_own
from services.table.pit import in_round, limits_changed, nothing_changed
from services.table.seating import open_rules, seated, unknown_session
from services.table.table import Decision, Play, Table, with_limits


def open_round(table: Table, command: c.OpenRound, context: CommandContext) -> tuple[e.TableEvent, ...]:
    """Begin the next round under the rules in force; while betting is open, asking again changes nothing.

    Cards that were shuffled anew before the first wager are taken for the round: they were committed to before it.
    """
    if check_opening(table, context):
        return _other_shoe(table, command) or nothing_changed(c.OpenBetting)
    if command.refusal:
        raise r.ShoeNotReady(command.refusal, shoe=command.shoe_id)
    rules = open_rules(table)
    _check_shoe(rules, command)
    events: list[e.TableEvent] = []
    due = table.announced
    if due is not None and (command.now_us >= due.effective_from_us or not table.seats):
        rules = with_limits(rules, due.limits)
        events.append(limits_changed(rules))
    first_of_shoe = table.play is None or table.play.shoe is None or table.play.shoe.shoe_id != command.shoe_id
    round_id = f"{table.key}#{table.rounds + 1}"
    players = tuple(
        SeatedPlayer(stay.seat, stay.patron, sat_out=stay.patron not in table.played) for stay in table.seats
    )
    events.append(game.open_round(round_id, rules, players, first_of_shoe=first_of_shoe))
    events.append(e.ShoeAssigned(round_id, command.shoe_id, command.decks, command.continuous))
    return tuple(events)


def shoe_may_change(table: Table) -> bool:
    """Whether betting is open and nobody has wagered yet, so that the round may still be dealt from a new shoe."""
    return table.live is not None and table.live.round.phase is Phase.BETTING and not table.live.players


def _other_shoe(table: Table, command: c.OpenRound) -> tuple[e.TableEvent, ...]:
    play = table.live
    if play is None or not shoe_may_change(table) or not command.shoe_id:
        return ()
    if play.shoe is not None and play.shoe.shoe_id == command.shoe_id:
        return ()
    if command.refusal:
        raise r.ShoeNotReady(command.refusal, shoe=command.shoe_id)
    _check_shoe(play.round.rules, command)
    return (e.ShoeAssigned(play.id, command.shoe_id, command.decks, command.continuous),)


def _check_shoe(rules: HouseRules, command: c.OpenRound) -> None:
    reason = not_as_posted(rules, command.decks, continuous=command.continuous)
    if reason:
        raise r.ShoeNotAsPosted(reason, shoe=command.shoe_id, decks=command.decks, posted_decks=rules.decks)


def not_as_posted(rules: HouseRules, decks: int, *, continuous: bool) -> str:
    """How a shoe differs from the one that the patrons were told of, "" when it does not (30-803, 30-804)."""
    posted = rules.shuffle is Shuffle.CONTINUOUS
    if (decks, continuous) == (rules.decks, posted):
        return ""
    kinds = {True: "a continuous shuffler", False: "a shoe that ends"}
    return f"the shoe is {kinds[continuous]} with {decks} decks, posted is {kinds[posted]} with {rules.decks}"


def check_opening(table: Table, context: CommandContext) -> bool:
    """Whether a round is open for wagers already; raises the refusal when none may be opened."""
    require(context, FLOOR, "open betting")
    open_rules(table)
    _not_suspended(table)
    if table.live is None:
        return False
    if table.live.round.phase is Phase.BETTING:
        return True
    raise r.RoundInProgress(f"round {table.live.id} is in play", round=table.live.id)


def place_wagers(table: Table, command: c.PlaceWagers, context: CommandContext) -> tuple[e.TableEvent, ...]:
    """Wagers of one or many seats, all or none."""
    if _placed_before(table, command):
        return ()
    play = _in_play(table, command.round_id)
    wagers = []
    for asked in command.wagers:
        stay = seated(table, asked.session)
        require_own(context, stay)
        other = table.at(asked.seat)
        if other is not None and other.session != stay.session:
            raise r.SeatTaken(f"seat {asked.seat} is another patron's", seat=asked.seat)
        if asked.spoken:
            _check_spoken(play.round.rules, context)
        wagers.append(Wager(asked.seat, stay.patron, asked.kind, asked.amount_cents))
    events = game.decide(play.round, rc.PlaceWagers(tuple(wagers)))
    return (*_spoken(command, play.id, events), *events)


def _check_spoken(rules: HouseRules, context: CommandContext) -> None:
    """Whether a wager may be called out (30-809): where the house posts it, and to a dealer who heard it."""
    require(context, FLOOR, "hear a wager")
    if not rules.accept_verbal:
        raise r.VerbalWagerNotAccepted("spoken wagers are not taken here")


def _spoken(command: c.PlaceWagers, round_id: str, events: tuple[e.TableEvent, ...]) -> tuple[e.TableEvent, ...]:
    new = {(event.seat, event.kind) for event in events if isinstance(event, re.WagerPlaced)}
    return tuple(
        e.WagerSpoken(round_id, asked.session, asked.seat, asked.kind, asked.amount_cents)
        for asked in command.wagers
        if asked.spoken and (asked.seat, asked.kind) in new
    )


def close_betting(table: Table, command: c.CloseBetting, context: CommandContext) -> tuple[e.TableEvent, ...]:
    """No more wagers; closing what is closed changes nothing."""
    require(context, FLOOR, "close betting")
    known = _known(table, command.round_id)
    if known is not None and known.round.phase is not Phase.BETTING:
        return ()
    play = _in_play(table, command.round_id)
    return game.decide(play.round, rc.CloseBetting())


_Insurance = c.TakeInsurance | c.DeclineInsurance | c.TakeEvenMoney


def answer_insurance(table: Table, command: _Insurance, context: CommandContext) -> tuple[e.TableEvent, ...]:
    """Insurance, even money or neither (30-812); the same answer again changes nothing."""
    play = _known(table, command.round_id) or _in_play(table, command.round_id)
    player = _player(table, play, command, context)
    seat = command.seat
    order: rc.Command
    if isinstance(command, c.TakeInsurance):
        answer, order = Action.INSURE, rc.TakeInsurance(seat, player, command.amount_cents)
    elif isinstance(command, c.DeclineInsurance):
        answer, order = Action.DECLINE_INSURANCE, rc.DeclineInsurance(seat, player)
    else:
        answer, order = Action.EVEN_MONEY, rc.TakeEvenMoney(seat, player)
    amount = command.amount_cents if isinstance(command, c.TakeInsurance) else 0
    if any(_repeats(known, seat, 0, answer, amount) for known in play.decisions):
        return ()
    return game.decide(_in_play(table, command.round_id).round, order)


def close_insurance(table: Table, command: c.CloseInsurance, context: CommandContext) -> tuple[e.TableEvent, ...]:
    """The dealer ends the offer; ending what has ended changes nothing."""
    require(context, FLOOR, "close insurance")
    play = _in_play(table, command.round_id)
    if not isinstance(game.next_step(play.round), AwaitInsurance):
        return ()
    return game.decide(play.round, rc.CloseInsurance())


def act(table: Table, command: c.Act, context: CommandContext) -> tuple[e.TableEvent, ...]:
    """A choice for a hand (30-813 to 30-829)."""
    match command.action:
        case Action.INSURE:
            insure = c.TakeInsurance(command.round_id, command.session, command.seat, command.amount_cents)
            return answer_insurance(table, insure, context)
        case Action.DECLINE_INSURANCE:
            return answer_insurance(table, c.DeclineInsurance(command.round_id, command.session, command.seat), context)
        case Action.EVEN_MONEY:
            return answer_insurance(table, c.TakeEvenMoney(command.round_id, command.session, command.seat), context)
        case _:
            pass
    play = _known(table, command.round_id) or _in_play(table, command.round_id)
    player = _player(table, play, command, context)
    if command.turn and _answered_before(play, command):
        return ()
    return game.decide(_in_play(table, command.round_id).round, _order(command, player))


def _order(command: c.Act, player: str) -> rc.Command:
    seat, hand = command.seat, command.hand
    match command.action:
        case Action.HIT:
            return rc.Hit(seat, hand, player)
        case Action.STAND:
            return rc.Stand(seat, hand, player)
        case Action.DOUBLE:
            return rc.DoubleDown(seat, hand, player, command.amount_cents)
        case Action.SPLIT:
            return rc.Split(seat, hand, player, command.amount_cents)
        case Action.SURRENDER:
            return rc.SurrenderHand(seat, hand, player)
        case _:
            return rc.DeclineSurrender(seat, hand, player)


def _answered_before(play: Play, command: c.Act) -> bool:
    """Whether this very answer is recorded; raises AnswerOutOfTurn when the question was or will be another."""
    if command.turn == play.turn:
        return False
    if 0 < command.turn < play.turn:
        known = play.decisions[command.turn - 1]
        if _repeats(known, command.seat, command.hand, command.action, command.amount_cents):
            return True
    raise r.AnswerOutOfTurn(
        f"question {play.turn} is open, not {command.turn}", turn=play.turn, answered=command.turn, round=play.id
    )


def _repeats(known: Decision, seat: int, hand: int, action: Action, amount_cents: int) -> bool:
    same = (known.seat, known.hand, known.action) == (seat, hand, action)
    return same and amount_cents in {0, known.amount_cents}


def expire_decision(table: Table, command: c.ExpireDecision, _context: CommandContext) -> tuple[e.TableEvent, ...]:
    """Answer for those who did not: stand, or no insurance (D03); nothing when the question was answered meanwhile."""
    play = table.live
    timer = play.timer if play is not None else None
    if play is None or timer is None or table.suspended:
        return ()
    if play.id != command.round_id or timer.deadline_us != command.deadline_us or command.now_us < timer.deadline_us:
        return ()
    step = game.next_step(play.round)
    order: rc.Command
    if isinstance(step, AwaitInsurance):
        order = rc.CloseInsurance(by_timeout=True)
    elif isinstance(step, AwaitDecision):
        order = rc.StandByTimeout(step.seat, step.hand)
    else:
        return ()
    return (e.DecisionTimedOut(play.id, timer.turn, timer.deadline_us), *game.decide(play.round, order))


def play_on(table: Table, command: c.PlayOn, _context: CommandContext) -> tuple[e.TableEvent, ...]:
    """What the conductor learned from the shoe or the wager service, fed into the round."""
    if not isinstance(command.command, rc.DealCards):
        # No card leaves the shoe while play is suspended (30-828(1)); one that left it before lies on the felt all the same.
        _not_suspended(table)
    if table.live is None:
        raise r.NoRoundInProgress(f"{table.key} has no round in play")
    return game.decide(table.live.round, command.command)


def _known(table: Table, round_id: str) -> Play | None:
    """The round of that id, in play or just over: what it recorded is not recorded again, however late it is repeated."""
    return table.play if table.play is not None and table.play.id == round_id else None


def _placed_before(table: Table, command: c.PlaceWagers) -> bool:
    """Whether these very wagers were decided already, in a round that is over."""
    play = _known(table, command.round_id)
    if play is None or play.live or not command.wagers:
        return False
    decided = {(line.seat, line.player, line.kind, line.stake_cents) for line in play.lines if line.ordinal == 1}
    stays = {stay.session: stay.patron for stay in table.seats}
    return all((w.seat, stays.get(w.session, ""), w.kind, w.amount_cents) in decided for w in command.wagers)


def _in_play(table: Table, round_id: str) -> Play:
    open_rules(table)
    play = in_round(table, round_id)
    _not_suspended(table)
    return play


def _not_suspended(table: Table) -> None:
    if table.suspended:
        raise r.PlaySuspended(f"play is suspended: {table.suspended}", reason=table.suspended)


def _player(table: Table, play: Play, command: c.Act | _Insurance, context: CommandContext) -> str:
    """Who chooses for the seat, in the round's words; raises NotYourSession or UnknownSession."""
    patron = play.players.get(command.seat, "")
    stay = table.session(command.session) if command.session else table.of_patron(patron)
    if stay is None:
        if not command.session and context.actor.role is not Role.PLAYER:
            require(context, FLOOR, "act for a player")
            return ""
        raise unknown_session(table, command.session)
    require_own(context, stay)
    if stay.patron != patron:
        raise r.NotYourSession(
            f"seat {command.seat} is not played by session {stay.session}", seat=command.seat, session=stay.session
        )
    return chooser(context, patron)
