"""A file of released rows depends on the rows alone; errors arrive as what they are."""

from __future__ import annotations

import errno

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from unspoken.errors import DataError
from unspoken.table.engines.write_parquet import BLOCK, write_parquet

ROWS = BLOCK + 1000
TABLE = pa.table({"x": pa.array(np.arange(ROWS) % 97, pa.int32()),
                  "y": pa.array(np.arange(ROWS) % 3, pa.int8(), mask=np.arange(ROWS) % 7 == 0)})
STRANGE = pa.table({"t": pa.array([["a"], None, ["b", "c"]]),
                    "k": pa.array(["p", "q", "p"]).dictionary_encode(),
                    "z": pa.array([1, 2, 3], pa.timestamp("ns"))})


def written(path, table, size, progress=None):
    write_parquet(iter(table.to_batches(max_chunksize=size)), table.schema, str(path), progress)
    return path.read_bytes()


@pytest.mark.slow
def test_how_rows_are_cut_does_not_show(tmp_path):
    first = written(tmp_path / "a", TABLE, ROWS)
    assert written(tmp_path / "b", TABLE, 70_001) == first
    assert pq.read_table(tmp_path / "a").equals(TABLE)


@pytest.mark.parametrize("table", [STRANGE, TABLE.slice(0, 0), TABLE.slice(5, 3),
                                   TABLE.slice(0, 3).rename_columns(["a", "A"])])
def test_types_and_names_stay_as_they_were(tmp_path, table):
    written(tmp_path / "a", table, 2)
    assert pq.read_table(tmp_path / "a").equals(table)


def test_an_error_of_the_rows_is_the_one_that_arrives(tmp_path):
    def rows():
        yield from TABLE.slice(0, 10).to_batches()
        raise DataError("The rows end here.")

    with pytest.raises(DataError, match="The rows end here"):
        write_parquet(rows(), TABLE.schema, str(tmp_path / "a"))


def test_a_batch_of_other_types_is_refused(tmp_path):
    other = TABLE.slice(0, 3).set_column(0, "x", pa.array(["a", "b", "c"]))
    with pytest.raises((pa.ArrowException, TypeError)):
        write_parquet(iter(other.to_batches()), TABLE.schema, str(tmp_path / "a"))


def test_a_place_that_cannot_be_written_is_an_error_of_the_system(tmp_path):
    with pytest.raises(OSError, match="none") as raised:
        written(tmp_path / "none" / "a", TABLE.slice(0, 3), 2)
    assert raised.value.errno in (errno.EIO, errno.ENOENT)


def test_every_row_is_reported_once(tmp_path):
    seen = []
    written(tmp_path / "a", TABLE.slice(0, 1000), 300, seen.append)
    assert sum(seen) == 1000
