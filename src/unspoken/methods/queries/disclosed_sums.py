"""What the answers of a log disclosed: sums over sets of people, each with its error.

An audit lays them beside a released table. The log of a guard holds no answers, so they are
computed again from the table and the log's secret, noise included. Counts that name no protected
column and sums of public ones are left out: anybody could have computed them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.errors import QueryLogError
from unspoken.methods.queries.answer_book import Book, new_book
from unspoken.methods.queries.answer_log import QueryLog
from unspoken.methods.queries.answers import Answer
from unspoken.methods.queries.guard_settings import NOISE, Settings, kept_settings
from unspoken.methods.queries.guarded_columns import guarded_columns
from unspoken.methods.queries.guarded_records import Rows
from unspoken.methods.queries.noise_budget import NoiseBudget
from unspoken.methods.queries.predicates import Predicate, conjuncts
from unspoken.methods.queries.query import PUBLIC, Asked, Query, resolve
from unspoken.numerics.random import derive
from unspoken.release.chained_log import ChainedLog
from unspoken.release.distorted import of_column
from unspoken.table.table import Table


@dataclass(frozen=True)
class DisclosedSum:
    """A sum over the people who meet all conditions, as its recipient has it.

    Summed is `column` to a power, less `centre`, inside `bounds`; without a column people are
    counted. `deviation` is the standard deviation of its noise, 0 where it is exact.
    """

    where: tuple[Predicate, ...]
    column: str | None
    total: float
    deviation: float
    power: int = 1
    centre: float = 0.0
    bounds: tuple[float, float] | None = None
    public: frozenset[str] = frozenset()

    @property
    def touches(self) -> frozenset[str]:
        """Return the columns that it is about; public ones everybody knows anyway."""
        own: frozenset[str] = frozenset() if self.column is None else frozenset({self.column})
        return own.union(*(part.columns for part in self.where)) - self.public


def entries_of(log: ChainedLog) -> list[dict[str, Any]]:
    """Return the entries of an intact log; one that is not there is refused, none is started."""
    if not log.path.is_file() or not log.path.stat().st_size:
        raise QueryLogError(f"'{log.path}' must be a query log. There is none. Check the path.")
    with log.locked() as held:
        return held.news()


def guard_sums(path: Path, table: Table) -> list[DisclosedSum]:
    """Return what a guard's log disclosed about a table."""
    log = QueryLog(path)
    start, *entries = entries_of(log)
    settings = kept_settings(start.get("settings"), {})
    rows = Rows(*guarded_columns(table, settings))
    book = new_book(rows, settings, log.secret)
    asked = [resolve(Query.from_json(one), rows, settings, log.secret)
             for one in entries if one.get("answered")]
    distinct = {one.identity: one for one in asked if one.unknown not in ("count", PUBLIC)}
    return [_disclosed(one, book, rows, settings, log.secret) for one in distinct.values()]


def _disclosed(asked: Asked, book: Book, rows: Rows, settings: Settings,
               secret: bytes) -> DisclosedSum:
    book.check(asked)
    reply = book.reply(asked, derive(secret, "answers"))
    total, error = _total(asked, reply, book, rows, settings)
    column, where = asked.query.column, asked.query.where
    bounds = of_column(settings.bounds, column) if column else None
    return DisclosedSum(() if where is None else conjuncts(where), column, total, error,
                        bounds=None if bounds is None else (bounds[0], bounds[1]),
                        public=frozenset(settings.public))


def _total(asked: Asked, reply: Answer, book: Book, rows: Rows,
           settings: Settings) -> tuple[float, float]:
    """Return the sum that an answer discloses, and the standard deviation of its noise."""
    mean = asked.query.kind == "mean"
    people = max(_averaged(asked, rows, settings), 1) if mean else 1
    if mean and reply.epsilon and isinstance(book, NoiseBudget):
        return book.sum_behind(asked, reply, people)
    error = reply.error * people if reply.error is not None else \
        _sampled_error(asked, reply, rows, settings)
    return reply.value * people, error


def people_behind(people: int, epsilon: float | None) -> int:
    """Return over how many values a mean counts; with noise, the number itself is uncertain."""
    return max(people, 1 if epsilon is None else math.ceil(2 / epsilon))


def _averaged(asked: Asked, rows: Rows, settings: Settings) -> int:
    """Return how many values a mean is taken over."""
    if settings.audit != NOISE:
        return asked.size
    present = rows.values(str(asked.query.column))[1]
    return int(np.count_nonzero(asked.members & rows.meet(asked.hidden) & present))


def _sampled_error(asked: Asked, reply: Answer, rows: Rows, settings: Settings) -> float:
    """Return the error of a sum that is not stated: of its sample, and of its noise."""
    share = settings.sample or 1.0
    column = asked.query.column
    values = rows.values(column)[0][asked.members] if column is not None else np.zeros(1)
    noise = 0.0 if column is None else settings.noise_of(column) or 0.0
    return math.hypot(float(values.std()) * math.sqrt(values.size * (1 - share) / share), noise)
