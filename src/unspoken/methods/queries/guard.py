"""QueryGuard: statistics on request, and no person's value out of them (as2000 section 1).

Who learns what. A user learns the answers with their errors, which queries are refused, and
what the custodian declared: bounds, grids, public columns, cells. By default every answer about a
protected column carries noise, and all answers together change the odds of anything about one
record at most exp(epsilon)-fold, whatever else is known; then the guard refuses. Exact answers are
given over cells that were fixed before the first query, or on explicit request (`audit="exact"`),
where they are audited against an adversary who knows that values are bounded and whole; those are
outside epsilon. One log serves all users, since users may pool their answers; a second log over
the same table undoes the protection. One record is taken for one person.
"""

from __future__ import annotations

import datetime
import os
import threading
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from unspoken.errors import LeakWarning, QueryLogError, QueryRefusedError
from unspoken.methods.queries.answer_book import Book, new_book
from unspoken.methods.queries.answer_log import MAX_ENTRIES, LockedLog, QueryLog
from unspoken.methods.queries.answers import Answer
from unspoken.methods.queries.exact_audit import DETERMINED
from unspoken.methods.queries.guard_settings import (
    LINEAR,
    NOISE,
    SIZES,
    Settings,
    kept_settings,
    new_settings,
)
from unspoken.methods.queries.guarded_columns import guarded_columns
from unspoken.methods.queries.guarded_records import Rows
from unspoken.methods.queries.noise_budget import NoiseBudget
from unspoken.methods.queries.query import Asked, Query, Where, make_query, resolve
from unspoken.methods.queries.refusal_rules import Refusal
from unspoken.numerics.random import derive
from unspoken.release.automatic_entries import enter_once
from unspoken.table.table import Table

FORMAT = "unspoken-queries 2"
_WEAK = {
    LINEAR: "The audit treats values as arbitrary real numbers. An adversary who knows that they "
            "are whole, bounded or mostly zero gets single values out of exact sums. Use "
            "audit='exact', or leave it out.",
    SIZES: "The audit of sums is off. A tracker gets single values past limits on the size of "
           "query sets.",
}


