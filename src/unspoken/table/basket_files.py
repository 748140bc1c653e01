"""Reading baskets: FIMI `.dat`, comma-separated lines, long tables, list columns."""

from __future__ import annotations

import gzip
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unspoken.errors import DataError, SchemaError, explain
from unspoken.table.baskets import Baskets, in_order
from unspoken.table.write_baskets import PARQUET, TEXT, suffix_of

MAX_BYTES = 1 << 33


def read_baskets(path: str | PathLike[str], *, transaction: str | None = None,
                 item: str | None = None, separator: str | None = None,
                 items: Any = None, repeats: str = "refuse") -> Baskets:
    """Read baskets from a file.

    `.dat` (FIMI): one basket a line, items between blanks. `.csv`, `.txt`: one basket a line,
    items between commas (`separator=` says otherwise), no header; blanks around a name are part
    of it. With `transaction=` and `item=`, the names of two columns: a long table with a header,
    CSV or Parquet, one line for each item bought. Parquet otherwise: the one column of lists, or
    the one named by `item=`. Text files may be gzipped.

    A line without items is an empty basket. `items` names all possible items, by default those
    that occur; one that is not among them raises UnseenValueError. An item twice in a basket is
    an error; `repeats="drop"` keeps it once.
    """
    file = Path(path)
    if not file.is_file():
        raise DataError(f"'{file}' must be an existing file. There is none. Check the path.")
    suffix = suffix_of(file)
    if transaction is not None:
        found = _long(file, suffix, transaction, item, repeats)
    elif suffix in PARQUET:
        found = _list_column(file, item, repeats)
    elif suffix in TEXT:
        found = _lines(_content(file), separator or (" " if suffix == ".dat" else ","), repeats)
    else:
        raise DataError(f"'{file.name}' must be a .dat, .csv, .txt (all also .gz) or .parquet "
                        f"file. Got the ending '{file.suffix}'. Convert it first.")
    return found if items is None else known_items(found, items)


def known_items(baskets: Baskets, items: Any) -> Baskets:
    """Return the baskets over the items named; one that occurs and is not named is refused."""
    names = tuple(str(name) for name in items)
    whole = Baskets(np.zeros(1, np.int64), np.zeros(0, np.int32), names)
    counts = baskets.frequencies()
    used = [name for code, name in enumerate(baskets.items) if counts[code]]
    place = dict(zip(used, whole.code_of(*used), strict=True))
    new = np.array([place.get(name, -1) for name in baskets.items], np.int64)
    return Baskets.from_rows(baskets.rows, new[baskets.codes], len(baskets), names)


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            inside = gzip.GzipFile(fileobj=file) if path.suffix.lower() == ".gz" else file
            found: bytes = inside.read(MAX_BYTES + 1)
    except (EOFError, gzip.BadGzipFile, OSError) as error:
        raise DataError(f"'{path.name}' cannot be read: {error}. Is it gzipped?") from None
    if len(found) > MAX_BYTES:
        raise DataError(explain(f"'{path.name}'", f"at most {MAX_BYTES} bytes", "more"))
    return found.replace(b"\r\n", b"\n") if b"\r" in found else found


def _lines(content: bytes, separator: str, repeats: str) -> Baskets:
    if not content:
        raise DataError("A file of baskets must have at least one line. Got none.")
    if not content.endswith(b"\n"):
        content += b"\n"
    if separator == " " and not content.translate(None, b"0123456789 \t\n"):
        return _numbers(content, repeats)
    return _names(content, separator, repeats)


def _numbers(content: bytes, repeats: str) -> Baskets:
    """Read whole numbers between blanks, one basket a line, without a loop over lines."""
    text = np.frombuffer(content, np.uint8)
    digit = text >= 48
    first = digit & ~np.r_[False, digit[:-1]]
    start, stop = np.flatnonzero(first), np.flatnonzero(digit & ~np.r_[digit[1:], False]) + 1
    values = _digits(text, start, stop)
    ends = np.searchsorted(start, np.flatnonzero(text == 10))
    rows = np.repeat(np.arange(ends.size), np.diff(np.r_[0, ends]))
    distinct, codes = _ranked(values)
    return Baskets.from_rows(rows, codes, ends.size, tuple(map(str, distinct.tolist())), repeats)


