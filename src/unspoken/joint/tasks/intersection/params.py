"""The parameters of task `intersection`: read and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.sets.answer_budget import QueryBudget
from unspoken.joint.mpc.sets.encrypted_circle import SetRules
from unspoken.joint.tasks.common.study_parameters import as_study, check_names
from unspoken.joint.tasks.task import Param

PARAMS = (
    Param("column", "the column of ids"),
    Param("least", "smaller sets are refused (10)"),
    Param("pad_to", "pad every list to this length, which hides how many ids an owner has (0: no)"),
    Param("duplicates", "refuse repeated ids, or drop them: refuse or drop (refuse)"),
    Param("subsets", "whether the counter may see overlaps of some sets: shown or hidden (shown)"),
    Param("queries", "how many runs an owner allows, counted beside its file in FILE.queries"),
    Param("differ", "in how many ids two queries must differ at least (1); needs queries"))
RULES = ("least", "pad_to", "duplicates", "subsets")


@dataclass(frozen=True)
class IntersectionParams:
    """The column of ids, what was agreed about the sets, and how many queries are allowed."""

    column: str
    rules: SetRules
    queries: int | None = None
    differ: int = 1

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> IntersectionParams:
        """Return the parameters of a study; what is wrong is a StudyError."""
        check_names(parameters, PARAMS, "intersection")
        column = parameters.get("column")
        if not isinstance(column, str) or not column:
            raise StudyError(explain("Parameter 'column' of task 'intersection'",
                                     "a column's name", column))
        if "differ" in parameters and "queries" not in parameters:
            raise StudyError("Parameter 'differ' of task 'intersection' needs 'queries', the "
                             "number of queries that are allowed.")
        rules = as_study(lambda: SetRules(**{name: parameters[name] for name in RULES
                                             if name in parameters}))
        params = cls(column, rules, parameters.get("queries"), parameters.get("differ", 1))
        as_study(lambda: params.budget("check", None))
        return params

    def budget(self, study: str, path: Path | None) -> QueryBudget | None:
        """Return the budget of queries that is kept in a file."""
        return None if self.queries is None else QueryBudget(study, self.queries, self.differ,
                                                             path)
