"""A file whose format was recognised: its rows as a frame of the engine, and what was done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class OpenedFile:
    """The rows of a file, scanned where the format can be, else in memory.

    `size` is how many bytes all rows need in memory at most; `missing` counts for every column the
    words that were taken as missing values. `written` holds, as they are written, the columns whose
    type follows from all rows of a text file and whose text cannot be told from it. `unnamed` is
    the name that was given to a first column without one. `packed` are the files whose rows could
    be out of proportion to their size, with the size of these rows.
    """

    frame: Any
    size: int
    notes: tuple[str, ...] = ()
    missing: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    written: Any = None
    packed: tuple[tuple[Path, int], ...] = ()
    unnamed: str = ""
