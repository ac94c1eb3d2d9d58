"""What the pit decides: rules, limits, opening, closing, dealers, suspension, voiding (30-803, 30-804, 30-828).

Owns these decisions, pure. Promises that what is posted changes only between rounds, and that only a pit supervisor resumes
play or voids a hand.
"""

from services.game import round as game
from services.game import round_commands as rc
from services.game.authority import CommandContext
from services.game.notices import notices
from services.game.rule_rejections import RuleFileUnreadable
from services.game.rules import HouseRules, Limits, canonical_text, check_conducted, parse_rules
from services.table import commands as c
from services.table import events as e
from services.table import rejections as r
from services.table.authority import (
    ANYONE_ON_DUTY,
    FLOOR,
    PIT,
    check_name,
    check_reason,
    require,
    require_supervisor,
)
from services.table.seating import open_rules
from services.table.table import Play, Table, with_limits

MOST_RULES_TEXT = 64 * 1024
MINUTE_US = 60_000_000


def post_rules(table: Table, command: c.PostRules, context: CommandContext) -> tuple[e.TableEvent, ...]:
    """Put a rule set on display; the same one again changes nothing."""
    require(context, PIT, "post rules")
    between_rounds(table)
    rules = _read(command.rules_text, must_be_approved=table.is_open)
    _check_seated(table, rules)
    events = _posted(table, rules)
    if not events:
        return nothing_changed(c.PostRules)
    if table.seats and table.announced is not None:
        # Posting takes an announcement down; who is seated was promised these limits, from the same time on.
        with_limits(rules, table.announced.limits)
        events = (*events, table.announced)
    return events


def _check_seated(table: Table, rules: HouseRules) -> None:
    """Who is seated keeps his seat, and gets the posted notice of other limits (30-803, 30-809)."""
    if not table.seats or table.rules is None:
        return
    if rules.limits != table.rules.limits:
        raise r.LimitsNeedNotice(
            f"{len(table.seats)} patrons are seated: other limits need notice", players=len(table.seats)
        )
    last = table.seats[-1].seat
    if last > rules.max_seats:
        raise r.PlayersStillSeated(f"seat {last} is taken", seat=last, max_seats=rules.max_seats)


def open_table(table: Table, command: c.OpenTable, context: CommandContext) -> tuple[e.TableEvent, ...]:
    """Open with posted rules of an approved game (30-803(3), 30-830); the tray is in the ledger already."""
    require(context, PIT, "open a table")
    if table.is_open or table.closing:
        raise r.TableAlreadyOpen(f"{table.key} is open", table=table.key, period=table.period)
    dealer = check_name(command.dealer, "dealer")
    events: tuple[e.TableEvent, ...] = ()
    if command.rules_text:
        events = _posted(table, _read(command.rules_text, must_be_approved=True))
    elif table.rules is None:
        raise r.RulesNotPosted(f"{table.key} has no rules on display", table=table.key)
    else:
        table.rules.require_approved()
        check_conducted(table.rules)
    period = table.period + 1
    observing = (e.ObservingStarted(period),) if command.observed else ()
    return (*events, e.TableOpened(period, opening_id(table), dealer), *observing)


def opening_id(table: Table, number: int = 1) -> str:
    """The business id of the next opening of the ledger, by its `number`-th count of the tray."""
    first = f"{table.key}/opening/{table.period + 1}"
    return first if number == 1 else f"{first}.{number}"


def close_table(table: Table, _command: c.CloseTable, context: CommandContext) -> tuple[e.TableEvent, ...]:
    """No more rounds; the conductor closes the ledger."""
    require(context, PIT, "close a table")
    if table.closing:
        return nothing_changed(c.CloseTable)
    open_rules(table)
    between_rounds(table)
    if table.seats:
        raise r.PlayersStillSeated(f"{len(table.seats)} patrons are seated", players=len(table.seats))
    return (e.TableCloseStarted(table.period, f"{table.key}/closing/{table.period}"),)


def announce_limits(table: Table, command: c.AnnounceLimits, context: CommandContext) -> tuple[e.TableEvent, ...]:
    """New limits: at once at a table without players, else after the notice and between rounds (30-809)."""
    require(context, PIT, "change limits")
    rules = table.rules
    if rules is None:
        raise r.RulesNotPosted(f"{table.key} has no rules on display", table=table.key)
    asked = command.limits
    limits = Limits(asked.minimum_cents, asked.maximum_cents, asked.increment_cents)
    changed = with_limits(rules, limits)
    if table.seats or table.live:
        effective = command.now_us + rules.limit_change_notice_minutes * MINUTE_US
        return (e.LimitsAnnounced(limits, effective),)
    return (e.LimitsAnnounced(limits, command.now_us), limits_changed(changed))


