"""Writing baskets: one a line in a text file, or a table with a column of lists."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from unspoken.errors import DataError, explain
from unspoken.table.atomic_files import named_path, write_file
from unspoken.table.formats.compressed_files import compressed
from unspoken.table.formats.file_formats import format_of, write_rows
from unspoken.table.formats.read_options import DELIMITERS

if TYPE_CHECKING:
    from unspoken.table.baskets import Baskets

COLUMN = "basket"


def arrow_lists(baskets: Baskets, names: bool = False) -> Any:
    """Return the baskets as an Arrow array of lists of codes, or of names."""
    codes = pa.array(baskets.codes)
    values = pa.DictionaryArray.from_arrays(codes, pa.array(baskets.items, pa.string())).cast(
        pa.string()) if names else codes
    return pa.LargeListArray.from_arrays(pa.array(baskets.offsets), values)


def write_baskets(baskets: Baskets, path: str | PathLike[str]) -> None:
    """Write lines (`.dat`, `.csv`, also compressed), or a table of lists of names (`.parquet`)."""
    file = named_path(path)
    kind = format_of(file)
    if kind.text:
        write_file(file, compressed(file, _text(baskets, kind.between)))
    else:
        write_rows(pa.table({COLUMN: arrow_lists(baskets, names=True)}), file)


def _text(baskets: Baskets, separator: str) -> bytes:
    special = set(separator + '"\n\r') | (set(" \t") if separator == " " else set())
    bad = next((name for name in baskets.items if special & set(name) or not name), None)
    if bad is not None:
        raise DataError(explain("An item name in a text file", "without separators, quotes and "
                                "line breaks", bad, "Write a .parquet file."))
    lists = arrow_lists(baskets, names=True)
    if separator != " " and any(set(DELIMITERS) & set(name) for name in baskets.items):
        # Between quotes, so that a reader does not take another sign for the delimiter.
        lists = pa.LargeListArray.from_arrays(lists.offsets, _quoted(lists.values))
    lines = pc.binary_join(lists, separator).to_pylist()
    return ("\n".join(lines) + "\n").encode() if lines else b""


def _quoted(names: Any) -> Any:
    return pc.binary_join_element_wise('"', names, '"', "")
