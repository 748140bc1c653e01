"""A party's identity: an Ed25519 key that never leaves it, and a certificate signed by itself.

There is no authority. `study.toml` lists the parties of a study: each name with the SHA-256 of its
certificate, and that is what people compare over another channel (a telephone call) before the
first run. Anyone who holds the key file can act as the party: keep it 0600, on one machine. A
stolen key can join future runs under that name; it opens no past one (TLS 1.3 has forward secrecy).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.x509.oid import NameOID

from unspoken.errors import InputError
from unspoken.joint.joint_errors import IdentityError
from unspoken.joint.wire.credentials import Identity, check_name
from unspoken.table.atomic_files import named_path, write_file

YEARS = 2


def make_identity(name: str, folder: Path | str) -> Identity:
    """Make a private key (mode 0600) and a certificate; existing files are never replaced.

    Parameters
    ----------
    name : str
        The party's name: a letter, then up to 31 of a-z, 0-9 and -.
    folder : Path or str
        Where to write NAME.key and NAME.crt.

    Returns
    -------
    Identity
        The new identity.

    Examples
    --------
    >>> make_identity("north", ".").fingerprint  # doctest: +SKIP
    """
    check_name(name)
    key = Ed25519PrivateKey.generate()
    secret = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                               serialization.NoEncryption())
    public = _certificate(name, key).public_bytes(serialization.Encoding.PEM)
    folder = named_path(folder)
    _write_new(folder / f"{name}.key", secret, 0o600)
    _write_new(folder / f"{name}.crt", public, 0o644)
    return load_identity(name, folder)


def _certificate(name: str, key: Ed25519PrivateKey) -> x509.Certificate:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    # A day of grace for clocks that differ.
    return (x509.CertificateBuilder().subject_name(subject).issuer_name(subject)
            .public_key(key.public_key()).serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=365 * YEARS))
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .sign(key, None))


def _write_new(path: Path, data: bytes, mode: int) -> None:
    try:
        write_file(path, data, mode, overwrite=False)
    except FileExistsError:
        raise InputError(f"'{path}' exists already. An identity is never replaced: move it away "
                         "first.") from None
    except FileNotFoundError:
        raise InputError(f"The folder of '{path}' does not exist.") from None


def load_identity(name: str, folder: Path | str) -> Identity:
    """Return an identity from the folder it was made in.

    Parameters
    ----------
    name : str
        The party's name.
    folder : Path or str
        Where NAME.key and NAME.crt lie. A key that others can read is refused.

    Returns
    -------
    Identity
        The identity.

    Examples
    --------
    >>> own = load_identity("north", ".")  # doctest: +SKIP
    """
    check_name(name)
    key_path, path = named_path(folder) / f"{name}.key", named_path(folder) / f"{name}.crt"
    for needed in (key_path, path):
        if not needed.exists():
            raise IdentityError(f"There is no file '{needed}'. "
                                f"Make it with: unspoken joint identity {name}")
    if key_path.stat().st_mode & 0o077:
        raise IdentityError(f"'{key_path}' must be readable by its owner only (mode 0600). "
                            f"Use: chmod 600 {key_path}")
    return Identity(name, key_path, path, read_certificate(path))


def read_certificate(path: Path | str) -> bytes:
    """Return the certificate in a PEM file as DER."""
    try:
        certificate = x509.load_pem_x509_certificate(named_path(path).read_bytes())
    except ValueError:
        raise IdentityError(f"'{path}' is not a certificate in PEM.") from None
    return certificate.public_bytes(serialization.Encoding.DER)


def name_in(certificate: bytes) -> str:
    """Return the name that a certificate (DER) gives itself."""
    try:
        loaded = x509.load_der_x509_certificate(certificate)
        names = loaded.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
        return check_name(str(names[0].value))
    except (ValueError, IndexError):
        raise IdentityError("The certificate does not carry a party's name.") from None


def to_pem(certificate: bytes) -> str:
    """Return a certificate (DER) as PEM."""
    loaded = x509.load_der_x509_certificate(certificate)
    return loaded.public_bytes(serialization.Encoding.PEM).decode()
