"""The options that say how a command speaks to others: with TLS and a certificate, or in plain text on this machine."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from services.runtime.settings import SettingsRefused
from services.runtime.transport import Tls

F = TypeVar("F", bound=Callable[..., Any])


def transport_options(command: F) -> F:
    """--tls and --plain-text, of which a command needs one; see `asked_for`."""
    options = [
        click.option("--tls", type=click.Path(path_type=Path, file_okay=False), envvar="HOLECARD_TLS",
                     help="Folder of the certificate to show and of the authority to trust: tls.crt, tls.key, ca.crt."
                          "  [env: HOLECARD_TLS]"),
        click.option("--plain-text", is_flag=True, envvar="HOLECARD_PLAIN_TEXT",
                     help="Speak without TLS, on this machine's own addresses alone.  [env: HOLECARD_PLAIN_TEXT]"),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def asked_for(tls: Path | None, plain_text: bool) -> Path | None:
    """The folder for TLS, None for plain text; raises SettingsRefused unless just one of both was asked for."""
    if tls is not None and plain_text:
        raise SettingsRefused("--tls and --plain-text exclude each other: say which one")
    if tls is None and not plain_text:
        raise SettingsRefused(
            "say how to speak to others: --tls DIR with a certificate (`holecard pki init` makes some for development),"
            " or --plain-text to stay without TLS on this machine"
        )
    return tls


def certificate_of(tls: Path | None, plain_text: bool) -> Tls | None:
    """The same as a client needs it: its certificate, or None for plain text; raises TlsUnusable too."""
    folder = asked_for(tls, plain_text)
    return Tls(folder) if folder else None
