"""Delta tables: the version that is the newest when the table is opened."""

from __future__ import annotations

from pathlib import Path

from unspoken.errors import DataError, MissingExtraError
from unspoken.table.engines.held_rows import hold
from unspoken.table.engines.local import LocalEngine
from unspoken.table.formats.opened_file import OpenedFile

_BATCH = 1 << 17


def is_delta(place: str) -> bool:
    """Return True if a local folder is a Delta table."""
    return (Path(place) / "_delta_log").is_dir()


def open_delta(place: str, engine: LocalEngine) -> OpenedFile:
    """Open a Delta table by its path or address; its rows are read once, at one version."""
    try:
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaError
    except ImportError:
        raise MissingExtraError("Delta tables need deltalake. Type: pip install "
                                "'unspoken[folders]'") from None
    name = place.rstrip("/").rpartition("/")[2]
    try:
        table = DeltaTable(place)
        reader = table.to_pyarrow_dataset().scanner(batch_size=_BATCH).to_reader()
        frame, size = hold(iter(reader), reader.schema, engine)
    except (DeltaError, OSError, ValueError) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else "no reason"
        raise DataError(f"'{name}' must be a Delta table that can be read. It says: "
                        f"{first[:200]}") from None
    return OpenedFile(frame, size, (f"'{name}' was read at version {table.version()}",))
