"""An owner's columns, checked before anything is sent: there, numbers, and of one length."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sized
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.errors import DataError, explain


def all_there(names: Iterable[str], columns: Mapping[str, Any]) -> None:
    """Refuse columns of rows that lack one which all owners need."""
    for name in names:
        if name not in columns:
            raise DataError(explain("The columns", f"such that '{name}' is there",
                                    ", ".join(map(str, columns)), "All owners need all columns."))


def of_site(columns: Mapping[str, Any], name: str) -> Any:
    """Return a column of a site; one that is missing is named."""
    if name not in columns:
        raise DataError(explain("The columns of a site", f"such that '{name}' is there",
                                ", ".join(map(str, columns))))
    return columns[name]


def one_length(columns: Collection[Sized], what: str = "Columns") -> None:
    """Refuse columns of different lengths."""
    if len({len(column) for column in columns}) > 1:
        raise DataError(explain(what, "of one length", "several"))


def as_numbers(what: str, values: Any) -> npt.NDArray[np.float64]:
    """Return values as float64; what is no number is refused, without saying which."""
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{what} must hold numbers. It does not.") from None


def numbers(name: str, values: Any) -> npt.NDArray[np.float64]:
    """Return a column as float64; what is no number is refused, without saying where."""
    column = as_numbers(f"Column '{name}'", values)
    if column.ndim != 1 or not np.isfinite(column).all():
        raise DataError(f"Column '{name}' must have a finite number in every row. Some have none. "
                        "Fill them, or leave those records out (on every side, if columns are "
                        "spread).")
    return column
