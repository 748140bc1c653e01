"""Key files: sealed or not, they come back whole or are refused by name."""

from __future__ import annotations

import os
import stat
import struct

import numpy as np
import pytest

import unspoken
from unspoken import errors
from unspoken.release import sealing
from unspoken.release.key import MAGIC, Key

SECRET = "the-secret-of-the-house"


def a_key() -> Key:
    arrays = {"values": np.array([1.5, -2.0]), "codes": np.array([[3, 4]], np.int64),
              "none": np.zeros((0,), np.float64)}
    return Key("piecewise", "f" * 64, {"note": SECRET, "n": [1, None]}, arrays)


def same(one: Key, two: Key) -> bool:
    return (one.mechanism, one.fingerprint, one.secrets) == (
        two.mechanism, two.fingerprint, two.secrets
    ) and all(np.array_equal(one.arrays[n], two.arrays[n]) and
              one.arrays[n].dtype == two.arrays[n].dtype for n in one.arrays)


@pytest.mark.slow
@pytest.mark.parametrize("passphrase", [None, "correct horse", "パス 🔑"])
def test_a_key_comes_back(tmp_path, passphrase):
    path = tmp_path / "k"
    a_key().save(path, passphrase)
    assert same(a_key(), unspoken.Key.load(path, passphrase))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_mode_is_0600_whatever_the_umask(tmp_path):
    old = os.umask(0)
    try:
        a_key().save(tmp_path / "k")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "k").stat().st_mode) == 0o600


@pytest.mark.slow
def test_a_sealed_key_shows_nothing(tmp_path):
    a_key().save(tmp_path / "plain")
    a_key().save(tmp_path / "sealed", "words")
    assert SECRET.encode() in (tmp_path / "plain").read_bytes()
    sealed = (tmp_path / "sealed").read_bytes()
    assert SECRET.encode() not in sealed
    assert np.float64(1.5).tobytes() not in sealed


@pytest.mark.slow
def test_sealing_twice_gives_different_bytes(tmp_path):
    a_key().save(tmp_path / "one", "words")
    a_key().save(tmp_path / "two", "words")
    assert (tmp_path / "one").read_bytes()[-200:] != (tmp_path / "two").read_bytes()[-200:]


def test_repr_hides_the_secrets():
    assert SECRET not in repr(a_key())
    assert SECRET not in str(a_key())
    assert "1.5" not in repr(a_key())


def refusal(path, error, passphrase=None):
    with pytest.raises(errors.KeyFileError) as caught:
        Key.load(path, passphrase)
    assert type(caught.value) is error
    assert SECRET not in str(caught.value)


@pytest.mark.slow
def test_wrong_or_no_passphrase(tmp_path):
    a_key().save(tmp_path / "k", "right")
    refusal(tmp_path / "k", errors.PassphraseError, "wrong")
    refusal(tmp_path / "k", errors.PassphraseError, None)


@pytest.mark.slow
@pytest.mark.parametrize("passphrase", [None, "words"])
def test_every_flipped_byte_is_noticed(tmp_path, passphrase):
    path = tmp_path / "k"
    a_key().save(path, passphrase)
    good = path.read_bytes()
    allowed = (errors.DamagedKeyError, errors.NotAKeyError, errors.TruncatedKeyError)
    for place in range(len(good)):
        path.write_bytes(good[:place] + bytes([good[place] ^ 0x40]) + good[place + 1 :])
        with pytest.raises(allowed):
            Key.load(path, passphrase)


@pytest.mark.slow
def test_a_flipped_byte_of_the_body_is_damage(tmp_path):
    path = tmp_path / "k"
    a_key().save(path, "words")
    data = bytearray(path.read_bytes())
    data[-60] ^= 1
    path.write_bytes(data)
    refusal(path, errors.DamagedKeyError, "words")


def test_every_truncation_is_noticed(tmp_path):
    path = tmp_path / "k"
    a_key().save(path)
    good = path.read_bytes()
    for size in range(1, len(good)):
        path.write_bytes(good[:size])
        refusal(path, errors.TruncatedKeyError)


def test_something_else(tmp_path):
    for content in (b"", b"hello world, this is no key", b"PK\x03\x04" + bytes(100)):
        (tmp_path / "k").write_bytes(content)
        refusal(tmp_path / "k", errors.NotAKeyError)
    refusal(tmp_path / "none", errors.KeyFileError)


def resealed(data: bytes) -> bytes:
    import hashlib

    return data[:-32] + hashlib.sha256(data[:-32]).digest()


def test_a_newer_version(tmp_path):
    path = tmp_path / "k"
    a_key().save(path)
    data = bytearray(path.read_bytes())
    data[8:12] = struct.pack("<I", 99)
    path.write_bytes(resealed(bytes(data)))
    refusal(path, errors.KeyVersionError)


def test_a_file_cannot_ask_for_the_whole_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(sealing, "_MEMORY_KIB", (1 << 20) + 8)
    derived = []
    real = sealing._derive
    monkeypatch.setattr(sealing, "_derive", lambda *a: derived.append(1) or bytes(32))
    a_key().save(tmp_path / "k", "words")
    derived.clear()
    refusal(tmp_path / "k", errors.DamagedKeyError, "words")
    assert derived == []
    assert real is not sealing._derive


def test_contents_that_lie_are_refused(tmp_path):
    import hashlib
    import json

    lies = ['["a","|O",[1]]', '["a","<f8",[9999999999]]', '["a","<f8",[-1]]', '["a","<f8"]', "7"]
    bodies = [f'{{"secrets":{{}},"arrays":[{lie}]}}'.encode() for lie in lies]
    for body in (b"", b"\xff" * 8, struct.pack("<Q", 2) + b"[]",
                 *(struct.pack("<Q", len(body)) + body for body in bodies)):
        head = json.dumps({"mechanism": "m", "fingerprint": ""}).encode()
        whole = struct.pack("<8sIIQ", MAGIC, 1, len(head), len(body)) + head + body
        (tmp_path / "k").write_bytes(whole + hashlib.sha256(whole).digest())
        refusal(tmp_path / "k", errors.DamagedKeyError)


def test_an_existing_key_is_not_overwritten(tmp_path):
    a_key().save(tmp_path / "k")
    before = (tmp_path / "k").read_bytes()
    other = Key("piecewise", "e" * 64, {}, {})
    with pytest.raises(errors.KeyFileError, match="must not exist yet"):
        other.save(tmp_path / "k")
    assert (tmp_path / "k").read_bytes() == before
    other.save(tmp_path / "k", overwrite=True)
    assert Key.load(tmp_path / "k").fingerprint == "e" * 64
    assert os.listdir(tmp_path) == ["k"]


def test_an_empty_passphrase_is_refused(tmp_path):
    with pytest.raises(errors.InputError, match="must not be empty"):
        a_key().save(tmp_path / "k", "")
    assert os.listdir(tmp_path) == []


def test_a_foreign_key():
    class Other:
        fingerprint = "0" * 64

    with pytest.raises(errors.ForeignKeyError, match="Got the key of release ffffffffffff"):
        a_key().fits(Other())
