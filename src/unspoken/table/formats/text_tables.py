"""Tables in text files: delimiter, types and missing values, scanned by DuckDB line by line."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from unspoken.errors import DataError, InputError
from unspoken.table.engines.duckdb_files import file_literal, literal, quote
from unspoken.table.engines.local import LocalEngine
from unspoken.table.formats.cell_meanings import (
    NUMBERS,
    ODD,
    boolean_cell,
    booleans,
    in_thousands,
    moment_cell,
    number_cell,
    text_cell,
    text_instead,
    with_commas,
    zoned_moments,
)
from unspoken.table.formats.compressed_files import compression_of
from unspoken.table.formats.opened_file import OpenedFile
from unspoken.table.formats.read_options import UNSURE, ReadOptions
from unspoken.table.formats.text_files import TextLayout, layout_of, utf8_copy
from unspoken.table.formats.written_dates import CLEARER, UNCLEAR, moments, written_dates

# DuckDB's own list without booleans: a column of "yes" and "no" keeps its words.
TYPES = ["NULL", "BIGINT", "DOUBLE", "TIME", "DATE", "TIMESTAMP", "VARCHAR"]
_GUESSED = ("TIME", "DATE", "TIMESTAMP", "BOOLEAN", "TIMESTAMP WITH TIME ZONE")
_SAMPLE = 200_000
_TOGETHER = 50
"""Columns whose words for missing values are counted in one pass."""
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
    rows, size, widest, missing, odd = _facts(engine, raw, layout.names, options)
    sql, kept, notes = _typed(engine, source, missing, odd, rows)
    frame = engine.scan(sql, rows, widest, copy)
    return OpenedFile(frame, size + 8 * rows * len(layout.names), (*_notes(path, layout), *notes),
                      kept, _written(engine, source, sql, missing, rows, copy),
                      unnamed=layout.unnamed)


def _written(engine: LocalEngine, source: _Source, sql: str,
             missing: Mapping[str, Mapping[str, int]], rows: int, copy: Any) -> Any:
    """Return columns of dates and of "?" as texts: one other row would have left them as such.

    So would it have left numbers with parted thousands, and these are then numbers one by one.
    """
    kinds, sign = engine.column_types(sql), source.options.thousands
    names = [name for name, kind in kinds.items() if kind in _GUESSED
             or (kind != "VARCHAR" and UNSURE in missing.get(name, {}))
             or (sign is not None and kind in ("VARCHAR", "DOUBLE"))]
    if not names:
        return None
    listed = ", ".join(quote(name) if sign is None else
                       f"{text_cell(name, sign, source.options.decimal)} AS {quote(name)}"
                       for name in names)
    text = source.sql(source.options.words, names)
    return engine.scan(f"(SELECT {listed} FROM {text})", rows, 0, copy)


class _Source:
    """Builds what stands behind FROM for one file."""

    def __init__(self, place: str, packed: str, layout: TextLayout, options: ReadOptions,
                 as_text: tuple[str, ...]) -> None:
        self.fixed = {"header": "true", "skip": "0", "delim": literal(layout.delimiter),
                      "quote": literal('"'), "escape": literal('"'), "comment": "''",
                      "compression": literal(packed), "sample_size": str(_SAMPLE),
                      "auto_type_candidates": str(TYPES), "hive_partitioning": "false",
                      "decimal_separator": literal(options.decimal),
                      **({"names": f"[{literal(layout.unnamed)}]"} if layout.unnamed else {})}
        self.place, self.options, self.as_text = place, options, as_text

    def sql(self, words: Sequence[str] = ("",), text: Sequence[str] = (), **more: str) -> str:
        chosen = {**self.fixed, "nullstr": f"[{', '.join(map(literal, words))}]", **more}
        columns = [*self.as_text, *text]
        if columns:
            kinds = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in columns)
            chosen["types"] = f"{{{kinds}}}"
        listed = ", ".join(f"{name} = {value}" for name, value in chosen.items())
        return f"read_csv({file_literal(self.place)}, {listed})"


def _facts(engine: LocalEngine, raw: str, names: Sequence[str], options: ReadOptions
           ) -> tuple[int, int, int, dict[str, dict[str, int]], list[str]]:
    """Return rows, bytes, the widest row, the words for missing values, and odd columns.

    In one pass where columns are few: words are counted column by column, which takes some MB each.
    """
    words = [*options.words, *([UNSURE] if options.missing is None else [])]
    few = len(names) <= _TOGETHER
    row = engine.first_row(f"SELECT {', '.join(['count(*)', *_parts(names, words, few)])} "
                           f"FROM {raw}")
    cells = dict(zip(names, (row[at:at + 4] for at in range(1, len(row), 4)), strict=True))
    missing = {name: cell[2] for name, cell in cells.items()} if few else _words_in(
        engine, raw, [name for name, cell in cells.items() if cell[2]], words)
    return (int(row[0]), sum(int(cell[0] or 0) for cell in cells.values()),
            sum(int(cell[1] or 0) for cell in cells.values()),
            {name: {str(word): int(n) for word, n in (missing.get(name) or {}).items()}
             for name in names}, [name for name, cell in cells.items() if cell[3]])


def _parts(names: Sequence[str], words: Sequence[str], each: bool) -> list[str]:
    """Return what is asked of every column: bytes, the longest cell, words for missing, oddness."""
    parts, listed = [], ", ".join(map(literal, words))
    for name in names:
        cell = f"coalesce({quote(name)}, '')"
        counted = f"histogram({cell})" if each else "count(*)"
        parts += [f"sum(strlen({cell}))", f"max(strlen({cell}))",
                  f"{counted} FILTER ({cell} IN ({listed}))",
                  f"bool_or(regexp_matches({cell}, {literal(ODD)}))"]
    return parts


def _words_in(engine: LocalEngine, raw: str, names: Sequence[str],
              words: Sequence[str]) -> dict[str, Mapping[str, int]]:
    """Return which words for missing values the columns of a wide table have, and how often."""
    missing: dict[str, Mapping[str, int]] = {}
    for at in range(0, len(names), _TOGETHER):
        some = names[at:at + _TOGETHER]
        row = engine.first_row(f"SELECT {', '.join(_parts(some, words, True))} FROM {raw}")
        missing |= dict(zip(some, row[2::4], strict=True))
    return missing


def _typed(engine: LocalEngine, source: _Source, missing: Mapping[str, Mapping[str, int]],
           odd: Sequence[str], rows: int) -> tuple[str, dict[str, dict[str, int]], tuple[str, ...]]:
    """Return the SQL of the typed columns, the words that were taken as missing, and notes."""
    words, options = source.options.words, source.options
    kinds = engine.column_types(source.sql(words))
    asked = [name for name, blanks in missing.items()
             if UNSURE in blanks and UNSURE not in words and name not in source.as_text]
    numbers = _numbers(engine, source, kinds, asked) if asked else {}
    kinds |= numbers
    raw = source.sql(words, all_varchar="true")
    kept_text = text_instead(engine, raw, {name: kinds[name] for name in odd
                                           if kinds[name] in NUMBERS})
    timed, dates = _dates(engine, raw, kinds, source.as_text)
    kept_text |= {name: form for name, form in dates.items() if form in UNCLEAR.values()}
    casts = {name: _cast(name, kind, options) for name, kind in numbers.items()
             if name not in kept_text}
    empty = [name for name, blanks in missing.items()
             if rows and sum(blanks.get(word, 0) for word in words) == rows
             and name not in source.as_text]
    casts |= timed | {name: "CAST(NULL AS DOUBLE)" for name in empty}
    casts |= _meant(engine, raw, [name for name, kind in kinds.items()
                                  if kind == "VARCHAR" and name not in source.as_text
                                  and name not in casts], options)
    kept = {name: {word: n for word, n in blanks.items() if word != UNSURE
                   or UNSURE in words or name in casts} for name, blanks in missing.items()}
    notes = (*(f"'{name}' has {why}: taken as text{_clearer(why)}"
               for name, why in kept_text.items()),
             *(f"'{name}' is read as dates, {form}" for name, form in dates.items()
               if form not in UNCLEAR.values()),
             *_thousands_note(engine, raw, kinds, casts, options))
    text = source.sql(words, [*kept_text, *casts])
    cells = ", ".join(f"{cell} AS {quote(name)}" for name, cell in casts.items())
    return f"(SELECT * REPLACE ({cells}) FROM {text})" if casts else text, kept, notes


def _clearer(why: str) -> str:
    """Return how a column that stays text would have been read, where that can be said."""
    return f" ({CLEARER[why]} to have them read)" if why in CLEARER else ""


def _dates(engine: LocalEngine, raw: str, kinds: Mapping[str, str],
           as_text: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the SQL of dates that DuckDB took for text, and how dates are written."""
    known = written_dates(engine, raw, [name for name, kind in kinds.items()
                                        if kind in ("DATE", "TIMESTAMP")])
    casts, forms = moments(engine, raw, [name for name, kind in kinds.items()
                                         if kind == "VARCHAR" and name not in as_text])
    return casts, known | forms


