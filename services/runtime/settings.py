"""What a process of the house is told when it starts: where its data lies, where it listens, which floors it knows."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from services.runtime.clock import GamingCalendar

if TYPE_CHECKING:
    from services.runtime.kafka_settings import KafkaSettings

SERVICES = ("shoe", "table", "wager", "surveillance", "console")


_HOST = re.compile(r"\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?")


class SettingsRefused(ValueError):
    """A settings file or option that cannot be followed; the text says which and why."""


def read_address(text: str) -> tuple[str, int]:
    """Read "host:port" or "[IPv6]:port" as host (without brackets) and port, 0 to 65535; raises SettingsRefused."""
    host, _, port = text.rpartition(":")
    if not _HOST.fullmatch(host) or not (port.isascii() and port.isdigit() and len(port) <= 5 and int(port) <= 65_535):
        raise SettingsRefused(f"{text!r} is not an address such as 127.0.0.1:8600 or [::1]:8600")
    return host.strip("[]"), int(port)


def is_loopback(address: str) -> bool:
    """Whether "host:port" is reached from this machine alone; a name counts only when it is localhost."""
    host, _ = read_address(address)
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a process needs; see `holecard serve --help` for the same as options.

    `data_dir` holds the journal, the projection and the keys. With `kafka` the journal is there instead, and `sealing_key`
    the file of the key that all shoe services of the cluster share. `projection` is a PostgreSQL database's address when
    the projection lies there ("" when it does not). `console_names` are the names under which
    browsers may ask for the console, besides localhost and IP addresses. `addresses` names services hosted elsewhere,
    "host:port" by service, several by commas. `calendars` gives each floor's gaming calendar; a floor that is not named
    has Colorado's default. `tls` is the folder of the process's certificate (see transport); without it services and
    console speak plain text, on loopback addresses alone; with `console_plain_text` the console does so all the same.
    Raises SettingsRefused for an address that is none, or that needs TLS.
    """

    data_dir: Path
    grpc_address: str = "127.0.0.1:8600"
    console_address: str = "127.0.0.1:8680"
    metrics_address: str = "127.0.0.1:8690"
    console_names: tuple[str, ...] = ()
    addresses: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    calendars: Mapping[str, GamingCalendar] = field(default_factory=lambda: MappingProxyType({}))
    projection: str = field(default="", repr=False)
    kafka: "KafkaSettings | None" = None
    sealing_key: Path | None = None
    tls: Path | None = None
    console_plain_text: bool = False

    def __post_init__(self) -> None:
        read_address(self.metrics_address)
        if self.console_plain_text and not is_loopback(self.console_address):
            raise SettingsRefused(f"{self.console_address}: a console in plain text is for this machine alone")
        elsewhere = (address for addresses in self.addresses.values() for address in addresses.split(","))
        for address in (self.grpc_address, self.console_address, *elsewhere):
            if not is_loopback(address) and self.tls is None:
                raise SettingsRefused(
                    f"{address} is not an address of this machine alone, and plain text goes no farther: give --tls DIR"
                )

    @property
    def journal_path(self) -> Path:
        """The embedded journal."""
        return self.data_dir / "journal.db"

    @property
    def projection_path(self) -> Path:
        """Surveillance's read model; may be deleted at any time and is built again from the journal."""
        return self.data_dir / "projection.db"

    @property
    def read_model(self) -> Path | str:
        """Where surveillance's read model lies: a database's address, or the file in the data folder."""
        return self.projection or self.projection_path

    @property
    def snapshots_path(self) -> Path:
        """What the services remember of their own states; may be deleted at any time and is cut again."""
        return self.data_dir / "snapshots"

    @property
    def sealing_key_path(self) -> Path:
        """The shoe service's key; without it a live shoe cannot go on."""
        return self.sealing_key or self.data_dir / "keys" / "shoe.key"


def read_calendars(path: Path) -> dict[str, GamingCalendar]:
    """The floors of a TOML file: `[floors.<name>]` with `zone` and `gaming_day_starts_at_hour`; raises SettingsRefused."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsRefused(f"{path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsRefused(f"{path} is not a TOML file: {error}") from error
    floors = content.pop("floors", {})
    if content or not isinstance(floors, dict):
        raise SettingsRefused(f"{path}: only [floors.<name>] tables are known, not {sorted(content) or 'floors'}")
    return {name: _calendar(path, name, floor) for name, floor in floors.items()}


def _calendar(path: Path, name: str, floor: Any) -> GamingCalendar:
    where = f"{path}: [floors.{name}]"
    if not isinstance(floor, dict):
        raise SettingsRefused(f"{where} must be a table")
    zone = floor.pop("zone", "America/Denver")
    hour = floor.pop("gaming_day_starts_at_hour", 6)
    if floor:
        raise SettingsRefused(f"{where} has unknown keys {sorted(floor)}; known: zone, gaming_day_starts_at_hour")
    if not isinstance(zone, str) or not isinstance(hour, int) or isinstance(hour, bool):
        raise SettingsRefused(f"{where}: zone is a text, gaming_day_starts_at_hour a whole number")
    try:
        return GamingCalendar(zone, hour)
    except ValueError as error:
        raise SettingsRefused(f"{where}: {error}") from error
