"""Temporary files without a name: nothing is left behind, whatever happens to this process."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any


def nameless_file() -> tuple[Any, str]:
    """Return a temporary file and the path that this process can open it by.

    Where the system has no `/proc` the file has a name and is removed when it is closed.
    """
    if not Path("/proc/self/fd").is_dir():
        named = tempfile.NamedTemporaryFile()  # noqa: SIM115 - it lives as long as its frame
        return named, named.name
    copy = tempfile.TemporaryFile()  # noqa: SIM115
    return copy, f"/proc/self/fd/{copy.fileno()}"
