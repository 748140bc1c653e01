"""The parameters of task `sum`: read and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.tasks.common.study_parameters import check_names
from unspoken.joint.tasks.task import Param

PARAMS = (Param("columns", "the columns to add up, a list of names"),
          Param("scale", "fractional bits of sums, 0 to 40 (0: whole numbers)"))


@dataclass(frozen=True)
class SumParams:
    """Which columns are added up, and how finely."""

    columns: tuple[str, ...]
    scale: int = 0

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> SumParams:
        """Return the parameters of a study; what is wrong is a StudyError."""
        check_names(parameters, PARAMS, "sum")
        columns, scale = parameters.get("columns"), parameters.get("scale", 0)
        if not isinstance(columns, list) or not columns or not all(
                isinstance(c, str) and c for c in columns):
            raise StudyError(explain("Parameter 'columns' of task 'sum'", "a list of column names",
                                     columns))
        if not isinstance(scale, int) or not 0 <= scale <= 40:
            raise StudyError(explain("Parameter 'scale' of task 'sum'", "an int from 0 to 40",
                                     scale))
        return cls(tuple(columns), scale)
