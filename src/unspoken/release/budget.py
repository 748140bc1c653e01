"""The budget of a table: what all disclosures together may cost, and what they did.

One file per table, an append-only chained log (see chained_log). The first line says which table,
who is protected (the unit: a row, or a person by an id column with a bound on rows), epsilon and
delta, and what single recipients may get. Every disclosure is booked before it is made: lock, read
what other processes booked, check the recipient's limit and the total, append, sync. A process that
dies in between has booked what it did not disclose, never the reverse. Recipients may pool what
they got, so the total counts everybody's.

Two tables are neighbours if they differ in what one unit says; the number of rows is public.
"""

from __future__ import annotations

import math
import os
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unspoken.errors import BudgetError
from unspoken.release.budget_copies import read_people, shared_people, table_mark, write_people
from unspoken.release.budget_costs import NONE, Cost
from unspoken.release.budget_entries import FOLLOWED, ROW, Draw, Terms, now, read_draw, read_terms
from unspoken.release.budget_persons import check_persons
from unspoken.release.budget_spending import Spending
from unspoken.release.chained_log import ChainedLog, LockedLog
from unspoken.release.people_columns import not_told_apart
from unspoken.release.people_file import Everybody
from unspoken.table.atomic_files import named_path

if TYPE_CHECKING:
    from unspoken.table.table import Table


class BudgetLog(ChainedLog):
    """The file of a budget."""

    label = "budget"
    error = BudgetError


