"""Whatever goes wrong on Spark: a clear error or a finished job, never half a release."""

from __future__ import annotations

import re
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unspoken
from support.engine_maps import Killing, in_files, mixed_table
from unspoken.errors import DataError, InputError, SchemaError, UnseenValueError, UnspokenError
from unspoken.protect import PiecewiseEncoder

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("several processes")]


def encoded(source, **options):
    table = unspoken.read(source, target="y", engine="spark", **options)
    return table, PiecewiseEncoder(random_state=1, conditioning="none").protect(table)[0]


def with_killer(release, marks, times):
    marks.mkdir()
    engine, frame = release.table.engine, release.table.frame
    killed = engine.map(frame, Killing(str(marks), times), frame.schema)
    return replace(release, table=release.table.with_frame(killed))


@pytest.fixture(scope="module")
def small(spark, tmp_path_factory):
    return encoded(in_files(mixed_table(900), tmp_path_factory.mktemp("files") / "t", (300, 0)))


def test_a_worker_that_is_killed_once_is_replaced(small, tmp_path):
    _, release = small
    saved = with_killer(release, tmp_path / "marks", 1).save(tmp_path / "out")
    assert len(list((tmp_path / "marks").iterdir())) == 1
    assert saved.table.arrow().equals(release.table.arrow())


def test_a_worker_that_is_always_killed_leaves_no_release(small, tmp_path):
    _, release = small
    with pytest.raises(UnspokenError, match="a Python worker ended") as raised:
        with_killer(release, tmp_path / "marks", 99).save(tmp_path / "out")
    assert "Nothing was released" in str(raised.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["marks"]


def test_what_a_worker_refuses_arrives_as_its_own_error(small, tmp_path):
    _, release = small
    other = pa.table({name: pa.array([10**6 if name == "x" else None] * 900, entry.type)
                      if name != "y" else pa.array([1] * 900, entry.type)
                      for name, entry in zip(mixed_table(1).column_names, mixed_table(1).schema,
                                             strict=True)})
    frame = unspoken.read(in_files(other, tmp_path / "other"), engine="spark").frame
    strange = replace(release.table.frame, source=frame)
    with pytest.raises(UnseenValueError, match="'x' has a value that was not there"):
        replace(release, table=release.table.with_frame(strange)).save(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_source_that_shrinks_meanwhile_is_noticed(spark, tmp_path):
    folder = in_files(mixed_table(900), tmp_path / "t", (300, 300))
    _, release = encoded(folder)
    pq.write_table(pq.read_table(folder / "part 1.parquet").slice(10), folder / "part 1.parquet")
    with pytest.raises(UnspokenError, match=r"did not finish|must deliver"):
        release.save(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_partition_of_nulls_and_an_empty_file(spark, tmp_path):
    table = mixed_table(600)
    nulls = pa.table({name: pa.nulls(600, entry.type) if name != "y" else table["y"]
                      for name, entry in zip(table.column_names, table.schema, strict=True)})
    both = pa.concat_tables([table, nulls, table])
    on_spark, release = encoded(in_files(both, tmp_path / "t", (600, 600, 0)))
    expected = PiecewiseEncoder(random_state=1, conditioning="none").protect(
        unspoken.read(both, target="y"))[0]
    assert on_spark.rows == 1800
    assert release.table.arrow().equals(expected.table.arrow())


def test_files_must_be_of_one_table(spark, tmp_path):
    folder = in_files(mixed_table(900), tmp_path / "t")
    part = pq.read_table(folder / "part 2.parquet")
    pq.write_table(part.drop_columns(["w"]), folder / "part 2.parquet")
    with pytest.raises(DataError, match=r"Column 'w' of '.*part 0.parquet' is not in '.*part 2"):
        unspoken.read(folder, engine="spark")
    pq.write_table(part.append_column("more", part["w"]), folder / "part 2.parquet")
    with pytest.raises(DataError, match="Column 'more' of"):
        unspoken.read(folder, engine="spark")
    pq.write_table(part.set_column(0, "x", part["x"].cast(pa.float64())), folder / "part 2.parquet")
    with pytest.raises(DataError, match=r"'x' is int64 in .* and double in"):
        unspoken.read(folder, engine="spark")
    (folder / "part 2.parquet").write_bytes(b"PAR1 is not enough")
    with pytest.raises(DataError, match="must be a Parquet file"):
        unspoken.read(folder, engine="spark")


def test_sources_that_have_no_order_are_refused(spark, tmp_path):
    frame = spark.createDataFrame(pa.table({"k": [1, 1, 2], "x": [1.0, 2.0, 3.0],
                                            "gap": pa.array([1, None, 3])}))
    with pytest.raises(InputError, match=re.escape("read(frame, order='id')")):
        unspoken.read(frame)
    for name in ("k", "gap"):
        with pytest.raises(DataError, match=f"'{name}' must have another value in every row"):
            unspoken.read(frame, order=name)
    with pytest.raises(SchemaError, match="kk"):
        unspoken.read(frame, order="kk")
    with pytest.raises(InputError, match="engine='local'"):
        unspoken.read(frame, order="x", engine="local")


def test_what_spark_cannot_read_is_refused(spark, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="Parquet"):
        unspoken.read(tmp_path / "t.csv", engine="spark")
    with pytest.raises(DataError, match="There is no file"):
        unspoken.read(tmp_path / "none.parquet", engine="spark")
    with pytest.raises(InputError, match="delimiter="):
        unspoken.read(tmp_path / "t.csv", engine="spark", delimiter=";")
    with pytest.raises(InputError, match="'local' or 'spark'"):
        unspoken.read(tmp_path / "t.csv", engine="sparc")
    pq.write_table(mixed_table(30), tmp_path / "t.parquet")
    with pytest.raises(InputError, match="order= is about DataFrames"):
        unspoken.read(tmp_path / "t.parquet", engine="spark", order="x")
    (tmp_path / "parted" / "x=1").mkdir(parents=True)
    pq.write_table(mixed_table(30), tmp_path / "parted" / "x=1" / "t.parquet")
    with pytest.raises(DataError, match="parted by the values of columns"):
        unspoken.read(tmp_path / "parted", engine="spark")


def test_too_many_rows_for_one_process_are_refused(small):
    table, _ = small
    before, table.engine.most_cells = table.engine.most_cells, 100
    try:
        with pytest.raises(DataError, match="900 rows of 1 columns in the memory of one process"):
            table.arrow(["x"])
    finally:
        table.engine.most_cells = before
