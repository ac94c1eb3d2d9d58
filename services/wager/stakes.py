"""Stakes of a round: held in escrow from the moment they are accepted, or given back undecided.

Owns hold and void. Promises that one call holds all its stakes or none, and that a stake held twice under one id is held
once (C08, C12). Settling them is the business of `settlement`.
"""

from services.game.authority import CommandContext
from services.wager import commands, events
from services.wager.accounts import Currency, Movement, Reason, check_amount, escrow, rack
from services.wager.books import Hold, HoldStatus, Ledger, RoundBook
from services.wager.identity import check_of_round, check_text, check_word, round_number
from services.wager.racks import insufficient
from services.wager.rejections import (
    CountMalformed,
    HoldAlreadyPosted,
    HoldAlreadyVoided,
    HoldIdReused,
    RoundAlreadySettled,
    RoundIsPast,
    UnknownHold,
    UnknownRound,
)

MAX_IN_ONE_CALL = 512


def hold(ledger: Ledger, command: commands.HoldStakes, _context: CommandContext) -> tuple[events.StakesHeld, ...]:
    """All stakes into escrow, those apart that are held already; refused whole when one rack does not cover its stakes."""
    number = round_number(command.round_id, ledger.table)
    check_length(len(command.stakes), "stakes")
    book = ledger.rounds.get(command.round_id)
    if book is None and number <= ledger.latest_round:
        raise RoundIsPast(
            f"round {command.round_id} is over, {ledger.latest_round} was the latest",
            round_id=command.round_id,
            latest_round=ledger.latest_round,
        )
    fresh = _fresh(command, {} if book is None else dict(book.holds))
    if not fresh:
        return ()
    if book is not None and book.settled:
        raise RoundAlreadySettled(f"round {command.round_id} is settled", round_id=command.round_id)
    needed: dict[str, int] = {}
    for stake in fresh:
        needed[stake.session] = needed.get(stake.session, 0) + stake.amount_cents
    racks = {}
    for name, cents in needed.items():
        session = ledger.at_seat(name)
        racks[name] = ledger.rack_cents(name)
        if cents > racks[name]:
            raise insufficient(session, racks[name], cents)
    holds, movements = [], []
    for stake in fresh:
        racks[stake.session] -= stake.amount_cents
        holds.append(events.HeldStake(stake.hold, stake.session, stake.kind, stake.amount_cents, racks[stake.session]))
        movements.append(
            Movement(
                rack(stake.session),
                escrow(command.round_id),
                Currency.CHIPS,
                stake.amount_cents,
                Reason.STAKE_HELD,
                stake.hold,
            )
        )
    return (events.StakesHeld(command.round_id, tuple(holds), tuple(movements)),)


def _fresh(command: commands.HoldStakes, known: dict[str, Hold]) -> list[commands.Stake]:
    """The stakes that are not held yet; raises when an id is malformed, voided, or known with other content."""
    fresh: dict[str, commands.Stake] = {}
    for stake in command.stakes:
        check_of_round(stake.hold, command.round_id, "hold")
        check_word(stake.kind, "kind")
        check_amount(stake.amount_cents, "stake")
        earlier = known.get(stake.hold)
        if earlier is None and stake.hold not in fresh:
            fresh[stake.hold] = stake
            continue
        same = earlier is not None and (earlier.stake.session, earlier.stake.kind, earlier.stake.amount_cents) == (
            stake.session,
            stake.kind,
            stake.amount_cents,
        )
        if not same:
            raise HoldIdReused(f"hold {stake.hold} is known with other content", hold=stake.hold)
        if earlier is not None and earlier.status is HoldStatus.VOIDED:
            # Answering "held" would let the round play on a stake that went back to the rack.
            raise HoldAlreadyVoided(f"hold {stake.hold} was given back", hold=stake.hold)
    return list(fresh.values())


def void(ledger: Ledger, command: commands.VoidHolds, _context: CommandContext) -> tuple[events.HoldsVoided, ...]:
    """Stakes back to their racks, those apart that went back already; refused whole when one of them is settled."""
    book = book_of(ledger, command.round_id)
    check_length(len(command.holds), "holds")
    check_text(command.reason, "reason")
    names = [name for name in dict.fromkeys(command.holds) if hold_of(book, name).status is not HoldStatus.VOIDED]
    racks: dict[str, int] = {}
    voided, movements = [], []
    for name in names:
        known = book.holds[name]
        if known.status is HoldStatus.POSTED:
            raise HoldAlreadyPosted(f"hold {name} is settled", hold=name)
        stake = known.stake
        racks[stake.session] = racks.get(stake.session, ledger.rack_cents(stake.session)) + stake.amount_cents
        voided.append(events.VoidedHold(name, stake.session, stake.amount_cents, racks[stake.session]))
        movements.append(
            Movement(
                escrow(command.round_id),
                rack(stake.session),
                Currency.CHIPS,
                stake.amount_cents,
                Reason.STAKE_VOIDED,
                name,
            )
        )
    if not names:
        return ()
    return (events.HoldsVoided(command.round_id, tuple(voided), command.reason, tuple(movements)),)


def book_of(ledger: Ledger, round_id: str) -> RoundBook:
    """The round's stakes; raises RoundIsPast or UnknownRound (or IdMalformed, WrongTable)."""
    number = round_number(round_id, ledger.table)
    book = ledger.rounds.get(round_id)
    if book is not None:
        return book
    if number <= ledger.latest_round:
        raise RoundIsPast(f"round {round_id} is over", round_id=round_id, latest_round=ledger.latest_round)
    raise UnknownRound(f"no stake was held in round {round_id}", round_id=round_id)


def hold_of(book: RoundBook, name: str) -> Hold:
    """The hold of that id; raises UnknownHold."""
    known = book.holds.get(name)
    if known is None:
        raise UnknownHold(
            f"there is no hold {name!r:.220} in round {book.round_id}", hold=str(name)[:200], round_id=book.round_id
        )
    return known


def check_length(length: int, what: str) -> None:
    """1 to 512 items; raises CountMalformed."""
    if not 1 <= length <= MAX_IN_ONE_CALL:
        raise CountMalformed(f"one call takes 1 to {MAX_IN_ONE_CALL} {what}, not {length}", what=what, length=length)
