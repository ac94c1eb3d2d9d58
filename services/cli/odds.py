"""`holecard odds`: what a game costs, what a hand is worth, how a dealer's hand ends.

Owns the printing and a cache of solved rule sets by their digest. The numbers come from `services.game.odds`.
"""

import contextlib
import json
import os
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from services.cli.rule_source import named_rules
from services.game.house_rules import HouseRules
from services.game.odds.counts import RANKS, Counts, UnknownOddsCard, hand_counts, rank_index, shoe_counts, without
from services.game.odds.dealer import BLACKJACK, BUST, completing_card, dealer_odds
from services.game.rule_options import Soft17

if TYPE_CHECKING:
    from services.game.odds.game import Strategy

_FORM = 1
"""The form of the cached files; another number is solved anew."""
_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
_rules = click.option("--rules", "rules_name", default="colorado", show_default=True, help="A profile or a rule file.")
_decks = click.option("--decks", type=click.IntRange(1, 8), help="Another number of decks than the rules'.")


@click.group()
def odds() -> None:
    """Work out exact odds: the edge of a rule set, the value of a hand's plays, the dealer's totals.

    \b
    What does our game hold?             holecard odds game --rules colorado
    Was hitting right?                   holecard odds hand "T6 v T"
    How often does a six bust?           holecard odds dealer --up 6 --decks 6
    What does a side wager cost?         holecard odds side "lucky ladies" --paytable A --decks 6
    """  # noqa: D301 - \b is click's mark for a block kept as it is


@odds.command()
@_rules
@_decks
@click.option(
    "--strategy",
    type=click.Choice(["composition", "total"]),
    default="composition",
    show_default=True,
    help="The best play for the very cards, or for their total only, as printed cards show it.",
)
@click.option("--hands", "every_hand", is_flag=True, help="Also print every two-card hand.")
@_json
def game(rules_name: str, decks: int | None, strategy: str, *, every_hand: bool, as_json: bool) -> None:
    """Print the house edge of a rule set: the first round of a fresh shoe, each play the best one."""
    from services.game.odds.game import Strategy

    rules = _with_decks(named_rules(rules_name), decks)
    solved = _solved(rules, Strategy(strategy))
    if as_json:
        shown = solved if every_hand else {key: value for key, value in solved.items() if key != "hands"}
        click.echo(json.dumps(shown, indent=2))
        return
    click.echo(f"{rules.name} version {rules.version}, {rules.decks} decks, best play by {strategy}")
    click.echo(f"house edge  {100 * solved['house_edge']:.5f} % of the first stake")
    for hand in solved["hands"] if every_hand else ():
        plays = "  ".join(f"{name} {value:+.6f}" for name, value in hand["plays"].items())
        click.echo(f"{hand['cards']} v {hand['up']}  {hand['best']:<9} {hand['chance']:.6f}  {plays}")


@odds.command()
@click.argument("cards")
@_rules
@_decks
@_json
def hand(cards: str, rules_name: str, decks: int | None, *, as_json: bool) -> None:
    """Print what each play is worth with CARDS against an up card, such as "T6 v T"; the best one first."""
    from services.game.odds.game import UpCard, check_solved

    rules = _with_decks(named_rules(rules_name), decks)
    check_solved(rules)
    held, up = _read_hand(cards, shoe_counts(rules.decks))
    solved = UpCard(rules, shoe_counts(rules.decks), up).hand(held)
    if as_json:
        click.echo(json.dumps({"rules": rules.name, "digest": rules.digest, "decks": rules.decks, **asdict(solved)}))
        return
    click.echo(f"{solved.cards} v {solved.up}, {rules.name}, {rules.decks} decks: {solved.best}")
    for name, value in sorted(solved.plays.items(), key=lambda play: -play[1]):
        click.echo(f"{name:<10} {value:+.6f}")


@odds.command()
@click.option("--up", required=True, help="The up card: A, 2 to 9, or T.")
@click.option("--decks", type=click.IntRange(1, 8), default=6, show_default=True)
@click.option("--soft17", type=click.Choice([rule.value for rule in Soft17]), default="hit", show_default=True)
@click.option("--peeked", is_flag=True, help="The dealer has looked and has no blackjack.")
@_json
def dealer(up: str, decks: int, soft17: str, *, peeked: bool, as_json: bool) -> None:
    """Print the exact chance of each total with which the dealer's hand can end."""
    index = _card(up)
    chances = dealer_odds(index, without(shoe_counts(decks), index), Soft17(soft17), peeked=peeked)
    names = {BUST: "bust", BLACKJACK: "blackjack"}
    rows = {names.get(final, str(final)): chance for final, chance in chances.items()}
    if as_json:
        click.echo(json.dumps({"up": RANKS[index], "decks": decks, "soft17": soft17, "peeked": peeked, **_both(rows)}))
        return
    for name, chance in rows.items():
        click.echo(f"{name:<10} {float(chance):.6f}")


@odds.command()
@click.option("--decks", type=click.IntRange(1, 8), default=6, show_default=True)
@click.option("--pays", default="2:1", show_default=True, help="What insurance pays.")
@_json
def insurance(decks: int, pays: str, *, as_json: bool) -> None:
    """Print the exact edge of insurance against an ace when no other card is known (30-812)."""
    shoe = without(shoe_counts(decks), rank_index("A"))
    wanted = completing_card(rank_index("A")) or 0
    chance = Fraction(shoe[wanted], sum(shoe))
    edge = 1 - chance * (_ratio(pays) + 1)
    if as_json:
        click.echo(json.dumps({"decks": decks, "pays": pays, **_both({"wins": chance, "house_edge": edge})}))
        return
    click.echo(f"wins       {float(chance):.6f}  {chance}")
    click.echo(f"house edge {float(edge):.6f}  {edge}")


