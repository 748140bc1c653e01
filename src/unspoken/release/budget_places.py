"""Where the budget of a table is: named, beside the data, or known from another copy of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unspoken.release.budget import Budget
    from unspoken.table.formats.data_urls import Place
    from unspoken.table.table import Table


def budget_path(budget: Path | None, data: Place) -> Path | None:
    """Return where the budget of a data file is or was, None if there is none.

    Beside an address nothing can lie: the budget of such a table is always named.
    """
    if budget is not None or not isinstance(data, Path):
        return budget
    places = [file.with_name(file.name + ".budget") for file in (data.resolve(), data)]
    return next((place for place in places if _left_there(place)), None)


def _left_there(place: Path) -> bool:
    """Return True if a budget lies there, or what belongs to one."""
    return any(place.with_name(place.name + end).exists() for end in ("", ".key", ".head"))


def known_place(budget: Path | None, data: Place, table: Table) -> tuple[Path | None, str]:
    """Return the budget of a data file, or of the table that it is a copy of, and a note on it."""
    place = budget_path(budget, data)
    if place is not None:
        return place, ""
    known = counted_elsewhere(table, data)
    if known is None:
        return None, ""
    path, share = known
    if share < 1.0:
        from unspoken.errors import BudgetError

        raise BudgetError(f"'{data}' has no budget, and {_alike(path, share)} Nothing was "
                          "disclosed. Use the table of that budget, or start one for this table "
                          f"on purpose: {_anew(data)}")
    return path, f"'{data}' is a copy of the table of '{path}', which is drawn from."


def _alike(path: Path, share: float) -> str:
    if share:
        return f"{share:.0%} of its people are those of '{path}', whose table it is not."
    return f"its people are not known to be others than those of '{path}': its columns are alike."


def _anew(data: Place) -> str:
    return f"unspoken budget {data}.budget --start {data} --anew --epsilon 1"


def counted_elsewhere(table: Table, data: Place) -> tuple[Path, float] | None:
    """Return a budget that counts the same people, and the share of them, the greatest first.

    A share of 0 says that nothing tells them apart. A budget that cannot be read is refused: it
    could be theirs.
    """
    from unspoken.release.budget_copies import known_budgets

    best: tuple[Path, float] | None = None
    folder = data.resolve().parent if isinstance(data, Path) else Path.cwd()
    for path in known_budgets([folder]):
        budget = _readable(path, data)
        share = budget.knows(table)
        if not share and not budget.may_count(table):
            continue
        if best is None or share > best[1]:
            best = path, share
    return best


def _readable(path: Path, data: Place) -> Budget:
    from unspoken.errors import BudgetError
    from unspoken.release.budget import Budget

    try:
        return Budget(path)
    except (BudgetError, OSError) as error:
        raise BudgetError(f"Whether '{path}' counts the people of '{data}' cannot be told, because "
                          f"it cannot be read. Nothing was disclosed. {error} Where it is about "
                          f"others, start a budget for this table: {_anew(data)}") from None
