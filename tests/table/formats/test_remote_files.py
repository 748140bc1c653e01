"""Files of other systems, against a local S3-compatible server, and Delta tables."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from unspoken import read
from unspoken.errors import DataError, InputError
from unspoken.table.engines import held_rows


def parquet_bytes(**columns):
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


@pytest.fixture(scope="module")
def bucket():
    """A bucket of a server of this test run alone."""
    pytest.importorskip("s3fs")
    server_module = pytest.importorskip("moto.server")
    server = server_module.ThreadedMotoServer(port=0)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "somebody")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "geheim")
        patch.setenv("AWS_REGION", "us-east-1")
        patch.setenv("AWS_ALLOW_HTTP", "true")
        import s3fs

        files = s3fs.S3FileSystem()
        files.mkdir("clinic")
        for year in (2019, 2020):
            files.pipe(f"clinic/set/year={year}/a.parquet",
                       parquet_bytes(age=[year - 2000, 7], ward=["a", "b"]))
        files.pipe("clinic/people.csv", b"age,ward\n1,a\n2,b\n")
        files.pipe("clinic/broken/a.parquet", b"PAR1")
        yield files
    server.stop()


@pytest.mark.slow
def test_files_folders_and_patterns_of_a_bucket_are_tables(bucket, monkeypatch):
    assert read("s3://clinic/people.csv", show=False).arrow()["age"].to_pylist() == [1, 2]
    rows = read("s3://clinic/set", show=False).arrow()
    assert rows["age"].to_pylist() == [19, 7, 20, 7]
    assert rows["year"].to_pylist() == [2019, 2019, 2020, 2020]
    assert read("s3://clinic/set/year=2020/*.parquet", show=False).rows == 2
    monkeypatch.setattr(held_rows, "MEMORY_BYTES", 0)
    lazy = read("s3://clinic/set", show=False, lazy=True)
    assert lazy.arrow().to_pydict() == rows.to_pydict()


@pytest.mark.slow
def test_what_cannot_be_read_is_named_without_secrets(bucket):
    for name in ("clinic/broken", "clinic/nothing.csv", "nobodys/x.csv"):
        with pytest.raises(DataError) as refused:
            read(f"s3://{name}", show=False)
        assert name.rpartition("/")[2].removesuffix("broken") in str(refused.value)
        assert "geheim" not in str(refused.value)


@pytest.mark.slow
def test_a_delta_table_of_a_bucket_is_a_table(bucket):
    deltalake = pytest.importorskip("deltalake")
    deltalake.write_deltalake("s3://clinic/lake", pa.table({"age": [1, 2, 3]}),
                              storage_options={"AWS_S3_ALLOW_UNSAFE_RENAME": "true"})
    assert read("s3://clinic/lake", show=False).arrow()["age"].to_pylist() == [1, 2, 3]


@pytest.mark.slow
def test_files_of_any_system_that_fsspec_knows_are_tables():
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    files.pipe("/unspoken/a.csv", b"age,ward\n1,a\n2,b\n")
    files.pipe("/unspoken/b.csv", b"age,ward\n1.5,a\n")
    assert read("memory://unspoken", show=False).arrow()["age"].to_pylist() == [1, 2, 1.5]
    with pytest.raises(DataError, match="There is none"):
        read("memory://unspoken/c.csv", show=False)


@pytest.fixture
def lake(tmp_path):
    deltalake = pytest.importorskip("deltalake")
    place = tmp_path / "lake"
    deltalake.write_deltalake(str(place), pa.table({"age": [1, 2], "ward": ["a", "b"]}))
    deltalake.write_deltalake(str(place), pa.table({"age": [3], "ward": ["c"]}), mode="append")
    return place


def test_a_delta_table_is_read_at_its_newest_version(lake):
    import deltalake

    deltalake.DeltaTable(str(lake)).delete("age = 2")
    table = read(lake, show=False)
    assert sorted(table.arrow()["age"].to_pylist()) == [1, 3]
    assert "version 2" in table.notes[0]
    with pytest.raises(InputError, match="encoding"):
        read(lake, encoding="latin-1", show=False)


def test_a_damaged_delta_table_is_refused_by_name(lake):
    next(lake.glob("*.parquet")).unlink()
    with pytest.raises(DataError, match="'lake' must be a Delta table"):
        read(lake, show=False)
