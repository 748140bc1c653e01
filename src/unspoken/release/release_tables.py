"""A release as tables of a database: its rows, and beside them its manifest.

Both are written in one transaction, so that nobody sees a release that is not complete. A table
NAME has its manifest in the only cell of NAME_manifest.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from unspoken.errors import ReleaseError
from unspoken.table.formats.data_urls import DataUrl
from unspoken.table.formats.database_tables import (
    existing_tables,
    one_cell,
    with_table,
    write_tables,
)

if TYPE_CHECKING:
    from unspoken.release.release import Release

_SUFFIX = "_manifest"


def check_release_place(place: DataUrl, overwrite: bool) -> None:
    """Refuse tables that are there already, unless they are a release that may be replaced."""
    url = _database(place)
    names = [str(url.table), f"{url.table}{_SUFFIX}"]
    there = existing_tables(url, names)
    if there and not (overwrite and there == names):
        raise ReleaseError(
            f"Table '{there[0]}' must not exist in the database yet"
            + (", or be a release with its manifest to be replaced" if overwrite else "")
            + ". Choose another name" + ("." if overwrite else ", or use overwrite=True."))


def save_as_tables(release: Release, place: DataUrl, overwrite: bool,
                   write: Callable[[Path], Release],
                   enter: Callable[[], object] | None) -> Release:
    """Write a release into a database at once or not at all; return it as it was written.

    `write` puts the release into a private folder first, which its hash and its seal need.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    check_release_place(place, overwrite)
    url = _database(place)
    with TemporaryDirectory(prefix="unspoken-") as folder:
        saved = write(Path(folder) / "release")
        with pq.ParquetFile(Path(folder) / "release" / "data.parquet") as file:
            rows = pa.RecordBatchReader.from_batches(file.schema_arrow, file.iter_batches())
            manifest = json.dumps(_described(saved, url), allow_nan=False)
            write_tables(url, [(str(url.table), rows),
                               (f"{url.table}{_SUFFIX}", one_cell("manifest", manifest))],
                         overwrite, enter or (lambda: None))
    return replace(release, data_sha256=saved.data_sha256, seal=saved.seal)


def _database(place: DataUrl) -> DataUrl:
    if not place.is_database:
        raise ReleaseError(f"A release must be written into a folder or a database. '{place}' is "
                           "neither. Write a folder and copy it.")
    return with_table(place, None)


def _described(saved: Release, url: DataUrl) -> dict[str, Any]:
    """Return the manifest; the rows are in a table here, and its order is the database's."""
    return {**saved.manifest, "data": {"table": url.table, "schema": url.schema,
                                       "sha256_of_parquet": saved.data_sha256},
            **({"attached": dict(saved.attachments)} if saved.attachments else {})}
