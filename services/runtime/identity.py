"""Who somebody is: what a certificate says of its holder, as grants.

A certificate carries one or more grants, each a URI in its subject alternative names (RFC 5280 §4.2.1.6):

    holecard://<floor>/<role>/<id>        holecard://black-hawk/dealer/D-17

A floor of "*" is every floor, an id of "*" everybody of that role. Owns reading them, strictly: one URI of this scheme that
is not understood spoils the whole certificate. Does not say whether the certificate is still good (see enrolment) or
what its holder may do (see admission).
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache

from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256

from services.game.authority import Actor, Role
from services.game.rejections import Breach, Rejection

SCHEME = "holecard://"
EVERY = "*"
MOST_GRANTS = 16
_FLOOR = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@+-]{0,63}")

# A certificate is read piece by piece, so damage shows late and in many ways.
_UNREADABLE = (ValueError, x509.InvalidVersion, x509.DuplicateExtension, x509.UnsupportedGeneralNameType)


class CertificateRole(StrEnum):
    """What the holder of a certificate is. SERVICE, GATEWAY, CONSOLE and OPS are no actors: no command is theirs."""

    SERVICE = "service"
    GATEWAY = "gateway"
    CONSOLE = "console"
    DEVICE = "device"
    DEALER = "dealer"
    PLAYER = "player"
    SUPERVISOR = "supervisor"
    LICENSEE = "licensee"
    REGULATOR = "regulator"
    SURVEILLANCE = "surveillance"
    OPS = "ops"


PASSED_ON_BY_GATEWAYS = frozenset({Role.DEVICE, Role.DEALER, Role.PLAYER})
"""The actors that a floor's gateway may speak for. No supervisor: whoever takes a gateway over must not thereby decide
irregularities (30-828), so a supervisor's word needs a supervisor's grant."""


class CertificateMalformed(Rejection):
    """A certificate that says nothing of its holder which we understand."""

    rule = "DESIGN §1"
    remedy = "Have a certificate issued by `holecard pki issue` with a grant such as black-hawk/dealer/D-17."
    breach = Breach.IDENTITY


@dataclass(frozen=True, slots=True)
class Grant:
    """One thing that a certificate says of its holder: its role on a floor ("*": on all), under an id ("*": any)."""

    floor: str
    role: CertificateRole
    id: str

    def __str__(self) -> str:
        return f"{self.floor}/{self.role}/{self.id}"

    @property
    def uri(self) -> str:
        """As it stands in a certificate."""
        return f"{SCHEME}{self}"

    def reaches(self, floor: str) -> bool:
        """Whether it holds on that floor; "" stands for all floors together."""
        return self.floor in {EVERY, floor}

    def speaks_for(self, actor: Actor) -> bool:
        """Whether its holder may say that this actor acts."""
        match self.role:
            case CertificateRole.SERVICE:
                return True
            case CertificateRole.GATEWAY:
                return actor.role in PASSED_ON_BY_GATEWAYS
            case _:
                return actor.role.value == self.role.value and self.id in {EVERY, actor.id}


@dataclass(frozen=True, slots=True)
class Identity:
    """The holder of one certificate. `serial` is its number in hex, `fingerprint` the SHA-256 of its DER bytes in hex."""

    grants: tuple[Grant, ...]
    serial: str
    fingerprint: str
    not_before: datetime
    not_after: datetime

    def __str__(self) -> str:
        return " + ".join(map(str, self.grants))


def parse_grant(text: str) -> Grant:
    """Read "<floor>/<role>/<id>", with or without the scheme; raises CertificateMalformed."""
    parts = text.removeprefix(SCHEME).split("/")
    if len(parts) != 3:
        raise CertificateMalformed(f"{text[:120]!r} is not <floor>/<role>/<id>", grant=text[:120])
    floor, role, holder = parts
    if floor != EVERY and not _FLOOR.fullmatch(floor):
        raise CertificateMalformed(f"{floor[:60]!r} is no floor", grant=text[:120])
    if holder != EVERY and not _ID.fullmatch(holder):
        raise CertificateMalformed(f"{holder[:80]!r} is no id", grant=text[:120])
    try:
        return Grant(floor, CertificateRole(role), holder)
    except ValueError as error:
        known = ", ".join(CertificateRole)
        raise CertificateMalformed(f"{role[:40]!r} is no role; the roles are {known}", grant=text[:120]) from error


@lru_cache(maxsize=4096)
def identity_in_pem(pem: bytes) -> Identity:
    """The holder of a PEM certificate; raises CertificateMalformed. Kept, since every call of a connection asks again."""
    try:
        return identity_in(x509.load_pem_x509_certificate(pem))
    except _UNREADABLE as error:
        raise CertificateMalformed("this is no certificate that can be read") from error


def identity_in_der(der: bytes) -> Identity:
    """The holder of a DER certificate; raises CertificateMalformed."""
    try:
        return identity_in(x509.load_der_x509_certificate(der))
    except _UNREADABLE as error:
        raise CertificateMalformed("this is no certificate that can be read") from error


def identity_in(certificate: x509.Certificate) -> Identity:
    """What a certificate says of its holder; raises CertificateMalformed, or what its parser raises when it is damaged."""
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        uris = names.get_values_for_type(x509.UniformResourceIdentifier)
    except x509.ExtensionNotFound:
        uris = []
    if certificate.serial_number <= 0:
        raise CertificateMalformed("a certificate's number is positive (RFC 5280 §4.1.2.2)")
    ours = [uri for uri in uris if uri.lower().startswith(SCHEME)]
    if not 1 <= len(ours) <= MOST_GRANTS:
        raise CertificateMalformed(f"a certificate carries 1 to {MOST_GRANTS} grants, this one {len(ours)}")
    return Identity(
        tuple(map(parse_grant, ours)),
        serial=serial_of(certificate),
        fingerprint=certificate.fingerprint(SHA256()).hex(),
        not_before=certificate.not_valid_before_utc,
        not_after=certificate.not_valid_after_utc,
    )


def serial_of(certificate: x509.Certificate) -> str:
    """Its serial number, in hex."""
    return f"{certificate.serial_number:x}"


def at(now_us: int) -> datetime:
    """A clock's time as certificates tell it."""
    return datetime.fromtimestamp(now_us / 1_000_000, UTC)
