"""Table, ledger and shoe tell one story: who sits where, whose chips, whose hand, what was decided, which shoe.

Owns the comparison of what the services state beside the amounts and cards, which other laws hold (L1, L3, L6, L7, L10).
A false name or word moves no cent by itself, and is what a patron's statement shows and a dispute is about. Shares no
code with the services; memory is the stays and one round per table.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from services.game.authority import Role
from services.surveillance import round_facts as r
from services.surveillance import shoe_facts as s
from services.surveillance import table_facts as t
from services.surveillance import wager_facts as w
from services.surveillance.facts import Fact
from services.surveillance.findings import Finding, found
from services.surveillance.scene import TableScene, read_rules


@dataclass(frozen=True, slots=True)
class Stay:
    """A patron's stay at a seat."""

    patron: str
    seat: int
    chips_cents: int


@dataclass(frozen=True, slots=True)
class _Shoe:
    """The shoe in play."""

    shoe_id: str
    decks: int
    continuous: bool


@dataclass(slots=True)
class _Book:
    """One table: who is there by session, the holds of the round by id, the shoe in play."""

    stays: dict[str, Stay] = field(default_factory=dict)
    holds: dict[str, w.HeldStake] = field(default_factory=dict)
    shoe: _Shoe | None = None
    receipts: dict[str, tuple[str, t.RackChange]] = field(default_factory=dict)


class ServicesAgree:
    """Folded over all streams of a table together."""

    def __init__(self) -> None:
        self._books: dict[str, _Book] = {}

    def observe(self, fact: Fact, scene: TableScene) -> Iterator[Finding]:
        """Fold one event in and compare it with what the others said."""
        if fact.event is None:
            return
        book = self._books.setdefault(fact.key, _Book())
        match fact.area:
            case "wager":
                yield from _from_ledger(fact, book, scene, fact.event)
            case "shoe":
                yield from _from_shoe(fact, book, scene, fact.event)
            case "table":
                yield from _from_table(fact, book, scene, fact.event)
            case _:
                pass

    def finish(self) -> Iterator[Finding]:
        """Nothing is left open at the end."""
        return iter(())


# The ledger ------------------------------------------------------------------------------------------------------------


def _from_ledger(fact: Fact, book: _Book, scene: TableScene, event: Any) -> Iterator[Finding]:
    match event:
        case w.LedgerOpened():
            counted = sum(count.denomination_cents * count.quantity for count in event.inventory)
            if counted != event.opener_cents:
                yield found("L1", fact, f"chips of {counted} cents are counted in, {event.opener_cents} are booked")
        case w.SeatSessionOpened():
            stated = Stay(event.patron, event.seat, event.chips_cents)
            stay = book.stays.get(event.session)
            # A rack of the ledger's own, without a table's seat, is its caller's business.
            if stay is not None and stay != stated:
                sits = f"{stay.patron} on seat {stay.seat} with {stay.chips_cents} cents"
                yield found(
                    "L6",
                    fact,
                    f"a rack is opened for {stated.patron} on seat {stated.seat} with {stated.chips_cents} cents as "
                    f"{event.session}, the table has {sits} there",
                )
        case w.StakesHeld():
            for hold in event.holds:
                book.holds[hold.hold] = hold
                if _kind_in(hold.hold) != hold.kind:
                    yield found("L7", fact, f"the hold {hold.hold} is entered as a {hold.kind!r} stake")
        case w.ChipsBought():
            book.receipts[event.buy_in] = (event.session, t.RackChange.BUY_IN)
        case w.ChipsCashedOut():
            book.receipts[event.cash_out] = (event.session, t.RackChange.CASH_OUT)
        case w.TipGiven():
            book.receipts[event.tip] = (event.session, t.RackChange.TIP)
        case w.RoundSettled():
            yield from _settled(fact, book, scene, event)
        case _:
            pass


