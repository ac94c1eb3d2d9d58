"""How fast the engine plays: rounds a second on one core, against two engines from PyPI, in one run.

`python -m load.engine [--json] [--rounds N] [--repeats R]`. Every contestant plays the same game with the same chart of
basic strategy: six decks shuffled at three quarters, soft 17 hit, doubles, splits, at a table of one to seven hands. They
take turns, many heats each, so that a slow moment of the machine hits all alike; processor time is counted and medians
are compared. A heat takes some 30 ms and more: in a much shorter one most of what is measured is how the processor's
caches are filled again after another's heat. `holecard` plays whole rounds in one go as a simulation does, `holecard by
commands` is asked step by step as a table does; both make every event of every round. `blackjack-api` plays one hand a
table, so for more hands it plays as many tables.
"""

import argparse
import gc
import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from operator import mul
from typing import Any

from blackjack21 import Deck, Table  # type: ignore[import-untyped]  # neither rival is typed
from blackjack21.table import DEFAULT_SUITS, shoe_reset_hook  # type: ignore[import-untyped]
from blackjack_api.blackjack import BlackJack  # type: ignore[import-untyped]

from services.game import round_commands as ask
from services.game.cards import Card, standard_deck
from services.game.hand import Total
from services.game.house_rules import HouseRules
from services.game.playout import Playout
from services.game.profiles import profile
from services.game.quick import quick
from services.game.round import RoundPlay, open_round
from services.game.round_events import RoundEvent
from services.game.round_legality import RULES
from services.game.round_marks import (
    AT_DEALER,
    AT_PEEK,
    AT_PICKUP,
    AT_PLAYERS,
    AT_SETTLING,
    DOUBLE_DOWN,
    HIT,
    SPLIT_PAIR,
    STAND,
)
from services.game.round_state import RoundState
from services.game.round_words import Action, DealtCard, SeatedPlayer, Wager
from services.game.strategy import Strategy, basic_strategy

DECKS = 6
PENETRATION = 0.75
STAKE_CENTS = 1000


_deal = quick(ask.DealCards)
_reveal: Callable[[int, Any], ask.Command] = quick(ask.RevealHole)


class Shoe:
    """Six decks, shuffled again after three quarters; a drawn card keeps its position in the shoe."""

    def __init__(self, chance: random.Random) -> None:
        self._decks = list(standard_deck()) * DECKS
        self._random = chance.random
        # Every card at every position, made once: a dealt card never changes.
        self._known = [{card: DealtCard(at, card) for card in standard_deck()} for at in range(len(self._decks))]
        self._hidden = [DealtCard(position, None) for position in range(len(self._decks))]
        self._cut = int(len(self._decks) * PENETRATION)
        self._cards: list[Card] = []
        self.next = 0
        self._shuffle()

    def ready(self) -> None:
        """Shuffle between rounds once the cut card has come."""
        if self.next > self._cut:
            self._shuffle()

    def draw(self, count: int) -> tuple[int, list[Card]]:
        """Draw cards: the position of the first, and all of them in order."""
        first = self.next
        self.next = last = first + count
        return first, self._cards[first:last]

    def _shuffle(self) -> None:
        """Take one card after the other at random from those that are left."""
        rest = self._decks.copy()
        picks = map(int, map(mul, iter(self._random, None), range(len(rest), 0, -1)))
        self._cards = list(map(rest.pop, picks))
        self.next = 0

    def deal(self, count: int, *, last_hidden: bool) -> tuple[DealtCard, ...]:
        """Draw cards as a table gets them, the last one face down where it is the hole card."""
        first, cards = self.draw(count)
        known = self._known
        dealt = [known[at][card] for at, card in enumerate(cards, first)]
        if last_hidden:
            dealt[-1] = self._hidden[self.next - 1]
        return tuple(dealt)

    def turned_over(self, position: int) -> Card:
        """Give the card at a position that was drawn."""
        return self._cards[position]


