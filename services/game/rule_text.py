"""The canonical text of a rule set, and its digest.

Owns one spelling for each rule set: TOML, every key written, in one order, one spelling for each value. Promises that
`rule_file.parse_rules` reads it back to an equal rule set and that the same rules always give the same bytes.
"""

import hashlib
import json
from dataclasses import fields, is_dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING

from services.game.rule_rejections import FloatInRules, WrongRuleType

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def canonical_text(rules: "DataclassInstance") -> str:
    """Write a rule set (`HouseRules`) as its one canonical TOML text, ending in a newline.

    Scalars come first, in the order of the record; then its tables. A value that is None is left out.
    """
    lines: list[str] = []
    tables: list[str] = []
    for key, value in _items(rules):
        if isinstance(value, tuple):
            for entry in value:
                tables.extend(("", f"[[{key}]]", *_scalars(key, entry)))
        elif is_dataclass(value) and not isinstance(value, type):
            tables.extend(("", f"[{key}]", *_scalars(key, value)))
        else:
            lines.append(f"{key} = {_spelled(key, value)}")
    return "\n".join([*lines, *tables]) + "\n"


def digest_of(rules: "DataclassInstance") -> str:
    """SHA-256 in hex of the canonical text in UTF-8."""
    return hashlib.sha256(canonical_text(rules).encode()).hexdigest()


def ratio_text(ratio: Fraction) -> str:
    """Write odds as "3:2", in lowest terms, the sign in front."""
    return f"{ratio.numerator}:{ratio.denominator}"


def _items(record: "DataclassInstance") -> list[tuple[str, object]]:
    return [(f.name, value) for f in fields(record) if f.init and (value := getattr(record, f.name)) is not None]


def _scalars(key: str, record: "DataclassInstance") -> list[str]:
    return [f"{name} = {_spelled(f'{key}.{name}', value)}" for name, value in _items(record)]


def _spelled(key: str, value: object) -> str:
    if isinstance(value, StrEnum):
        return json.dumps(value.value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Fraction):
        return json.dumps(ratio_text(value))
    if isinstance(value, str):
        # TOML forbids DEL and lone surrogates in a string, JSON writes them: neither is text that can be posted.
        if not value.isprintable():
            raise WrongRuleType(f"{key} holds a character that cannot be printed", key=key)
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, float):
        raise FloatInRules(f"{key} is {value!r}, a float: write 3:2 or integer cents", key=key)
    raise WrongRuleType(f"{key} cannot hold {type(value).__name__}", key=key)
