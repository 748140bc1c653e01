"""Signed records: what was changed is refused, whoever changed it."""

import json
import os

import pytest

from unspoken.errors import InputError, KeyFileError, PassphraseError
from unspoken.release.record_signature import (
    new_signing_key,
    sign_file,
    signature_path,
    verify_file,
)


@pytest.fixture
def record(tmp_path):
    path = tmp_path / "record.html"
    path.write_text("<p>High risk: do not release</p>")
    return path


def test_a_signed_record_is_as_it_was_signed(record, tmp_path):
    fingerprint = new_signing_key(tmp_path / "k.pem")
    done = sign_file(record, tmp_path / "k.pem")
    assert done.fingerprint == fingerprint
    assert verify_file(record)
    assert verify_file(record, fingerprint[:20].upper())
    assert os.stat(tmp_path / "k.pem").st_mode & 0o777 == 0o600
    assert os.stat(signature_path(record)).st_mode & 0o777 == 0o600


def test_a_changed_record_is_refused(record, tmp_path):
    new_signing_key(tmp_path / "k.pem")
    sign_file(record, tmp_path / "k.pem")
    record.write_text(record.read_text().replace("High risk", "Low risk"))
    found = verify_file(record)
    assert not found
    assert "changed" in found.reason


@pytest.mark.parametrize("field", ["sha256", "signed_at", "signature", "public_key"])
def test_a_changed_signature_is_refused(record, tmp_path, field):
    new_signing_key(tmp_path / "k.pem")
    sign_file(record, tmp_path / "k.pem")
    document = json.loads(signature_path(record).read_text())
    first = document[field][0]
    document[field] = ("1" if first != "1" else "2") + document[field][1:]
    signature_path(record).write_text(json.dumps(document))
    assert not verify_file(record)


def test_another_signer_is_refused_where_the_key_is_named(record, tmp_path):
    mine = new_signing_key(tmp_path / "mine.pem")
    new_signing_key(tmp_path / "other.pem")
    sign_file(record, tmp_path / "other.pem")
    found = verify_file(record, mine)
    assert not found
    assert "another key" in found.reason
    with pytest.raises(InputError, match="at least 16"):
        verify_file(record, "abc")


def test_keys_are_never_replaced_and_must_be_private(record, tmp_path):
    key = tmp_path / "k.pem"
    new_signing_key(key)
    with pytest.raises(KeyFileError, match="must not exist yet"):
        new_signing_key(key)
    key.chmod(0o644)
    with pytest.raises(KeyFileError, match="chmod 600"):
        sign_file(record, key)


def test_sealed_keys(record, tmp_path):
    new_signing_key(tmp_path / "k.pem", "long enough")
    with pytest.raises(PassphraseError):
        sign_file(record, tmp_path / "k.pem")
    with pytest.raises(KeyFileError):
        sign_file(record, tmp_path / "k.pem", "wrong")
    assert sign_file(record, tmp_path / "k.pem", "long enough")


def test_what_is_no_signature_is_refused(record):
    with pytest.raises(InputError, match="There is no signature"):
        verify_file(record)
    signature_path(record).write_text("{}")
    with pytest.raises(InputError, match="must be a signature"):
        verify_file(record)


def test_nobody_replaces_the_signature_of_somebody_else(record, tmp_path):
    for name in ("first.pem", "second.pem"):
        new_signing_key(tmp_path / name)
    first = sign_file(record, tmp_path / "first.pem")
    with pytest.raises(InputError, match="of another key"):
        sign_file(record, tmp_path / "second.pem")
    assert verify_file(record).fingerprint == first.fingerprint
    assert sign_file(record, tmp_path / "first.pem")
    signature_path(record).write_text("no signature")
    with pytest.raises(InputError, match="remove it first"):
        sign_file(record, tmp_path / "second.pem")


@pytest.mark.parametrize(("field", "value"), [("sha256", "0" * 64), ("algorithm", "none"),
                                              ("version", 2)])
def test_every_field_of_a_signature_counts(record, tmp_path, field, value):
    new_signing_key(tmp_path / "k.pem")
    sign_file(record, tmp_path / "k.pem")
    document = json.loads(signature_path(record).read_text())
    signature_path(record).write_text(json.dumps({**document, field: value}))
    assert not verify_file(record)
