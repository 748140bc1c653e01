"""QueryService: answers questions out of a budget, and nothing that was not booked and logged.

Who learns what. Analysts learn the answers with their errors, what the policy declares, and which
questions the budget refuses. Neither form nor refusal of a noisy answer depends on protected
values: columns are read as declared, and those that the policy says nothing about cell by cell. Two
things do depend on them: which of the fixed cells are answered exactly, and exact answers
themselves, which have no epsilon. The same question gets the same answer, whoever
asks, and is paid for once. The order is: book in the budget, sync; add noise; write question and
answer into the log, sync, move its head; answer. A process that is killed anywhere in between has
booked what nobody learned.

How long an answer takes depends on the question and on the size of the table; questions that arrive
together are answered together.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unspoken.errors import InputError, QueryLogError
from unspoken.methods.queries.service import booked_questions as books
from unspoken.methods.queries.service.answered_grids import grid_entry
from unspoken.methods.queries.service.declared_frame import declared_kind
from unspoken.methods.queries.service.exact_cells import exact_answer
from unspoken.methods.queries.service.noisy_answers import Aggregates, aggregates, noisy, prepare
from unspoken.methods.queries.service.question import Question
from unspoken.methods.queries.service.service_policy import ServicePolicy
from unspoken.methods.queries.service.service_records import ServiceRecords
from unspoken.numerics.random import fresh_seed
from unspoken.release.automatic_entries import enter_once
from unspoken.release.budget import Budget
from unspoken.release.budget_costs import NONE, Cost
from unspoken.release.budget_entries import ROW, now
from unspoken.release.chained_log import ChainedLog, LockedLog
from unspoken.table.table import Table

FORMAT = "unspoken-service 1"
STARTED = "query log "


class ServiceLog(ChainedLog):
    """The log of a service: every question that was answered, and its answer."""

    label = "service"
    error = QueryLogError


@dataclass(frozen=True)
class Asked:
    """One question of one analyst."""

    analyst: str
    question: Question


@dataclass(frozen=True)
class _Ready:
    """A question that can be answered: exactly, or from these aggregates at this price."""

    question: Question
    exact: dict[str, Any] | None
    sums: Aggregates | None
    price: float


class QueryService:
    """Answers questions about a table under a policy.

    Parameters
    ----------
    table : Table
        The table; it stays in memory.
    policy : ServicePolicy
        What may be answered. `ServicePolicy.load(path)` reads it.
    threads : int, default 2
        How many questions are computed at once.

    Examples
    --------
    >>> service = QueryService(table, ServicePolicy.load("policy.toml"))  # doctest: +SKIP
    >>> service.ask("alice", question_of("select count()"))  # doctest: +SKIP
    """

    def __init__(self, table: Table, policy: ServicePolicy, threads: int = 2) -> None:
        self.policy = policy
        self.budget = Budget(policy.budget)
        self.budget.check_table(table)
        terms = self.budget.terms
        self._rows = terms.rows
        self.records = ServiceRecords(table, policy, None if terms.unit == ROW else terms.unit,
                                      terms.rows)
        prepare(self.records, *([name for name, one in policy.columns.items() if kind in one]
                                for kind in ("bounds", "values")))
        self._log = ServiceLog(policy.log, policy.head)
        self._known: dict[str, dict[str, Any]] = {}
        self._given: dict[str, set[str]] = {}
        self._name = ""
        self._inside = threading.Lock()
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="unspoken-query")
        with self._log.locked() as held:
            self._catch_up(held)
            if not self._name:
                self._begin(held)
            books.check_booked(self.budget, self._known, self._given, policy.log)
        if policy.register is not None:
            self._enter(table, policy.register)

    def _enter(self, table: Table, register: Path) -> None:
        """Enter the answers into the register before the first of them is given."""
        enter_once(register, "query", table,
                   f"query service, log {self._name} at {self.policy.log.absolute()}",
                   ", ".join(sorted(self.policy.analysts)),
                   f"epsilon {self.budget.terms.epsilon:g}")

    def _begin(self, held: LockedLog) -> None:
        """Start the log, unless the budget knows of another one."""
        earlier = [one.what for one in self.budget.refresh().draws if one.what.startswith(STARTED)]
        if earlier:
            raise QueryLogError(
                f"The budget '{self.policy.budget}' already has the {earlier[0]}, and "
                f"'{self.policy.log}' is empty. A second log would answer again what the first one "
                "knows. Restore the first.")
        name = fresh_seed()[:8].hex()
        note = ", exact cells: " + ", ".join(self.policy.cells) if self.policy.cells else ""
        self.budget.draw(Cost(None, law=NONE), kind="query", what=f"{STARTED}{name}{note}"[:500])
        self._check_first(name)
        held.append({"format": FORMAT, "name": name, "table": self.budget.terms.table,
                     "fixed": self.policy.fixed(),
                     "public": list(self.records.settings.public), "at": now()})
        self._name = name

    def _check_first(self, name: str) -> None:
        """Refuse a log that is not the first that the budget has booked.

        Of two services that begin at once both are booked, and one was first.
        """
        started = [one.what for one in self.budget.refresh().draws if one.what.startswith(STARTED)]
        if not started or not started[0].startswith(STARTED + name):
            raise QueryLogError(f"'{self._log.path}' is not the log that the budget "
                                f"'{self.policy.budget}' knows. Use the two that belong together.")

    def _catch_up(self, held: LockedLog) -> None:
        for entry in held.news():
            if not self._name:
                self._check_start(entry)
            else:
                self._remember(str(entry["identity"]), str(entry.get("to")), entry.get("answer"))

    def _remember(self, identity: str, analyst: str, answer: dict[str, Any] | None) -> None:
        """Keep an answer, and who has it; None where it is only handed on."""
        if answer is not None:
            self._known[identity] = answer
        self._given.setdefault(identity, set()).add(analyst)

    def _check_start(self, entry: dict[str, Any]) -> None:
        if entry.get("format") != FORMAT:
            raise QueryLogError(f"'{self._log.path}' must be the log of a query service.")
        name = str(entry.get("name"))
        self._check_first(name)
        fixed = self.policy.fixed()
        for setting in sorted({*fixed, *(earlier := entry.get("fixed") or {})}):
            if fixed.get(setting) != earlier.get(setting):
                raise QueryLogError(
                    f"'{setting}' of the policy is not what it was when '{self._log.path}' was "
                    "begun. Exact answers under two policies may differ in one person. Restore "
                    "the policy, or begin with another table, budget and log.")
        self._name = name

    def about(self, analyst: str | None = None) -> dict[str, Any]:
        """Return what an analyst may know: columns, declarations, prices and what is left.

        An analyst with a limit sees its own; only where less is left of the total does that tell
        something about what others have spent. Without a name it is the total.
        """
        own = (self.budget.terms.recipients or {}).get(analyst or "", self.budget.terms.epsilon)
        return {"columns": {name: {"kind": self._kind(name), **self.policy.columns.get(name, {})}
                            for name in self.records.asked_about},
                "rows": self.records.table_rows, "each": self.policy.each,
                "cells": list(self.policy.cells), "epsilon": own,
                "delta": self.budget.terms.delta, "left": self.budget.left(analyst)}

    def _kind(self, name: str) -> str:
        """Return what a column holds by the policy; the table is asked about public ones only."""
        kind = declared_kind(self.policy.columns.get(name, {}))
        if kind is None and self.records.public([name]):
            kind = self.records.schema[name].kind
        return kind or "not declared"

    def ask(self, analyst: str, question: Question) -> dict[str, Any]:
        """Answer one question."""
        reply = self.ask_each([Asked(analyst, question)])[0]
        if isinstance(reply, InputError):
            raise reply
        return reply

    def ask_each(self, asked: Sequence[Asked]) -> list[dict[str, Any] | InputError]:
        """Answer questions that came together, with one sync for all of them.

        A question that cannot be answered gets the error that says why.
        """
        each = self.policy.each
        wrong = {one: books.unbookable(one.question, one.analyst, each) for one in asked}
        sound = [one for one in asked if wrong[one] is None]
        with self._inside, self._log.locked() as held:
            self._catch_up(held)
            new: dict[str, list[Asked]] = {}
            for one in sound:
                if one.question.identity not in self._known:
                    new.setdefault(one.question.identity, []).append(one)
            failed = self._answer_new(held, new)
            self._hand_on(held, [one for one in sound if one.question.identity in self._known])
        return [wrong[one] or failed.get(one.question.identity) or self._reply(one)
                for one in asked]

    def _answer_new(self, held: LockedLog, new: dict[str, list[Asked]]) -> dict[str, InputError]:
        """Answer what is not known yet; return what is wrong with questions that cannot be."""
        ready = dict(zip(new, self._pool.map(self._prepared, new.values()), strict=True))
        failed = {name: one for name, one in ready.items() if isinstance(one, InputError)}
        return failed | self._answer(held, new, {name: one for name, one in ready.items()
                                                 if isinstance(one, _Ready)})

    def _hand_on(self, held: LockedLog, asked: Sequence[Asked]) -> None:
        """Book answers that others paid for in the name of who gets them too, and log that."""
        wanted = {(one.question.identity, one.analyst): one for one in asked
                  if one.analyst not in self._given[one.question.identity]}
        paid = {key: one for key, one in wanted.items()
                if self._known[key[0]].get("epsilon") is not None}
        draws = [books.draw_of(one.question, analyst, self._known[identity]["epsilon"], again=True)
                 for (identity, analyst), one in paid.items()]
        booked = dict(zip(paid, self.budget.draw_each(draws, per_unit=True) if draws else [],
                          strict=True))
        open_now = [key for key in wanted if booked.get(key, True)]
        if open_now:
            held.append(*({"identity": identity, "to": analyst, "at": now()}
                          for identity, analyst in open_now))
        for identity, analyst in open_now:
            self._remember(identity, analyst, None)

    def _reply(self, one: Asked) -> dict[str, Any]:
        if one.analyst not in self._given.get(one.question.identity, ()):
            return {"answered": False, "rule": "budget", "reason":
                    "The budget of this table, or yours, has no room for this question. What was "
                    "answered can be asked again."}
        return {"answered": True, "question": one.question.to_json(),
                **self._known[one.question.identity]}

    def _prepared(self, askers: list[Asked]) -> _Ready | InputError:
        """Compute what does not depend on the budget; nothing of it is answered yet."""
        question = askers[0].question
        try:
            price = self._price(question)
            exact = exact_answer(self.records, self.policy, question, self._rows)
            sums = None if exact is not None else aggregates(self.records, question)
            return _Ready(question, exact, sums, price)
        except InputError as error:
            return error

    def _price(self, question: Question) -> float:
        if question.epsilon is None or question.epsilon == self.policy.each:
            return self.policy.each
        if self.budget.terms.delta:
            raise InputError(f"This service has one price, an epsilon of {self.policy.each:g}: its "
                             "total holds only for prices that are fixed beforehand.")
        return float(question.epsilon)

    def _answer(self, held: LockedLog, new: dict[str, list[Asked]],
                ready: dict[str, _Ready]) -> dict[str, InputError]:
        """Book, add noise, log; return what went wrong with which. The rest was refused."""
        payers = {name: new[name][0].analyst for name, one in ready.items()
                  if one.exact is not None}
        payers |= books.book_first(self.budget, {
            name: [books.draw_of(one.question, asker.analyst, one.price) for asker in new[name]]
            for name, one in ready.items() if one.exact is None})
        drawn = dict(zip(payers, self._pool.map(lambda name: self._noisy(ready[name]), payers),
                         strict=True))
        answers = {name: one for name, one in drawn.items() if isinstance(one, dict)}
        if answers:
            held.append(*({"identity": name, "answer": answer, "to": payers[name], "at": now(),
                           **grid_entry(ready[name].sums, self._rows)}
                          for name, answer in answers.items()))
        for name, answer in answers.items():
            self._remember(name, payers[name], answer)
        return {name: one for name, one in drawn.items() if isinstance(one, InputError)}

    def _noisy(self, ready: _Ready) -> dict[str, Any] | InputError:
        if ready.sums is None:
            return dict(ready.exact or {})
        try:
            return noisy(ready.sums, ready.price, self._rows)
        except InputError as error:
            return error

    def close(self) -> None:
        """Stop the threads."""
        self._pool.shutdown()