class QueryGuard:
    """Answers counts, sums and means over a table, or refuses them (as2000 section 1).

    Parameters
    ----------
    table : Table
        Every column but identifiers is protected unless `public` names it.
    log : path
        The log, shared by all users. Its key is kept beside it.
    head : path, optional
        File that states where the log ends; beside the log by default. On another disk, it also
        detects a log that was restored from a backup together with its key.
    register : path, optional
        The custodian's register; these answers are entered into it before the first is given.
    to : str, default ""
        Who asks, for the register.
    **limits
        The settings below. They are stored in the log and cannot change while it is in use; those
        that are left out are taken from it.

    Notes
    -----
    Settings with every audit:

    public : columns that everybody may know of everybody; conditions on them name sets.
    bounds : mapping from column to (low, high), declared from public knowledge, never the data.
        Values beyond are clamped. Needed for every protected column that is summed.
    grid : mapping from column to the step in which it is counted (1 for whole numbers).
    audit : "noise" (default), "exact", "linear" or "sizes".

    With "noise":

    epsilon : what all answers together may spend (1). each : what one answer spends (0.1).
    cells : public columns whose combinations are answered exactly (none).
    smallest : records that a query set or a cell must hold (10).

    With "exact", answers without noise that are audited against bounds and grid:

    overlapping : answered sets that a new one may be connected with (3).
    width : share of the bounds' range below which a person's interval counts as disclosed (0.05).
    decoys : share of harmless queries that are refused like disclosing ones (0.1).
    largest, overlap, group : as below.

    With "linear", which treats values as arbitrary real numbers, and warns:

    largest : records, or share of them, that a set may hold (all but `smallest`, or everybody).
    overlap : records that it may share with each answered set of the same column (no limit).
    group : answers must not determine a combination of the values of fewer records (2). Exact
        for 2 and 3; beyond, no two answered sets may differ in fewer than `group` records.
    noise : standard deviation of Gaussian noise on sums; one, or a mapping by column (none).
    count_noise : the same on counts of protected conditions, which need it.
    least_error : error that the best estimate of a value must keep under noise (the noise's).
    blur : error that the best estimate of a yes or no must keep, for an adversary who knows
        everybody else's (1; in units of the column's range where a column has few values).
    sample : answer from this share of each set.
    few : a column with at most this many different values is treated as a yes or no (10).

    "sizes" leaves out the audit of sums. Size and overlap limits alone stop nobody.

    Examples
    --------
    >>> guard = QueryGuard(table, "queries.log", bounds={"age": (0, 120)})  # doctest: +SKIP
    >>> guard.mean("age", "city = 'Bern'").value  # doctest: +SKIP
    """

    def __init__(self, table: Table, log: str | os.PathLike[str],
                 head: str | os.PathLike[str] | None = None,
                 register: str | os.PathLike[str] | None = None, to: str = "",
                 **limits: Any) -> None:
        self._rows = self._as_read = Rows(table)
        self._entered = (table, None if register is None else Path(register), to)
        self._log = QueryLog(log, head)
        self._limits = limits
        self._inside = threading.Lock()
        self._noted: Callable[[Sequence[str]], None] | None = None
        self._book: Book | None = None
        self._settings = Settings() if self._exists() else new_settings(table.schema, limits)
        with self._log.locked() as held:
            self._catch_up(held)
        if self._settings.audit in _WEAK:
            warnings.warn(_WEAK[self._settings.audit], LeakWarning, stacklevel=2)

    def _exists(self) -> bool:
        return self._log.path.exists() and self._log.path.stat().st_size > 0

    @property
    def settings(self) -> Settings:
        """Return the limits in force."""
        return self._settings

    @property
    def name(self) -> str:
        """Return what the log is called in a budget: no other log has the same."""
        return self._log.first[:16]

    def note_with(self, note: Callable[[Sequence[str]], None]) -> None:
        """Call this with the chains of the log before every answer; what it raises is raised."""
        self._noted = note

    @property
    def whole_epsilon(self) -> float | None:
        """Return what all answers together may spend, None where nothing bounds them."""
        return float(self._settings.budget) if self._settings.audit == NOISE else None

    @property
    def left(self) -> float | None:
        """Return the epsilon that is left, None where answers have none."""
        with self._inside, self._log.locked() as held:
            book = self._catch_up(held)
        if not isinstance(book, NoiseBudget):
            return None
        return float(self._settings.budget - book.spent)

    def count(self, where: Where = None, epsilon: float | None = None) -> Answer:
        """Return how many records meet a condition; `epsilon` in place of `each`."""
        return self._ask("count", None, where, epsilon)

    def sum(self, column: str, where: Where = None, epsilon: float | None = None) -> Answer:
        """Return the sum of a column over the records that meet a condition and have a value."""
        return self._ask("sum", column, where, epsilon)

    def mean(self, column: str, where: Where = None, epsilon: float | None = None) -> Answer:
        """Return the mean of a column over the records that meet a condition and have a value."""
        return self._ask("mean", column, where, epsilon)

    def _ask(self, kind: str, column: str | None, where: Where, epsilon: float | None) -> Answer:
        asked = self._resolve(make_query(kind, column, where, epsilon))
        with self._inside, self._log.locked() as held:
            book = self._catch_up(held)
            book.check(asked)
            if not book.again(asked):
                self._decide(held, book, asked)
            self._enter()
            if self._noted is not None:
                self._noted(self._log.chains)
            return book.reply(asked, derive(self._log.secret, "answers"))

    def _decide(self, held: LockedLog, book: Book, asked: Asked) -> None:
        """Append the decision before anything is answered."""
        if self._log.entries >= MAX_ENTRIES:
            raise QueryRefusedError("The query log is full. Start a new log over a new table.",
                                    "full")
        refusal = book.refuse(asked)
        held.append(_entry(asked, refusal))
        if refusal is not None:
            book.refused(asked, refusal.rule)
            raise QueryRefusedError(f"{refusal.words} (Rule '{refusal.rule}'.)", refusal.rule)
        book.add(asked)

    def _enter(self) -> None:
        """Enter these answers into the register once, before the first of them is given."""
        table, register, to = self._entered
        if register is not None:
            budget = self.whole_epsilon
            enter_once(register, "query", table, f"query log {self._log.path.absolute()}", to,
                       "none" if budget is None else f"epsilon {budget:g}")
            self._entered = (table, None, to)

    def _resolve(self, query: Query) -> Asked:
        asked = resolve(query, self._rows, self._settings, self._log.secret)
        if asked.hidden is not None:
            # Once, before the log: a condition that cannot be evaluated is no query.
            self._rows.meet(asked.hidden)
        return asked

    def _catch_up(self, held: LockedLog) -> Book:
        """Take in what other processes were answered, or start the log."""
        news = held.news()
        if self._book is None and not news:
            self._begin(held)
            self._book = self._new_book()
        for entry in news:
            self._take(entry)
        if self._book is None:
            raise QueryLogError(f"'{self._log.path}' has no first line. Restore an intact copy.")
        return self._book

    def _new_book(self) -> Book:
        self._rows = Rows(*guarded_columns(self._entered[0], self._settings))
        return new_book(self._rows, self._settings, self._log.secret)

    def _begin(self, held: LockedLog) -> None:
        try:
            held.append(self._start())
        except BaseException:
            # A key or a head beside an empty log would look like a log that was lost.
            self._log.key_path.unlink(missing_ok=True)
            self._log.head_path.unlink(missing_ok=True)
            raise

    def _start(self) -> dict[str, Any]:
        return {"format": FORMAT, "rows": self._rows.count, "table": self._fingerprint(),
                "settings": self._settings.to_json(), "at": _now()}

    def _fingerprint(self) -> str:
        return self._as_read.fingerprint(derive(self._log.secret, "table"))

    def _take(self, entry: dict[str, Any]) -> None:
        if self._book is None:
            self._check_start(entry)
            self._book = self._new_book()
            return
        if not entry.get("answered") and entry.get("rule") != DETERMINED:
            return
        asked = self._resolve(Query.from_json(entry))
        if asked.digest != entry.get("set"):
            raise QueryLogError(f"'{self._log.path}' holds a query whose set of records has "
                                "changed. It was written by another version of unspoken.")
        self._book.check(asked)
        if entry.get("answered"):
            self._book.add(asked)
        else:
            self._book.refused(asked, str(entry.get("rule")))

    def _check_start(self, entry: dict[str, Any]) -> None:
        if entry.get("format") != FORMAT:
            raise QueryLogError(f"'{self._log.path}' must be a query log of this version.")
        if entry.get("table") != self._fingerprint():
            raise QueryLogError(
                f"'{self._log.path}' belongs to another table, or the table has changed. Answers "
                "before and after a change disclose the records that changed. Keep serving the old "
                "table, or start a new log once enough records have changed.")
        self._settings = kept_settings(entry.get("settings"), self._limits)


def _entry(asked: Asked, refusal: Refusal | None) -> dict[str, Any]:
    outcome = {"answered": refusal is None, "set": asked.digest, "at": _now()}
    return asked.query.to_json() | outcome | ({"rule": refusal.rule} if refusal else {})


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
