"""QueryGuard: statistics on request, and no person's value out of them (as2000 section 1).

Who learns what. Whoever asks learns the answers, the sizes of the sets of means and counts, and
which queries are refused. Columns that are not protected count as known to everybody, and so does
where values are missing: query sets follow from them, and counting them is not audited. One log
serves all users, since users may pool their answers; a second log over the same table undoes the
protection. Values are taken for unbounded and unrelated: who knows that incomes are not negative,
or that one column is the sum of others, may learn more than the audit thinks.
"""

from __future__ import annotations

import datetime
import os
import threading
import warnings
from typing import Any

from unspoken.errors import LeakWarning, QueryLogError, QueryRefusedError
from unspoken.methods.queries.answer_log import MAX_ENTRIES, LockedLog, QueryLog
from unspoken.methods.queries.answers import Answer, answer
from unspoken.methods.queries.guard_settings import Settings, kept_settings, new_settings
from unspoken.methods.queries.guarded_records import Rows
from unspoken.methods.queries.query import Asked, Query, Where, make_query, resolve
from unspoken.methods.queries.refusal_rules import Answered, Refusal
from unspoken.numerics.random import derive
from unspoken.table.table import Table

FORMAT = "unspoken-queries 1"


class QueryGuard:
    """Answers counts, sums and means over a table, or refuses them.

    Parameters
    ----------
    table : a table with columns of role sensitive (or target): these are protected.
    log : path of the log, shared by everybody who asks. Its key is kept beside it.
    smallest : records that a query set must hold (10).
    largest : records, or share of them, that it may hold (all but `smallest`, or everybody).
    overlap : records that it may share with each answered set of the same column (no limit).
    group : answers must not determine a combination of the values of fewer records (2). Exact
        for 2 and 3; beyond, no two answered sets may tell fewer than `group` records apart.
    noise : standard deviation of Gaussian noise on sums; one, or a mapping by column (none).
    count_noise : the same on counts of protected conditions, which need it.
    least_error : error that the best estimate of a value must keep under noise (the noise's).
    blur : error that the best estimate of a yes or no must keep, for somebody who knows
        everybody else's (1; in units of the column's range where a column has few values).
    sample : answer from this share of each set.
    few : a column with at most that many different values is treated as a yes or no (10).
    audit : False leaves out the audit of sums. Size and overlap limits alone stop nobody.

    The settings stand in the log; they cannot change while it is in use. Those that are left out
    are taken from it.
    """

    def __init__(self, table: Table, log: str | os.PathLike[str], **limits: Any) -> None:
        self._rows = Rows(table)
        self._log = QueryLog(log)
        self._limits = limits
        self._inside = threading.Lock()
        self._answered: Answered | None = None
        self._settings = Settings() if self._exists() else new_settings(table.schema, limits)
        with self._log.locked() as held:
            self._catch_up(held)
        if not self._settings.audit:
            warnings.warn("The audit of sums is off. A tracker gets single values past limits on "
                          "the size of query sets.", LeakWarning, stacklevel=2)

    def _exists(self) -> bool:
        return self._log.path.exists() and self._log.path.stat().st_size > 0

    @property
    def settings(self) -> Settings:
        """Return the limits in force."""
        return self._settings

    def count(self, where: Where = None) -> Answer:
        """Return how many records meet a condition."""
        return self._ask("count", None, where)

    def sum(self, column: str, where: Where = None) -> Answer:
        """Return the sum of a column over the records that meet a condition and have a value."""
        return self._ask("sum", column, where)

    def mean(self, column: str, where: Where = None) -> Answer:
        """Return the mean of a column over the records that meet a condition and have a value."""
        return self._ask("mean", column, where)

    def _ask(self, kind: str, column: str | None, where: Where) -> Answer:
        query = make_query(kind, column, where)
        asked = self._resolve(query)
        with self._inside, self._log.locked() as held:
            answered = self._catch_up(held)
            if not answered.again(asked):
                self._decide(held, answered, asked)
        deviation = answered.deviation(asked)
        return answer(asked, self._rows, derive(self._log.secret, "answers"), deviation,
                      self._settings.sample)

    def _decide(self, held: LockedLog, answered: Answered, asked: Asked) -> None:
        """Append what is decided before anything is told."""
        if self._log.entries >= MAX_ENTRIES:
            raise QueryRefusedError("The query log is full. Start a new log over a new table.",
                                    "full")
        refusal = answered.refuse(asked)
        held.append(_entry(asked, refusal))
        if refusal is not None:
            raise QueryRefusedError(f"{refusal.words} (Rule '{refusal.rule}'.)", refusal.rule)
        answered.add(asked)

    def _resolve(self, query: Query) -> Asked:
        asked = resolve(query, self._rows, self._settings, self._log.secret)
        if asked.hidden is not None:
            # Once, before the log: a condition that cannot be evaluated is no query.
            self._rows.meet(asked.hidden)
        return asked

    def _catch_up(self, held: LockedLog) -> Answered:
        """Take in what other processes were answered, or start the log."""
        news = held.news()
        if self._answered is None and not news:
            self._begin(held)
            self._answered = Answered(self._rows, self._settings)
        for entry in news:
            self._take(entry)
        if self._answered is None:
            raise QueryLogError(f"'{self._log.path}' has no first line. Restore an intact copy.")
        return self._answered

    def _begin(self, held: LockedLog) -> None:
        try:
            held.append(self._start())
        except BaseException:
            # A key beside an empty log would look like a log that was lost.
            self._log.key_path.unlink(missing_ok=True)
            raise

    def _start(self) -> dict[str, Any]:
        return {"format": FORMAT, "rows": self._rows.count, "table": self._fingerprint(),
                "settings": self._settings.to_json(), "at": _now()}

    def _fingerprint(self) -> str:
        return self._rows.fingerprint(derive(self._log.secret, "table"))

    def _take(self, entry: dict[str, Any]) -> None:
        if self._answered is None:
            self._check_start(entry)
            self._answered = Answered(self._rows, self._settings)
        elif entry.get("answered"):
            asked = self._resolve(Query.from_json(entry))
            if asked.digest != entry.get("set"):
                raise QueryLogError(f"'{self._log.path}' holds a query whose set of records has "
                                    "changed. It was written by another version of unspoken.")
            self._answered.add(asked)

    def _check_start(self, entry: dict[str, Any]) -> None:
        if entry.get("format") != FORMAT:
            raise QueryLogError(f"'{self._log.path}' must be a query log of this version.")
        if entry.get("table") != self._fingerprint():
            raise QueryLogError(
                f"'{self._log.path}' belongs to another table, or the table has changed. Answers "
                "before and after a change tell the records that changed. Keep serving the old "
                "table, or start a new log once enough records have changed.")
        self._settings = kept_settings(entry.get("settings"), self._rows.schema, self._limits)


def _entry(asked: Asked, refusal: Refusal | None) -> dict[str, Any]:
    told = {"answered": refusal is None, "set": asked.digest, "at": _now()}
    return asked.query.to_json() | told | ({"rule": refusal.rule} if refusal else {})


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