class Budget:
    """What a table may disclose in all, drawn from by every process that discloses something.

    Parameters
    ----------
    path : path
        The file that `Budget.start` wrote.
    head : path, optional
        Where its end is kept; beside it by default. On another disk, a restored backup is noticed.

    Examples
    --------
    >>> budget = Budget.start("adult.budget", table, epsilon=2)  # doctest: +SKIP
    >>> budget.draw(Cost(0.5), to="institute", what="noisy table")  # doctest: +SKIP
    """

    def __init__(self, path: str | os.PathLike[str],
                 head: str | os.PathLike[str] | None = None) -> None:
        self._log = BudgetLog(path, head)
        if not named_path(path).is_file():
            raise BudgetError(_absence(self._log))
        self._inside = threading.Lock()
        self._terms: Terms | None = None
        self._known: Everybody | None = None
        self._draws: list[Draw] = []
        self._all = Spending(1.0, 0.0)
        self._each: dict[str, Spending] = {}
        self._followed: dict[str, str] = {}
        with self._log.locked() as held:
            self._catch_up(held)

    @classmethod
    def start(cls, path: str | os.PathLike[str], table: Table, *,
              epsilon: float, delta: float = 0.0, unit: str = ROW, rows: int = 1,
              recipients: Mapping[str, float] | None = None,
              head: str | os.PathLike[str] | None = None) -> Budget:
        """Start the budget of a table; a file that exists is refused.

        `unit` is "row", or the id column of persons with at most `rows` rows each: a table in
        which somebody has more, or a row has no id, is refused. `recipients` maps names to the
        most that they may get.
        """
        terms = Terms("", epsilon, delta, unit, rows, recipients)
        if unit != ROW:
            check_persons(table, unit, rows)
        log = BudgetLog(path, head)
        with log.locked() as held:
            if held.news():
                raise BudgetError(f"'{path}' exists. A second budget over the same table would "
                                  "undo the first. Draw from it, or choose another name for "
                                  "another table.")
            _begin(held, log, terms, table)
        return cls(path, head)

    @property
    def terms(self) -> Terms:
        """Return what the budget was started with."""
        if self._terms is None:
            raise BudgetError(f"'{self._log.path}' has no first line. Restore an intact copy.")
        return self._terms

    def check_table(self, table: Table) -> None:
        """Refuse a table that is not the budget's."""
        if table_mark(table, self._log.secret) != self.terms.table:
            raise BudgetError(f"'{self._log.path}' is the budget of another table, or the table "
                              "has changed. Start one for this table, and count the people who "
                              "are in both.")

    def knows(self, table: Table) -> float:
        """Return the share of the smaller group that both have; 1 for this very table alone.

        0 says that these are other people, or that nothing tells (then see `may_count`).
        """
        if table_mark(table, self._log.secret) == self.terms.table:
            return 1.0
        return min(shared_people(table, self._log.secret, self.terms.people, self._everybody()),
                   0.999)

    def may_count(self, table: Table) -> bool:
        """Return True if nothing tells the people of a table from those of the budget."""
        return not_told_apart(table, self._log.secret, self.terms.people, self._everybody())

    def _everybody(self) -> Everybody:
        if self._known is None:
            self._known = read_people(_people_path(self._log), self.terms.people)
        return self._known

    def draw(self, cost: Cost, *, to: str = "", kind: str = "release", what: str = "",
             per_unit: bool = False) -> Draw:
        """Book one disclosure before it is made; BudgetError if it does not fit.

        `cost` is that of one row, and grows with the rows of a person; `per_unit` says that the
        mechanism bounds persons itself.
        """
        wanted = Draw(cost, to, kind, what)
        if not self.draw_each([wanted], per_unit)[0]:
            raise BudgetError(self._refusal(wanted))
        return self._draws[-1]

    def draw_each(self, wanted: Sequence[Draw], per_unit: bool = False) -> list[bool]:
        """Book what fits, in order, with one sync for all; return which were booked."""
        scaled = [one if per_unit else self._scaled(one) for one in wanted]
        with self._inside, self._log.locked() as held:
            self._catch_up(held)
            try:
                return self._book(held, scaled)
            except BaseException:
                # Something was added up but not written: this object draws no more.
                self._terms = None
                raise

    def _book(self, held: LockedLog, wanted: Sequence[Draw]) -> list[bool]:
        booked, answers = [], []
        for one in wanted:
            answers.append(self._fits(one))
            if answers[-1]:
                booked.append(replace(one, at=now()))
                self._take(booked[-1])
        if booked:
            held.append(*(one.to_json() for one in booked))
        return answers

    def _scaled(self, one: Draw) -> Draw:
        return replace(one, cost=one.cost.for_rows(self.terms.rows))

    def _fits(self, one: Draw) -> bool:
        capped = one.to in (self.terms.recipients or {})
        return (one.again or self._all.fits(one.cost)) and (
            not capped or self._own(one.to).fits(one.cost))

    def _take(self, one: Draw) -> None:
        self._draws.append(one)
        if not one.again:
            self._all.add(one.cost)
        self._own(one.to).add(one.cost)

    def _own(self, name: str) -> Spending:
        terms = self.terms
        most = (terms.recipients or {}).get(name, terms.epsilon)
        return self._each.setdefault(name, Spending(most, terms.delta))

    def _refusal(self, one: Draw) -> str:
        cap = (self.terms.recipients or {}).get(one.to)
        whose = f" '{one.to}' may get {cap:g}." if cap is not None else ""
        return (f"The budget of this table is an epsilon of {self.terms.epsilon:g} at delta "
                f"{self.terms.delta:g}, and {self.spent():.6g} of it is spent.{whose} This "
                f"disclosure ({self._scaled(one).cost}) does not fit. Ask for less, or stop here: "
                "what was disclosed cannot be taken back.")

    def _catch_up(self, held: LockedLog) -> None:
        for entry in held.news():
            if self._terms is None and not self._draws:
                self._terms = read_terms(entry, self._log.path)
                self._all = Spending(self._terms.epsilon, self._terms.delta)
                for name in self._terms.recipients or {}:
                    self._own(name)
            elif FOLLOWED in entry:
                self._followed[str(entry[FOLLOWED])] = str(entry.get("chain"))
            else:
                self._take(read_draw(entry, self._log.path))

    def follow(self, log: str, chains: Sequence[str]) -> None:
        """Note how far a query log has come, before it answers; its spending was drawn once.

        A copy that lacks what was noted is refused: it would answer for that epsilon again.
        """
        with self._inside, self._log.locked() as held:
            self._catch_up(held)
            last = self._followed.get(log)
            if last is not None and last not in chains:
                raise BudgetError(f"'{self._log.path}' knows answers that this query log does not "
                                  "hold: it is an older copy, or another copy went on. Use the "
                                  "newest copy, or start a new log.")
            if last != chains[-1]:
                held.append({FOLLOWED: log, "chain": chains[-1]})
                self._followed[log] = chains[-1]

    def refresh(self) -> Budget:
        """Take in what other processes booked, and return the budget."""
        with self._inside, self._log.locked() as held:
            self._catch_up(held)
        return self

    @property
    def draws(self) -> tuple[Draw, ...]:
        """Return everything that was booked, oldest first."""
        return tuple(self._draws)

    def spent(self, to: str | None = None) -> float:
        """Return the epsilon that was spent in all, or on one recipient."""
        if to is None:
            return self._all.total
        return self._each[to].total if to in self._each else 0.0

    def left(self, to: str | None = None) -> float:
        """Return the epsilon that is left in all, or for one recipient."""
        free = max(self.terms.epsilon - self.spent(), 0.0)
        cap = (self.terms.recipients or {}).get(to or "")
        return free if cap is None else min(free, max(cap - self.spent(to), 0.0))

    def to_json(self) -> dict[str, Any]:
        """Return the state of the budget as plain data."""
        bounded = Counter(one.to for one in self._draws if one.cost.law != NONE)
        return {**{name: value for name, value in self.terms.to_json().items()
                   if name not in ("at", "table", "people")},
                "spent": _finite(self.spent()), "left": _finite(self.left()),
                "by_recipient": {name: {"spent": _finite(self.spent(name)),
                                        "left": _finite(self.left(name)),
                                        "disclosures": bounded[name]} for name in self._each},
                "without_epsilon": [one.to_json() for one in self._draws if one.cost.law == NONE],
                "disclosures": len(self._draws)}


def _begin(held: LockedLog, log: BudgetLog, terms: Terms, table: Table) -> None:
    """Write the first line; the digests in it are keyed with the key of the budget."""
    try:
        held.append(replace(terms, table=table_mark(table, log.secret),
                            people=write_people(table, log.secret, _people_path(log))).to_json())
    except BaseException:
        # A key beside an empty budget would look like a budget that was lost.
        for left in (log.key_path, log.head_path, _people_path(log), log.path):
            left.unlink(missing_ok=True)
        raise


def _people_path(log: BudgetLog) -> Path:
    return log.path.with_name(log.path.name + ".people")


def _absence(log: BudgetLog) -> str:
    if log.key_path.exists() or log.head_path.exists():
        return (f"The budget '{log.path}' was lost or moved: its key or its head is still there. "
                "Restore it. Nothing is disclosed before.")
    return (f"There is no budget '{log.path}'. Start one with Budget.start, or on the command "
            f"line: unspoken budget {log.path} --start DATA --epsilon 1")


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None