def _settled(fact: Fact, book: _Book, scene: TableScene, event: w.RoundSettled) -> Iterator[Finding]:
    current, rules = scene.round, scene.rules
    if rules is not None and (event.rounding, event.chip_cents) != (rules.rounding, rules.chip_cents):
        yield found(
            "L7",
            fact,
            f"rounded {event.rounding} to {event.chip_cents} cents, posted is {rules.rounding}, {rules.chip_cents}",
        )
    paid = {line.session for line in event.lines}
    racks = {rack.session for rack in event.racks}
    if paid - racks:
        yield found("L6", fact, f"no rack is stated after the settlement for {', '.join(sorted(paid - racks))}")
    if current is None or current.round_id != event.round_id:
        yield found("L7", fact, f"the ledger settles {event.round_id}, which is not the table's round")
        return
    if event.revision != len(current.revisions):
        yield found(
            "L7", fact, f"the ledger settles revision {event.revision}, the table decided {len(current.revisions)}"
        )
    if event.settlement != f"{event.round_id}/settle/{event.revision}":
        yield found("L7", fact, f"the settlement is named {event.settlement} (DESIGN §5)")
    for line in event.lines:
        if not line.holds:
            yield found("L7", fact, f"a line of {line.stake_cents} cents is settled for no hold")
            continue
        kinds = {_kind_in(hold) for hold in line.holds}
        if line.kind not in kinds or any(_seat_in(hold) != line.seat for hold in line.holds):
            yield found("L7", fact, f"{line.holds[0]} is settled as the {line.kind} stake of seat {line.seat}")
        for hold in line.holds:
            held = book.holds.get(hold)
            if held is not None and held.session != line.session:
                yield found("L7", fact, f"{hold} was held from {held.session} and is settled with {line.session}")


def _kind_in(hold: str) -> str:
    """The kind in a hold's id, "<round>/<seat>/<kind>/<ordinal>" (DESIGN §5)."""
    return hold.rsplit("/", 2)[-2] if hold.count("/") > 2 else ""


def _seat_in(hold: str) -> int:
    seat = hold.rsplit("/", 3)[-3] if hold.count("/") > 2 else ""
    return int(seat) if seat.isdecimal() and len(seat) < 4 else 0


# The shoe --------------------------------------------------------------------------------------------------------------


def _from_shoe(fact: Fact, book: _Book, scene: TableScene, event: Any) -> Iterator[Finding]:
    match event:
        case s.CardsShuffled():
            book.shoe = _Shoe(event.shoe_id, event.decks, event.continuous)
        case s.ObservedShoeStarted():
            book.shoe = _Shoe(event.shoe_id, event.decks, continuous=False)
        case s.ShoeRetired() if book.shoe is not None and event.decks != book.shoe.decks:
            yield found("L2", fact, f"a shoe of {book.shoe.decks} decks is retired as one of {event.decks}")
        case s.CardDrawn() if book.shoe is not None and event.decks != book.shoe.decks:
            yield found("L2", fact, f"drawn from {event.decks} decks, the shoe has {book.shoe.decks} (30-806)")
        case s.HoleCardChecked():
            current = scene.round
            row = current.dealer.get(0, []) if current is not None else []
            up = next((seen.position for seen in row if not seen.face_down), 0)
            if current is None or event.round_id != current.round_id or event.up_position != up:
                yield found(
                    "L3", fact, f"the hole card is checked under the card at {event.up_position}, up is that at {up}"
                )
        case _:
            pass


# The table -------------------------------------------------------------------------------------------------------------


def _from_table(fact: Fact, book: _Book, scene: TableScene, event: Any) -> Iterator[Finding]:
    match event:
        case t.PlayerSeated() | t.PlayerLeft():
            yield from _stays(fact, book, event)
        case t.RackChanged():
            booked = book.receipts.pop(event.receipt, None)
            if booked is not None and booked != (event.session, event.change):
                yield found(
                    "L6",
                    fact,
                    f"{event.receipt} is a {event.change} of {event.session}, in the ledger {' '.join(booked)}",
                )
        case t.RulesPosted():
            rules = read_rules(event.rules_text)
            if rules is not None and (rules.name, rules.version) != (event.name, event.version):
                yield found(
                    "L10",
                    fact,
                    f"posted as {event.name} {event.version}, the text is {rules.name} {rules.version} (30-803)",
                )
        case r.RoundOpened():
            yield from _opened(fact, book, scene, event)
        case t.ShoeAssigned():
            yield from _assigned(fact, book, scene, event)
        case r.WagerPlaced():
            yield from _wagered(fact, book, scene, event)
        case r.WagersSettled():
            yield from _decided(fact, scene, event)
        case _ if isinstance(event, _CHOICES):
            yield from _chosen(fact, scene, event)
        case _:
            pass