@odds.command()
@click.argument("name", required=False)
@click.option("--paytable", help="Which of its pay tables.  [default: the first]")
@click.option("--decks", type=click.IntRange(1, 8), default=6, show_default=True)
@click.option("--spanish", is_flag=True, help="Decks of 48 cards, without pip tens.")
@_json
def side(name: str | None, paytable: str | None, decks: int, *, spanish: bool, as_json: bool) -> None:
    """Print the exact odds of the side wager NAME; without a name, list the side wagers and their pay tables."""
    from services.game.odds.side import side_odds
    from services.game.variations.side_wagers import side_wager, side_wager_names

    if name is None:
        listed = {one: side_wager(one) for one in side_wager_names()}
        if as_json:
            click.echo(json.dumps({"side_wagers": {one: list(wager.paytables) for one, wager in listed.items()}}))
            return
        for one, wager in listed.items():
            click.echo(f"{one:<18} {wager.section or 'no section':<11} {', '.join(wager.paytables)}")
        return
    wager = side_wager(name)
    table = paytable or next(iter(wager.paytables))
    found = side_odds(wager.evaluator, wager.paytable(table), decks, spanish=spanish)
    figures = {"house_edge": found.house_edge, "hit_rate": found.hit_rate, "variance": found.variance}
    if as_json:
        known = {"side_wager": wager.name, "section": wager.section, "confidence": wager.confidence.value}
        click.echo(json.dumps(known | {"paytable": table, "decks": decks, **_both(figures | dict(found.chances))}))
        return
    label = "" if wager.confidence == "high" else f"  ({wager.confidence.value})"
    click.echo(f"{wager.title}, pay table {table}, {decks} decks{' of 48 cards' if spanish else ''}{label}")
    for award, chance in found.chances.items():
        click.echo(f"{award:<42} {float(chance):.9f}")
    click.echo(f"house edge {100 * float(found.house_edge):.4f} %   {found.house_edge}")
    click.echo(
        f"hit rate   {100 * float(found.hit_rate):.4f} %   standard deviation {float(found.variance) ** 0.5:.4f}"
    )


def _both(rows: dict[str, Fraction]) -> dict[str, Any]:
    return {
        "chances": {name: float(chance) for name, chance in rows.items()},
        "exact": {name: str(chance) for name, chance in rows.items()},
    }


def _with_decks(rules: HouseRules, decks: int | None) -> HouseRules:
    return rules if decks in {None, rules.decks} else replace(rules, decks=decks)


def _card(text: str) -> int:
    try:
        return rank_index(text)
    except UnknownOddsCard as error:
        raise click.UsageError(str(error)) from error


def _read_hand(text: str, shoe: Counts) -> tuple[Counts, int]:
    held, versus, up = text.lower().partition("v")
    if not versus:
        raise click.UsageError(f"{text!r} names no up card: write the hand, v, and the up card, as in 'T6 v T'")
    try:
        counts, index = hand_counts(held.upper()), rank_index(up)
        without(without(shoe, index), *[value for value, count in enumerate(counts) for _ in range(count)])
    except UnknownOddsCard as error:
        raise click.UsageError(str(error)) from error
    points = sum((value + 1) * count for value, count in enumerate(counts))
    if sum(counts) < 2 or points > 21:
        raise click.UsageError(f"{held.strip()!r} is no hand in play: two cards or more, and not over 21")
    return counts, index


def _ratio(text: str) -> Fraction:
    left, _, right = text.partition(":")
    try:
        return Fraction(int(left), int(right or 1))
    except (ValueError, ZeroDivisionError) as error:
        raise click.UsageError(f"{text!r} are no odds such as 2:1") from error


def _solved(rules: HouseRules, strategy: "Strategy") -> dict[str, Any]:
    from services.game.odds.game import STEPS, game_odds

    kept = _cache_file(rules, strategy.value)
    known = _read_cache(kept)
    if known is not None:
        return known
    with click.progressbar(length=STEPS, label="solving", file=click.get_text_stream("stderr")) as bar:
        found = game_odds(rules, strategy, lambda _done: bar.update(1))
    solved = {
        "form": _FORM,
        "rules": rules.name,
        "version": rules.version,
        "digest": rules.digest,
        "decks": rules.decks,
        "strategy": strategy.value,
        **asdict(found),
    }
    _write_cache(kept, solved)
    return solved


def _cache_file(rules: HouseRules, strategy: str) -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "holecard" / "odds" / f"{rules.digest}-{strategy}.json"


def _read_cache(kept: Path) -> dict[str, Any] | None:
    try:
        known = json.loads(kept.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return known if isinstance(known, dict) and known.get("form") == _FORM else None


def _write_cache(kept: Path, solved: dict[str, Any]) -> None:
    """Keep it for the next time; where nothing can be kept it is solved again."""
    with contextlib.suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        scratch = kept.with_suffix(f".{os.getpid()}")
        scratch.write_text(json.dumps(solved), encoding="utf-8")
        scratch.replace(kept)
