"""A small certificate authority in a folder: for development, tests and a house that has no other.

Owns the folder: `ca.crt` and `ca.key`, `crl.pem` and `enrolled.json` (see enrolment), a copy of every certificate in
`issued/`, and one folder per name with `tls.crt`, `tls.key` and `ca.crt` (see transport). Keys are P-256, since neither
gRPC's nor the browsers' TLS takes Ed25519. Every file is for its owner alone, and replaced whole. A house with an authority
of its own needs only the same files: nothing that serves uses this module.
"""

import json
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from services.runtime.clock import Clock, SystemClock
from services.runtime.enrolment import CRL, ENROLLED, read_enrolled, read_revoked
from services.runtime.identity import MOST_GRANTS, CertificateRole, Grant, Identity, at, identity_in, serial_of
from services.runtime.settings import SettingsRefused
from services.runtime.transport import AUTHORITY, CERTIFICATE, KEY

AUTHORITY_KEY = "ca.key"
ISSUED = "issued"
AUTHORITY_DAYS = 3650
DEFAULT_DAYS = 90
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
# The clocks of a floor's devices are not all right: a new certificate is to be good at once on one that is late.
BACKDATED = timedelta(minutes=5)
SERVE = frozenset({CertificateRole.SERVICE, CertificateRole.GATEWAY, CertificateRole.CONSOLE})
"""The roles that also serve; only their certificates say so, so that no dealer's tablet can pass for a service."""

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


class PkiRefused(SettingsRefused):
    """An authority's folder that cannot be used, or something that it does not issue; the text says why."""


@dataclass(frozen=True, slots=True)
class Issued:
    """One certificate as the authority knows it. `state` is good, expired, revoked or unenrolled."""

    name: str
    identity: Identity
    hosts: tuple[str, ...]
    state: str


