"""Booking a study in an owner's budget, before anything of its data is shared.

Every owner has its own table and its own budget; what a study costs stands in the study. A study
with an epsilon needs a budget at every owner: repeated studies over the same data are counted
there, whatever they are called. A study without one is listed.
"""

from __future__ import annotations

from pathlib import Path

from unspoken.errors import BudgetError
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.session.study import Study
from unspoken.numerics.concentrated_loss import DELTA
from unspoken.release.budget import Budget
from unspoken.release.budget_costs import NONE, Cost
from unspoken.table.table import Table


def study_cost(study: Study) -> Cost:
    """Return what one row pays for a study."""
    epsilon = study.parameters.get("epsilon")
    # In a study over columns an owner of this name lists its columns there.
    if not isinstance(epsilon, int | float):
        return Cost(None, law=NONE)
    return Cost(float(epsilon), float(study.parameters.get("delta", DELTA)))


def book_study(study: Study, table: Table, path: Path | None) -> None:
    """Draw what a study costs from the budget of an owner's table; refuse if it does not fit."""
    cost = study_cost(study)
    if path is None:
        if cost.law != NONE:
            raise StudyError(f"Study '{study.name}' states an epsilon, so every owner counts it. "
                             "Start a budget beside your table: unspoken budget DATA.budget "
                             "--start DATA --epsilon 1 --delta 1e-5")
        return
    budget = Budget(path)
    budget.check_table(table)
    try:
        budget.draw(cost, to=", ".join(study.having("receiver"))[:500], kind="study",
                    what=f"study {study.name} ({study.task}) {study.hash()[:12]}")
    except BudgetError as error:
        raise StudyError(f"Nothing was shared. {error}") from None