class HolecardByCommands:
    """This engine, step by step by its commands; `events` counts what it produced."""

    name = "holecard by commands"

    def __init__(self, hands: int, seed: int) -> None:
        self.rules: HouseRules = profile("colorado")
        self.chart: Strategy = basic_strategy(self.rules)
        self.shoe = Shoe(random.Random(seed))
        players = [f"player-{seat}" for seat in range(1, hands + 1)]
        self.seats = tuple(SeatedPlayer(seat, player) for seat, player in enumerate(players, 1))
        self.wagers = ask.PlaceWagers(
            tuple(Wager(seat, player, "main", STAKE_CENTS) for seat, player in enumerate(players, 1))
        )
        self.close, self.settle, self.pick_up = ask.CloseBetting(), ask.SettleWagers(), ask.PickUpHands()
        self.no_insurance = ask.CloseInsurance()
        self.checked = {answer: ask.RecordHoleCheck(answer) for answer in (False, True)}
        made: dict[Action, Callable[[int, int], ask.Command]] = {
            Action.HIT: ask.Hit,
            Action.STAND: ask.Stand,
            Action.DOUBLE: ask.DoubleDown,
            Action.SPLIT: ask.Split,
        }
        self.legal = RULES
        self.choices = {
            action: [[make(seat, hand) for hand in range(4)] for seat in range(hands + 1)]
            for action, make in made.items()
        }
        self.events = 0

    def play(self, rounds: int) -> None:
        """Play so many rounds."""
        for number in range(rounds):
            self.events += len(self.round(f"bench/BJ-01#{number}"))

    def round(self, round_id: str) -> list[RoundEvent]:
        """Play one round and give its events."""
        self.shoe.ready()
        play = RoundPlay(open_round(round_id, self.rules, self.seats), self.rules)
        state, do, deal = play.state, play.do, self.shoe.deal
        events: list[RoundEvent] = [play.opened]
        events += do(self.wagers)
        events += do(self.close)
        while True:
            phase = state.phase
            if pending := state.pending:
                events += do(_deal(deal(len(pending), last_hidden=pending[-1].face_down)))
            elif phase is AT_PLAYERS:
                events += do(self._choose(state))
            elif phase is AT_DEALER:
                events += do(self._reveal(state))
            elif phase is AT_SETTLING:
                events += do(self.settle)
            elif phase is AT_PICKUP:
                events += do(self.pick_up)
                return events
            elif phase is AT_PEEK:
                events += do(self._check(state))
            else:
                events += do(self.no_insurance)

    def _reveal(self, state: Any) -> ask.Command:
        hole = state.dealers[0].hole
        return _reveal(hole, self.shoe.turned_over(hole))

    def _check(self, state: Any) -> ask.Command:
        dealer = state.dealers[0]
        hole = self.shoe.turned_over(dealer.hole)
        return self.checked[hole.is_ten if dealer.cards[0].is_ace else hole.is_ace]

    def _choose(self, state: RoundState) -> ask.Command:
        hand = state.hands[state.turn]
        cards = hand.cards
        pair = cards[0].value if len(cards) == 2 and cards[0].value == cards[1].value else 0
        legal = self.legal
        for action in self.chart.choices(hand.total, pair, state.dealers[0].cards[0].value):
            if action not in legal or legal[action](state, hand) is None:
                return self.choices[action][hand.seat][hand.number]
        raise LookupError("standing is always legal")


class Holecard(HolecardByCommands):
    """This engine, whole rounds in one go, with the same events."""

    name = "holecard"

    def __init__(self, hands: int, seed: int) -> None:
        super().__init__(hands, seed)
        self.table = Playout(self.rules, self.seats, self.wagers)

    def play(self, rounds: int) -> None:
        """Play so many rounds."""
        shoe, play = self.shoe, self.table.round
        for number in range(rounds):
            shoe.ready()
            self.events += len(play(f"bench/BJ-01#{number}", shoe))

    def round(self, round_id: str) -> list[RoundEvent]:
        """Play one round and give its events."""
        self.shoe.ready()
        return self.table.round(round_id, self.shoe)


def pair_of(first: int, second: int) -> int:
    """The value of a pair, 0 for unlike cards."""
    return first if first == second else 0


class Blackjack21:
    """blackjack21: a table of seats. What is legal is checked beside it, cheaper than its `available_actions`."""

    name = "blackjack21"

    def __init__(self, hands: int, seed: int) -> None:
        random.seed(seed)
        self.chart = basic_strategy(profile("colorado"))
        deck = Deck(DEFAULT_SUITS, count=DECKS)
        players = [(f"player-{seat}", STAKE_CENTS) for seat in range(1, hands + 1)]
        hook = shoe_reset_hook(deck, PENETRATION)
        self.table = Table(players, deck, hit_soft_17=True, on_round_reset=hook)

    def play(self, rounds: int) -> None:
        """Play so many rounds."""
        table, choices = self.table, self.chart.choices
        totals = TOTALS
        for _ in range(rounds):
            table.start_game()
            while (hand := table.current_hand) is not None:
                count = totals[hand.total, is_soft([card.value for card in hand], hand.total)]
                two = len(hand) == 2
                pair = pair_of(hand[0].value, hand[1].value) if two else 0
                for action in choices(count, pair, table.dealer.hand[0].value):
                    if action is DOUBLE_DOWN and two:
                        table.double_down()
                    elif action is SPLIT_PAIR and len(table.current_player.hands) < 4:
                        table.split()
                    elif action is HIT:
                        table.hit()
                    elif action is STAND:
                        table.stand()
                    else:
                        continue
                    break


