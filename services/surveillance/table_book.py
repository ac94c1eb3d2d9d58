"""One table as the floor overview shows it, and its last round as rows: the fold behind the projection.

Owns the fold of one table's three streams into the row of `tables`, the rows of `seats`, and the rows of `rounds` and
`hands` of the round in play. Promises that the state can be taken up again from those rows and the events of the open
round. Pure.
"""

from dataclasses import dataclass, field
from typing import Any

from services.surveillance import counting, round_facts, shoe_facts, table_facts, wager_facts
from services.surveillance.facts import Fact
from services.surveillance.hand_history import racks_of, status_of
from services.surveillance.observed_round import ObservedRound, SeenHand
from services.surveillance.scene import read_rules
from services.surveillance.wager_facts import Currency

Row = dict[str, Any]

_PILE = frozenset({"tray", "breakage"})


@dataclass(slots=True)
class Seat:
    """One patron's stay, as in the rows of `seats`."""

    seat: int
    patron: str
    leaving: bool
    rack_cents: int
    in_play_cents: int
    since_time_us: int


def new_table(key: str) -> Row:
    """The row of a table before its first event."""
    return {
        "table_key": key,
        "floor": key.partition("/")[0],
        "open": False,
        "phase": "CLOSED",
        "suspension": "",
        "dealer": "",
        "rules_name": "",
        "rules_version": 0,
        "rules_digest": "",
        "rules_text": "",
        "minimum_cents": 0,
        "maximum_cents": 0,
        "round_id": "",
        "round_first_sequence": 0,
        "shoe_id": "",
        "shoe_cards": 0,
        "shoe_left": 0,
        "shuffled_time_us": 0,
        "gaming_day": "",
        "opener_cents": 0,
        "tray_cents": 0,
        "racks_cents": 0,
        "escrow_cents": 0,
        "fills_cents": 0,
        "credits_cents": 0,
        "day_rounds": 0,
        "day_hands": 0,
        "day_handle_cents": 0,
        "day_win_cents": 0,
        "day_drop_cents": 0,
        "rounds": 0,
        "last_event_time_us": 0,
    }


