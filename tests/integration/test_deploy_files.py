"""Image, compose files and runbooks name only commands, files and pins that there are; checked without containers."""

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.known_commands import refusal
from tests.support.prometheus_server import ROOT

DEPLOY = ROOT / "deploy"
FILES = ("compose.yaml", "compose.three-brokers.yaml")
PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.MULTILINE)


class Reader(yaml.SafeLoader):
    """Reads compose's own tag for a list that takes another's place."""


def _in_place(reader: Reader, node: yaml.SequenceNode) -> list[Any]:
    return reader.construct_sequence(node)


Reader.add_constructor("!override", _in_place)


def compose(name: str) -> dict[str, Any]:
    """A compose file as it is."""
    found: dict[str, Any] = yaml.load((DEPLOY / name).read_text(), Reader)  # noqa: S506 - a safe loader's kind
    return found


def pins(name: str) -> dict[str, str]:
    """The packages of a lock file with their versions."""
    return dict(PIN.findall((DEPLOY / name).read_text()))


def own_services() -> dict[str, dict[str, Any]]:
    """The services that run our image."""
    return {name: one for name, one in compose("compose.yaml")["services"].items() if one["image"] == "holecard:local"}


def test_every_command_of_compose_is_one_that_holecard_knows() -> None:
    commands = [one["command"] for one in own_services().values()]
    commands += [one["command"] for one in compose(FILES[1])["services"].values() if "command" in one]
    assert len(commands) > 8
    for words in commands:
        assert refusal([str(word) for word in words]) == ""


def test_compose_names_only_what_it_has() -> None:
    content = compose("compose.yaml")
    for name, one in content["services"].items():
        for other, condition in one.get("depends_on", {}).items():
            assert other in content["services"], name
            if condition["condition"] == "service_healthy":
                assert "healthcheck" in content["services"][other], other
        for volume in one.get("volumes", ()):
            source = volume.split(":")[0]
            assert (DEPLOY / source).exists() if source.startswith(".") else source in content["volumes"], volume
        assert re.search(r":[A-Za-z0-9.-]+$", one["image"]), name
        assert not one["image"].endswith(":latest"), name
    said = {name.split(":")[0] for one in own_services().values() for word in one["command"] for name in word.split(",")
            if re.fullmatch(r"[a-z][a-z0-9-]*:8600", name)}  # fmt: skip
    assert said <= content["services"].keys()


def test_compose_runs_nothing_of_ours_with_more_rights_than_it_needs() -> None:
    for name, one in own_services().items():
        assert one["read_only"] is True, name
        assert one["cap_drop"] == ["ALL"], name


def test_prometheus_in_compose_looks_at_every_process_that_has_metrics() -> None:
    wanted = {f"{name}:8690" for name, one in own_services().items() if "0.0.0.0:8690" in one["command"]}
    groups = yaml.safe_load((DEPLOY / "prometheus" / "compose-targets.yaml").read_text())
    assert {target for group in groups for target in group["targets"]} == wanted


def test_three_brokers_in_containers_are_set_as_three_without() -> None:
    given = compose(FILES[1])["x-three"]
    text = (DEPLOY / "kafka" / "three.properties").read_text()
    settings = dict(line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))
    ours = {name: str(value) for name, value in given.items() if "VOTERS" not in name}
    assert ours.items() <= {f"KAFKA_{key.upper().replace('.', '_')}": value for key, value in settings.items()}.items()


def test_the_image_is_pinned_runs_as_nobody_and_takes_its_command_from_outside() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    assert re.search(r"^USER 10001:10001$", text, re.MULTILINE)
    assert 'ENTRYPOINT ["holecard"]' in text
    assert "latest" not in text
    installs = re.findall(r"pip install (.*?)(?: \\)?$", text, re.MULTILINE)
    assert len(installs) == 3
    assert all("--require-hashes --only-binary :all:" in one or "--no-deps /wheel" in one for one in installs)
    allowed = set(re.findall(r"^!(\S+)$", (DEPLOY / "Dockerfile.dockerignore").read_text(), re.MULTILINE))
    for line in re.findall(r"^COPY (?!--from)(.*)$", text, re.MULTILINE):
        for source in shlex.split(line)[:-1]:
            assert (ROOT / source).exists(), source
            assert source in allowed, f"{source} is kept out of the build by Dockerfile.dockerignore"


@pytest.mark.parametrize("name", ["requirements.runtime.lock", "requirements.build.lock"])
def test_the_image_holds_the_versions_that_are_tested(name: str) -> None:
    tested = pins("requirements.lock")
    assert len(pins(name)) > 4
    assert pins(name).items() <= tested.items(), "run `make lock`: the image's lock is not that of the tests"


def test_the_image_holds_all_that_holecard_needs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = {re.split(r"[\[><=;]", one)[0].strip().lower() for one in project["dependencies"]}
    held = {name.lower() for name in pins("requirements.runtime.lock")}
    assert needed <= held, "run `make lock`"
    assert "pytest" not in held


@pytest.mark.parametrize("path", sorted((DEPLOY / "runbooks").glob("*.md")), ids=lambda path: path.stem)
def test_every_command_of_a_runbook_exists(path: Path) -> None:
    for text in re.findall(r"`holecard ([^`]+)`", path.read_text()):
        words = [
            {"PARTITION": "1000", "OFFSET": "5", "…": "shoe", "SERVICE": "shoe", "N": "3"}.get(w, w)
            for w in shlex.split(text)
        ]
        if not text.startswith("…"):
            assert refusal(words) == "", text
