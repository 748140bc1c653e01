"""Releases on disk: whole or not at all, and hostile ones refused."""

from __future__ import annotations

import json
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unspoken
from unspoken.errors import ForeignKeyError, ReleaseError
from unspoken.protect import PiecewiseEncoder
from unspoken.release.release import Release


def a_table(rows=200, seed=0):
    rng = np.random.default_rng(seed)
    return unspoken.read(
        pa.table({
            "patient_id": np.arange(rows),
            "age": rng.integers(18, 90, rows),
            "dose": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(size=rows)),
            "outcome": rng.choice(["dead", "alive"], rows),
        }),
        target="outcome",
    )


@pytest.fixture(scope="module")
def made():
    return PiecewiseEncoder(random_state=1).protect(a_table())


def test_a_release_comes_back_without_a_key(tmp_path, made):
    release, key = made
    saved = release.save(tmp_path / "r")
    loaded = unspoken.Release.load(tmp_path / "r")
    assert sorted(os.listdir(tmp_path / "r")) == ["data.parquet", "manifest.json"]
    for other in (saved, loaded):
        assert other.fingerprint == release.fingerprint
        assert other.guarantee == release.guarantee
        assert type(other.guarantee) is type(release.guarantee)
        assert other.table.arrow().equals(release.table.arrow())
        assert other.schema == release.schema
        key.fits(other)
    assert loaded.manifest == saved.manifest


def test_identifiers_and_originals_are_not_in_it(tmp_path, made):
    release, _ = made
    release.save(tmp_path / "r")
    assert release.schema.names == ("age", "dose", "outcome")
    text = (tmp_path / "r" / "manifest.json").read_text()
    assert "patient_id" not in text
    original = set(a_table().counts(["dose"])["dose"].values.tolist())
    released = set(pq.read_table(tmp_path / "r" / "data.parquet")["dose"].drop_null().to_pylist())
    assert not original & released


def test_no_secret_is_in_a_release(tmp_path, made):
    release, key = made
    release.save(tmp_path / "r")
    content = b"".join(p.read_bytes() for p in (tmp_path / "r").iterdir())
    secrets = [key.secrets["order_seed"], *(column[2] for column in key.secrets["columns"])]
    for secret in secrets:
        assert secret.encode() not in content
        assert bytes.fromhex(secret) not in content


def test_a_seeded_release_says_so(made):
    assert made[0].manifest["seeded"] is True
    assert PiecewiseEncoder().protect(a_table())[0].manifest["seeded"] is False


def test_two_releases_of_one_table_differ_and_keys_do_not_mix():
    first, key = PiecewiseEncoder().protect(a_table())
    second, _ = PiecewiseEncoder().protect(a_table())
    assert first.fingerprint != second.fingerprint
    assert not first.table.arrow().equals(second.table.arrow())
    with pytest.raises(ForeignKeyError):
        key.fits(second)


def test_an_existing_folder_is_kept(tmp_path, made):
    release, _ = made
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "thesis.txt").write_text("years of work")
    for overwrite in (False, True):
        with pytest.raises(ReleaseError, match="must"):
            release.save(tmp_path / "r", overwrite=overwrite)
    assert os.listdir(tmp_path / "r") == ["thesis.txt"]
    release.save(tmp_path / "s")
    with pytest.raises(ReleaseError, match="must not exist yet"):
        release.save(tmp_path / "s")
    release.save(tmp_path / "s", overwrite=True)
    assert sorted(os.listdir(tmp_path)) == ["r", "s"]


def test_an_empty_folder_may_be_used(tmp_path, made):
    (tmp_path / "r").mkdir()
    made[0].save(tmp_path / "r")
    Release.load(tmp_path / "r")


def changed(folder, **changes):
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest.update(changes)
    path.write_text(json.dumps(manifest))


HOSTILE = {
    "not JSON": lambda f: (f / "manifest.json").write_text("{"),
    "deep JSON": lambda f: (f / "manifest.json").write_text("[" * 100_000),
    "a list": lambda f: (f / "manifest.json").write_text("[]"),
    "another format": lambda f: changed(f, format="zip"),
    "a newer version": lambda f: changed(f, version=99),
    "no schema": lambda f: changed(f, schema=None),
    "other columns": lambda f: changed(f, schema=[{"name": "x", "kind": "numeric",
                                                   "role": "plain"}]),
    "a wrong kind": lambda f: changed(f, schema=[{"name": "x", "kind": "car", "role": "plain"}]),
    "another mechanism": lambda f: changed(f, mechanism={"name": "rot13"}),
    "another guarantee": lambda f: changed(f, guarantee={"name": "none", "statement": "trust me"}),
    "a guarantee of nothing": lambda f: changed(f, guarantee={}),
    "other data": lambda f: pq.write_table(pa.table({"age": [1]}), f / "data.parquet"),
    "no data": lambda f: (f / "data.parquet").unlink(),
    "no hash": lambda f: changed(f, data={}),
    "a huge manifest": lambda f: (f / "manifest.json").write_bytes(b" " * (1 << 25)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_releases_are_refused(tmp_path, made, name):
    made[0].save(tmp_path / "r")
    HOSTILE[name](tmp_path / "r")
    with pytest.raises((ReleaseError, unspoken.errors.SchemaError)):
        Release.load(tmp_path / "r")


def test_no_release_at_all(tmp_path):
    with pytest.raises(ReleaseError, match="must be a release directory"):
        Release.load(tmp_path / "nothing")


def test_summary_names_the_columns_and_the_promise(made):
    text = made[0].summary()
    assert "age" in text
    assert "bit for bit" in text
