"""How this process shows itself to the brokers, and knows them: TLS and passwords, checked before anything is tried.

The client library tries again in silence, for as long as it may, with a wrong password, an unknown authority or a file that
is not there. Owns the names of the settings, and finding out which of these it is. Keeps no secret in any message.
"""

import contextlib
import socket
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from services.journal.errors import JournalUnavailable

PLAIN, TLS, PASSWORD, PASSWORD_AND_TLS = "PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"
MECHANISMS = ("SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN")
FILES = ("ssl_cafile", "ssl_certfile", "ssl_keyfile", "ssl_crlfile", "sasl_plain_password_file")
KNOWN = (
    "security_protocol",
    *FILES,
    "ssl_password",
    "ssl_check_hostname",
    "ssl_ciphers",
    "sasl_mechanism",
    "sasl_plain_username",
    "sasl_plain_password",
)


class SecurityRefused(JournalUnavailable):
    """A security setting that cannot be followed; the message says which and what it may be."""


class LineRefused(JournalUnavailable):
    """The brokers were reached, and the two sides do not trust each other; the message says why."""


def check_security(security: Mapping[str, Any]) -> None:
    """Raise SecurityRefused for settings that are unknown, do not go together, or name files that are not there."""
    unknown = sorted(set(security) - set(KNOWN))
    if unknown:
        raise SecurityRefused(f"unknown security settings {', '.join(unknown)}; known are {', '.join(KNOWN)}")
    protocol = security.get("security_protocol", PLAIN)
    if protocol not in {PLAIN, TLS, PASSWORD, PASSWORD_AND_TLS}:
        raise SecurityRefused(
            f"security_protocol is {protocol!r}; it may be SASL_SSL, SSL, SASL_PLAINTEXT or PLAINTEXT"
        )
    for name in FILES:
        if name in security and not Path(str(security[name])).is_file():
            raise SecurityRefused(f"{name} names {security[name]}, which is no file")
    given = set(security)
    if protocol in {PLAIN, PASSWORD} and (wrong := sorted(name for name in given if name.startswith("ssl_"))):
        raise SecurityRefused(
            f"{', '.join(wrong)} has no effect with security_protocol {protocol}: use SSL or SASL_SSL"
        )
    if protocol in {PLAIN, TLS} and (wrong := sorted(name for name in given if name.startswith("sasl_"))):
        raise SecurityRefused(f"{', '.join(wrong)} has no effect with security_protocol {protocol}: use SASL_SSL")
    if protocol in {PASSWORD, PASSWORD_AND_TLS}:
        if security.get("sasl_mechanism") not in MECHANISMS:
            raise SecurityRefused(f"{protocol} needs a sasl_mechanism: {', '.join(MECHANISMS)}")
        if "sasl_plain_username" not in given or len(given & {"sasl_plain_password", "sasl_plain_password_file"}) != 1:
            raise SecurityRefused(
                f"{protocol} needs sasl_plain_username and either sasl_plain_password or sasl_plain_password_file"
            )


def client_settings(security: Mapping[str, Any]) -> dict[str, Any]:
    """The settings as the client library takes them; raises SecurityRefused when the password's file cannot be read."""
    settings = dict(security)
    path = settings.pop("sasl_plain_password_file", None)
    if path is not None:
        try:
            settings["sasl_plain_password"] = Path(path).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise SecurityRefused(f"sasl_plain_password_file {path} cannot be read: {error}") from error
    return settings


def shake_hands(line: socket.socket, host: str, security: Mapping[str, Any]) -> None:
    """Go through TLS on a fresh connection if it is asked for; raises LineRefused when it cannot be trusted."""
    if security.get("security_protocol") not in {TLS, PASSWORD_AND_TLS}:
        return
    context = ssl.create_default_context(cafile=security.get("ssl_cafile"))
    context.check_hostname = bool(security.get("ssl_check_hostname", True))
    try:
        if "ssl_certfile" in security:
            context.load_cert_chain(security["ssl_certfile"], security.get("ssl_keyfile"), security.get("ssl_password"))
        with context.wrap_socket(line, server_hostname=host):
            pass
    except ssl.SSLCertVerificationError as error:
        raise LineRefused(
            f"the broker at {host} cannot be trusted ({error.verify_message}): check ssl_cafile, and that the certificate is"
            " for this name"
        ) from error
    except (ssl.SSLError, ConnectionError, TimeoutError) as error:
        raise LineRefused(
            f"{host} does not speak TLS as it is asked to ({error}): check the port, security_protocol and the certificates"
        ) from error


def why_no_answer(host: str, port: int, security: Mapping[str, Any], timeout_s: float) -> str:
    """What may be wrong when a broker takes connections and still does not answer; empty when nothing shows."""
    protocol = security.get("security_protocol", PLAIN)
    if protocol in {PLAIN, PASSWORD}:
        # Only to find out whether TLS is spoken there: nothing is sent on this line.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        with (
            contextlib.suppress(OSError),
            socket.create_connection((host, port), timeout_s) as line,
            context.wrap_socket(line, server_hostname=host),
        ):
            return f"{host}:{port} speaks TLS: give security settings with security_protocol SASL_SSL or SSL"
    if protocol in {PASSWORD, PASSWORD_AND_TLS}:
        user = security.get("sasl_plain_username")
        return f"the brokers do not let user {user!r} in: check name, password and sasl_mechanism"
    return ""