class Pki:
    """The authority in `folder`; raises PkiRefused where there is none, see `create`."""

    def __init__(self, folder: Path, *, clock: Clock | None = None) -> None:
        self.folder = folder
        self._clock = clock or SystemClock()
        try:
            self.certificate = x509.load_pem_x509_certificate((folder / AUTHORITY).read_bytes())
            key = serialization.load_pem_private_key((folder / AUTHORITY_KEY).read_bytes(), None)
        except OSError as error:
            raise PkiRefused(
                f"{folder} is not the folder of an authority: {error.filename} cannot be read ({error.strerror});"
                " `holecard pki init` makes one"
            ) from error
        except (ValueError, TypeError) as error:
            raise PkiRefused(f"{folder}: {AUTHORITY} or {AUTHORITY_KEY} is damaged") from error
        if not isinstance(key, ec.EllipticCurvePrivateKey) or key.public_key() != self.certificate.public_key():
            raise PkiRefused(f"{folder}: {AUTHORITY_KEY} is not the key of {AUTHORITY}")
        self._key = key

    @classmethod
    def create(cls, folder: Path, *, clock: Clock | None = None) -> "Pki":
        """Make a new authority in `folder`; raises PkiRefused where there is one, or something else, already."""
        if (folder / AUTHORITY).exists() or (folder / AUTHORITY_KEY).exists():
            raise PkiRefused(f"{folder} holds an authority already, and a new one would make all it issued worthless")
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Holecard development authority")])
        now = at((clock or SystemClock()).now_us())
        usage = x509.KeyUsage(
            digital_signature=False, content_commitment=False, key_encipherment=False, data_encipherment=False,
            key_agreement=False, key_cert_sign=True, crl_sign=True, encipher_only=False, decipher_only=False,
        )  # fmt: skip
        certificate = (
            _unsigned(name, name, key.public_key(), now, timedelta(days=AUTHORITY_DAYS))
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .sign(key, hashes.SHA256())
        )
        try:
            _make_folder(folder)
            _make_folder(folder / ISSUED)
            _write(folder / AUTHORITY_KEY, _key_pem(key))
            _write(folder / AUTHORITY, _pem(certificate))
        except OSError as error:
            raise PkiRefused(f"{error.filename or folder} cannot be written: {error.strerror}") from error
        made = cls(folder, clock=clock)
        made._write_revoked(())
        made._write_enrolled({})
        return made

    def issue(
        self,
        name: str,
        grants: Sequence[Grant],
        *,
        hosts: Sequence[str] = (),
        valid: timedelta = timedelta(days=DEFAULT_DAYS),
        enrol: bool = True,
    ) -> Path:
        """Make a key and a certificate in a folder called `name`, in place of one that is there; gives the folder.

        `hosts` are the names and IP addresses under which one that serves is asked for, besides this machine's own.
        The former certificate stays good until it ends or is revoked, so that it can be replaced while it is in use.
        """
        if not _NAME.fullmatch(name) or name == ISSUED:
            raise PkiRefused(f"{name!r} is not a name such as table-1: lower-case letters, digits and hyphens")
        if not 1 <= len(grants) <= MOST_GRANTS:
            raise PkiRefused(f"a certificate carries 1 to {MOST_GRANTS} grants, not {len(grants)}")
        serves = any(grant.role in SERVE for grant in grants)
        if hosts and not serves:
            raise PkiRefused("only the certificate of a service, gateway or console names hosts: others serve nothing")
        key = ec.generate_private_key(ec.SECP256R1())
        every_host = (*LOCAL_HOSTS, *hosts) if serves else ()
        certificate = self._signed(name, key.public_key(), grants, tuple(dict.fromkeys(every_host)), valid)
        folder = self.folder / name
        _make_folder(folder)
        _write(self.folder / ISSUED / f"{serial_of(certificate)}.crt", _pem(certificate))
        if enrol:
            self.enrol(certificate)
        _write(folder / AUTHORITY, _pem(self.certificate))
        _write(folder / KEY, _key_pem(key))
        _write(folder / CERTIFICATE, _pem(certificate))
        return folder

    def export(self, name: str, file: Path, password: str) -> None:
        """Write key and certificate of a name for a browser: PKCS#12 (RFC 7292), locked with a password."""
        if not password:
            raise PkiRefused("a key leaves its folder under a password only")
        try:
            certificate = x509.load_pem_x509_certificate((self.folder / name / CERTIFICATE).read_bytes())
            key = serialization.load_pem_private_key((self.folder / name / KEY).read_bytes(), None)
        except (OSError, ValueError) as error:
            raise PkiRefused(f"{name!r} has no certificate and key here: {error}") from error
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise PkiRefused(f"the key of {name!r} is not one of this authority's")
        lock = serialization.BestAvailableEncryption(password.encode())
        content = pkcs12.serialize_key_and_certificates(name.encode(), key, certificate, [self.certificate], lock)
        try:
            _write(file, content)
        except OSError as error:
            raise PkiRefused(f"{file} cannot be written: {error.strerror}") from error

    def enrol(self, certificate: x509.Certificate) -> None:
        """Let a certificate of this authority in."""
        self._write_enrolled(
            read_enrolled(self.folder / ENROLLED) | {identity_in(certificate).fingerprint: _common_name(certificate)}
        )

    def withdraw(self, who: str) -> tuple[Issued, ...]:
        """Let the certificates of a name, or the one of a serial number, in no longer; gives them."""
        found = self._find(who)
        gone = {one.identity.fingerprint for one in found}
        kept = {print_: name for print_, name in read_enrolled(self.folder / ENROLLED).items() if print_ not in gone}
        self._write_enrolled(kept)
        return self._find(who)

    def enrol_again(self, who: str) -> tuple[Issued, ...]:
        """Let the certificates of a name, or the one of a serial number, in; gives them."""
        added = {one.identity.fingerprint: one.name for one in self._find(who)}
        self._write_enrolled(read_enrolled(self.folder / ENROLLED) | added)
        return self._find(who)

    def revoke(self, who: str) -> tuple[Issued, ...]:
        """Take back every certificate of a name, or the one of a serial number, for good; gives them."""
        serials = {one.identity.serial for one in self._find(who)}
        self._write_revoked(read_revoked(self.folder / CRL, self.certificate) | serials)
        return self._find(who)

    def certificates(self) -> tuple[Issued, ...]:
        """Everything that was issued, by name, the newest of a name first."""
        revoked = read_revoked(self.folder / CRL, self.certificate)
        enrolled = read_enrolled(self.folder / ENROLLED)
        now = at(self._clock.now_us())
        found = []
        for path in (self.folder / ISSUED).glob("*.crt"):
            certificate = x509.load_pem_x509_certificate(path.read_bytes())
            identity = identity_in(certificate)
            if identity.serial in revoked:
                state = "revoked"
            elif now > identity.not_after:
                state = "expired"
            else:
                state = "good" if identity.fingerprint in enrolled else "unenrolled"
            found.append(Issued(_common_name(certificate), identity, _hosts_of(certificate), state))
        return tuple(sorted(found, key=lambda one: (one.name, -one.identity.not_before.timestamp())))

    def lasting(self, time: timedelta) -> frozenset[str]:
        """The names with a good certificate that does not end within that time."""
        until = at(self._clock.now_us()) + time
        return frozenset(
            one.name for one in self.certificates() if one.state == "good" and one.identity.not_after > until
        )

    def _find(self, who: str) -> tuple[Issued, ...]:
        found = tuple(one for one in self.certificates() if who in {one.name, one.identity.serial})
        if not found:
            raise PkiRefused(f"nothing was issued under {who!r}; `holecard pki list` shows what was")
        return found

    def _signed(
        self,
        name: str,
        key: ec.EllipticCurvePublicKey,
        grants: Iterable[Grant],
        hosts: Sequence[str],
        valid: timedelta,
    ) -> x509.Certificate:
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        names = [*map(_host, hosts), *(x509.UniformResourceIdentifier(grant.uri) for grant in grants)]
        uses = [ExtendedKeyUsageOID.CLIENT_AUTH, *([ExtendedKeyUsageOID.SERVER_AUTH] if hosts else [])]
        now = at(self._clock.now_us())
        identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        return (
            _unsigned(subject, self.certificate.subject, key, now, valid)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .add_extension(x509.ExtendedKeyUsage(uses), critical=False)
            .add_extension(identifier, critical=False)
            .sign(self._key, hashes.SHA256())
        )

    def _write_revoked(self, serials: Iterable[str]) -> None:
        now = at(self._clock.now_us())
        builder = (
            x509.CertificateRevocationListBuilder()
            .issuer_name(self.certificate.subject)
            .last_update(now - BACKDATED)
            .next_update(now + timedelta(days=AUTHORITY_DAYS))
        )
        for serial in sorted(serials):
            entry = x509.RevokedCertificateBuilder().serial_number(int(serial, 16)).revocation_date(now - BACKDATED)
            builder = builder.add_revoked_certificate(entry.build())
        _write(self.folder / CRL, builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))

    def _write_enrolled(self, enrolled: dict[str, str]) -> None:
        _write(self.folder / ENROLLED, json.dumps(enrolled, indent=1, sort_keys=True).encode() + b"\n")


def _unsigned(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime, valid: timedelta
) -> x509.CertificateBuilder:
    try:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - BACKDATED)
            .not_valid_after(now + valid)
        )
    except (ValueError, OverflowError) as error:
        raise PkiRefused(f"a certificate cannot be good for {valid}: {error}") from error


def _host(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(text))
    except ValueError:
        pass
    if not re.fullmatch(r"(\*\.)?[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?", text):
        raise PkiRefused(f"{text!r} is neither the name of a host nor an IP address")
    return x509.DNSName(text)


def _hosts_of(certificate: x509.Certificate) -> tuple[str, ...]:
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return (
        *names.get_values_for_type(x509.DNSName),
        *map(str, names.get_values_for_type(x509.IPAddress)),
    )


def _common_name(certificate: x509.Certificate) -> str:
    return str(certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _make_folder(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _write(path: Path, content: bytes) -> None:
    """Replace a file whole, readable by its owner alone: whoever reads it meanwhile sees the old or the new one."""
    new = path.with_name(f".{path.name}.new")
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
