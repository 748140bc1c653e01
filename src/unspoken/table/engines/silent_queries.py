"""Ending a query of a database file that yields nothing: a view in a foreign file may never end."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from unspoken.errors import DataError

PATIENCE = 600.0
"""Seconds that a query may take until its next rows come."""
_LOOK = 1.0


class Watch:
    """When a query was last heard of, and whether it was ended for its silence."""

    def __init__(self, interrupt: Callable[[], object]) -> None:
        self._interrupt, self._ended = interrupt, threading.Event()
        self.late = False
        self.heard()

    def heard(self) -> None:
        """Note that the query yielded something."""
        self._until = time.monotonic() + PATIENCE

    def look(self) -> None:
        """Wait for the end of the query, and bring it about once it was silent for too long."""
        while not self._ended.wait(min(_LOOK, PATIENCE)):
            if time.monotonic() > self._until:
                self.late = True
                self._interrupt()

    def close(self) -> None:
        """Stop looking."""
        self._ended.set()

    def passed(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Pass batches on; what the reader does with one is not the query's silence."""
        for batch in batches:
            self._until = math.inf
            yield batch
            self.heard()


@contextmanager
def watched(interrupt: Callable[[], object], table: str) -> Iterator[Watch]:
    """Yield a watch over what is asked of a connection; a query that stays silent is refused."""
    watch = Watch(interrupt)
    looking = threading.Thread(target=watch.look, daemon=True)
    looking.start()
    try:
        yield watch
    except Exception:
        if watch.late:
            raise DataError(f"'{table}' must yield rows within {PATIENCE:g} s. It did not. A view "
                            "that takes long should be stored as a table first (CREATE TABLE ... "
                            "AS SELECT).") from None
        raise
    finally:
        watch.close()
        looking.join()
