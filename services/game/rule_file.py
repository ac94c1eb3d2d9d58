"""Reading a rule set from TOML text.

Owns the way from text to `HouseRules`: keys, kinds of values, words. Promises that nothing unknown is ever ignored and
that no float gets in. What the values may be is `rule_bounds`; reading a file from disk is the caller's business.
"""

import difflib
import re
import tomllib
import types
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cache
from typing import Any, Final, get_args, get_origin, get_type_hints

from services.game.house_rules import HouseRules
from services.game.rule_bounds import check_conducted
from services.game.rule_rejections import (
    FloatInRules,
    MissingRuleKey,
    RuleFileUnreadable,
    UnknownRuleChoice,
    UnknownRuleKey,
    WrongRuleType,
)

MAXIMUM_FILE_CHARACTERS: Final = 100_000
_RATIO: Final = re.compile(r"(-?[0-9]{1,9}):([0-9]{1,9})")
_MAXIMUM_DEPTH_HINT: Final = 200


def parse_rules(text: str) -> HouseRules:
    """Read a rule set from TOML text of at most 100,000 characters.

    A key left out takes the default of `HouseRules`, except those without one: name, version, approval, limits,
    wager_kinds, main_pays. Raises a `RuleFileRefused` that names the key, what it must be, and the section of Rule 8; also
    for a lawful rule set that no service here can hold a table to, so that nothing is posted and then ignored.
    """
    rules = recorded_rules(text)
    check_conducted(rules)
    return rules


def recorded_rules(text: str) -> HouseRules:
    """Read a rule set that was posted before: what a log holds stays readable, whatever is posted nowadays (DESIGN §3).

    Raises as `parse_rules`, except for what no service can hold a table to.
    """
    if len(text) > MAXIMUM_FILE_CHARACTERS:
        raise RuleFileUnreadable(f"a rule file has at most {MAXIMUM_FILE_CHARACTERS} characters, this one {len(text)}")
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as broken:
        raise RuleFileUnreadable(f"the rule file is not TOML: {str(broken)[:_MAXIMUM_DEPTH_HINT]}") from broken
    rules: HouseRules = _record(HouseRules, content, "")
    return rules


@cache
def _fields_of(kind: Any) -> dict[str, tuple[Field[Any], Any]]:
    """Give each field that a file may set, with its type."""
    hints = get_type_hints(kind)
    return {f.name: (f, hints[f.name]) for f in fields(kind) if f.init}


def _record(kind: Any, content: Mapping[str, object], prefix: str) -> Any:
    known = _fields_of(kind)
    for key in content:
        if key not in known:
            raise UnknownRuleKey(_unknown(prefix + key, key, known), key=prefix + key)
    values: dict[str, object] = {}
    for name, (declared, hint) in known.items():
        if name in content:
            values[name] = _value(hint, content[name], prefix + name)
        elif declared.default is MISSING:
            raise MissingRuleKey(f"the rule file has no {prefix}{name}", key=prefix + name)
    return kind(**values)


def _unknown(path: str, key: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(key, known, n=1, cutoff=1 / 2)
    return f"there is no rule {path}" + (f"; did you mean {near[0]}?" if near else "")


def _value(hint: Any, value: object, key: str) -> object:
    if isinstance(value, float):
        raise FloatInRules(f"{key} is {value!r}, a float: write 3:2 or integer cents", key=key)
    if isinstance(hint, types.UnionType):
        return _value(next(part for part in get_args(hint) if part is not types.NoneType), value, key)
    if get_origin(hint) is tuple:
        return _records(get_args(hint)[0], value, key)
    if is_dataclass(hint):
        if not isinstance(value, dict):
            raise _wrong(key, "a table", value)
        return _record(hint, value, f"{key}.")
    return _scalar(hint, value, key)


def _records(kind: Any, value: object, key: str) -> tuple[object, ...]:
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise _wrong(key, f"tables, each begun by [[{key}]]", value)
    return tuple(_record(kind, entry, f"{key}[{number}].") for number, entry in enumerate(value, 1))


def _scalar(hint: Any, value: object, key: str) -> object:
    if hint is Fraction:
        return _ratio(value, key)
    if issubclass(hint, StrEnum):
        return _choice(hint, value, key)
    # bool is a kind of int to Python and another thing to a house.
    if type(value) is not hint:
        raise _wrong(key, {bool: "true or false", int: "a whole number", str: "text"}[hint], value)
    return value


def _choice(options: type[StrEnum], value: object, key: str) -> StrEnum:
    words = [option.value for option in options]
    if value not in words:
        raise UnknownRuleChoice(f"{key} is {value!r:.60}; it is one of {', '.join(words)}", key=key)
    return options(value)


def _ratio(value: object, key: str) -> Fraction:
    found = _RATIO.fullmatch(value) if isinstance(value, str) else None
    if found is None or int(found[2]) == 0:
        raise _wrong(key, 'odds like "3:2"', value)
    return Fraction(int(found[1]), int(found[2]))


def _wrong(key: str, wanted: str, value: object) -> WrongRuleType:
    return WrongRuleType(f"{key} must be {wanted}, not {value!r:.60}", key=key)
