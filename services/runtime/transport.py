"""TLS with certificates on both sides, and where plain text may be spoken instead: on this machine alone.

Owns one process's own certificate: `tls.crt`, `tls.key` and `ca.crt` in one folder (the names of a Kubernetes TLS secret),
with the server's lists beside them or in the folder above. A certificate that was replaced there is used from the next
connection on. gRPC's own library checks, in the handshake, that a peer's certificate is from our authority and in its time.
"""

import ssl
from dataclasses import dataclass
from pathlib import Path

import grpc
import structlog
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization

from services.runtime.clock import SystemClock
from services.runtime.enrolment import CRL, ENROLLED, Enrolment, Stamp, stamp_of
from services.runtime.identity import CertificateMalformed, CertificateRole, at, identity_in_pem
from services.runtime.settings import SettingsRefused, is_loopback

CERTIFICATE = "tls.crt"
KEY = "tls.key"
AUTHORITY = "ca.crt"

# X509_V_FLAG_NO_CHECK_TIME: Python has no name for it.
_NO_CHECK_TIME = 0x200000

log = structlog.get_logger(__name__)


class TlsUnusable(SettingsRefused):
    """A certificate, key or authority that cannot be used; the text says which and what to do."""


@dataclass(frozen=True, slots=True)
class Material:
    """A process's own certificate with its chain, its key, and the authority that it trusts; all PEM."""

    certificate: bytes
    key: bytes
    authority: bytes

    def __repr__(self) -> str:
        return "Material(key hidden)"


class Tls:
    """The certificate in `folder`; raises TlsUnusable for one that does not fit together or is out of its time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._paths = tuple(folder / name for name in (CERTIFICATE, KEY, AUTHORITY))
        self.stamp = stamp_of(*self._paths)
        self.material = _read(*self._paths)

    def __repr__(self) -> str:
        return f"Tls({str(self.folder)!r})"

    def refresh(self) -> Stamp:
        """Take up a certificate that was replaced; gives the stamp of the one in use. What does not fit together is not."""
        stamp = stamp_of(*self._paths)
        if stamp != self.stamp:
            try:
                self.material = _read(*self._paths)
            except TlsUnusable as error:
                # Files are replaced one after the other: look again at the next connection.
                log.warning("the new certificate is not taken up", folder=str(self.folder), reason=str(error))
            else:
                self.stamp = stamp
                log.info("a new certificate is taken up", folder=str(self.folder))
        return self.stamp

    def require_role(self, role: CertificateRole, floor: str) -> None:
        """Raise TlsUnusable unless this certificate has that role on the floor: better at the start than at every call."""
        try:
            identity = identity_in_pem(self.material.certificate)
        except CertificateMalformed as error:
            raise TlsUnusable(f"{self.folder / CERTIFICATE}: {error}") from error
        if not any(grant.role is role and grant.reaches(floor) for grant in identity.grants):
            raise TlsUnusable(
                f"{self.folder / CERTIFICATE} is the certificate of {identity}, which is no {role.value} of {floor}"
            )

    def enrolment(self) -> Enrolment:
        """The lists of this folder or of the one above; raises ListUnusable."""
        authority = x509.load_pem_x509_certificate(self.material.authority)
        return Enrolment(authority, self._listed(CRL), self._listed(ENROLLED))

    def channel_credentials(self) -> grpc.ChannelCredentials:
        """For a client: show our certificate, and trust servers of our authority only."""
        material = self.material
        return grpc.ssl_channel_credentials(material.authority, material.key, material.certificate)

    def server_configuration(self) -> grpc.ServerCertificateConfiguration:
        """For a server: show our certificate, and demand one of our authority."""
        material = self.material
        return grpc.ssl_server_certificate_configuration([(material.key, material.certificate)], material.authority)

    def web_context(self) -> ssl.SSLContext:
        """For a web server: the same, but who shows no certificate or an old one is connected, to be answered in words.

        A certificate of another authority gets no connection.
        """
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cadata=self.material.authority.decode())
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        self.show(context)
        context.verify_mode = ssl.CERT_OPTIONAL
        context.verify_flags |= ssl.VerifyFlags(_NO_CHECK_TIME)
        return context

    def show(self, context: ssl.SSLContext) -> None:
        """Let a web server's context show the certificate in use, to whoever connects from now on."""
        context.load_cert_chain(self.folder / CERTIFICATE, self.folder / KEY)

    def _listed(self, name: str) -> Path:
        beside = self.folder / name
        return beside if beside.exists() else self.folder.parent / name


def require_loopback(address: str, remedy: str) -> str:
    """`address` itself, "host:port", when it lies on this machine; raises SettingsRefused: plain text goes no farther."""
    if not is_loopback(address):
        raise SettingsRefused(f"{address} is not an address of this machine alone, and there is no TLS: {remedy}")
    return address


def _read(certificate: Path, key: Path, authority: Path) -> Material:
    try:
        material = Material(certificate.read_bytes(), key.read_bytes(), authority.read_bytes())
        mode = key.stat().st_mode
    except OSError as error:
        raise TlsUnusable(
            f"{error.filename} cannot be read: {error.strerror}; --tls names a folder with {CERTIFICATE}, {KEY} and"
            f" {AUTHORITY}, as `holecard pki issue` makes it"
        ) from error
    if mode & 0o007:
        raise TlsUnusable(f"the key {key} can be read by everybody: chmod 600 it")
    _check(material, certificate, key, authority)
    return material


def _check(material: Material, certificate: Path, key: Path, authority: Path) -> None:
    try:
        own = x509.load_pem_x509_certificate(material.certificate)
    except ValueError as error:
        raise TlsUnusable(f"{certificate} is no certificate (PEM)") from error
    try:
        trusted = x509.load_pem_x509_certificate(material.authority)
    except ValueError as error:
        raise TlsUnusable(f"{authority} is no certificate (PEM)") from error
    try:
        private = serialization.load_pem_private_key(material.key, None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise TlsUnusable(f"{key} is no key (PEM, without a password)") from error
    if private.public_key() != own.public_key():
        raise TlsUnusable(f"{key} is not the key of {certificate}: take both from the same place")
    try:
        own.verify_directly_issued_by(trusted)
    except Exception as error:
        raise TlsUnusable(f"{certificate} was not issued by {authority}: take both from the same place") from error
    now = at(SystemClock().now_us())
    if not own.not_valid_before_utc <= now <= own.not_valid_after_utc:
        raise TlsUnusable(
            f"{certificate} is good from {own.not_valid_before_utc:%Y-%m-%d %H:%M} to"
            f" {own.not_valid_after_utc:%Y-%m-%d %H:%M} UTC, and now it is {now:%Y-%m-%d %H:%M}: issue a new one"
        )
