"""The connection to a node's state: what goes wrong with the file is said in sentences.

A node that cannot keep what it does must not do it. So every failure ends what was being done; the
node itself ends in order, and goes on from what was kept when it is started again.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unspoken.joint.joint_errors import StateError


class StateFile(sqlite3.Connection):
    """A connection whose errors say what to do, and hold nothing of what was being kept."""

    def execute(self, *words: Any) -> sqlite3.Cursor:
        """Run one statement."""
        with _in_words():
            return super().execute(*words)

    def executemany(self, *words: Any) -> sqlite3.Cursor:
        """Run one statement for each of many rows."""
        with _in_words():
            return super().executemany(*words)

    def executescript(self, *words: Any) -> sqlite3.Cursor:
        """Run several statements."""
        with _in_words():
            return super().executescript(*words)


@contextlib.contextmanager
def _in_words() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StateError(
            f"The node's state (state.db in its folder) cannot be used: {error}. Nothing was kept "
            "or done. See that the disk has room, that the file is whole and that the node's user "
            "may write the folder; then start the node again.") from None


def opened_state(path: Path) -> StateFile:
    """Return a connection to the state in a file, which is made for its owner alone."""
    # Made once. To open and close it again would drop the locks of another connection of this
    # process, and what that one writes could be lost.
    if not path.exists():
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    with _in_words():
        file = sqlite3.connect(path, timeout=30.0, isolation_level=None, factory=StateFile)
    file.execute("PRAGMA journal_mode=WAL")
    file.execute("PRAGMA synchronous=FULL")
    return file
