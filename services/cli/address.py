"""The option type of an address: "host:port", checked where it is typed, so that a slip is named with its option."""

from typing import Any

import click

from services.runtime.settings import SettingsRefused, read_address


class Address(click.ParamType):
    """An address as "127.0.0.1:8600" or "[::1]:8600"."""

    name = "host:port"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Give it back as it is; fail when it is none."""
        try:
            read_address(str(value))
        except SettingsRefused as refused:
            self.fail(str(refused), param, ctx)
        return str(value)


class Addresses(click.ParamType):
    """One address or several by commas, each as "127.0.0.1:8600": processes that share one service."""

    name = "host:port[,…]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Give them back as they are; fail when one is none."""
        for address in str(value).split(","):
            Address().convert(address, param, ctx)
        return str(value)


def reached_at(address: str, port: int) -> str:
    """Where a client on this machine finds what listens on `address` with `port`: a wildcard is reached over loopback."""
    host, _ = read_address(address)
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - it is recognised, not listened on
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
