"""Words that stand for a missing value: taken out of text columns, and reported in a note."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from unspoken.table.engines.duckdb_files import literal, quote
from unspoken.table.engines.local import LocalEngine, MemoryFrame, ScanFrame

Counted = dict[str, dict[str, int]]


def blank_words(frame: Any, words: Sequence[str], engine: LocalEngine) -> tuple[Any, Counted]:
    """Return a frame without these words in its text columns, and how often each was there."""
    names = [entry.name for entry in engine.schema(frame) if _is_text(entry.type)]
    if not names or not words:
        return frame, {}
    if isinstance(frame, ScanFrame):
        return _blank_scan(frame, names, words, engine)
    return _blank_memory(frame, names, words)


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _blank_scan(frame: ScanFrame, names: Sequence[str], words: Sequence[str],
                engine: LocalEngine) -> tuple[Any, Counted]:
    listed = ", ".join(map(literal, words))
    counts = ", ".join(f"histogram({quote(n)}) FILTER ({quote(n)} IN ({listed}))" for n in names)
    row = engine.first_row(f"SELECT {counts} FROM {frame.sql}")
    cells = ", ".join(f"CASE WHEN {quote(n)} IN ({listed}) THEN NULL ELSE {quote(n)} END "
                      f"AS {quote(n)}" for n in names)
    sql = f"(SELECT * REPLACE ({cells}) FROM {frame.sql})"
    return (ScanFrame(sql, frame.schema, frame.rows, frame.widest, frame.keep),
            {name: dict(blanks or {}) for name, blanks in zip(names, row, strict=True)})


def _blank_memory(frame: MemoryFrame, names: Sequence[str],
                  words: Sequence[str]) -> tuple[Any, Counted]:
    table, counted = frame.table, {}
    for name in names:
        column = table[name]
        hit = pc.is_in(column, pa.array(words, column.type))
        seen = pc.value_counts(column.filter(hit)).to_pylist()
        counted[name] = {str(entry["values"]): int(entry["counts"]) for entry in seen}
        blank = pc.if_else(hit, pa.scalar(None, column.type), column)
        table = table.set_column(table.column_names.index(name), name, blank)
    return MemoryFrame(table), counted


def missing_note(counts: Mapping[str, int]) -> str:
    """Return how many cells of a column were taken as missing, and what stood in them."""
    if not counts:
        return ""
    shown = ", ".join(f"{f'{word!r}' if word else 'empty'} {n:,}"
                      for word, n in sorted(counts.items()))
    return f"{sum(counts.values()):,} missing ({shown})"


def words_note(missing: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Return one line about words, not empty cells, that were taken as missing; or none."""
    columns = {name: {word: n for word, n in words.items() if word}
               for name, words in missing.items()}
    parts = [f"{name} {', '.join(f'{word!r} {n:,}' for word, n in sorted(words.items()))}"
             for name, words in columns.items() if words]
    more = f" and {len(parts) - 10} more columns" if len(parts) > 10 else ""
    return [f"taken as missing: {'; '.join(parts[:10])}{more} (missing= says otherwise)"] \
        if parts else []
