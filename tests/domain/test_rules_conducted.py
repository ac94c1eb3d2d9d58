"""What no service can hold a table to is refused when it is loaded: nothing is posted and then ignored (30-803(3))."""

import re

import pytest

from services.game.profiles import profile_text
from services.game.rule_rejections import RulesNotConducted
from services.game.rules import parse_rules, recorded_rules
from services.table import commands as c
from services.table import events as e
from tests.support.table_desk import SUPERVISOR, Desk

COLORADO = profile_text("colorado")


def colorado(**options: str) -> str:
    text = COLORADO
    for name, value in options.items():
        text, count = re.subn(rf"(?m)^{name} = .*$", f"{name} = {value}", text)
        assert count == 1, name
    return text


REFUSED = (
    ({"deal_style": '"hand-down"', "decks": "2"}, "hand-down"),
    ({"deal_style": '"hand-up"'}, "one or two decks, not 6"),
    ({"deal_style": '"hand-up"', "decks": "2", "shuffle": '"continuous"'}, "shuffle = continuous"),
    ({"back_betting": "true"}, "back_betting"),
)


@pytest.mark.parametrize(("options", "why"), REFUSED, ids=[why for _, why in REFUSED])
def test_30_804_what_cannot_be_held_to_is_refused_with_its_reason(options: dict[str, str], why: str) -> None:
    with pytest.raises(RulesNotConducted, match=re.escape(why)) as refused:
        parse_rules(colorado(**options))
    assert "Choose another value" in refused.value.remedy


@pytest.mark.parametrize("style", ["shoe-up", "hand-up", "electronic"])
def test_30_818_the_styles_that_are_dealt_are_taken(style: str) -> None:
    assert parse_rules(colorado(deal_style=f'"{style}"', decks="2")).deal_style.value == style


@pytest.mark.parametrize(("options", "why"), REFUSED, ids=[why for _, why in REFUSED])
def test_what_a_log_holds_from_before_stays_readable_and_is_not_opened_again(options: dict[str, str], why: str) -> None:
    text = colorado(**options)
    rules = recorded_rules(text)
    desk = Desk()
    desk.open()
    desk.do(c.CloseTable(), SUPERVISOR)
    desk.happened(e.TableClosed(1))
    desk.happened(e.RulesPosted(rules.name, rules.version, rules.digest, text, ()))
    assert desk.table.rules == rules
    with pytest.raises(RulesNotConducted, match=re.escape(why)):
        desk.do(c.OpenTable("", (), "D-1"), SUPERVISOR)
