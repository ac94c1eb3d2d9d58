"""Whatever a certificate says: it is understood wholly, or refused as what it is, and never an error of ours."""

from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID
from hypothesis import given
from hypothesis import strategies as st

from services.runtime.clock import SystemClock
from services.runtime.enrolment import ListUnusable, read_enrolled, read_revoked
from services.runtime.identity import (
    MOST_GRANTS,
    CertificateMalformed,
    CertificateRole,
    Grant,
    Identity,
    at,
    identity_in_der,
    identity_in_pem,
    parse_grant,
)
from services.runtime.pki import Pki

# The library still reads numbers that are not positive, and says that it will not for ever; ours are refused.
pytestmark = pytest.mark.filterwarnings("ignore:Parsed a serial number which wasn't positive")

KEY = ec.generate_private_key(ec.SECP256R1())

grants = st.builds(
    Grant,
    st.one_of(st.just("*"), st.from_regex(r"[a-z0-9][a-z0-9-]{0,39}", fullmatch=True)),
    st.sampled_from(CertificateRole),
    st.one_of(st.just("*"), st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._:@+-]{0,63}", fullmatch=True)),
)
nearly = st.builds(
    lambda text, at_, more: text[:at_] + more + text[at_:],
    grants.map(lambda grant: grant.uri),
    st.integers(0, 40),
    st.text(max_size=3),
)


def carrying(*uris: str) -> bytes:
    """A certificate, in DER, with these URIs among its names."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "fuzzed")])
    now = at(SystemClock().now_us())
    names: list[x509.GeneralName] = [x509.DNSName("localhost"), *map(x509.UniformResourceIdentifier, uris)]
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(KEY.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now)
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(KEY, hashes.SHA256())
        .public_bytes(Encoding.DER)
    )


WHOLE = carrying("holecard://black-hawk/dealer/D-17")


def understood(der: bytes) -> Identity | None:
    try:
        return identity_in_der(der)
    except CertificateMalformed:
        return None


@given(grants)
def test_a_grant_is_read_as_it_was_written(grant: Grant) -> None:
    assert parse_grant(grant.uri) == parse_grant(str(grant)) == grant


@given(st.one_of(nearly, st.text(max_size=80)))
def test_a_text_is_a_grant_or_it_is_none(text: str) -> None:
    with suppress(CertificateMalformed):
        grant = parse_grant(text)
        assert text in {grant.uri, str(grant)}


@given(st.lists(grants, min_size=1, max_size=MOST_GRANTS + 2))
def test_a_certificate_gives_its_grants_in_order_up_to_a_limit(given_: list[Grant]) -> None:
    identity = understood(carrying(*(grant.uri for grant in given_)))
    if len(given_) <= MOST_GRANTS:
        assert identity is not None
        assert identity.grants == tuple(given_)
    else:
        assert identity is None


@given(nearly.filter(str.isascii), grants)
def test_one_uri_of_ours_that_is_not_understood_spoils_the_whole_certificate(text: str, good: Grant) -> None:
    identity = understood(carrying(good.uri, text))
    if identity is not None:
        # What is not of our scheme says nothing; what is was understood to the letter.
        mine = [good.uri, *([text] if text.lower().startswith("holecard://") else [])]
        assert [grant.uri for grant in identity.grants] == mine


@given(st.lists(st.tuples(st.integers(0, 1_000), st.integers(0, 255)), min_size=1, max_size=4), st.integers(0, 1_000))
def test_damaged_certificates_are_refused_or_say_what_they_say(damages: list[tuple[int, int]], length: int) -> None:
    der = bytearray(WHOLE)
    for place, byte in damages:
        der[place % len(der)] = byte
    understood(bytes(der))
    understood(bytes(der[:length]))


@given(st.binary(max_size=200))
def test_garbage_is_no_certificate(data: bytes) -> None:
    with pytest.raises(CertificateMalformed):
        identity_in_der(data)
    with pytest.raises(CertificateMalformed):
        identity_in_pem(b"-----BEGIN CERTIFICATE-----\n" + data + b"\n-----END CERTIFICATE-----\n")


@given(
    st.one_of(st.binary(max_size=100), st.sampled_from([b"[]", b'{"a": "b"}', b'{"' + b"0" * 64 + b'": 1}', b"null"]))
)
def test_a_broken_list_is_named(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.mktemp("lists")
    path = folder / "list"
    path.write_bytes(data)
    with pytest.raises(ListUnusable, match="list"):
        read_enrolled(path)
    with pytest.raises(ListUnusable, match="list"):
        read_revoked(path, Pki.create(folder / "pki").certificate)


def test_a_list_of_another_authority_is_refused(tmp_path: Path) -> None:
    ours, theirs = Pki.create(tmp_path / "ours"), Pki.create(tmp_path / "theirs")
    with pytest.raises(ListUnusable, match="not signed by this authority"):
        read_revoked(theirs.folder / "crl.pem", ours.certificate)
