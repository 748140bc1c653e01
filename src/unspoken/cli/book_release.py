"""Booking a release in the budget of its table, before it is written."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unspoken.release.release import Release
    from unspoken.table.table import Table


def book_release(args: argparse.Namespace, table: Table, release: Release,
                 kind: str = "release") -> None:
    """Draw from the budget before anything is written."""
    if args.budget is None:
        return
    from unspoken.errors import BudgetError
    from unspoken.release.budget import Budget
    from unspoken.release.budget_releases import release_draws

    budget = Budget(args.budget)
    budget.check_table(table)
    wanted = release_draws(release, args.to, kind)
    if not all(budget.draw_each([one])[0] for one in wanted):
        raise BudgetError(f"The budget '{args.budget}' has {budget.left(args.to):g} left, and this "
                          f"release needs {wanted[0].cost}. Nothing was written. "
                          f"'unspoken budget {args.budget}' shows what it was spent on.")