@dataclass(slots=True)
class TableBook:
    """One table's state: its row, its seats by session, and the round in play (or the last one) with its row."""

    key: str
    row: Row
    seats: dict[str, Seat] = field(default_factory=dict)
    current: ObservedRound | None = None
    round_row: Row | None = None
    finished: list[tuple[Row, list[Row]]] = field(default_factory=list)
    """Rounds that ended since the rows were last taken."""

    def apply(self, fact: Fact) -> None:
        """Fold one event in."""
        envelope, event, row = fact.envelope, fact.event, self.row
        row["last_event_time_us"] = max(row["last_event_time_us"], envelope.recorded_time_us)
        if envelope.gaming_day and envelope.gaming_day > row["gaming_day"]:
            row["gaming_day"] = envelope.gaming_day
            row |= dict.fromkeys(_DAY, 0)
        if event is None:
            return
        if fact.area == "table":
            self._at_table(fact, event)
        elif fact.area == "wager":
            self._money(fact, event)
        elif fact.area == "shoe":
            self._shoe(fact, event)

    def rows_of_round(self) -> tuple[Row, list[Row]] | None:
        """The rows of the round in play, None between rounds."""
        if self.current is None or self.round_row is None or self.current.completed:
            return None
        return round_rows(self.current, self.round_row)

    # What happens at the table -----------------------------------------------------------------------------------------

    def _at_table(self, fact: Fact, event: Any) -> None:
        row = self.row
        match event:
            case table_facts.RulesPosted() | table_facts.LimitsChanged():
                self._rules(event.digest, event.rules_text)
            case table_facts.TableSuspended():
                row["suspension"] = event.reason
                if self.round_row is not None:
                    self.round_row["suspended"] = True
            case table_facts.PlayerSeated() | table_facts.PlayerLeaving() | table_facts.PlayerLeft():
                self._sat(fact, event)
            case round_facts.RoundOpened():
                self._opened(fact, event)
            case table_facts.ShoeAssigned() if self.round_row is not None:
                self.round_row["shoe_id"] = event.shoe_id
            case _:
                row |= _table_changes(event)
                self._round(fact, event)

    def _sat(self, fact: Fact, event: Any) -> None:
        match event:
            case table_facts.PlayerSeated():
                self._seat(event.session, event.seat, event.patron, fact)
            case table_facts.PlayerLeaving() if event.session in self.seats:
                self.seats[event.session].leaving = True
            case table_facts.PlayerLeft():
                self.seats.pop(event.session, None)
            case _:
                pass

    def _rules(self, digest: str, text: str) -> None:
        rules = read_rules(text)
        self.row |= {"rules_digest": digest, "rules_text": text}
        if rules is not None:
            limits = rules.limits
            self.row |= {"rules_name": rules.name, "rules_version": rules.version}
            self.row |= {"minimum_cents": limits.minimum_cents, "maximum_cents": limits.maximum_cents}

    def _seat(self, session: str, seat: int, patron: str, fact: Fact) -> None:
        known = self.seats.get(session)
        rack = known.rack_cents if known is not None else 0
        since = known.since_time_us if known is not None else fact.envelope.recorded_time_us
        self.seats[session] = Seat(seat, patron, leaving=False, rack_cents=rack, in_play_cents=0, since_time_us=since)

    def _opened(self, fact: Fact, event: round_facts.RoundOpened) -> None:
        envelope = fact.envelope
        self.current = ObservedRound()
        self.current.apply(event)
        self.row |= {"round_id": event.round_id, "round_first_sequence": envelope.sequence, "phase": "BETTING"}
        self.row["rounds"] += 1
        number = event.round_id.rpartition("#")[2]
        self.round_row = {
            "round_id": event.round_id,
            "table_key": self.key,
            "floor": self.row["floor"],
            "number": int(number) if number.isdecimal() else 0,
            "gaming_day": envelope.gaming_day,
            "opened_time_us": envelope.recorded_time_us,
            "ended_time_us": 0,
            "dealer": self.row["dealer"],
            "shoe_id": "",
            "suspended": False,
            "rules_name": event.rules_name,
            "rules_version": event.rules_version,
            "rules_digest": event.rules_digest,
            "first_sequence": envelope.sequence,
            "last_sequence": envelope.sequence,
        }

    def _round(self, fact: Fact, event: Any) -> None:
        current, round_row = self.current, self.round_row
        if current is None or round_row is None:
            return
        if fact.envelope.round_id == current.round_id:
            round_row["last_sequence"] = fact.envelope.sequence
        if current.completed:
            return
        current.apply(event)
        self.row["phase"] = current.phase
        if isinstance(event, round_facts.RoundCompleted):
            round_row["ended_time_us"] = fact.envelope.recorded_time_us
            self.row["phase"] = "IDLE"
            self.row["day_rounds"] += 1
            self.row["day_hands"] += sum(len(hands) for hands in current.hands.values())
            self.row["day_handle_cents"] += current.staked_cents
            self.row["day_win_cents"] += current.staked_cents - current.returned_cents
            self.finished.append(round_rows(current, round_row))

    # Money ---------------------------------------------------------------------------------------------------------------

    def _money(self, fact: Fact, event: Any) -> None:
        row = self.row
        if isinstance(event, wager_facts.SeatSessionOpened):
            self._seat(event.session, event.seat, event.patron, fact)
        for movement in event.movements:
            self._moved(movement)
        for session, cents in racks_of(event).items():
            if session in self.seats:
                self.seats[session].rack_cents = cents
        match event:
            case wager_facts.LedgerOpened():
                row |= {"opener_cents": event.opener_cents, "fills_cents": 0, "credits_cents": 0}
            case wager_facts.TrayFilled():
                row["fills_cents"] += event.amount_cents
            case wager_facts.TrayCredited():
                row["credits_cents"] += event.amount_cents
            case wager_facts.PaymentCorrected():
                paid = event.direction is wager_facts.Direction.PAY
                row["day_win_cents"] += -event.amount_cents if paid else event.amount_cents
            case wager_facts.StakesHeld() | wager_facts.HoldsVoided() | wager_facts.RoundSettled():
                self._in_play(event)
            case _:
                pass

    def _in_play(self, event: Any) -> None:
        """Stakes come into play, and leave it settled or given back."""
        if isinstance(event, wager_facts.RoundSettled):
            changes = [(line.session, -line.stake_cents) for line in event.lines]
        else:
            sign = 1 if isinstance(event, wager_facts.StakesHeld) else -1
            changes = [(hold.session, sign * hold.amount_cents) for hold in event.holds]
        for session, cents in changes:
            if session in self.seats:
                self.seats[session].in_play_cents += cents

    def _moved(self, movement: wager_facts.Movement) -> None:
        row, cents = self.row, movement.amount_cents
        for account, change in ((movement.source, -cents), (movement.target, cents)):
            if movement.currency is Currency.CASH:
                if account == "drop" and change > 0:
                    row["day_drop_cents"] += change
            elif account in _PILE:
                row["tray_cents"] += change
            elif account.startswith("rack/"):
                row["racks_cents"] += change
            elif account.startswith("escrow/"):
                row["escrow_cents"] += change

    # The shoe --------------------------------------------------------------------------------------------------------------

    def _shoe(self, fact: Fact, event: Any) -> None:
        row = self.row
        match event:
            case shoe_facts.CardsShuffled():
                cards = 52 * event.decks
                row |= {"shoe_id": event.shoe_id, "shoe_cards": cards, "shoe_left": cards}
                row["shuffled_time_us"] = fact.envelope.recorded_time_us
            case shoe_facts.CardDrawn() | shoe_facts.CardBurned():
                row["shoe_left"] = event.left
            case shoe_facts.DiscardsReturned():
                # A continuous shuffler has them back; whatever the log says, it never holds more than its decks.
                row["shoe_left"] = min(row["shoe_cards"], row["shoe_left"] + len(event.positions))
            case shoe_facts.DiscardsReshuffled():
                row["shoe_left"] = min(row["shoe_cards"], row["shoe_left"] + event.size)
            case shoe_facts.ShoeRetired():
                row |= {"shoe_id": "", "shoe_cards": 0, "shoe_left": 0}
            case _:
                pass


