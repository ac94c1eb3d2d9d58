"""What a secure broker needs, made for one test: a certificate authority, the broker's certificate, users and passwords."""

import secrets
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

USERS = ("broker", "ops", "shoe", "table", "wager", "cell", "surveillance", "auditor", "nobody")


def make_security(folder: Path) -> dict[str, str]:
    """Write ca.pem, kafka.pem and users into the folder, and return each user's password."""
    folder.mkdir(parents=True, exist_ok=True)
    authority = make_authority(folder / "ca.pem")
    _make_certificate(folder / "kafka.pem", *authority)
    passwords = {user: secrets.token_urlsafe(18) for user in USERS}
    (folder / "users").write_text("".join(f"{user} {password}\n" for user, password in passwords.items()))
    return passwords


def make_authority(path: Path) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    """A certificate authority of its own; its certificate goes to `path`."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test authority")])
    certificate = (
        _valid(name, name, key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return certificate, key


def _make_certificate(path: Path, authority: x509.Certificate, authority_key: ec.EllipticCurvePrivateKey) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kafka")])
    both = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    names = [x509.IPAddress(ip_address("127.0.0.1")), x509.DNSName("localhost")]
    certificate = (
        _valid(name, authority.subject, key.public_key())
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.ExtendedKeyUsage(both), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + certificate.public_bytes(serialization.Encoding.PEM)
    )


def _valid(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=2))
    )
