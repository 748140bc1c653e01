"""A release that was changed after it was made is refused by its key, whatever hashes it has."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import struct

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

import unspoken
from unspoken import errors
from unspoken.protect import PiecewiseEncoder, decode


@pytest.fixture(scope="module")
def table():
    data = load_breast_cancer()
    columns = {f"m{i}": data.data[:, i] for i in range(4)}
    return unspoken.read({**columns, "outcome": data.target}, target="outcome", show=False)


@pytest.fixture
def saved(table, tmp_path):
    release, key = PiecewiseEncoder(mode="strict").protect(table)
    key.save(tmp_path / "open.key")
    release.save(tmp_path / "release")
    return tmp_path / "release", unspoken.Key.load(tmp_path / "open.key")


def rehashed(folder, **changes):
    """Write the manifest anew so that everything but the seal belongs together."""
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["data"]["sha256"] = hashlib.sha256((folder / "data.parquet").read_bytes()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps({**manifest, **changes}))


def change(folder, name, turn):
    rows = pq.read_table(folder / "data.parquet")
    place = rows.schema.get_field_index(name)
    values = pa.chunked_array([pa.array(turn(rows.column(name).to_pylist()),
                                        rows.schema.field(name).type)])
    pq.write_table(rows.set_column(place, rows.schema.field(name), values),
                   folder / "data.parquet")
    rehashed(folder)


@pytest.mark.slow
def test_an_untouched_release_fits(saved, table):
    folder, key = saved
    release = unspoken.Release.load(folder)
    key.fits(release)
    mined = unspoken.mine.tree(release, max_depth=4)
    assert decode(mined, key, table, release=release).predict(table.numbers()) is not None
    assert decode(mined, key, table, release=folder) is not None


def test_changed_labels_are_refused_by_name(saved, table):
    folder, key = saved
    change(folder, "outcome", lambda values: values[::-1])
    release = unspoken.Release.load(folder)
    with pytest.raises(errors.ReleaseError, match=r"labels of the release \(column 'outcome'\)"):
        key.fits(release)
    mined = unspoken.mine.tree(release, max_depth=4)
    with pytest.raises(errors.ReleaseError, match="are not those that were released"):
        decode(mined, key, table, release=release)


def test_changed_values_are_refused_by_name(saved):
    folder, key = saved
    change(folder, "m2", lambda values: [values[1], values[0], *values[2:]])
    with pytest.raises(errors.ReleaseError, match="column 'm2'"):
        key.fits(unspoken.Release.load(folder))


def test_a_value_that_becomes_missing_is_noticed(saved):
    folder, key = saved
    change(folder, "m1", lambda values: [None, *values[1:]])
    with pytest.raises(errors.ReleaseError, match="column 'm1'"):
        key.fits(unspoken.Release.load(folder))


def test_rows_in_another_order_are_noticed(saved):
    folder, key = saved
    rows = pq.read_table(folder / "data.parquet")
    pq.write_table(rows.take(pa.array(np.arange(len(rows))[::-1])), folder / "data.parquet")
    rehashed(folder)
    with pytest.raises(errors.ReleaseError, match="are not those that were released"):
        key.fits(unspoken.Release.load(folder))


def test_a_changed_description_is_refused(saved):
    folder, key = saved
    manifest = json.loads((folder / "manifest.json").read_text())
    rehashed(folder, miner={**manifest["miner"], "seed": "any seed will do"})
    with pytest.raises(errors.ReleaseError, match="description of the release"):
        key.fits(unspoken.Release.load(folder))


@pytest.mark.slow
@pytest.mark.parametrize("seal", [None, 3, {}, {"file": "", "about": "", "columns": {}},
                                  {"file": "0" * 64, "about": "0" * 64, "columns": []}])
def test_a_release_without_its_seal_is_refused(saved, seal):
    folder, key = saved
    rehashed(folder, seal=seal)
    with pytest.raises(errors.ReleaseError):
        key.fits(unspoken.Release.load(folder))


@pytest.mark.slow
def test_the_same_content_written_anew_still_fits(saved, tmp_path):
    folder, key = saved
    rows = pq.read_table(folder / "data.parquet")
    pq.write_table(rows, folder / "data.parquet", row_group_size=100)
    rehashed(folder)
    key.fits(unspoken.Release.load(folder))
    unspoken.Release.load(folder).save(tmp_path / "copy")
    key.fits(unspoken.Release.load(tmp_path / "copy"))


def test_a_key_that_is_saved_first_knows_the_release(table, tmp_path):
    release, key = PiecewiseEncoder(neutral_names=True).protect(table)
    key.save(tmp_path / "k")
    key.fits(release)
    release.save(tmp_path / "r")
    unspoken.Key.load(tmp_path / "k").fits(unspoken.Release.load(tmp_path / "r"))


def test_another_table_under_the_same_name_is_refused_in_memory(table):
    release, key = PiecewiseEncoder().protect(table)
    with pytest.raises(errors.ReleaseError, match="made with this key"):
        key.fits(dataclasses.replace(release, seal_key=None))


def test_the_secret_of_the_seal_never_leaves(saved, table):
    folder, key = saved
    secret = key.secrets["release_seal"]
    assert len(secret) == 64
    assert secret not in (folder / "manifest.json").read_text()
    release, key = PiecewiseEncoder().protect(table)
    assert key.secrets["release_seal"] not in repr(release) + repr(key)
    assert str(release.seal_key) not in repr(release)


@pytest.mark.slow
def test_a_turned_release_is_sealed_too(table, tmp_path):
    release, key = unspoken.protect.Rotation().protect(table)
    release.save(tmp_path / "r")
    key.fits(unspoken.Release.load(tmp_path / "r"))
    change(tmp_path / "r", "outcome", lambda values: values[::-1])
    with pytest.raises(errors.ReleaseError, match="labels of the release"):
        key.fits(unspoken.Release.load(tmp_path / "r"))


def test_an_unsealed_key_does_not_take_any_passphrase(saved, tmp_path):
    with pytest.raises(errors.PassphraseError, match="is not sealed"):
        unspoken.Key.load(tmp_path / "open.key", passphrase="whatever")


OTHER_TYPES = [pa.array([b"\xff"] * 569), pa.array(["x"] * 569),
               pa.array(["x"] * 569).dictionary_encode()]


@pytest.mark.slow
@pytest.mark.parametrize("values", OTHER_TYPES, ids=lambda one: str(one.type))
def test_columns_of_other_types_are_refused_by_us(saved, values):
    folder, key = saved
    rows = pq.read_table(folder / "data.parquet")
    pq.write_table(rows.set_column(1, rows.column_names[1], values), folder / "data.parquet")
    rehashed(folder)
    release = unspoken.Release.load(folder)
    with pytest.raises(errors.DataError, match=f"'{rows.column_names[1]}' must hold numbers"):
        release.table.numbers()
    with pytest.raises(errors.ReleaseError, match="data was changed"):
        key.fits(release)


def test_a_description_of_data_that_is_not_utf8_is_refused_by_us(saved):
    folder, _ = saved
    content = (folder / "data.parquet").read_bytes()
    (size,) = struct.unpack("<I", content[-8:-4])
    footer = content[-8 - size:-8]
    assert b"m1" in footer
    (folder / "data.parquet").write_bytes(
        content[:-8 - size] + footer.replace(b"m1", b"\xff1") + content[-8:])
    rehashed(folder)
    with pytest.raises(errors.DataError, match="not UTF-8"):
        unspoken.Release.load(folder)


@pytest.mark.parametrize("name", ["columns", "categorical"])
def test_a_guarantee_that_lists_no_columns_covers_nothing(saved, name):
    folder, _ = saved
    guarantee = unspoken.Release.load(folder).guarantee
    assert guarantee.covers(DecisionTreeClassifier())
    told = dataclasses.replace(guarantee, facts={**guarantee.facts, name: 7})
    assert not told.covers(DecisionTreeClassifier())
