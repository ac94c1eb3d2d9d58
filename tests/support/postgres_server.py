"""A real PostgreSQL server for tests, in a temporary folder, started as a user that is not root, ended with the tests."""

import atexit
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg

from services.surveillance import postgres

_START_SECONDS = 60
_LIFETIME_SECONDS = "1800"


class PostgresServer:
    """One server with its data in a folder of its own; it can be stopped, killed and started again on the same port."""

    def __init__(self) -> None:
        self._programs = _programs()
        self._user = _user()
        self.folder = Path(tempfile.mkdtemp(prefix="holecard-postgres-"))
        self._data = self.folder / "data"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        if self._user is not None:
            shutil.chown(self.folder, self._user)
        self._process: subprocess.Popen[bytes] | None = None
        self._template = ""
        subprocess.run(
            [self._programs / "initdb", "-D", self._data, "-U", "holecard", "--auth=trust", "-E", "UTF8", "--no-sync",
             "--locale=C.UTF-8"],
            check=True, stdout=subprocess.DEVNULL, **self._as_user(),
        )  # fmt: skip
        self.start()

    def address(self, database: str) -> str:
        """The address of a database, as `--projection` takes it."""
        return f"postgresql://holecard@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """The address of a new, empty database."""
        name = f"t{uuid4().hex[:12]}"
        self.execute("postgres", f"CREATE DATABASE {name}")
        return self.address(name)

    def migrated_database(self) -> str:
        """The address of a new database that has an empty read model: a copy of one that was migrated once."""
        if not self._template:
            self._template = self.new_database()
            postgres.migrated(postgres.read_url(self._template))
        name = f"t{uuid4().hex[:12]}"
        self.execute(
            "postgres", f"CREATE DATABASE {name} TEMPLATE {self._template.rpartition('/')[2]} STRATEGY FILE_COPY"
        )
        return self.address(name)

    def execute(self, database: str, statement: str) -> list[tuple[Any, ...]]:
        """Run one statement by itself, its rows."""
        with psycopg.connect(self.address(database), autocommit=True) as connection:
            found = connection.execute(statement)
            return found.fetchall() if found.description else []

    def start(self) -> None:
        """Start it and wait until it answers."""
        log = (self.folder / "server.log").open("ab")
        with log:
            # The lifetime ends it even when the tests are killed and can end nothing any more.
            self._process = subprocess.Popen(
                ["timeout", "-s", "QUIT", _LIFETIME_SECONDS, self._programs / "postgres", "-D", self._data,
                 "-h", "127.0.0.1", "-p", str(self.port), "-k", self.folder, "-c", "shared_buffers=32MB",
                 "-c", "max_connections=60"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, **self._as_user(),
            )  # fmt: skip
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                psycopg.connect(self.address("postgres"), connect_timeout=2).close()
            except psycopg.OperationalError as error:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    text = (self.folder / "server.log").read_text()[-4000:]
                    raise RuntimeError(f"PostgreSQL did not start:\n{text}") from error
                time.sleep(0.05)
            else:
                return

    def kill(self) -> None:
        """End it at once, with no word to its clients and nothing written: the next start recovers as after a power cut."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGQUIT)
            self._process.wait()

    def remove(self) -> None:
        """End it and delete its data."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _as_user(self) -> dict[str, Any]:
        return {} if self._user is None else {"user": self._user, "group": self._user, "extra_groups": []}


@cache
def shared_server() -> PostgresServer:
    """The server that the tests of this process share; each test makes databases of its own."""
    server = PostgresServer()
    atexit.register(server.remove)
    return server


def _programs() -> Path:
    """Where the server's programs lie: Debian keeps them out of the path."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not folders:
        raise RuntimeError("PostgreSQL's server is not installed (Debian: apt-get install postgresql)")
    return folders[-1]


def _user() -> str | None:
    """Whom to be instead of root, which PostgreSQL refuses to run as; None when we are not root."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"
