"""Many Parquet files of one schema as one scan, which is quicker than a scan for every file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from unspoken.errors import InputError
from unspoken.table.engines.duckdb_files import file_literal, literal, quote
from unspoken.table.engines.local import LocalEngine
from unspoken.table.formats.compressed_files import FREE_BYTES
from unspoken.table.formats.expansion import fixed_size, is_text, parquet_metadata, text_bound
from unspoken.table.formats.file_sets import base_of, folder_types, partitions_of
from unspoken.table.formats.header_names import check_names
from unspoken.table.formats.opened_file import OpenedFile
from unspoken.table.formats.parquet_meanings import meant


def open_parquet_set(path: Path, files: Sequence[Path], engine: LocalEngine) -> OpenedFile | None:
    """Open files of one schema; None where their schemas differ, or a folder names a column too."""
    base = base_of(path)
    described = [_metadata(file, base) for file in files]
    schemas = [_plain(one.schema.to_arrow_schema()) for one in described]
    added = folder_types(partitions_of(files, base))
    if any(not schema.equals(schemas[0]) for schema in schemas) or set(added) & set(
            schemas[0].names):
        return None
    check_names([*schemas[0].names, *added])
    sql, notes = meant(_scan(files, [*schemas[0].names, *added], added),
                       described[0].schema.to_arrow_schema())
    sizes = [fixed_size(file, one) for file, one in zip(files, described, strict=True)]
    texts = [entry.name for entry in schemas[0] if is_text(entry.type)]
    widest = 0
    if texts and sum(map(text_bound, described)) > FREE_BYTES:
        sizes, widest = _with_text(files, sizes, texts, engine)
    frame = engine.scan(sql, sum(one.num_rows for one in described), widest,
                        files=[str(file) for file in files])
    return OpenedFile(frame, sum(sizes), (many_files(path, files), *notes),
                      packed=tuple(zip(files, sizes, strict=True)))


def many_files(path: Path, files: Sequence[Any]) -> str:
    """Return the note about several files."""
    return f"'{path.name}' is {len(files):,} files, in the order of their paths"


def _metadata(file: Path, base: Path) -> Any:
    try:
        return parquet_metadata(file)
    except InputError as error:
        raise type(error)(f"'{file.relative_to(base)}', one of several files, cannot be used. "
                          f"{error}") from None


def _plain(schema: Any) -> Any:
    """Return names and types alone; writers differ in what they note beside them."""
    return pa.schema([(entry.name, entry.type) for entry in schema])


def _scan(files: Sequence[Path], names: Sequence[str], added: Mapping[str, Any]) -> str:
    kinds = ", ".join(f"{literal(name)}: {'BIGINT' if kind == pa.int64() else 'VARCHAR'}"
                      for name, kind in added.items())
    hive = f"hive_partitioning = true, hive_types = {{{kinds}}}" if added \
        else "hive_partitioning = false"
    return (f"(SELECT {', '.join(map(quote, names))} FROM "
            f"read_parquet([{', '.join(file_literal(str(file)) for file in files)}], {hive}))")


def _with_text(files: Sequence[Path], sizes: Sequence[int], texts: Sequence[str],
               engine: LocalEngine) -> tuple[list[int], int]:
    """Return the size of every file with its text, and the most text that a row can have."""
    sums = "+".join(f"coalesce(sum(strlen({quote(name)})), 0)" for name in texts)
    most = ", ".join(f"max(strlen({quote(name)}))" for name in texts)
    listed = ", ".join(file_literal(str(file)) for file in files)
    rows = engine.all_rows(f"SELECT filename, {sums}, {most} FROM read_parquet([{listed}], "
                           "hive_partitioning = false, filename = true) GROUP BY filename")
    by_name = {str(row[0]): int(row[1]) for row in rows}
    widest = max((sum(int(n or 0) for n in row[2:]) for row in rows), default=0)
    return [size + by_name.get(str(file), 0)
            for file, size in zip(files, sizes, strict=True)], widest
