"""The cluster on one machine: `cluster.py start|status|stop DIR`. `make cluster` calls it.

Owns the order of starting: broker, topics and key, services, everything else; and the ports, in one place. What runs is
said in supervisord.conf and programs/; keeping it running is supervisor's work.
"""

import contextlib
import json
import os
import shlex
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
TREE = HERE.parents[1]
BIN = Path(sys.executable).parent
PKI = TREE / "deploy" / "dev" / "pki"
PARTITIONS = 12
KAFKA_PORT = 8692
SERVICES = {"shoe": 861, "table": 862, "wager": 863, "surveillance": 864}
"""Each service's gRPC ports without their last digit, which is the number of the process; metrics are 100 higher."""
OWNING = ("shoe", "table", "wager")
"""Those whose processes share the tables out, in the order of their topics."""
METRICS = 10
CONSOLE = 868
PROCESSES = (1, 2)
GATEWAYS = ("black-hawk", "central-city", "cripple-creek")
"""The floors that have a gateway, on ports 8651 and up."""
START_SECONDS = 240.0
COMMAND = (sys.executable, "-m", "services")
LONGEST_SOCKET = 100
"""A socket's path takes 107 characters at most, and supervisor adds its process id while it makes it."""


class NotStarted(Exception):
    """What kept the cluster from being started, and where to look."""


def environment(folder: Path) -> dict[str, str]:
    """What the configuration files are filled in with."""

    def addresses(service: str) -> str:
        return ",".join(f"127.0.0.1:{SERVICES[service]}{number}" for number in PROCESSES)

    kafka = f"127.0.0.1:{KAFKA_PORT}"
    return {
        **os.environ,
        "TREE": str(TREE),
        "CLUSTER": str(folder),
        # Everybody's certificate for everybody else; the pages stay in plain text on this machine.
        "PKI": str(PKI),
        "HOLECARD": " ".join(COMMAND),
        "KAFKA": kafka,
        "KAFKA_PORT": str(KAFKA_PORT),
        "PARTITIONS": str(PARTITIONS),
        # Options of every process that serves from the journal, of those that only call services, and of the floor.
        "SERVE": f"--journal kafka --kafka {kafka} --partitions {PARTITIONS} --log-json",
        "CALL": "--log-json",
        "CALL_FLOOR": "",
        "FLOOR": os.environ.get("FLOOR", "--floors 3 --tables 2 --seats 4 --pace 0.5"),
        **{service.upper(): addresses(service) for service in SERVICES},
    }


def start(folder: Path) -> None:
    """Start what does not run yet, and return when all of it is ready."""
    for part in ("log", "keys"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    env = environment(folder)
    if len(env["CLUSTER"]) > LONGEST_SOCKET:
        raise NotStarted(f"{folder} is too long a path for a socket: choose another with DATA=…")
    say("fetching Kafka, unless it is there")
    call([str(TREE / "deploy" / "kafka" / "broker"), "fetch"], env)
    if supervisorctl(env, "pid", quiet=True).returncode != 0:
        call([str(BIN / "supervisord"), "-c", str(HERE / "supervisord.conf")], env)
    call([*COMMAND, "pki", "init", "--pki", str(PKI)], env)
    for floor in GATEWAYS:
        issue_gateway(floor, env)
    say("starting the broker")
    supervisorctl(env, "start", "kafka")
    topics = ["journal", "--kafka", env["KAFKA"], "--partitions", env["PARTITIONS"], "create-topics", "--copies", "1"]
    patiently("the broker", folder / "log" / "kafka.log", lambda: holecard(env, *topics))
    holecard(env, "sealing-key", str(folder / "keys" / "shoe.key"))
    say("starting the services")
    supervisorctl(env, "start", *(f"{service}:*" for service in SERVICES))
    for service, port in SERVICES.items():
        for number in PROCESSES:
            name, url = f"{service}-{number}", f"http://127.0.0.1:{port + METRICS}{number}/ready"
            patiently(name, folder / "log" / f"{name}.log", partial(answers, url))
    patiently("an owner of every partition", folder / "log", all_owned)
    supervisorctl(env, "start", "all")
    for number in PROCESSES:
        url, log = f"http://127.0.0.1:{CONSOLE}{number}/", folder / "log" / f"console-{number}.log"
        patiently(f"console-{number}", log, partial(answers, url))
    supervisorctl(env, "status")
    say(f"logs:     {folder / 'log'}")
    say(f"journal:  holecard verify --journal kafka --kafka {env['KAFKA']} --partitions {PARTITIONS}")
    say(f"console:  http://127.0.0.1:{CONSOLE}1/  and  http://127.0.0.1:{CONSOLE}2/")
    say("watched:  http://127.0.0.1:8695/alerts  (Prometheus)")


def issue_gateway(floor: str, env: dict[str, str]) -> None:
    """A certificate for the floor's gateway, unless it has one; it may pass on what the floor's supervisors command."""
    name = f"gateway-{floor}"
    if not (PKI / name).exists():
        call(
            [*COMMAND, "pki", "issue", name, f"{floor}/gateway/{name}", f"{floor}/supervisor/*", "--pki", str(PKI)], env
        )


def status(folder: Path) -> None:
    """Say what runs, and who owns which partitions."""
    env = environment(folder)
    supervisorctl(env, "status")
    for service, owned in owners().items():
        say(f"{service} owns {', '.join(map(str, owned)) or 'nothing'}")


def owners() -> dict[str, list[int]]:
    """The partitions that each process of the services with owners has; those that do not answer are left out."""
    found = {}
    for service in OWNING:
        for number in PROCESSES:
            url = f"http://127.0.0.1:{SERVICES[service] + METRICS}{number}/owners"
            with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=2) as answer:
                found[f"{service}-{number}"] = [one["partition"] for one in json.load(answer)["owned"]]
    return found