_DAY = ("day_rounds", "day_hands", "day_handle_cents", "day_win_cents", "day_drop_cents")


def _table_changes(event: Any) -> Row:
    """What an event changes in the row by itself."""
    match event:
        case table_facts.TableOpened():
            return {"open": True, "phase": "IDLE", "dealer": event.dealer}
        case table_facts.TableCloseStarted():
            return {"phase": "CLOSING"}
        case table_facts.TableClosed():
            return {"open": False, "phase": "CLOSED"}
        case table_facts.DealerChanged():
            return {"dealer": event.dealer}
        case table_facts.TableResumed():
            return {"suspension": ""}
        case _:
            return {}


def round_rows(current: ObservedRound, known: Row) -> tuple[Row, list[Row]]:
    """The rows of `rounds` and `hands` of a round as it stands; `known` holds what the round does not say itself."""
    rows = [
        _hand_row(current, known, seat, index, hand)
        for seat, hands in sorted(current.hands.items())
        for index, hand in enumerate(hands)
    ]
    faces = current.dealer_faces
    row = known | {
        "complete": current.completed,
        "voided": current.voided,
        "dealer_cards": cards_text(faces),
        "dealer_total": counting.count(faces)[0],
        "seats": len(current.hands),
        "hands": len(rows),
        "staked_cents": current.staked_cents,
        "returned_cents": current.returned_cents,
        "win_cents": current.staked_cents - current.returned_cents if current.completed else 0,
    }
    return row, rows


def _hand_row(current: ObservedRound, known: Row, seat: int, index: int, hand: SeenHand) -> Row:
    lines = [current.lines.get((stake.seat, stake.kind, stake.ordinal)) for stake in hand.stakes]
    insurance = {name: cents for name, cents in current.insurance.items() if name[0] == seat} if index == 0 else {}
    insured = [current.lines.get(name) for name in insurance]
    return {
        "round_id": current.round_id,
        "seat": seat,
        "hand": index,
        "table_key": known["table_key"],
        "patron": hand.player,
        "cards": cards_text(hand.faces),
        "total": counting.count(hand.faces)[0],
        "status": status_of(hand),
        "outcome": lines[0].outcome.value if lines and lines[0] is not None else "",
        "wager_cents": hand.main_cents,
        "staked_cents": sum(stake.amount_cents for stake in hand.stakes),
        "returned_cents": sum(line.returned_cents for line in lines if line is not None),
        "insurance_cents": sum(insurance.values()),
        "insurance_returned_cents": sum(line.returned_cents for line in insured if line is not None),
    }


def cards_text(cards: list[Any]) -> str:
    """Cards as a searchable text: a blank on both sides of each, "" for none."""
    return f" {' '.join(map(str, cards))} " if cards else ""