def _stays(fact: Fact, book: _Book, event: t.PlayerSeated | t.PlayerLeft) -> Iterator[Finding]:
    if isinstance(event, t.PlayerLeft):
        stay = book.stays.pop(event.session, None)
        if stay is None or (stay.patron, stay.seat) != (event.patron, event.seat):
            yield found("L6", fact, f"{event.patron} leaves seat {event.seat}, who sat there is {stay}")
        return
    if event.session in book.stays:
        yield found("L6", fact, f"the session {event.session} begins a second time")
    if event.seat in {stay.seat for stay in book.stays.values()}:
        yield found("L10", fact, f"{event.patron} is seated on seat {event.seat}, which is taken")
    book.stays[event.session] = Stay(event.patron, event.seat, event.chips_cents)


def _decided(fact: Fact, scene: TableScene, event: r.WagersSettled) -> Iterator[Finding]:
    players = scene.round.players if scene.round is not None else {}
    for line in event.lines:
        if line.player != players.get(line.seat):
            yield found(
                "L7", fact, f"seat {line.seat} is settled with {line.player}, {players.get(line.seat)} plays it"
            )


def _opened(fact: Fact, book: _Book, scene: TableScene, event: r.RoundOpened) -> Iterator[Finding]:
    book.holds.clear()
    sitting = {(stay.seat, stay.patron) for stay in book.stays.values()}
    for seated in event.seats:
        if (seated.seat, seated.player) not in sitting:
            yield found("L6", fact, f"{seated.player} is named on seat {seated.seat}, where he does not sit")
    posted = scene.posted_as(event.rules_digest)
    if posted is not None and posted != (event.rules_name, event.rules_version):
        yield found(
            "L7",
            fact,
            f"dealt under {event.rules_name} {event.rules_version}, the digest is that of {posted[0]} {posted[1]}",
        )


def _assigned(fact: Fact, book: _Book, scene: TableScene, event: t.ShoeAssigned) -> Iterator[Finding]:
    if scene.round is None or event.round_id != scene.round.round_id:
        yield found("L3", fact, f"a shoe is assigned to {event.round_id}, which is not the table's round")
    stated = (event.shoe_id, event.decks, event.continuous)
    in_play = None if book.shoe is None else (book.shoe.shoe_id, book.shoe.decks, book.shoe.continuous)
    if stated != in_play:
        yield found("L3", fact, f"the round is dealt from {stated}, in play is {in_play}")


def _wagered(fact: Fact, book: _Book, scene: TableScene, event: r.WagerPlaced) -> Iterator[Finding]:
    here = {session: stay for session, stay in book.stays.items() if stay.patron == event.player}
    if not here:
        yield found("L10", fact, f"{event.player} wagers on seat {event.seat} and sits nowhere at this table")
    if scene.round is None:
        return
    named = f"{scene.round.round_id}/{event.seat}/{event.kind}/{event.ordinal}"
    for hold, held in book.holds.items():
        if (hold == named or hold.startswith(f"{named}.")) and held.session not in here:
            yield found("L7", fact, f"the wager of {event.player} is held from the rack of {held.session}")
    actor = fact.envelope.actor
    if actor.role is Role.PLAYER and actor.id != event.player:
        yield found("L10", fact, f"{actor.id} wagers for {event.player}")


_CHOICES = (
    r.InsurancePlaced,
    r.InsuranceDeclined,
    r.EvenMoneyTaken,
    r.SurrenderDeclined,
    r.HandHit,
    r.HandStood,
    r.HandDoubled,
    r.HandSplit,
    r.HandSurrendered,
)
_BY = {
    Role.PLAYER: {r.DecidedBy.PLAYER},
    Role.DEALER: {r.DecidedBy.DEALER, r.DecidedBy.PLAYER},
    Role.DEVICE: {r.DecidedBy.PLAYER, r.DecidedBy.DEALER},
}


def _chosen(fact: Fact, scene: TableScene, event: Any) -> Iterator[Finding]:
    """A player acts on his own hand only (30-821), and the record says who chose."""
    actor = fact.envelope.actor
    player = scene.round.players.get(event.seat, "") if scene.round is not None else ""
    if actor.role is Role.PLAYER and actor.id != player:
        yield found(
            "L10", fact, f"{fact.name} on seat {event.seat} by {actor.id}, whose hand it is not: {player} plays it"
        )
    if event.by not in _BY.get(actor.role, set(r.DecidedBy)):
        yield found("L10", fact, f"{fact.name} is said to be decided by the {event.by}, it came from a {actor.role}")
