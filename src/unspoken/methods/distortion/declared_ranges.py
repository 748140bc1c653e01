"""Ranges and categories that were declared before anybody looked at the data.

A stated epsilon compares any two values of the declared range. So a value beyond it is moved to its
end or refused before noise is added, in a table, in an array and on a person's device alike; and a
range that was taken from the data states none, because the range itself discloses the extremes. How
many values were moved is the custodian's to know: it is counted and warned of, not released.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import ClampedWarning, DataError
from unspoken.methods.distortion.column_sums import beyond

CLAMP, REFUSE = OUTSIDE = ("clamp", "refuse")
MISSING = ("a value that is missing is reported as missing: what is stated holds for the value, "
           "not for whether there is one")
LEARNED = ("ranges or categories were taken from the data and disclose something about it: no "
           "epsilon holds; declare them to have one stated")


def within(name: str, values: Floats, ends: tuple[float, float], outside: str) -> Floats:
    """Return values inside their declared range; NaN stays NaN."""
    if outside == REFUSE and beyond(values, ends):
        raise DataError(f"{beyond(values, ends)} values of column '{name}' lie outside its "
                        f"declared range {ends}. Declare a wider range, or use outside='clamp'.")
    return np.asarray(np.clip(values, *ends))


def note_clamped(counts: Mapping[str, int], outside: str) -> dict[str, int]:
    """Warn the custodian of values that are moved, or refuse them; return how many where."""
    moved = {name: count for name, count in counts.items() if count}
    for name, count in moved.items():
        if outside == REFUSE:
            raise DataError(f"{count} values of column '{name}' lie outside its declared "
                            "range. Declare a wider range, or use outside='clamp'.")
        warnings.warn(f"Column '{name}': {count} values outside its declared range or categories "
                      "were moved into it.", ClampedWarning, stacklevel=3)
    return moved


def epsilon_facts(columns: Mapping[str, Mapping[str, Any]], reports: int) -> dict[str, Any]:
    """Return the epsilon of all columns of a person, over all reports (basic composition)."""
    each = [column["epsilon"] for column in columns.values() if column["epsilon"] is not None]
    per_report = float(sum(each)) if each and len(each) == len(columns) else None
    return {"columns": columns, "reports": reports, "epsilon_per_report": per_report,
            "epsilon_total": None if per_report is None else per_report * reports}


def epsilon_words(facts: Mapping[str, Any]) -> str:
    """Return a sentence that states the total, or that there is none."""
    total = facts["epsilon_total"]
    if total is None:
        return "No epsilon is stated for a person."
    return (f"Over all distorted columns of a person and {facts['reports']} report(s) of them "
            f"epsilon is {total:.6g} in total.")


def report_conditions(facts: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the conditions that every stated epsilon has."""
    learned = any(not column.get("declared", True) for column in facts["columns"].values())
    count = facts["reports"]
    line = ("every value is reported once" if count == 1
            else f"every value is reported {count} times at most")
    return (f"{line}; every further report, and every further call on the same values, adds the "
            "same epsilon again", MISSING, *((LEARNED,) if learned else ()))
