"""Booking disclosures in the budget of a table, before they are written.

The budget is the one that `--budget` names, or else the file that lies beside the data under the
same name with `.budget` added: whoever started it there need not think of it again. A link to the
data leads to the same budget. Where only the key or the head of a budget is left, the budget was
lost, and nothing is disclosed. A copy of a table whose budget is known (`release.budget_copies`)
draws from that budget, and a changed copy is refused. Where there never was a budget, the output
says that nothing was booked.
"""

from __future__ import annotations

import argparse
import sys
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


def budget_of(args: argparse.Namespace, table: Table) -> Budget | None:
    """Return the budget that the options name, that lies beside the data, or that knows it."""
    path = place_of(getattr(args, "budget", None), args.data, table)
    if path is None:
        args.unbooked = args.data
        return None
    from unspoken.release.budget import Budget

    return Budget(path)


def place_of(budget: Path | None, data: Path, table: Table) -> Path | None:
    """Return where the budget of a data file is, or that of the table which it is a copy of."""
    place = budget_path(budget, data)
    if place is not None:
        return place
    known = counted_elsewhere(table, data)
    if known is None:
        return None
    path, share = known
    if share < 1.0:
        from unspoken.errors import BudgetError

        raise BudgetError(f"'{data}' has no budget, and {share:.0%} of its people are those of "
                          f"'{path}', whose table it is not. Nothing was disclosed. Use the table "
                          "of that budget, or start one for this table on purpose: unspoken budget "
                          f"{data}.budget --start {data} --anew --epsilon 1")
    print(f"unspoken: note: '{data}' is a copy of the table of '{path}', which is drawn from.",
          file=sys.stderr)
    return path


def counted_elsewhere(table: Table, data: Path) -> tuple[Path, float] | None:
    """Return a budget that counts the same people, and the share of them, the greatest first."""
    from unspoken.errors import BudgetError
    from unspoken.release.budget import Budget
    from unspoken.release.budget_copies import known_budgets
    from unspoken.release.people_sketch import SAME

    best: tuple[Path, float] | None = None
    for path in known_budgets([data.resolve().parent]):
        try:
            share = Budget(path).knows(table)
        except BudgetError:
            continue
        if share >= SAME and (best is None or share > best[1]):
            best = path, share
    return best


def book_release(args: argparse.Namespace, table: Table, release: Release,
                 kind: str = "release") -> None:
    """Draw from the budget before anything is written."""
    budget = budget_of(args, table)
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
    path = place_of(None, data, table)
    if path is None:
        args.unbooked = data
        return
    from unspoken.release.budget import Budget
    from unspoken.release.budget_releases import WITHOUT

    budget = Budget(path)
    budget.check_table(table)
    budget.draw(WITHOUT, kind="baskets", what=what)
