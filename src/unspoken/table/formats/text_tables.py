"""Tables in text files: delimiter, types and missing values, scanned by DuckDB line by line."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from unspoken.errors import DataError, InputError
from unspoken.table.engines.duckdb_files import literal, quote
from unspoken.table.engines.local import LocalEngine
from unspoken.table.formats.compressed_files import compression_of
from unspoken.table.formats.opened_file import OpenedFile
from unspoken.table.formats.read_options import UNSURE, ReadOptions
from unspoken.table.formats.text_files import TextLayout, layout_of, utf8_copy

# DuckDB's own list without booleans: a column of "yes" and "no" keeps its words.
TYPES = ["NULL", "BIGINT", "DOUBLE", "TIME", "DATE", "TIMESTAMP", "VARCHAR"]
_MOMENTS = ("TIME", "DATE", "TIMESTAMP")
_SAMPLE = 200_000
_COMPRESSION = {None: "none", ".gz": "gzip", ".zst": "zstd"}


def open_text_table(path: Path, options: ReadOptions, engine: LocalEngine,
                    as_text: Sequence[str] = (), usual: str = ",") -> OpenedFile:
    """Open a table in a text file; columns `as_text` are taken as they are written."""
    layout = layout_of(path, options, usual)
    if layout.delimiter == options.decimal:
        raise InputError(f"'{path.name}' is split at commas, so that 'decimal' must be '.'. Got "
                         "','. Name another delimiter (delimiter=).")
    copy, place, packed = None, str(path), _COMPRESSION[compression_of(path)]
    if layout.decoded:
        copy, place = utf8_copy(path, layout.encoding)
        packed = "none"
    source = _Source(place, packed, layout, options,
                     tuple(name for name in as_text if name in layout.names))
    raw = source.sql(all_varchar="true")
    if tuple(engine.column_types(raw)) != layout.names:
        raise DataError(f"Every line of '{path.name}' must have as many entries as its header, "
                        f"which has {len(layout.names)}. Some have not. Check its quotes, and its "
                        "delimiter (delimiter=).")
    rows, size, widest, missing = _facts(engine, raw, layout.names, options)
    sql, kept = _typed(engine, source, missing)
    frame = engine.scan(sql, rows, widest, copy)
    return OpenedFile(frame, size + 8 * rows * len(layout.names), _notes(path, layout), kept,
                      _written(engine, source, sql, missing, rows, copy))


def _written(engine: LocalEngine, source: _Source, sql: str,
             missing: Mapping[str, Mapping[str, int]], rows: int, copy: Any) -> Any:
    """Return columns of dates and of "?" as texts: one other row would have left them as such."""
    kinds = engine.column_types(sql)
    names = [name for name, kind in kinds.items() if kind in _MOMENTS
             or (kind != "VARCHAR" and UNSURE in missing.get(name, {}))]
    if not names:
        return None
    listed = ", ".join(map(quote, names))
    text = source.sql(source.options.words, names)
    return engine.scan(f"(SELECT {listed} FROM {text})", rows, 0, copy)


class _Source:
    """Builds what stands behind FROM for one file."""

    def __init__(self, place: str, packed: str, layout: TextLayout, options: ReadOptions,
                 as_text: tuple[str, ...]) -> None:
        self.fixed = {"header": "true", "skip": "0", "delim": literal(layout.delimiter),
                      "quote": literal('"'), "escape": literal('"'), "comment": "''",
                      "compression": literal(packed), "sample_size": str(_SAMPLE),
                      "auto_type_candidates": str(TYPES),
                      "decimal_separator": literal(options.decimal)}
        self.place, self.options, self.as_text = place, options, as_text

    def sql(self, words: Sequence[str] = ("",), text: Sequence[str] = (), **more: str) -> str:
        chosen = {**self.fixed, "nullstr": f"[{', '.join(map(literal, words))}]", **more}
        columns = [*self.as_text, *text]
        if columns:
            kinds = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in columns)
            chosen["types"] = f"{{{kinds}}}"
        listed = ", ".join(f"{name} = {value}" for name, value in chosen.items())
        return f"read_csv({literal(self.place)}, {listed})"


def _facts(engine: LocalEngine, raw: str, names: Sequence[str], options: ReadOptions
           ) -> tuple[int, int, int, dict[str, dict[str, int]]]:
    """Return rows, bytes, the widest row and the words for missing values, in one pass."""
    words = [*options.words, *([UNSURE] if options.missing is None else [])]
    listed = ", ".join(map(literal, words))
    parts = ["count(*)"]
    for name in names:
        cell = f"coalesce({quote(name)}, '')"
        parts += [f"sum(strlen({cell}))", f"max(strlen({cell}))",
                  f"histogram({cell}) FILTER ({cell} IN ({listed}))"]
    row = engine.first_row(f"SELECT {', '.join(parts)} FROM {raw}")
    cells = [row[at:at + 3] for at in range(1, len(row), 3)]
    missing = {name: {str(word): int(n) for word, n in (blanks or {}).items()}
               for name, (_, _, blanks) in zip(names, cells, strict=True)}
    return (int(row[0]), sum(int(size or 0) for size, _, _ in cells),
            sum(int(most or 0) for _, most, _ in cells), missing)


def _typed(engine: LocalEngine, source: _Source, missing: Mapping[str, Mapping[str, int]]
           ) -> tuple[str, dict[str, dict[str, int]]]:
    """Return the SQL of the typed columns, and the words that were taken as missing."""
    words = source.options.words
    plain = source.sql(words)
    asked = [name for name, blanks in missing.items()
             if UNSURE in blanks and UNSURE not in words and name not in source.as_text]
    numbers = _numbers(engine, source, plain, asked) if asked else {}
    kept = {name: {word: n for word, n in blanks.items() if word != UNSURE
                   or UNSURE in words or name in numbers} for name, blanks in missing.items()}
    if not numbers:
        return plain, kept
    casts = ", ".join(f"{_cast(name, kind, source.options)} AS {quote(name)}"
                      for name, kind in numbers.items())
    return f"(SELECT * REPLACE ({casts}) FROM {source.sql(words, list(numbers))})", kept


def _numbers(engine: LocalEngine, source: _Source, plain: str,
             asked: Sequence[str]) -> dict[str, str]:
    """Return the columns that hold numbers and question marks, with their types."""
    before = engine.column_types(plain)
    after = engine.column_types(source.sql((*source.options.words, UNSURE)))
    return {name: after[name] for name in asked
            if before[name] == "VARCHAR" and after[name] in ("BIGINT", "DOUBLE")}


def _cast(name: str, kind: str, options: ReadOptions) -> str:
    cell = f"nullif(trim({quote(name)}), {literal(UNSURE)})"
    if options.decimal == ",":
        cell = f"replace({cell}, ',', '.')"
    return f"CAST({cell} AS {kind})"


def _notes(path: Path, layout: TextLayout) -> tuple[str, ...]:
    """Return what was done that a user may not expect."""
    notes = []
    if layout.decoded and layout.encoding != "utf-8-sig":
        notes.append(f"'{path.name}' was decoded from {layout.encoding}")
    if layout.delimiter not in (",", "\t"):
        notes.append(f"'{path.name}' was split at '{layout.delimiter}'")
    return tuple(notes)


def write_text_table(table: Any, options: ReadOptions, usual: str = ",") -> bytes:
    """Return a table as text: a header, and an empty cell for a missing value."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=options.delimiter or usual, lineterminator="\n")
    writer.writerow(table.column_names)
    for batch in table.to_batches():
        rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
        writer.writerows([_cell(value, options.decimal) for value in row] for row in rows)
    return out.getvalue().encode(options.encoding or "utf-8")


def _cell(value: Any, decimal: str) -> Any:
    if isinstance(value, float) and decimal != ".":
        return repr(value).replace(".", decimal)
    return value
