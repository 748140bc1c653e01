"""The log of a guard. One file serves all users, since users may pool their answers.

The first entry holds the keyed fingerprint of the table and the settings; the others hold
conditions and keyed digests of query sets, never an answer.
"""

from __future__ import annotations

from unspoken.errors import QueryLogError
from unspoken.release.chained_log import ChainedLog, LockedLog
from unspoken.table.file_locks import WAIT

MAX_ENTRIES = 100_000

__all__ = ["MAX_ENTRIES", "LockedLog", "QueryLog"]


class QueryLog(ChainedLog):
    """The log of all queries to one table."""

    label = "query"
    error = QueryLogError

    @property
    def wait(self) -> float:
        """Return how many seconds another process may hold the log."""
        return WAIT
