"""`protect` takes a table, or anything that `read` takes, with what `read` has to be told."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from unspoken.errors import InputError, explain
from unspoken.table.table import Table

S = TypeVar("S")
R = TypeVar("R")


def from_any_table(protect: Callable[[S, Table], R]) -> Callable[..., R]:
    """Return a method that reads its table first, where it is given a frame or a path.

    Keywords such as `target=` and `quasi=` are those of `unspoken.read`.
    """
    @wraps(protect)
    def reading(self: S, table: Any, **how: Any) -> R:
        return protect(self, _table(table, how))

    return reading


def _table(source: Any, how: dict[str, Any]) -> Table:
    from unspoken.table.baskets import Baskets
    from unspoken.table.read import read

    if isinstance(source, Table):
        if how:
            raise InputError(f"A Table says already what its columns are. Got "
                             f"{', '.join(f'{name}=' for name in how)} beside it. Say so when it "
                             "is read: unspoken.read(source, ...).")
        return source
    if isinstance(source, Baskets):
        raise InputError(explain("What is protected", "a table", "baskets",
                                 "Use one of the methods for baskets, such as "
                                 "protect.SelectASize."))
    return read(source, **{"show": False, **how})
