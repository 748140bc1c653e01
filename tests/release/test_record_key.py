"""Records are linked by identity: another order is matched, another table is refused."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from support.release_cases import CASES, marked, original, protected
from unspoken.errors import DamagedKeyError, DataError
from unspoken.release.key import Key
from unspoken.release.original_records import Original
from unspoken.release.record_key import as_protected, beside, original_rows
from unspoken.risk import audit
from unspoken.table.baskets import Baskets


def shuffled(table, seed=5):
    order = np.random.default_rng(seed).permutation(len(table))
    if isinstance(table, Baskets):
        return table.take(order)
    return unspoken.Table(table.schema, type(table.frame)(table.arrow().take(pa.array(order))),
                          table.engine)


def changed(table):
    """Return the table with one value of one record changed."""
    if isinstance(table, Baskets):
        return Baskets.of([["a", "b", "c", "d"], *table.lists()[1:]], table.items)
    rows = table.arrow()
    at = rows.column_names.index("age")
    column = rows["age"].to_pylist()
    column[7] += 1
    return unspoken.Table(table.schema, type(table.frame)(
        rows.set_column(at, "age", pa.array(column, rows["age"].type))), table.engine)


@pytest.mark.slow
@pytest.mark.parametrize("name", marked(CASES))
def test_another_order_of_the_original_changes_nothing(name):
    table, release, key = protected(name)
    one, two = (audit(data, release, key, trials=2, random_state=0)
                for data in (table, shuffled(table)))
    assert one.rows == two.rows
    assert one.unscored == two.unscored


@pytest.mark.slow
@pytest.mark.parametrize("name", marked(CASES))
def test_a_changed_value_or_another_table_is_refused(name):
    table, release, key = protected(name)
    with pytest.raises(DataError, match=r"1 of its .* records are not among"):
        audit(changed(table), release, key, trials=1)
    with pytest.raises(DataError, match="must be the one that was released"):
        audit(original(name, seed=99), release, key, trials=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", marked(CASES))
def test_every_release_is_shuffled_and_its_key_knows_the_order(name, tmp_path):
    table, release, key = protected(name)
    rows = original_rows(key, release.table.rows)
    assert release.mechanism["rows_shuffled"] is True
    assert not np.array_equal(rows, np.sort(rows))
    assert len(set(rows.tolist())) == rows.size <= len(table)
    saved = release.save(tmp_path / "r")
    key.save(tmp_path / "k.key")
    Key.load(tmp_path / "k.key").fits(saved)
    assert (tmp_path / "k.key").stat().st_mode & 0o777 == 0o600
    public = (tmp_path / "r" / "manifest.json").read_text()
    assert key.secrets["order_seed"] not in public
    assert key.secrets["original"]["secret"] not in public
    for digest in key.secrets["original"]["columns"].values():
        assert digest not in public
    assert "order_seed" not in json.loads(public)


@pytest.mark.slow
@pytest.mark.parametrize("name", marked(CASES))
def test_without_the_key_nothing_is_assessed(name):
    table, release, _ = protected(name)
    found = audit(table, release, trials=1, random_state=0)
    assert "the key" in found.unscored["(records)"]
    assert found.verdict == "not assessed"
    assert not found.select(measure="identified", knowledge="row order")


def test_records_stand_beside_their_own():
    table, release, key = protected("discretize")
    edges = release.mechanism["columns"]["age"]["edges"]
    own = beside(as_protected(shuffled(table), key), release, key).numbers(["age"])[:, 0]
    classes = np.clip(np.searchsorted(edges, own, side="right") - 1, 0, len(edges) - 2)
    np.testing.assert_array_equal(classes, release.table.numbers(["age"])[:, 0])


def test_equal_records_and_missing_values_are_matched():
    rows = pa.table({"age": pa.array([1.0, None, 1.0, None, 2.0]),
                     "town": ["a", None, "a", "b", ""]})
    table = unspoken.read(rows, show=False)
    known = Original.of(table, ["age", "town"], bytes(32))
    turned = unspoken.read(rows.take(pa.array([4, 3, 2, 1, 0])), show=False)
    back = known.rows_in(turned)
    assert turned.arrow().take(pa.array(back)).equals(table.arrow())
    whole = unspoken.read(rows.set_column(0, "age", pa.array([1, None, 1, None, 2])), show=False)
    assert known.rows_in(whole).tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(DataError, match=r"Columns \['town'\] are not in it"):
        known.rows_in(unspoken.read(rows.select(["age"]), show=False))
    with pytest.raises(DataError, match="Column 'town' has other values"):
        known.rows_in(unspoken.read(rows.set_column(1, "town", pa.array(["a", None, "a", "b",
                                                                        "c"])), show=False))


def test_a_key_without_a_record_map_is_refused():
    table, release, key = protected("noise")
    bare = Key(key.mechanism, key.fingerprint, {**key.secrets, "original": None}, key.arrays)
    with pytest.raises(DamagedKeyError, match="no record map"):
        audit(table, release, bare, trials=1)


def test_digests_say_nothing_without_the_secret():
    table, _, _ = protected("noise")
    one, two = (Original.of(table, ["age"], bytes([seed] * 32)) for seed in (1, 2))
    assert not set(one.records.tolist()) & set(two.records.tolist())
