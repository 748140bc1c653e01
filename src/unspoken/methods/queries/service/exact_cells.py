"""Exact answers over cells that the policy fixed before the first question.

A question about nothing but the cells' columns is about whole cells. It is answered exactly if
every cell in it holds enough people, and, for a sum or a mean, enough people with a value other
than the most frequent one, and none or enough people without a value. Cells do not overlap and
nobody can choose others, so two answers never differ in a few people. Which cells are closed is
fixed when the service starts. Exact answers have no epsilon.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unspoken.arrays import Bools
from unspoken.methods.queries.service.question import Question
from unspoken.methods.queries.service.service_policy import ServicePolicy
from unspoken.methods.queries.service.service_records import ServiceRecords


def exact_answer(records: ServiceRecords, policy: ServicePolicy, question: Question,
                 rows: int) -> dict[str, Any] | None:
    """Return the exact answer to a question over open cells, None for any other question."""
    cells = records.cell_labels
    where = question.condition
    named = {*question.group, *(where.columns if where is not None else ())}
    if cells is None or question.select not in ("count", "sum", "mean") \
            or not named <= set(policy.cells) or question.column in policy.cells:
        return None
    inside = records.meet(question.condition)
    sizes = np.bincount(cells)
    closed: Bools = sizes < policy.smallest * rows
    if question.column is not None:
        closed = closed | records.cells.closed_of(question.column,
                                                  records.column(question.column), rows)
    if not inside.any() or closed[cells[inside]].any():
        return None
    return _answer(records, question, inside)


def _answer(records: ServiceRecords, question: Question, inside: Bools) -> dict[str, Any]:
    note = {"epsilon": None, "done": ["exact: over cells that were fixed beforehand"]}
    if not question.group:
        return {"value": _value(records, question, inside), "error": 0.0, **note}
    groups = records.groups(question.group)
    present = np.unique(groups.codes[inside])
    return {"groups": [{"group": list(groups.labels[code]), "error": 0.0,
                        "value": _value(records, question, inside & (groups.codes == code))}
                       for code in present.tolist()], **note}


def _value(records: ServiceRecords, question: Question, inside: Bools) -> float:
    if question.column is None:
        return float(np.count_nonzero(inside))
    column = records.column(question.column)
    inside = inside & column.present
    total = float(int(column.values[inside].sum()) * column.step)
    return total / max(int(np.count_nonzero(inside)), 1) if question.select == "mean" else total
