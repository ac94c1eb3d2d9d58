"""Side wagers counted exactly: published edges to their printed digits, and published figures that are wrong."""

from fractions import Fraction

import pytest

from services.game.cards import Card
from services.game.odds.side import SideOdds, side_odds
from services.game.variations.seen import Seen
from services.game.variations.side_wagers import (
    EVALUATORS,
    SideWagerRefused,
    UnknownSideWager,
    read_side_wager,
    side_wager,
    side_wager_names,
)

EDGES = [
    # name, pay table, decks, Spanish, the printed edge
    ("lucky-ladies", "A", 6, False, "0.247089"),
    ("lucky-ladies", "A", 1, False, "0.3816"),
    ("lucky-ladies", "B", 8, False, "0.1673"),
    ("lucky-ladies", "C", 1, False, "0.29886"),
    ("royal-match", "V1", 4, False, "0.070792"),
    ("royal-match", "V2", 2, False, "0.008215"),
    ("royal-match", "V2", 6, False, "-0.01113"),
    ("royal-match", "V2", 8, False, "-0.013531"),
    ("royal-match", "UK1", 6, False, "0.0512"),
    ("royal-match", "UK2", 4, False, "0.0862"),
    ("royal-match", "UK2", 6, False, "0.0732"),
    ("bet-the-set", "15", 1, False, "0.058824"),
    ("bet-the-set", "15/10", 6, False, "0.106109"),
    ("bet-the-set", "20/10", 6, False, "0.025723"),
    ("bet-the-set", "25/10", 2, False, "0.106796"),
    ("perfect-pairs", "25/12/6", 2, False, "0.2233"),
    ("perfect-pairs", "25/12/6", 8, False, "0.0410"),
    ("perfect-pairs", "25/15/5", 8, False, "0.0217"),
    ("21+3", "V1", 2, False, "0.0726"),
    ("21+3", "V1", 8, False, "0.0274"),
    ("lucky-lucky", "PT1", 6, False, "0.0266"),
    ("lucky-lucky", "two-deck", 2, False, "0.02820366"),
    ("in-between", "30/10/6/4/1", 2, False, "0.077582"),
    ("kings-bounty", "two-deck", 2, False, "0.24733489"),
    ("match-the-dealer", "4/12", 4, False, "0.048403"),
    ("match-the-dealer", "4/9", 6, True, "0.03055"),
    ("royal-20s", "25/10/5", 4, False, "0.1903"),
    ("royal-20s", "25/10/5", 6, False, "0.1806"),
    ("wheel-of-madness", "mean 16 for one", 1, False, "0.228"),
    ("war", "even", 6, False, "0.073955"),
]


def counted(name: str, table: str, decks: int, *, spanish: bool = False) -> SideOdds:
    wager = side_wager(name)
    return side_odds(wager.evaluator, wager.paytable(table), decks, spanish=spanish)


@pytest.mark.parametrize(("name", "table", "decks", "spanish", "printed"), EDGES)
def test_30_899_edges_are_the_published_ones(name: str, table: str, decks: int, spanish: bool, printed: str) -> None:
    digits = len(printed.partition(".")[2])
    edge = counted(name, table, decks, spanish=spanish).house_edge
    assert abs(edge - Fraction(printed)) <= Fraction(51, 100) * Fraction(1, 10**digits)


@pytest.mark.parametrize(
    ("name", "table", "decks", "printed", "exact"),
    [
        ("bet-the-set", "15/10", 6, "0.103199", "0.106109"),
        ("perfect-pairs", "30/10/5", 8, "0.0345", "0.033735"),
        ("21+3", "100/40/30/10/5", 8, "0.0973", None),
    ],
)
def test_figures_that_were_printed_wrong_are_not_met(
    name: str, table: str, decks: int, printed: str, exact: str | None
) -> None:
    edge = counted(name, table, decks).house_edge
    assert abs(edge - Fraction(printed)) > Fraction(1, 2_000)
    if exact is not None:
        assert abs(edge - Fraction(exact)) < Fraction(1, 10**6)


def test_30_899_12_counts_of_lucky_ladies_are_the_published_ones() -> None:
    chances = counted("lucky-ladies", "A", 6).chances
    deals = 9_294_695_280
    assert chances["queens-of-hearts"] == Fraction(2_738_340, deals)
    suited = chances["matched-20"] + chances["matched-queens"] + chances["matched-queens-with-dealer-blackjack"]
    # The page counts queens of hearts apart, and other matched cards together.
    assert suited * deals == pytest.approx(43_105_500, rel=1e-6)


def test_30_899_24_pays_of_two_matches_add_up() -> None:
    match = EVALUATORS["match-the-dealer"].evaluate
    up = Card.parse("7s")
    assert match(Seen(Card.parse("7s"), Card.parse("7h"), up)) == ("suited-match", "match")
    assert match(Seen(Card.parse("8s"), Card.parse("6h"), up)) == ()


def test_30_899_17_in_war_the_ace_is_low_and_a_tie_loses() -> None:
    war = EVALUATORS["war"].evaluate
    for first, up, wins in (("As", "2c", False), ("2s", "Ac", True), ("Ks", "Qc", True), ("9s", "9c", False)):
        assert bool(war(Seen(Card.parse(first), Card.parse("5d"), Card.parse(up)))) is wins


@pytest.mark.parametrize("name", side_wager_names())
def test_every_chance_is_counted_once_and_pays_name_known_awards(name: str) -> None:
    wager = side_wager(name)
    for table in wager.paytables:
        found = counted(name, table, wager.decks[0])
        assert 0 < found.hit_rate <= sum(found.chances.values()) < 1
        assert found.house_edge < 1
        break


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("evaluator = \"war\"", "evaluator = \"peace\""), "there is no evaluator"),
        (("higher-card = \"1:1\"", "higher-card = 1.0"), "odds as 25:1"),
        (("higher-card", "lower-card"), "the awards are higher-card"),
        (("confidence = \"high\"", "confidence = \"sure\""), "confidence is one of"),
        (("title", "titel"), "wrong or missing"),
        (("[paytables.\"even\"]", "[paytables"), "not TOML"),
    ],
)  # fmt: skip
def test_30_804_a_side_wagers_file_with_a_slip_is_refused_by_name(change: tuple[str, str], says: str) -> None:
    text = (
        'name = "war"\ntitle = "War"\nsection = "30-899.17"\nconfidence = "high"\nevaluator = "war"\ndecks = [6]\n'
        '[paytables."even"]\nhigher-card = "1:1"\n'
    )
    assert read_side_wager(text).name == "war"
    with pytest.raises(SideWagerRefused, match=says):
        read_side_wager(text.replace(*change))


def test_an_unknown_side_wager_or_pay_table_is_named_with_those_there_are() -> None:
    with pytest.raises(UnknownSideWager, match="lucky-ladies"):
        side_wager("unlucky ladies")
    with pytest.raises(UnknownSideWager, match="A, B, C"):
        side_wager("Lucky Ladies").paytable("Z")
