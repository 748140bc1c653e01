"""Reading baskets: FIMI `.dat`, comma-separated lines, long tables, list columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unspoken.errors import DataError, SchemaError, explain
from unspoken.table.baskets import Baskets, in_order
from unspoken.table.engines.local import LocalEngine
from unspoken.table.formats.data_urls import DataUrl, Place, as_place
from unspoken.table.formats.expansion import refuse_bomb
from unspoken.table.formats.file_formats import FileFormat, existing_file, format_of, open_file
from unspoken.table.formats.file_sets import files_of, is_file_set
from unspoken.table.formats.header_names import unknown_name
from unspoken.table.formats.read_options import ReadOptions, take_options
from unspoken.table.formats.text_files import (
    HEAD_BYTES,
    most_used,
    read_utf8,
    split_lines,
    undecodable,
)

MAX_BYTES = 1 << 33


def read_baskets(path: str | PathLike[str] | DataUrl, *, transaction: str | None = None,
                 item: str | None = None, items: Any = None, repeats: str = "refuse",
                 **options: Any) -> Baskets:
    """Read baskets from a file.

    Parameters
    ----------
    path : path
        `.dat` (FIMI): one basket per line, items between blanks. `.csv`, `.txt`, `.tsv`: one basket
        per line, items between the delimiter that occurs most, no header; blanks around a name are
        part of it. Parquet and Arrow: the one column of lists, or the one named by `item`. Text
        files may be compressed (.gz, .zst).
    transaction, item : str, default None
        Two columns of a long table with a header, in any format that `read` knows, one line per
        item bought.
    items : sequence of str, default None
        All possible items, by default those that occur; any other raises UnseenValueError.
    repeats : {"refuse", "drop"}, default "refuse"
        What to do with an item that occurs twice in a basket: raise an error, or keep it once.
    **options
        `delimiter=`, `encoding=`, and `missing=[...]`, words of a long table or of a list that
        stand for no item.

    Returns
    -------
    Baskets
        A line without items is an empty basket.

    Examples
    --------
    >>> baskets = read_baskets("retail.dat")  # doctest: +SKIP
    """
    chosen = take_options(options)
    if transaction is not None:
        baskets = _long(as_place(path), transaction, item, repeats, chosen)
    else:
        baskets = baskets_with(path, chosen, item, repeats)
    return baskets if items is None else known_items(baskets, items)


def baskets_with(path: str | PathLike[str] | DataUrl, options: ReadOptions, item: str | None = None,
                 repeats: str = "refuse") -> Baskets:
    """Read baskets of lines, or of a column of lists, with options that were put together."""
    file = existing_file(path)
    kind = format_of(file)
    if kind.text:
        return _lines(file, kind, options, repeats)
    return _list_column(file, item, repeats, options)


def known_items(baskets: Baskets, items: Any) -> Baskets:
    """Return the baskets over the items named; one that occurs and is not named is refused."""
    names = tuple(str(name) for name in items)
    whole = Baskets(np.zeros(1, np.int64), np.zeros(0, np.int32), names)
    counts = baskets.frequencies()
    used = [name for code, name in enumerate(baskets.items) if counts[code]]
    place = dict(zip(used, whole.code_of(*used), strict=True))
    new = np.array([place.get(name, -1) for name in baskets.items], np.int64)
    return Baskets.from_rows(baskets.rows, new[baskets.codes], len(baskets), names)


def _lines(path: Path, kind: FileFormat, options: ReadOptions, repeats: str) -> Baskets:
    content = read_utf8(path, options, MAX_BYTES)
    if not content:
        raise DataError("A file of baskets must have at least one line. Got none.")
    if not content.endswith(b"\n"):
        content += b"\n"
    separator = separator_of(content, kind, options)
    if separator == " " and not content.translate(None, b"0123456789 \t\n"):
        return _numbers(content, repeats)
    return _names(path, content, separator, repeats)


def separator_of(content: bytes, kind: FileFormat, options: ReadOptions) -> str:
    """Return what separates the items of a line: the option, the usual, or the most frequent."""
    if kind.between == " ":
        return options.delimiter or " "
    head = content[:HEAD_BYTES].decode("utf-8", "replace").split("\n")
    return most_used(head, options, kind.between)


def _numbers(content: bytes, repeats: str) -> Baskets:
    """Read whole numbers between blanks, one basket per line, without a loop over lines."""
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


def _names(path: Path, content: bytes, separator: str, repeats: str) -> Baskets:
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise undecodable(path, "utf-8", error) from None
    lines = text.split("\n")[:-1]
    if '"' in text:
        parts: Any = pa.array(split_lines(lines, separator), pa.large_list(pa.large_string()))
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
        raise DataError("A basket is missing. Use an empty list for a basket without items.")
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


def _long(path: Place, transaction: str, item: str | None, repeats: str,
          options: ReadOptions) -> Baskets:
    if item is None:
        raise SchemaError("A long table needs item=, the column of the items.")
    # Items and numbers of baskets are names: they are taken as they are written.
    words = replace(options, missing=options.missing or ())
    table = _rows(path, words, (transaction, item))
    for name in (transaction, item):
        if name not in table.column_names:
            raise SchemaError(unknown_name(name, table.column_names))
    ids = table[transaction]
    if ids.null_count:
        raise DataError(f"Column '{transaction}' has missing values. Every item needs a "
                        "transaction.")
    encoded = pc.dictionary_encode(ids).unify_dictionaries()
    rows = np.concatenate([np.zeros(0, np.int64), *(
        part.indices.to_numpy(zero_copy_only=False) for part in encoded.chunks)])
    count = len(encoded.chunk(0).dictionary) if encoded.num_chunks else 0
    bought = np.asarray(pc.is_valid(table[item]).to_numpy(zero_copy_only=False), bool)
    if not (_is_text(path) or options.missing) and not bought.all():
        raise DataError(explain("An item", "a name", "a missing value"))
    return _coded(rows[bought], table[item].drop_null(), count, repeats)


def _is_text(path: Place) -> bool:
    """Return True for a text file, and for a folder or pattern of them."""
    if not isinstance(path, Path):
        return False
    return format_of(files_of(path)[0] if is_file_set(path) else path).text


def _rows(path: Place, options: ReadOptions, as_text: Sequence[str]) -> Any:
    engine = LocalEngine()
    opened = open_file(path, options, engine, as_text)
    for file, size in opened.packed:
        refuse_bomb(file, size)
    return engine.collect(opened.frame)


def _list_column(path: Path, name: str | None, repeats: str, options: ReadOptions) -> Baskets:
    engine = LocalEngine()
    opened = open_file(path, options, engine)
    refuse_bomb(path, opened.size)
    schema = engine.schema(opened.frame)
    lists = [entry.name for entry in schema
             if pa.types.is_list(entry.type) or pa.types.is_large_list(entry.type)]
    chosen = lists if name is None else [one for one in lists if one == name]
    if len(chosen) != 1:
        raise SchemaError(explain(f"'{path.name}'", "a table with one column of lists, or one "
                                  "named by item=, or a long table with transaction= and item=",
                                  f"lists in {lists}, columns {schema.names[:20]}"))
    return _of_lists(engine.collect(opened.frame, chosen)[chosen[0]], repeats)