def all_owned() -> bool:
    """Whether every partition has exactly one owner that serves it."""
    return sorted(number for owned in owners().values() for number in owned) == [
        topic * 1000 + number for topic in range(len(OWNING)) for number in range(PARTITIONS)
    ]


def stop(folder: Path) -> None:
    """Stop everything: who plays first, the broker last."""
    env = environment(folder)
    if supervisorctl(env, "pid", quiet=True).returncode != 0:
        say("nothing runs")
        return
    supervisorctl(env, "shutdown")
    patiently(
        "the end", folder / "log" / "supervisord.log", lambda: supervisorctl(env, "pid", quiet=True).returncode != 0
    )
    say("stopped")


def patiently(what: str, log: Path, is_there: Callable[[], bool]) -> None:
    """Wait for it; raises NotStarted with the place to look."""
    deadline = time.monotonic() + START_SECONDS
    while not is_there():
        if time.monotonic() > deadline:
            raise NotStarted(f"{what} is not there after {START_SECONDS:.0f} s: look into {log}")
        time.sleep(0.5)


def answers(url: str) -> bool:
    """Whether a request for it succeeds."""
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except (OSError, urllib.error.HTTPError):
        return False


def holecard(env: dict[str, str], *arguments: str) -> bool:
    """Run a command of ours; whether it succeeded."""
    return subprocess.run([*COMMAND, *arguments], env=env, cwd=TREE, capture_output=True, check=False).returncode == 0


def supervisorctl(env: dict[str, str], *arguments: str, quiet: bool = False) -> "subprocess.CompletedProcess[bytes]":
    """Ask supervisor; its status is not zero also when only some program is not running."""
    output = subprocess.DEVNULL if quiet else None
    command = [str(BIN / "supervisorctl"), "-c", str(HERE / "supervisord.conf"), *arguments]
    return subprocess.run(command, env=env, stdout=output, stderr=output, check=False)


def call(command: list[str], env: dict[str, str]) -> None:
    """Run it to its end; raises NotStarted when it fails."""
    if subprocess.run(command, env=env, check=False).returncode != 0:
        raise NotStarted(f"{shlex.join(command)} failed")


def say(text: str) -> None:
    """One line for people."""
    print(text, flush=True)


if __name__ == "__main__":
    COMMANDS = {"start": start, "status": status, "stop": stop}
    if len(sys.argv) != 3 or sys.argv[1] not in COMMANDS:
        sys.exit("usage: cluster.py start|status|stop DIR")
    try:
        COMMANDS[sys.argv[1]](Path(sys.argv[2]).resolve())
    except NotStarted as error:
        sys.exit(f"holecard cluster: {error}")
