"""Booking disclosures in the budget of a table, before they are written.

The budget is the one that `--budget` names, or else the file that lies beside the data under the
same name with `.budget` added: whoever started it there need not think of it again. A link to the
data leads to the same budget. Where only the key or the head of a budget is left, the budget was
lost, and nothing is disclosed. A copy of a table whose budget is known (`release.budget_copies`)
draws from that budget, and a changed copy is refused, as is a table that nothing tells from that
of a budget, and every table beside a budget that cannot be read. Where there never was a budget,
the output says that nothing was booked.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from unspoken.release.budget_places import budget_path, counted_elsewhere, known_place

__all__ = ["book_release", "budget_of", "budget_path", "counted_elsewhere", "list_baskets",
           "place_of"]

if TYPE_CHECKING:
    from unspoken.methods.queries.guard import QueryGuard
    from unspoken.release.budget import Budget
    from unspoken.release.release import Release
    from unspoken.table.formats.data_urls import Place
    from unspoken.table.table import Table


def budget_of(args: argparse.Namespace, table: Table) -> Budget | None:
    """Return the budget that the options name, that lies beside the data, or that knows it."""
    path = place_of(getattr(args, "budget", None), args.data, table)
    if path is None:
        args.unbooked = args.data
        return None
    from unspoken.release.budget import Budget

    return Budget(path)


def place_of(budget: Path | None, data: Place, table: Table) -> Path | None:
    """Return where the budget of a data file is, or that of the table which it is a copy of."""
    place, note = known_place(budget, data, table)
    if note:
        print(f"unspoken: note: {note}", file=sys.stderr)
    return place


def book_release(args: argparse.Namespace, table: Table, release: Release,
                 kind: str = "release") -> None:
    """Draw from the budget before anything is written."""
    budget = budget_of(args, table)
    if budget is None:
        return
    from unspoken.release.budget_releases import draw_release

    draw_release(budget, table, release, getattr(args, "to", ""), kind=kind)


def list_baskets(args: argparse.Namespace, data: Place, table: Table, what: str) -> None:
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


def book_guard(args: argparse.Namespace, data: Place, table: Table, guard: QueryGuard) -> None:
    """Draw what all answers of a query log may spend, once, before the first is given.

    The budget follows the log from then on: of two copies that go on, one is refused.
    """
    path = place_of(None, data, table)
    if path is None:
        args.unbooked = data
        return
    from unspoken.release.budget import Budget
    from unspoken.release.budget_costs import Cost
    from unspoken.release.budget_releases import WITHOUT

    budget, what = Budget(path), f"guarded log {guard.name}"
    budget.check_table(table)
    if all(one.what != what for one in budget.draws):
        whole, cells = guard.whole_epsilon, guard.settings.cells
        if whole is not None and cells:
            budget.draw(WITHOUT, to=args.to, kind="query",
                        what=f"exact cells of {what}: {', '.join(cells)}"[:500])
        budget.draw(WITHOUT if whole is None else Cost(whole), to=args.to, kind="query", what=what)
    guard.note_with(lambda chains: budget.follow(guard.name, chains))