def _digits(text: npt.NDArray[np.uint8], start: npt.NDArray[np.int64],
            stop: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    length = stop - start
    longest = int(length.max(initial=0))
    if longest > 18:
        raise DataError(explain("An item number", "below 10^18", "a larger one"))
    values = np.zeros(start.size, np.int64)
    for place in range(longest):
        here = length > place
        values[here] = values[here] * 10 + (text[start[here] + place] - 48)
    return values


def _ranked(values: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return distinct values and their ranks; a table of flags where the values are small."""
    if values.size and values.max() < 1 << 24:
        seen = np.zeros(int(values.max()) + 1, np.bool_)
        seen[values] = True
        rank = np.cumsum(seen) - 1
        return np.flatnonzero(seen), rank[values]
    distinct, codes = np.unique(values, return_inverse=True)
    return distinct, codes.reshape(-1)


def _names(content: bytes, separator: str, repeats: str) -> Baskets:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(explain("A file of baskets", "UTF-8 text",
                                f"a bad byte at {error.start}")) from None
    lines = text.split("\n")[:-1]
    if '"' in text:
        import csv

        parts: Any = pa.array(list(csv.reader(lines, delimiter=separator)),
                              pa.large_list(pa.large_string()))
    else:
        whole = pa.array(lines, pa.large_string())
        parts = pc.utf8_split_whitespace(whole) if separator == " " \
            else pc.split_pattern(whole, separator)
    return _of_lists(parts, repeats)


def _of_lists(column: Any, repeats: str) -> Baskets:
    """Build baskets from an Arrow array of lists; empty names stand for nothing."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
    if column.null_count:
        raise DataError(explain("A basket", "a list, empty if need be", "a missing value"))
    flat, rows = column.flatten(), pc.list_parent_indices(column)
    return _coded(rows.to_numpy(zero_copy_only=False), flat, len(column), repeats)


def _coded(rows: npt.NDArray[Any], names: Any, count: int, repeats: str) -> Baskets:
    if isinstance(names, pa.ChunkedArray):
        names = pa.concat_arrays(names.chunks) if names.num_chunks else pa.array([], names.type)
    if names.null_count:
        raise DataError(explain("An item", "a name", "a missing value"))
    encoded = names if pa.types.is_dictionary(names.type) else pc.dictionary_encode(names)
    words = [str(word) for word in encoded.dictionary.to_pylist()]
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    order = in_order(word for word in words if word)
    place = {name: code for code, name in enumerate(order)}
    codes = np.array([place.get(word, -1) for word in words], np.int64)[codes]
    kept = codes >= 0
    return Baskets.from_rows(rows[kept], codes[kept], count, order, repeats)


def _long(path: Path, suffix: str, transaction: str, item: str | None, repeats: str) -> Baskets:
    if item is None:
        raise SchemaError("A long table needs item=, the column of the items.")
    table = _table(path, suffix)
    for name in (transaction, item):
        if name not in table.column_names:
            raise SchemaError(explain(f"Column '{name}'", f"one of {table.column_names[:20]}",
                                      "none of this name"))
    ids = table[transaction]
    if ids.null_count:
        raise DataError(explain(f"Column '{transaction}'", "complete", "missing values"))
    encoded = pc.dictionary_encode(ids).unify_dictionaries()
    rows = np.concatenate([np.zeros(0, np.int64), *(
        part.indices.to_numpy(zero_copy_only=False) for part in encoded.chunks)])
    count = len(encoded.chunk(0).dictionary) if encoded.num_chunks else 0
    return _coded(rows, table[item], count, repeats)


def _table(path: Path, suffix: str) -> Any:
    import pyarrow.csv as csv
    import pyarrow.parquet as pq

    if suffix in PARQUET:
        return pq.read_table(path)
    mark = "\t" if suffix == ".tsv" else ","
    try:
        return csv.read_csv(pa.BufferReader(_content(path)),
                            parse_options=csv.ParseOptions(delimiter=mark))
    except pa.ArrowInvalid as error:
        raise DataError(f"'{path.name}' must be a table with a header. {str(error)[:200]}") \
            from None


def _list_column(path: Path, name: str | None, repeats: str) -> Baskets:
    import pyarrow.parquet as pq

    schema = pq.read_schema(path)
    lists = [entry.name for entry in schema
             if pa.types.is_list(entry.type) or pa.types.is_large_list(entry.type)]
    chosen = lists if name is None else [one for one in lists if one == name]
    if len(chosen) != 1:
        raise SchemaError(explain(f"'{path.name}'", "a table with one column of lists, or one "
                                  "named by item=, or a long table with transaction= and item=",
                                  f"lists in {lists}, columns {schema.names[:20]}"))
    return _of_lists(pq.read_table(path, columns=chosen)[chosen[0]], repeats)
