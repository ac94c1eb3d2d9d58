"""The tree keeps its shape: purity, sizes, names, docstrings (DESIGN §2, §10). import-linter holds the rest."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SERVICES = ROOT / "services"
SOURCES = sorted(p for p in SERVICES.rglob("*.py") if "gen" not in p.relative_to(SERVICES).parts)
DOMAIN = [
    p
    for p in SOURCES
    if p.parent.name == "game"
    or (p.parent.name in {"shoe", "table", "wager"} and p.stem in {"events", "commands", "rejections", p.parent.name})
    or p.name == "ledger.py"
]
IMPURE = {
    "asyncio", "time", "random", "secrets", "os", "logging", "socket", "sqlite3", "threading", "datetime", "pathlib",
    "google", "grpc", "kafka", "structlog", "sqlalchemy", "prometheus_client", "uuid", "subprocess", "sys",
}  # fmt: skip
BANNED_NAMES = {"utils", "util", "helpers", "helper", "manager", "base", "common"}
MODULE_LINES = 400
FUNCTION_LINES = 60


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name(path)}:{node.lineno} imports relatively"
            yield node.module or ""


def test_there_is_something_to_hold() -> None:
    assert len(SOURCES) > 50
    assert len(DOMAIN) > 15


@pytest.mark.parametrize("path", DOMAIN, ids=name)
def test_domain_modules_are_pure(path: Path) -> None:
    found = {module for module in imports(path) if module.split(".")[0] in IMPURE}
    assert not found, f"{name(path)} imports {sorted(found)}: time, chance and ids come in as arguments"
    calls = {
        node.func.id
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"open", "print", "input"}
    }
    assert not calls, f"{name(path)} does I/O with {sorted(calls)}"


@pytest.mark.parametrize("path", DOMAIN, ids=name)
def test_no_float_comes_near_money(path: Path) -> None:
    for node in ast.walk(tree(path)):
        literal = isinstance(node, ast.Constant) and isinstance(node.value, float)
        named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "float"
        line = getattr(node, "lineno", 0)
        assert not literal, f"{name(path)}:{line} holds a float"
        assert not named, f"{name(path)}:{line} makes a float"


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_modules_and_functions_stay_small(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MODULE_LINES, f"{name(path)} has {lines} lines"
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= FUNCTION_LINES, f"{name(path)}:{node.lineno} {node.name} has {length} lines"


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_names_say_what_things_are(path: Path) -> None:
    assert path.stem not in BANNED_NAMES, f"{name(path)}: name it for its subject"
    assert ast.get_docstring(tree(path)), f"{name(path)} does not say what it owns"


def test_only_wire_imports_generated_code() -> None:
    for path in SOURCES:
        if path.parent.name != "wire":
            generated = [module for module in imports(path) if ".gen" in module or module.endswith("_pb2")]
            allowed = {"grpc_health.v1"} if path == SERVICES / "runtime" / "server.py" else set()
            assert not set(generated) - allowed, f"{name(path)} imports {generated}"


def test_rooms_have_the_same_doors() -> None:
    for room, aggregate in {"shoe": "shoe", "table": "table", "wager": "ledger"}.items():
        have = {p.stem for p in (SERVICES / room).glob("*.py")}
        need = {"events", "commands", "rejections", "service", "server", "client", aggregate}
        assert need <= have, f"services/{room} lacks {sorted(need - have)}"
