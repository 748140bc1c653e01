"""`unspoken verify --against`: what a release promises is counted again, for every method."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unspoken
from support.release_cases import CASES, COMPILES, protected
from unspoken.methods.anonymity.hierarchy import Hierarchy
from unspoken.protect import MondrianAnonymizer
from unspoken.release.method import methods
from unspoken.table.engines.local import MemoryFrame
from unspoken.table.table import Table

TABLES = [name for name in CASES if name != "baskets" and name not in COMPILES]
COUNTED = ["mondrian", "generalize", "suppress-cells", "optimal-recoding", "microaggregation",
           "isolation-guard"]


def written(folder, table, release, key=None):
    """Write an original, its release and its key side by side."""
    pq.write_table(table.arrow(), folder / "t.parquet")
    release.save(folder / "r")
    if key is not None:
        key.save(folder / "r.key", passphrase=None)


def with_column(release, name, column):
    """Return a release that says of one column something else than was made."""
    rows = release.table.arrow()
    at = rows.schema.get_field_index(name)
    rows = rows.set_column(at, name, column)
    return replace(release, table=Table(release.schema, MemoryFrame(rows), release.table.engine))


def first_alone(release):
    """Return a release whose first record stands alone in its first quasi-identifier."""
    name = release.guarantee.facts["quasi"][0]
    values = release.table.arrow([name])[name].to_pylist()
    alone = "nobody else" if any(isinstance(v, str) for v in values) else 987654
    kind = release.table.arrow([name])[name].type
    return with_column(release, name, pa.array([alone, *values[1:]], kind))


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_every_release_that_promises_something_is_verified(command_here, tmp_path, name):
    table, release, key = protected(name)
    written(tmp_path, table, release, key)
    done = command_here("verify", "r", "--against", "t.parquet", "--key", "r.key", cwd=tmp_path)
    assert done.status == 0, done.err + done.out
    assert release.guarantee.statement in done.out


@pytest.mark.slow
@pytest.mark.parametrize("name", COUNTED)
def test_k_is_counted_in_the_release_as_it_was_published(command_here, tmp_path, name):
    table, release, _ = protected(name)
    assert release.guarantee.name == "anonymous"
    written(tmp_path, table, first_alone(release))
    done = command_here("verify", "r", "--against", "t.parquet", cwd=tmp_path)
    assert done.status == 1, done.err + done.out
    assert "the smallest class holds 1 records" in done.out


def test_every_method_with_counted_classes_is_tried():
    assert set(COUNTED) == {name for name in methods() for kind in methods()[name].guarantees
                            if kind.name == "anonymous"}


def close_people():
    return unspoken.read(pa.table({
        "age": [20, 21, 22, 23] * 5, "zip": ["a", "a", "b", "b"] * 5,
        "ill": ["flu", "cold", "HIV", "cancer"] * 5}),
        quasi=["age", "zip"], sensitive="ill", show=False)


@pytest.mark.slow
@pytest.mark.parametrize("trees", [None, {"ill": Hierarchy.of(
    [["flu", "light"], ["cold", "light"], ["HIV", "grave"], ["cancer", "grave"]])}])
def test_t_is_measured_against_the_original(command_here, tmp_path, trees):
    table = close_people()
    release, _ = MondrianAnonymizer(k=2, t=0.5, hierarchies=trees).protect(table)
    written(tmp_path, table, release)
    done = command_here("verify", "r", "--against", "t.parquet", cwd=tmp_path)
    assert done.status == 0, done.err + done.out
    other = with_column(release, "ill", pa.array(["HIV"] * table.rows))
    other.save(tmp_path / "far")
    done = command_here("verify", "far", "--against", "t.parquet", cwd=tmp_path)
    assert done.status == 1, done.err
    assert "away from the original in its values of 'ill'" in done.out


def shifted(table, name, add):
    """Return a table in which one column holds other values."""
    rows = table.arrow()
    moved = [value if value is None else value + add for value in rows[name].to_pylist()]
    return rows.set_column(rows.schema.get_field_index(name), name, [moved])


@pytest.mark.slow
@pytest.mark.parametrize("name", [*COUNTED, "tree-preserving"])
def test_another_table_and_the_key_of_another_release_are_refused(command_here, tmp_path, name):
    table, release, key = protected(name)
    written(tmp_path, table, release, key)
    pq.write_table(shifted(table, "age", 500), tmp_path / "other.parquet")
    replace(key, fingerprint="0" * 64).save(tmp_path / "other.key", passphrase=None)
    done = command_here("verify", "r", "--against", "other.parquet", "--key", "r.key", cwd=tmp_path)
    assert done.status == 2, done.err + done.out
    assert "The table must be the one that was released" in done.err
    done = command_here("verify", "r", "--against", "t.parquet", "--key", "other.key",
                        cwd=tmp_path)
    assert done.status == 2, done.err + done.out
    assert "The key must belong to this release" in done.err


@pytest.mark.parametrize("name", [name for name in COUNTED if name != "isolation-guard"])
def test_another_table_is_noticed_without_the_key(name):
    table, release, _ = protected(name)
    assert release.guarantee.verify(table, release)
    other = unspoken.read(shifted(table, "age", 500), target="outcome", show=False)
    assert "not made from this table" in release.guarantee.verify(other, release).reason
    fewer = unspoken.read(table.arrow().slice(1), target="outcome", show=False)
    assert "the table has 299" in release.guarantee.verify(fewer, release).reason


def test_other_values_of_a_column_that_passes_as_it_is_are_noticed_without_the_key():
    table, release, _ = protected("isolation-guard")
    ill = table.arrow()["ill"].to_pylist()
    rows = table.arrow().set_column(table.arrow().schema.get_field_index("ill"), "ill",
                                    [["u" if ill[0] != "u" else "v", *ill[1:]]])
    other = unspoken.read(rows, target="outcome", show=False)
    assert release.guarantee.verify(table, release)
    assert "in 1 records the columns that pass as they are" in release.guarantee.verify(
        other, release).reason
