"""What is typed as an address, a data folder or a rule set is checked before anything starts, and said in one line."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from services.cli.address import reached_at
from services.cli.floor import simulate
from services.cli.serve import serve, up
from services.house import House
from services.runtime.server import PortTaken
from services.runtime.settings import Settings, SettingsRefused, read_address

WRONG = [
    "",
    "8600",
    "abc",
    "127.0.0.1",
    "127.0.0.1:",
    ":8600",
    "127.0.0.1:x",
    "127.0.0.1:99999",
    "a b:1",
    "h:1:2",
    "h:٣",
]


@pytest.mark.parametrize("address", WRONG)
def test_an_address_that_is_none_is_refused_everywhere(address: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsRefused, match="is not an address"):
        read_address(address)
    for name in ("grpc_address", "console_address", "metrics_address"):
        option: dict[str, Any] = {name: address}
        with pytest.raises(SettingsRefused):
            Settings(tmp_path, **option)
    with pytest.raises(SettingsRefused):
        Settings(tmp_path, addresses={"shoe": address})


def test_an_address_is_read_and_reached() -> None:
    assert read_address("127.0.0.1:0") == ("127.0.0.1", 0)
    assert read_address("[::1]:8600") == ("::1", 8600)
    assert read_address("pit-7.casino.example:65535") == ("pit-7.casino.example", 65535)
    assert reached_at("0.0.0.0:0", 8600) == "127.0.0.1:8600"
    assert reached_at("[::]:0", 8600) == "[::1]:8600"
    assert reached_at("10.0.0.5:8600", 8600) == "10.0.0.5:8600"


@pytest.mark.parametrize(
    "option", ["--listen", "--console", "--metrics", "--shoe", "--table", "--wager", "--surveillance"]
)
@pytest.mark.parametrize("address", ["abc", "127.0.0.1:70000"])
def test_a_hosting_command_names_the_option_that_is_wrong(option: str, address: str) -> None:
    told = CliRunner().invoke(serve, ["console", option, address])
    assert told.exit_code == 2
    assert f"'{option}': {address!r} is not an address" in told.stderr


@pytest.mark.parametrize("option", ["--house", "--shoe", "--wager", "--surveillance"])
def test_a_floor_names_the_option_that_is_wrong(option: str) -> None:
    told = CliRunner().invoke(simulate, [option, "garbage"])
    assert told.exit_code == 2
    assert f"'{option}'" in told.stderr


def refused(kind: type[Exception], command: Sequence[str], folder: Path) -> str:
    free = ["--plain-text", "--listen", "127.0.0.1:0", "--console", "127.0.0.1:0", "--metrics", "127.0.0.1:0"]
    told = CliRunner().invoke(serve if command[0] == "serve" else up, [*command[1:], *free, "--data", str(folder)])
    assert isinstance(told.exception, kind), told.exception
    return str(told.exception)


def test_a_data_folder_that_cannot_be_one_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("not a folder")
    for folder in (file, file / "below"):
        assert "cannot be a data folder" in refused(SettingsRefused, ["serve", "shoe", "table", "wager"], folder)


def test_a_service_without_the_ones_it_asks_says_where_to_give_their_address(tmp_path: Path) -> None:
    assert "--table HOST:PORT" in refused(
        SettingsRefused, ["serve", "console", "--surveillance", "127.0.0.1:1"], tmp_path
    )


@pytest.mark.parametrize("hosted", [("shoe", "table", "wager"), ("console",)])
async def test_a_taken_port_is_said_in_one_line(tmp_path: Path, hosted: tuple[str, ...]) -> None:
    free = "127.0.0.1:0"
    others = {"table": "127.0.0.1:1", "surveillance": "127.0.0.1:1"}
    async with House(Settings(tmp_path / "first", free, free, free, addresses=others), hosted) as house:
        taken = f"127.0.0.1:{house.console_port or house.grpc_port}"
        for addresses in ((taken, taken, free), (free, free, f"127.0.0.1:{house.metrics_port}")):
            with pytest.raises(PortTaken, match="cannot"):
                async with House(Settings(tmp_path / "second", *addresses, addresses=others), hosted):
                    pass
