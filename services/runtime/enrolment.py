"""Which certificates are good now: in their time, enrolled, not revoked.

Owns the two lists that a server keeps beside its own certificate: `crl.pem`, the authority's revocations (RFC 5280 §5), and
`enrolled.json`, the fingerprints of those who were let in. Both are read again when they change, so that a revocation
counts from the next call on, without a restart. Writes neither (see pki).
"""

import json
from dataclasses import dataclass
from pathlib import Path

import structlog
from cryptography import x509

from services.game.rejections import Breach, Rejection
from services.runtime.clock import Clock, SystemClock
from services.runtime.identity import Identity, at
from services.runtime.settings import SettingsRefused

Stamp = tuple[tuple[int, int, int], ...]

CRL = "crl.pem"
ENROLLED = "enrolled.json"

log = structlog.get_logger(__name__)


class CertificateExpired(Rejection):
    """The certificate's time has passed."""

    rule = "DESIGN §1"
    remedy = "Have a new one issued: `holecard pki issue`."
    breach = Breach.IDENTITY


class CertificateNotYetValid(Rejection):
    """The certificate's time has not come; or one of the two clocks is wrong."""

    rule = "DESIGN §1"
    remedy = "Compare the clocks of both machines, or wait."
    breach = Breach.IDENTITY


class CertificateRevoked(Rejection):
    """The authority has taken the certificate back."""

    rule = "DESIGN §1"
    remedy = "Have a new one issued (`holecard pki issue`), if its holder is to be trusted again."
    breach = Breach.IDENTITY


class CertificateNotEnrolled(Rejection):
    """Issued by the right authority, but nobody let it in here."""

    rule = "DESIGN §1"
    remedy = "Enrol it: `holecard pki enrol`."
    breach = Breach.IDENTITY


class ListUnusable(SettingsRefused):
    """A list of revoked or enrolled certificates that cannot be read or that the authority did not sign."""


@dataclass(frozen=True, slots=True)
class _Lists:
    revoked: frozenset[str]
    enrolled: frozenset[str]


class Enrolment:
    """The lists of one authority, as they stand in two files. Raises ListUnusable where there is nothing to go by."""

    def __init__(self, authority: x509.Certificate, crl: Path, enrolled: Path, *, clock: Clock | None = None) -> None:
        self._authority = authority
        self._crl = crl
        self._enrolled = enrolled
        self._clock = clock or SystemClock()
        self._stamp = self._stamped()
        self._lists = self._read()

    def check(self, identity: Identity) -> Identity:
        """`identity` itself when its certificate is good now; raises one of the refusals above."""
        lists = self._now()
        now = at(self._clock.now_us())
        if now > identity.not_after:
            raise CertificateExpired(
                f"this certificate ended on {identity.not_after:%Y-%m-%d %H:%M} UTC", serial=identity.serial
            )
        if now < identity.not_before:
            begins = f"{identity.not_before:%Y-%m-%d %H:%M}"
            raise CertificateNotYetValid(f"this certificate begins on {begins} UTC", serial=identity.serial)
        if identity.serial in lists.revoked:
            raise CertificateRevoked("this certificate was revoked", serial=identity.serial)
        if identity.fingerprint not in lists.enrolled:
            raise CertificateNotEnrolled("this certificate is not enrolled here", serial=identity.serial)
        return identity

    def _now(self) -> _Lists:
        stamp = self._stamped()
        if stamp != self._stamp:
            self._stamp = stamp
            try:
                self._lists = self._read()
                log.info(
                    "certificate lists read again",
                    revoked=len(self._lists.revoked),
                    enrolled=len(self._lists.enrolled),
                )
            except ListUnusable as error:
                # A slip while editing must neither shut everybody out nor let the revoked in again.
                log.exception("certificate lists are broken: the ones read before stay in force", exc_info=error)
        return self._lists

    def _stamped(self) -> Stamp:
        return stamp_of(self._crl, self._enrolled)

    def _read(self) -> _Lists:
        return _Lists(read_revoked(self._crl, self._authority), frozenset(read_enrolled(self._enrolled)))


def stamp_of(*paths: Path) -> Stamp:
    """What changes whenever one of the files is replaced; a missing file has a stamp too."""
    stamps = []
    for path in paths:
        try:
            status = path.stat()
        except OSError:
            stamps.append((0, 0, 0))
        else:
            stamps.append((status.st_mtime_ns, status.st_size, status.st_ino))
    return tuple(stamps)


def read_revoked(path: Path, authority: x509.Certificate) -> frozenset[str]:
    """The serial numbers, in hex, on a list that the authority signed; raises ListUnusable."""
    try:
        listed = x509.load_pem_x509_crl(path.read_bytes())
        signed = listed.is_signature_valid(authority.public_key())  # type: ignore[arg-type]  # any kind of key but those of agreement
        serials = frozenset(f"{entry.serial_number:x}" for entry in listed)
    except OSError as error:
        raise ListUnusable(f"{path} cannot be read: {error.strerror}; `holecard pki init` makes one") from error
    except (ValueError, TypeError) as error:
        raise ListUnusable(f"{path} is no list of revoked certificates (PEM, RFC 5280): {error}") from error
    if not signed or listed.issuer != authority.subject:
        raise ListUnusable(f"{path} was not signed by this authority: take the list and ca.crt from the same place")
    return serials


def read_enrolled(path: Path) -> dict[str, str]:
    """The names of the enrolled by the SHA-256 fingerprint of their certificate, in hex; raises ListUnusable."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ListUnusable(f"{path} cannot be read: {error.strerror}; `holecard pki enrol` makes one") from error
    except ValueError as error:
        raise ListUnusable(f"{path} is not JSON: {error}") from error
    if not isinstance(content, dict) or not all(_is_entry(*item) for item in content.items()):
        raise ListUnusable(f'{path} must be an object of "<SHA-256 fingerprint in hex>": "<name>"')
    return content


def _is_entry(fingerprint: str, name: object) -> bool:
    return isinstance(name, str) and len(fingerprint) == 64 and set(fingerprint) <= set("0123456789abcdef")
