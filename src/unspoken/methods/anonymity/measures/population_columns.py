"""The columns of a population, read as those of the table that was drawn from it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from unspoken.errors import DataError


def as_in_table(name: str, mine: Any, theirs: Any) -> Any:
    """Return a column of the population with the type that it has in the table."""
    try:
        return theirs.cast(mine.type)
    except pa.ArrowException:
        raise DataError(f"'{name}' must hold the same kind of values in the table and in the "
                        f"population. It is {mine.type} in the table and {theirs.type} in the "
                        "population, and some of its values are not of that kind. Correct them, "
                        "or read both as text.") from None
