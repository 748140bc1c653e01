"""Booking disclosures in the budget of a table, before they are written.

The budget is the one that `--budget` names, or else the file that lies beside the data under the
same name with `.budget` added: whoever started it there need not think of it again. A link to the
data leads to the same budget. Where only the key or the head of a budget is left, the budget was
lost, and nothing is disclosed. Where there never was one, the output says that nothing was booked.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unspoken.release.budget import Budget
    from unspoken.release.release import Release
    from unspoken.table.table import Table


def budget_path(budget: Path | None, data: Path) -> Path | None:
    """Return where the budget of a data file is or was, None if there is none."""
    if budget is not None:
        return budget
    places = [file.with_name(file.name + ".budget") for file in (data.resolve(), data)]
    return next((place for place in places if _left_there(place)), None)


def _left_there(place: Path) -> bool:
    """Return True if a budget lies there, or what belongs to one."""
    return any(place.with_name(place.name + end).exists() for end in ("", ".key", ".head"))


def budget_of(args: argparse.Namespace) -> Budget | None:
    """Return the budget that the options name or that lies beside the data."""
    path = budget_path(getattr(args, "budget", None), args.data)
    if path is None:
        args.unbooked = args.data
        return None
    from unspoken.release.budget import Budget

    return Budget(path)


def book_release(args: argparse.Namespace, table: Table, release: Release,
                 kind: str = "release") -> None:
    """Draw from the budget before anything is written."""
    budget = budget_of(args)
    if budget is None:
        return
    from unspoken.errors import BudgetError
    from unspoken.release.budget_releases import release_draws

    budget.check_table(table)
    to = getattr(args, "to", "")
    wanted = release_draws(release, to, kind)
    if not all(budget.draw_each([one])[0] for one in wanted):
        raise BudgetError(f"The budget of this table has {budget.left(to):g} left, and this "
                          f"release needs {wanted[0].cost}. Nothing was written. 'unspoken budget' "
                          "shows what it was spent on.")


def list_baskets(args: argparse.Namespace, data: Path, table: Table, what: str) -> None:
    """List baskets that bound nothing in the budget beside their file, before they are written."""
    path = budget_path(None, data)
    if path is None:
        args.unbooked = data
        return
    from unspoken.release.budget import Budget
    from unspoken.release.budget_releases import WITHOUT

    budget = Budget(path)
    budget.check_table(table)
    budget.draw(WITHOUT, kind="baskets", what=what)
