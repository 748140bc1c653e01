"""Small files of very many values: told or refused in plain words, in bounded memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unspoken
from unspoken.errors import DataError
from unspoken.release.guarantee import Guarantee
from unspoken.release.release import DATA, MANIFEST, Release
from unspoken.table.atomic_files import sha256_of
from unspoken.table.basket_tables import to_table
from unspoken.table.formats.compressed_files import COMPRESSIONS, open_bytes

pytestmark = pytest.mark.slow
LIMIT = 2 << 30
# The command as the shell starts it, with an address space of two GiB.
CHILD = """
import resource, sys
from unspoken.cli.main import main
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
sys.exit(main(sys.argv[1:]))
"""


def long_text(path: Path, rows: int = 400_000, size: int = 1 << 16) -> None:
    """Write one text of 64 KiB very often: 25 GB in a few KB."""
    codes = pa.array(np.zeros(rows, np.int8))
    column = pa.DictionaryArray.from_arrays(codes, pa.array(["a" * size]))
    pq.write_table(pa.table({"x": column}), path, compression="zstd", store_schema=False)


def one_number(path: Path, groups: int = 64, rows: int = 1 << 23) -> None:
    """Write one number 500 million times, in run lengths."""
    table = pa.table({"x": pa.array(np.zeros(rows, np.int64))})
    with pq.ParquetWriter(path, table.schema, compression="zstd") as writer:
        for _ in range(groups):
            writer.write_table(table, row_group_size=rows)


def long_baskets(path: Path, groups: int = 64, rows: int = 8, size: int = 1 << 20) -> None:
    """Write the same item 500 million times."""
    offsets = pa.array(np.arange(0, rows + 1, dtype=np.int64) * size)
    lists = pa.LargeListArray.from_arrays(offsets, pa.array(np.zeros(rows * size, np.int32)))
    table = pa.table({"basket": lists})
    with pq.ParquetWriter(path, table.schema, compression="zstd") as writer:
        for _ in range(groups):
            writer.write_table(table)


def release_with(folder: Path, release: Release, bomb) -> Path:
    """Save a release, and put another file in the place of its data, as a forger would."""
    release.save(folder)
    bomb(folder / DATA)
    manifest = json.loads((folder / MANIFEST).read_text())
    manifest["data"]["sha256"] = sha256_of(folder / DATA)
    (folder / MANIFEST).write_text(json.dumps(manifest))
    return folder


def run(*words: object) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(Path(unspoken.__file__).parents[1]),
           "OMP_NUM_THREADS": "1", "ARROW_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run([sys.executable, "-c", CHILD.format(limit=LIMIT), *map(str, words)],
                          capture_output=True, text=True, check=False, env=env)


def in_plain_words(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 2, done.stderr
    assert "must expand to at most" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("bomb", [long_text, one_number])
def test_summary_of_a_forged_release(tmp_path, bomb):
    column = {"x": ["a"]} if bomb is long_text else {"x": [0]}
    honest = Release(unspoken.read(column, show=False), {"name": "none"}, Guarantee("none"), "id")
    folder = release_with(tmp_path / "r", honest, bomb)
    assert (folder / DATA).stat().st_size < 1 << 23
    in_plain_words(run("summary", folder))


def test_summary_of_forged_baskets(tmp_path):
    baskets = unspoken.Baskets.of([["a"]])
    honest = Release(to_table(baskets), {"items": ["a"]}, Guarantee("none"), "id")
    in_plain_words(run("summary", release_with(tmp_path / "r", honest, long_baskets)))


@pytest.mark.parametrize("bomb", [long_text, one_number])
def test_a_table_to_inspect(tmp_path, bomb):
    bomb(tmp_path / "t.parquet")
    in_plain_words(run("inspect", tmp_path / "t.parquet"))


def test_whoever_asks_for_it_reads_such_a_file_piece_by_piece(tmp_path):
    long_text(tmp_path / "t.parquet", rows=20_000)
    with pytest.raises(DataError, match="must expand to at most"):
        unspoken.read(tmp_path / "t.parquet", show=False)
    table = unspoken.read(tmp_path / "t.parquet", show=False, lazy=True)
    assert table.rows == 20_000
    batch = next(table.batches())
    assert batch.nbytes <= 1 << 29
    assert batch["x"][0].as_py() == "a" * (1 << 16)


@pytest.mark.parametrize("ending", COMPRESSIONS)
def test_compressed_text_is_never_expanded_beyond_bounds(tmp_path, ending, monkeypatch):
    monkeypatch.setattr("unspoken.table.formats.compressed_files.FREE_BYTES", 1 << 16)
    monkeypatch.setattr("unspoken.table.formats.compressed_files.FACTOR", 10)
    path = tmp_path / f"b.csv{ending}"
    path.write_bytes(COMPRESSIONS[ending][1](b"milk,bread\n" * (1 << 16)))
    with pytest.raises(DataError, match="must expand to at most"), open_bytes(path) as file:
        file.read()
    with pytest.raises(DataError, match="must expand to at most"):
        unspoken.read_baskets(path)


def test_an_honest_file_of_few_values_is_read(tmp_path):
    rows = 300_000
    pq.write_table(pa.table({"x": np.zeros(rows), "y": ["female", "male"] * (rows // 2)}),
                   tmp_path / "t.parquet")
    assert unspoken.read(tmp_path / "t.parquet", show=False).rows == rows
