"""An authority in a folder, and certificates good and bad from it and from nobody: for tests of who is let in."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from services.runtime.clock import ManualClock, SystemClock
from services.runtime.identity import at, parse_grant
from services.runtime.pki import Pki
from services.runtime.transport import Material, Tls

FLOOR = "black-hawk"


@dataclass
class Certificates:
    """Issues what a test asks for; every certificate has a folder of its own."""

    folder: Path
    pki: Pki = field(init=False)
    _issued: int = 0

    def __post_init__(self) -> None:
        self.pki = Pki.create(self.folder)

    def of(self, *grants: str, enrol: bool = True, hosts: Sequence[str] = ()) -> Tls:
        """A good certificate with these grants."""
        return Tls(self._issue(self.pki, grants, enrol=enrol, hosts=hosts))

    def expired(self, *grants: str) -> Material:
        """One whose time has passed, and that was good in it."""
        past = ManualClock(SystemClock().now_us())
        past.advance(-3 * 86_400)
        folder = self._issue(Pki(self.folder, clock=past), grants, valid=timedelta(days=1))
        return Material(*((folder / name).read_bytes() for name in ("tls.crt", "tls.key", "ca.crt")))

    def name_of(self, tls: Tls) -> str:
        """The name by which the authority knows it."""
        return tls.folder.name

    def _issue(
        self,
        pki: Pki,
        grants: Sequence[str],
        *,
        enrol: bool = True,
        hosts: Sequence[str] = (),
        valid: timedelta = timedelta(days=2),
    ) -> Path:
        self._issued += 1
        return pki.issue(f"one-{self._issued}", tuple(map(parse_grant, grants)), enrol=enrol, hosts=hosts, valid=valid)


def self_signed(grant: str) -> Material:
    """What anybody can make at home."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "home-made")])
    now = at(SystemClock().now_us())
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.UniformResourceIdentifier(f"holecard://{grant}")]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    own = certificate.public_bytes(pem)
    return Material(own, key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()), own)