def _meant(engine: LocalEngine, raw: str, names: Sequence[str],
           options: ReadOptions) -> dict[str, str]:
    """Return the SQL of text cells that mean booleans, or numbers with parted thousands."""
    casts = {name: boolean_cell(name) for name in booleans(engine, raw, names)}
    casts |= {name: moment_cell(name) for name in zoned_moments(engine, raw, names)}
    if options.thousands is not None:
        left = [name for name in names if name not in casts]
        casts |= {name: number_cell(name, options.thousands, options.decimal) for name in
                  in_thousands(engine, raw, left, options.thousands, options.decimal)}
    return casts


def _thousands_note(engine: LocalEngine, raw: str, kinds: Mapping[str, str],
                    casts: Mapping[str, str], options: ReadOptions) -> tuple[str, ...]:
    """Point out texts that look like numbers with parted thousands or decimal commas."""
    sign = "," if options.decimal == "." else "."
    names = [name for name, kind in kinds.items() if kind == "VARCHAR" and name not in casts]
    if options.thousands is not None or not names:
        return ()
    found = in_thousands(engine, raw, names, sign, options.decimal, whole=False)
    left = [name for name in names if name not in found]
    commas = with_commas(engine, raw, left) if left and options.decimal == "." else {}
    return (*_parted_notes(found, sign), *_comma_notes(commas))


def _comma_notes(found: Mapping[str, bool]) -> tuple[str, ...]:
    says = {False: "(decimal=',' says so)", True: "(decimal=',' and thousands='.' say so)"}
    return tuple(f"'{name}' is taken as text, and looks like numbers with a decimal comma "
                 f"{says[parted]}" for name, parted in found.items())


def _parted_notes(found: Sequence[str], sign: str) -> tuple[str, ...]:
    return tuple(f"'{name}' is taken as text, and looks like numbers with '{sign}' between "
                 f"thousands (thousands='{sign}' says so)" for name in found)


def _numbers(engine: LocalEngine, source: _Source, before: Mapping[str, str],
             asked: Sequence[str]) -> dict[str, str]:
    """Return the columns that hold numbers and question marks, with their types."""
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
    if layout.unnamed:
        notes.append(f"the first column of '{path.name}' has no name: it is called "
                     f"'{layout.unnamed}', counts as row numbers, and is not released unless "
                     f"it is kept by name (keep='{layout.unnamed}')")
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