class BlackjackApi:
    """blackjack-api: one hand against a dealer; several hands are several tables."""

    name = "blackjack-api"

    def __init__(self, hands: int, seed: int) -> None:
        random.seed(seed)
        self.chart = basic_strategy(profile("colorado"))
        self.games = [BlackJack(num_decks=DECKS, charlie=False) for _ in range(hands)]

    def play(self, rounds: int) -> None:
        """Play so many rounds at every table."""
        for _ in range(rounds):
            for game in self.games:
                self._round(game)
                game.start_round()
                game.start_hand()

    def _round(self, game: Any) -> None:
        choices, totals = self.chart.choices, TOTALS
        up = game.dealer[0].value
        up_value = up if isinstance(up, int) else 11
        while game.round_running:
            if not game.hand_running:
                game.start_hand()
            hand = game.player[game.curr_hand]
            value = hand.count()
            if value >= 21:
                game.stand()
                continue
            two = len(hand) == 2
            pair = 0
            if two and hand.can_split():
                pair = hand[0].value if isinstance(hand[0].value, int) else 11
            for action in choices(totals[value, hand.is_soft()], pair, up_value):
                if action is DOUBLE_DOWN and two:
                    game.double()
                elif action is SPLIT_PAIR and len(game.player) < 4:
                    game.split()
                elif action is HIT:
                    game.hit()
                elif action is STAND:
                    game.stand()
                else:
                    continue
                break


TOTALS = {(value, soft): Total(value, soft) for value in range(2, 32) for soft in (False, True)}
CONTESTANTS: tuple[Any, ...] = (Holecard, HolecardByCommands, Blackjack21, BlackjackApi)


def is_soft(values: list[int], counted: int) -> bool:
    """Whether an ace still counts as 11, from the values and the total that the engine gives."""
    return 11 in values and counted == sum(values) - 10 * (values.count(11) - 1)


def measure(hands: int, rounds: int, repeats: int, seed: int) -> dict[str, Any]:
    """Let the contestants take turns; give rounds a second (medians) and the ratio to the faster rival."""
    players = [contestant(hands, seed) for contestant in CONTESTANTS]
    rates: dict[str, list[float]] = {player.name: [] for player in players}
    for player in players:
        player.play(rounds)
    gc.collect()
    gc.disable()
    try:
        for _ in range(repeats):
            for player in players:
                began = time.process_time()
                player.play(rounds)
                rates[player.name].append(rounds / (time.process_time() - began))
    finally:
        gc.enable()
    medians = {name: statistics.median(found) for name, found in rates.items()}
    faster = max(medians[Blackjack21.name], medians[BlackjackApi.name])
    played = rounds * (repeats + 1)
    return {
        "hands": hands,
        "rounds_per_second": {name: round(rate) for name, rate in medians.items()},
        "ratio_to_faster": round(medians[Holecard.name] / faster, 2),
        "ratio_to_faster_by_commands": round(medians[HolecardByCommands.name] / faster, 2),
        "events_per_round": round(players[0].events / played, 1),
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the heats and print the ratios."""
    parser = argparse.ArgumentParser(
        prog="python -m load.engine", description=__doc__.partition("\n")[0] if __doc__ else None
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--rounds", type=int, default=3000, help="rounds a heat, shared out over the hands (default 3000)"
    )
    parser.add_argument("--repeats", type=int, default=15, help="heats of each contestant (default 15)")
    parser.add_argument("--seed", type=int, default=20201015, help="of the shuffles")
    chosen = parser.parse_args(arguments)
    results = []
    for hands in (1, 3, 5, 7):
        print(f"measuring {hands} hand(s) …", file=sys.stderr)
        results.append(measure(hands, max(20, chosen.rounds // hands), chosen.repeats, chosen.seed))
    rivals = {name: version(name) for name in ("blackjack21", "blackjack-api")}
    if chosen.json:
        print(json.dumps({"python": sys.version.split()[0], "rivals": rivals, "seed": chosen.seed, "results": results}))
        return 0
    print(f"Rounds a second on one core, Python {sys.version.split()[0]}; medians of {chosen.repeats} heats, in turns")
    for result in results:
        rates = "  ".join(f"{name} {rate:,}" for name, rate in result["rounds_per_second"].items())
        print(f"{result['hands']} hand(s): {rates}")
        ratio, by_commands = result["ratio_to_faster"], result["ratio_to_faster_by_commands"]
        events = result["events_per_round"]
        print(f"    to the faster rival: {ratio}, by commands {by_commands}; {events} events a round")
    return 0


if __name__ == "__main__":
    sys.exit(main())
