"""deploy/cluster: what `make cluster` starts is what `holecard` knows, on ports of their own, and in supervisor's terms."""

import configparser
import re
import shlex
import sys
from collections import Counter
from pathlib import Path

import click
import pytest
from supervisor.options import ServerOptions  # type: ignore[import-untyped]  # it ships no types

from deploy.cluster import cluster
from services.cli import main_group

PROGRAMS = sorted((cluster.HERE / "programs").glob("*.conf"))


def filled_in(text: str, folder: Path, number: int) -> str:
    """The text as supervisor expands it for one process."""
    values = cluster.environment(folder)
    text = re.sub(r"%\(ENV_([A-Z_]+)\)s", lambda match: values[match[1]], text)
    return text.replace("%(process_num)d", str(number))


def commands(folder: Path) -> dict[str, str]:
    """The command line of every process."""
    found = {}
    for path in PROGRAMS:
        parser = configparser.RawConfigParser()
        parser.read(path)
        (section,) = parser.sections()
        for number in range(1, int(parser.get(section, "numprocs", fallback="1")) + 1):
            name = f"{section.removeprefix('program:')}-{number}"
            found[name] = filled_in(parser.get(section, "command"), folder, number)
    return found


def test_two_processes_of_every_service_and_all_that_the_cluster_needs(tmp_path: Path) -> None:
    names = set(commands(tmp_path))
    wanted = {f"{service}-{number}" for service in (*cluster.SERVICES, "console") for number in (1, 2)}
    assert wanted | {"kafka-1", "floor-1"} <= names


def test_every_command_is_one_that_holecard_knows(tmp_path: Path) -> None:
    begin = f"{shlex.quote(sys.executable)} -m services "
    ours = {name: line for name, line in commands(tmp_path).items() if line.startswith(begin)}
    assert len(ours) >= 11
    for line in ours.values():
        words = shlex.split(line.removeprefix(begin))
        command: click.Command = main_group
        context = click.Context(main_group)
        while isinstance(command, click.Group):
            name, found, words = command.resolve_command(context, words)
            assert found is not None
            command, context = found, click.Context(found, parent=context, info_name=name)
        with command.make_context(context.info_name, words, parent=context.parent):
            pass


def test_no_two_processes_listen_on_one_port(tmp_path: Path) -> None:
    listening = Counter(
        port
        for line in commands(tmp_path).values()
        for option, port in re.findall(r"--(listen|metrics|console) 127\.0\.0\.1:(\d+)", line)
        if option
    )
    listening[str(cluster.KAFKA_PORT)] += 1
    listening[str(cluster.KAFKA_PORT + 1)] += 1
    assert {port: times for port, times in listening.items() if times > 1} == {}


def test_supervisor_takes_the_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "log").mkdir()
    for name, value in cluster.environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    options = ServerOptions()
    options.realize(["-c", str(cluster.HERE / "supervisord.conf")])
    groups = {group.name: len(group.process_configs) for group in options.process_group_configs}
    assert {"kafka": 1, "shoe": 2, "table": 2, "wager": 2, "surveillance": 2, "console": 2, "floor": 1}.items() <= (
        groups.items()
    )
    for group in options.process_group_configs:
        for process in group.process_configs:
            assert process.autorestart, f"{process.name} would stay dead"
            assert str(tmp_path) in process.stdout_logfile


def test_a_folder_whose_socket_has_no_room_is_refused(tmp_path: Path) -> None:
    with pytest.raises(cluster.NotStarted, match="too long a path"):
        cluster.start(tmp_path / ("x" * 120))