def limits_changed(rules: HouseRules) -> e.LimitsChanged:
    """The event by which these rules, with their limits, are in force."""
    return e.LimitsChanged(rules.limits, rules.digest, canonical_text(rules))


def set_dealer(table: Table, command: c.SetDealer, context: CommandContext) -> tuple[e.TableEvent, ...]:
    """Another dealer; the same one again changes nothing."""
    require(context, FLOOR, "change the dealer")
    rules = open_rules(table)
    dealer = check_name(command.dealer, "dealer")
    if dealer == table.dealer:
        return nothing_changed(c.SetDealer)
    between_rounds(table)
    burn = rules.burn_on_dealer_change if table.rounds else 0
    return (e.DealerChanged(table.dealer_changes + 1, dealer, table.dealer, burn),)


def suspend(table: Table, command: c.Suspend, context: CommandContext) -> tuple[e.TableEvent, ...]:
    """Stop play; a table that is stopped stays so, for its first reason."""
    require(context, ANYONE_ON_DUTY, "suspend play")
    open_rules(table)
    reason = check_reason(command.reason)
    return nothing_changed(c.Suspend) if table.suspended else (e.TableSuspended(reason),)


def resume(table: Table, command: c.Resume, context: CommandContext) -> tuple[e.TableEvent, ...]:
    """Go on, by a supervisor's decision only (30-828(1))."""
    require_supervisor(context, "resume play")
    if not table.suspended:
        raise r.NotSuspended(f"{table.key} is not suspended", table=table.key)
    return (e.TableResumed(check_reason(command.basis, "basis"), check_reason(command.remedy, "remedy")),)


def void_hand(table: Table, command: c.VoidHand, context: CommandContext) -> tuple[e.TableEvent, ...]:
    """One hand is a push, by a supervisor's decision only (30-828(1))."""
    require_supervisor(context, "void a hand")
    play = in_round(table, command.round_id)
    reason = check_reason(command.reason)
    return game.decide(play.round, rc.VoidHand(command.seat, command.hand, context.actor.id, reason))


def void_round(table: Table, command: c.VoidRound, context: CommandContext) -> tuple[e.TableEvent, ...]:
    """All hands are pushes, by a supervisor's decision only (30-828(1))."""
    require_supervisor(context, "void a round")
    play = in_round(table, command.round_id)
    return game.decide(play.round, rc.VoidRound(context.actor.id, check_reason(command.reason)))


def nothing_changed(command: type) -> tuple[e.TableEvent, ...]:
    """Record that the effect stands: repeated after a restart, under the same id, the command must not act (DESIGN §3)."""
    return (e.NothingChanged(command.__name__),)


def between_rounds(table: Table) -> None:
    """Raise RoundInProgress during a round."""
    if table.live is not None:
        raise r.RoundInProgress(f"round {table.live.id} is in play", round=table.live.id)


def in_round(table: Table, round_id: str) -> Play:
    """The round in play; raises NoRoundInProgress, or WrongRound when another one is meant."""
    if table.live is None:
        if table.play is not None and round_id == table.play.id:
            raise r.NoRoundInProgress(f"round {round_id} is over", round=round_id)
        raise r.NoRoundInProgress(f"{table.key} has no round in play", round=round_id[:200])
    if round_id != table.live.id:
        raise r.WrongRound(f"round {table.live.id} is in play", round=table.live.id, meant=round_id[:200])
    return table.live


def _read(text: str, *, must_be_approved: bool) -> HouseRules:
    if len(text) > MOST_RULES_TEXT:
        raise RuleFileUnreadable(f"a rule file has at most {MOST_RULES_TEXT} characters", length=len(text))
    if not text.strip():
        raise r.RulesNotPosted("there is no rule set in an empty text")
    rules = parse_rules(text)
    if must_be_approved:
        rules.require_approved()
    return rules


def _posted(table: Table, rules: HouseRules) -> tuple[e.TableEvent, ...]:
    if table.rules is not None and table.rules.digest == rules.digest:
        return ()
    shown = tuple(f"{notice.section} {notice.text}" for notice in notices(rules) if notice.applies)
    return (e.RulesPosted(rules.name, rules.version, rules.digest, canonical_text(rules), shown),)
