"""Writing baskets: FIMI `.dat`, comma-separated lines, Parquet files of lists."""

from __future__ import annotations

import gzip
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from unspoken.errors import DataError, explain
from unspoken.table.atomic_files import write_file

if TYPE_CHECKING:
    from unspoken.table.baskets import Baskets

COLUMN = "basket"
PARQUET = (".parquet", ".pq")
TEXT = (".dat", ".csv", ".tsv", ".txt", ".basket", ".baskets")


def suffix_of(path: Path) -> str:
    """Return the ending of a file, without `.gz`."""
    name = path.name.lower().removesuffix(".gz")
    return Path(name).suffix


def arrow_lists(baskets: Baskets, names: bool = False) -> Any:
    """Return the baskets as an Arrow array of lists of codes, or of names."""
    codes = pa.array(baskets.codes)
    values = pa.DictionaryArray.from_arrays(codes, pa.array(baskets.items, pa.string())).cast(
        pa.string()) if names else codes
    return pa.LargeListArray.from_arrays(pa.array(baskets.offsets), values)


def write_baskets(baskets: Baskets, path: str | PathLike[str]) -> None:
    """Write `.dat` or comma-separated lines (also `.gz`), or a Parquet file of lists of names."""
    file = Path(path)
    suffix = suffix_of(file)
    if suffix in PARQUET:
        write_file(file, _parquet_bytes(baskets))
    elif suffix in TEXT:
        content = _text(baskets, " " if suffix == ".dat" else ",")
        write_file(file, gzip.compress(content, 6) if file.suffix.lower() == ".gz" else content)
    else:
        raise DataError(explain(f"The ending of '{file.name}'", "one of .dat, .csv, .txt, "
                                ".parquet (text also .gz)", file.suffix))


def _parquet_bytes(baskets: Baskets) -> bytes:
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({COLUMN: arrow_lists(baskets, names=True)}), sink, compression="zstd")
    return bytes(sink.getvalue())


def _text(baskets: Baskets, separator: str) -> bytes:
    special = set(separator + '"\n\r') | (set(" \t") if separator == " " else set())
    bad = next((name for name in baskets.items if special & set(name) or not name), None)
    if bad is not None:
        raise DataError(explain("An item name in a text file", "without separators, quotes and "
                                "line breaks", bad, "Write a .parquet file."))
    lines = pc.binary_join(arrow_lists(baskets, names=True), separator).to_pylist()
    return ("\n".join(lines) + "\n").encode() if lines else b""
