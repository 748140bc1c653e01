"""What the log of a query service disclosed, as sums over sets of people.

The log holds questions and answers. A quantile is a count of those up to it, a variance a sum of
squares; groups and the bins of a histogram are conditions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.methods.queries.answer_log import QueryLog
from unspoken.methods.queries.disclosed_sums import (
    DisclosedSum,
    entries_of,
    guard_sums,
    people_behind,
)
from unspoken.methods.queries.guarded_records import Rows
from unspoken.methods.queries.predicates import (
    All,
    Among,
    Compare,
    Missing,
    Not,
    Predicate,
    conjuncts,
)
from unspoken.methods.queries.service.answered_grids import AnsweredGrid, grid_of
from unspoken.methods.queries.service.question import Question, question_from_json
from unspoken.methods.queries.service.question_service import ServiceLog
from unspoken.methods.queries.service.service_records import MISSING, OTHER
from unspoken.table.table import Table

_SPAN = re.compile(r"^(below|above)? ?(\S+)(?: \.\. (\S+))?$")


def logged_sums(path: Path, table: Table) -> list[DisclosedSum]:
    """Return what a query log disclosed about a table, whether a guard or a service wrote it."""
    service = ServiceLog(path)
    key = service.key_path
    if key.is_file() and f"unspoken-{QueryLog.label}-key".encode() in key.read_bytes()[:10_000]:
        return guard_sums(path, table)
    rows = Rows(table)
    start, *entries = entries_of(service)
    known = [one for one in entries if one.get("answer") is not None]
    sums = [each for one in known for each in _sums(
        question_from_json(_plain(str(one["identity"]))), one["answer"], rows, grid_of(one))]
    return [replace(one, public=frozenset(start.get("public", ()))) for one in sums]


def _plain(identity: str) -> Any:
    return {name: value for name, value in json.loads(identity).items() if value is not None}


def _sums(question: Question, answer: Any, rows: Rows,
          grid: AnsweredGrid | None) -> Iterator[DisclosedSum]:
    where = () if question.condition is None else conjuncts(question.condition)
    if "groups" not in answer:
        yield _sum(question, where, answer, rows, grid)
        return
    labels = [tuple(one["group"]) for one in answer["groups"]]
    for label, one in zip(labels, answer["groups"], strict=True):
        names = question.group or (str(question.column),)
        group = tuple(_part(name, label[i], [other[i] for other in labels],
                            question.select == "histogram")
                      for i, name in enumerate(names))
        yield _sum(question, (*where, *group), {**one, "epsilon": answer.get("epsilon")}, rows,
                   grid)


def _part(name: str, value: Any, labels: Sequence[Any], binned: bool) -> Predicate:
    """Return the condition of one group of a column."""
    if value is MISSING:
        return Missing(name)
    if value == OTHER:
        named = tuple(one for one in labels if one not in (MISSING, OTHER))
        return All((Not(Among(name, named)), Not(Missing(name))))
    span = _SPAN.match(value) if binned and isinstance(value, str) and (
        " .. " in value or value.startswith(("below ", "above "))) else None
    if span is None:
        return Compare(name, "=", value)
    word, first, second = span.groups()
    if word is not None:
        return Compare(name, "<" if word == "below" else ">", float(first))
    return All((Compare(name, ">=", float(first)), Compare(name, "<", float(second))))


def _sum(question: Question, where: tuple[Predicate, ...], answer: Any, rows: Rows,
         grid: AnsweredGrid | None) -> DisclosedSum:
    """Return one number of an answer as a sum."""
    value, error, column = float(answer["value"]), answer.get("error"), question.column
    if question.select in ("count", "histogram"):
        return DisclosedSum(where, None, value, float(error))
    assert column is not None
    bounds = None if grid is None else grid.bounds
    if question.select == "sum":
        return DisclosedSum(where, column, value, float(error), bounds=bounds)
    inside = _summed(where, column, rows, bounds)
    if question.select == "quantile":
        below = Compare(column, "<=", value)
        return DisclosedSum((*where, below), None, float(question.at or 0) * inside.size,
                            float(answer.get("rank_error_95") or 0.0) / 2)
    return _averaged(DisclosedSum(where, column, value, float(error), bounds=bounds), inside, grid,
                     answer.get("epsilon"), question.select == "variance")


def _summed(where: tuple[Predicate, ...], column: str, rows: Rows,
            bounds: tuple[float, float] | None) -> Floats:
    """Return the values that an answer is about."""
    values, present = rows.values(column)
    inside = values[present & rows.meet(All(where) if where else None)]
    return inside if bounds is None else np.clip(inside, *bounds)


def _averaged(one: DisclosedSum, inside: Floats, grid: AnsweredGrid | None,
              epsilon: float | None, squares: bool) -> DisclosedSum:
    """Return a mean, or a variance, as the sum that it discloses."""
    power, centre = (2, float(inside.mean()) if inside.size else 0.0) if squares else (1, 0.0)
    if grid is None or epsilon is None:
        people = people_behind(inside.size, epsilon)
        total, deviation = one.total * people, one.deviation * people
    elif squares:
        total, deviation = grid.square_sum(one.total, one.deviation, epsilon, centre)
    else:
        total, deviation = grid.mean_sum(one.total, one.deviation, epsilon, inside.size)
    return replace(one, total=total, deviation=deviation, power=power, centre=centre)
