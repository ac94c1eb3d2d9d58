"""Wagers and pay as data: the standard game is one such list, and a list that cannot work is refused (DESIGN §5)."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from services.game.profiles import profile, profile_text
from services.game.rule_rejections import PayRulesContradict, WagerKindsContradict
from services.game.rules import (
    DOUBLE,
    INSURANCE,
    MAIN,
    SPLIT,
    STANDARD_MAIN_PAYS,
    STANDARD_WAGER_KINDS,
    FinishedHand,
    HouseRules,
    MainResult,
    Moment,
    PayRule,
    PlacedOn,
    WagerKind,
    canonical_text,
    net_of,
    parse_rules,
)
from services.game.wager_kinds import TIP_BET

SIDE = WagerKind("tie", Moment.BETTING, PlacedOn.SEAT, Moment.DEALER_FINISHED, "main-pays", requires=MAIN)


def with_kinds(*kinds: WagerKind) -> HouseRules:
    return replace(profile("colorado"), wager_kinds=kinds)


def with_pays(*pays: PayRule) -> HouseRules:
    return replace(profile("colorado"), main_pays=pays)


def finished(result: MainResult, total: int = 20, cards: int = 2, **more: Any) -> FinishedHand:
    facts = {"doubled": False, "dealer_total": None, **more}
    return FinishedHand(result=result, total=total, cards=cards, **facts)


def test_the_standard_game_is_declared_in_its_file() -> None:
    rules = profile("colorado")

    assert [kind.name for kind in rules.wager_kinds] == [MAIN, INSURANCE, DOUBLE, SPLIT]
    assert rules.wager_kinds == STANDARD_WAGER_KINDS
    assert rules.main_pays == STANDARD_MAIN_PAYS
    assert rules.wager_kind("lucky-ladies") is None
    # Tip bets are posted by an option and declared by no file (30-803(3)(i)).
    assert list(rules.kinds.values()) == [*rules.wager_kinds, TIP_BET]
    assert list(replace(rules, tip_bets=False).kinds.values()) == list(rules.wager_kinds)


def test_30_812_insurance_is_at_most_half_and_after_the_up_card() -> None:
    kind = profile("colorado").wager_kind(INSURANCE)

    assert kind is not None
    assert (kind.requires, kind.least, kind.most) == (MAIN, None, Fraction(1, 2))
    assert (kind.placed_at, kind.resolved_at) == (Moment.UP_CARD_KNOWN, Moment.AFTER_PEEK)


def test_30_813_a_double_is_up_to_the_original_and_30_814_a_split_equals_it() -> None:
    double, split = (profile("colorado").wager_kind(name) for name in (DOUBLE, SPLIT))

    assert double is not None
    assert split is not None
    assert (double.least, double.most) == (None, Fraction(1))
    assert (split.least, split.most) == (Fraction(1), Fraction(1))


@pytest.mark.parametrize(
    ("result", "net"),
    [
        (MainResult.NATURAL, "3/2"),
        (MainResult.NATURAL_TIE, "0"),
        (MainResult.EVEN_MONEY, "1"),
        (MainResult.WIN, "1"),
        (MainResult.TIE, "0"),
        (MainResult.LOSE, "-1"),
        (MainResult.BUST, "-1"),
        (MainResult.SURRENDER, "-1/2"),
    ],
)
def test_30_810_what_each_result_brings(result: MainResult, net: str) -> None:
    rules = profile("colorado")

    assert net_of(rules.main_pays, rules.blackjack_pays, finished(result)) == Fraction(net)


def test_30_810_a_natural_brings_the_posted_odds() -> None:
    rules = profile("single-deck-6-5")

    assert net_of(rules.main_pays, rules.blackjack_pays, finished(MainResult.NATURAL, 21)) == Fraction(6, 5)


def test_pay_rules_with_conditions_come_first_and_the_first_that_fits_pays() -> None:
    rules = with_pays(
        PayRule(MainResult.WIN, Fraction(3), hand_total=21, least_cards=7, doubled=False),
        PayRule(MainResult.WIN, Fraction(2), hand_total=21, least_cards=6, doubled=False),
        PayRule(MainResult.WIN, Fraction(0), dealer_total=22),
        *STANDARD_MAIN_PAYS,
    )

    def net(hand: FinishedHand) -> Fraction:
        return net_of(rules.main_pays, rules.blackjack_pays, hand)

    assert net(finished(MainResult.WIN, 21, 8)) == 3
    assert net(finished(MainResult.WIN, 21, 7)) == 3
    assert net(finished(MainResult.WIN, 21, 6)) == 2
    assert net(finished(MainResult.WIN, 21, 6, doubled=True)) == 1
    assert net(finished(MainResult.WIN, 21, 6, dealer_total=22)) == 2
    assert net(finished(MainResult.WIN, 18, 3, dealer_total=22)) == 0
    assert net(finished(MainResult.WIN, 18, 3, dealer_total=23)) == 1
    assert parse_rules(canonical_text(rules)) == rules


def test_an_unchecked_list_without_the_result_is_a_fault_not_a_free_hand() -> None:
    with pytest.raises(LookupError, match="tie"):
        net_of((), Fraction(3, 2), finished(MainResult.TIE))


@pytest.mark.parametrize("missing", MainResult)
def test_every_result_has_a_pay(missing: MainResult) -> None:
    with pytest.raises(PayRulesContradict, match=missing.value):
        with_pays(*(rule for rule in STANDARD_MAIN_PAYS if rule.result is not missing))


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        (PayRule(MainResult.TIE, None), "only a natural"),
        (PayRule(MainResult.WIN, Fraction(1, 2)), "30-810"),
        (PayRule(MainResult.WIN, Fraction(0)), "30-810"),
        (PayRule(MainResult.LOSE, Fraction(0)), "30-807"),
        (PayRule(MainResult.BUST, Fraction(1)), "30-807"),
        (PayRule(MainResult.SURRENDER, Fraction(-1)), "30-829"),
        (PayRule(MainResult.EVEN_MONEY, Fraction(3, 2)), "30-812"),
        (PayRule(MainResult.NATURAL, Fraction(1, 2)), "30-810"),
        (PayRule(MainResult.TIE, Fraction(-2)), "-1:1 to 1000:1"),
        (PayRule(MainResult.WIN, Fraction(1001)), "-1:1 to 1000:1"),
    ],
)
def test_30_810_pay_below_what_the_rules_grant_is_refused(rule: PayRule, reason: str) -> None:
    others = (other for other in STANDARD_MAIN_PAYS if other.result is not rule.result)

    with pytest.raises(PayRulesContradict, match=reason) as refusal:
        with_pays(rule, *others)
    assert refusal.value.facts == {"result": rule.result.value}


def test_30_810_a_natural_may_not_be_paid_below_the_posted_floor_by_a_pay_rule() -> None:
    others = (rule for rule in STANDARD_MAIN_PAYS if rule.result is not MainResult.NATURAL)

    with pytest.raises(PayRulesContradict, match="6:5"):
        with_pays(PayRule(MainResult.NATURAL, Fraction(1)), *others)


def test_30_803_a_natural_is_paid_as_posted() -> None:
    others = [rule for rule in STANDARD_MAIN_PAYS if rule.result is not MainResult.NATURAL]

    with pytest.raises(PayRulesContradict, match="blackjack_pays"):
        with_pays(PayRule(MainResult.NATURAL, Fraction(2)), *others)


def test_a_rule_that_can_never_be_reached_is_refused() -> None:
    with pytest.raises(PayRulesContradict, match="never be reached"):
        with_pays(*STANDARD_MAIN_PAYS, PayRule(MainResult.WIN, Fraction(3), hand_total=21))
    with pytest.raises(PayRulesContradict, match="at most 128"):
        with_pays(*(PayRule(MainResult.WIN, Fraction(2), hand_total=21) for _ in range(129)))


def test_a_side_wager_is_only_data() -> None:
    rules = with_kinds(*STANDARD_WAGER_KINDS, replace(SIDE, most=Fraction(1, 2), minimum_cents=100, maximum_cents=2500))

    assert parse_rules(canonical_text(rules)) == rules
    assert rules.digest != profile("colorado").digest


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"name": "Tie"}, "no lawful name"),
        ({"name": ""}, "no lawful name"),
        ({"name": MAIN}, "declared twice"),
        ({"name": INSURANCE}, "declared twice"),
        ({"requires": ""}, "not declared before"),
        ({"requires": "tie"}, "not declared before"),
        ({"requires": "nothing"}, "not declared before"),
        ({"least": Fraction(-1)}, "below nothing"),
        ({"most": Fraction(0)}, "below nothing"),
        ({"least": Fraction(2), "most": Fraction(1)}, "more than it may be"),
        ({"minimum_cents": 500, "maximum_cents": 100}, "minimum <= maximum"),
        ({"minimum_cents": -1}, "minimum <= maximum"),
        ({"resolved_at": Moment.BETTING, "placed_at": Moment.HAND_TURN}, "before it is placed"),
        ({"resolved_by": "lucky-ladies"}, "there are dealer-blackjack, main-pays"),
    ],
)
def test_a_wager_that_cannot_work_is_refused(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(WagerKindsContradict, match=reason) as refusal:
        with_kinds(*STANDARD_WAGER_KINDS, replace(SIDE, **change))

    assert refusal.value.rule == "30-807"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"requires": MAIN}, "requires nothing"),
        ({"maximum_cents": 500}, r"stand in \[limits\]"),
        ({"most": Fraction(1)}, "does not require"),
        ({"placed_at": Moment.FIRST_TWO_CARDS}, "30-807"),
        ({"name": "first"}, "first wager kind is main"),
    ],
)
def test_30_807_the_main_wager_stands_alone_before_the_first_card(change: dict[str, Any], reason: str) -> None:
    main, *others = STANDARD_WAGER_KINDS

    with pytest.raises(WagerKindsContradict, match=reason):
        with_kinds(replace(main, **change), *others)


@pytest.mark.parametrize(
    ("name", "change", "section"),
    [
        (INSURANCE, {"most": Fraction(1)}, "30-812"),
        (DOUBLE, {"most": Fraction(2)}, "30-813"),
        (SPLIT, {"least": Fraction(1, 2)}, "30-814"),
        (SPLIT, {"resolved_at": Moment.ROUND_END}, "30-814"),
    ],
)
def test_a_wager_that_rule_8_defines_is_not_declared_otherwise(name: str, change: dict[str, Any], section: str) -> None:
    kinds = (replace(kind, **change) if kind.name == name else kind for kind in STANDARD_WAGER_KINDS)

    with pytest.raises(WagerKindsContradict, match=section):
        with_kinds(*kinds)


@pytest.mark.parametrize(("name", "section"), [(INSURANCE, "30-812"), (DOUBLE, "30-813"), (SPLIT, "30-814")])
def test_a_wager_that_rule_8_defines_is_not_left_out(name: str, section: str) -> None:
    with pytest.raises(WagerKindsContradict, match=section):
        with_kinds(*(kind for kind in STANDARD_WAGER_KINDS if kind.name != name))


def test_a_game_without_wagers_or_with_too_many_is_refused() -> None:
    with pytest.raises(WagerKindsContradict, match="main"):
        with_kinds()
    with pytest.raises(WagerKindsContradict, match="at most 32"):
        with_kinds(*STANDARD_WAGER_KINDS, *(replace(SIDE, name=f"side-{number}") for number in range(29)))


def test_a_pay_rule_in_a_file_is_named_by_its_place() -> None:
    text = profile_text("colorado").replace('net = "-1:2"', 'net = "-1:3"')

    with pytest.raises(PayRulesContradict, match="surrender"):
        parse_rules(text)
