"""`unspoken budget`: what went out of a table, to whom, and what is left."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unspoken.cli import basket_verbs
from unspoken.cli.common import Adder, add_reading, columns, emit, pairs, read_table, verb
from unspoken.cli.data_places import data_place
from unspoken.errors import InputError, explain

if TYPE_CHECKING:
    from unspoken.release.budget import Budget
    from unspoken.table.table import Table

KINDS = ("release", "baskets", "query", "model", "synthetic", "study")


def add(verbs: Adder) -> None:
    """Add the verb."""
    parser = verb(verbs, "budget", run,
                  "Show what all disclosures of a table have spent, to whom, and what is left. "
                  "Also starts a budget, and books what was disclosed by other means. Exit status "
                  "1: a disclosure does not fit and was not booked.")
    parser.add_argument("budget", type=Path, metavar="FILE", help="the budget of one table")
    parser.add_argument("--head", type=Path, metavar="FILE",
                        help="where its end is kept (FILE.head); on another disk, a restored "
                             "backup is noticed")
    parser.add_argument("--picture", type=Path, metavar="FILE",
                        help="draw what went to whom into a .png, .svg or .pdf file")
    _add_start(parser.add_argument_group("start a budget"))
    _add_draw(parser.add_argument_group("book a disclosure"))
    parser.add_argument("--epsilon", type=float, metavar="E",
                        help="of a new budget, or of the disclosure that is booked")
    parser.add_argument("--delta", type=float, default=0.0, metavar="D",
                        help="of the same (default: 0)")
    add_reading(parser)
    basket_verbs.add_columns(parser)


def _add_start(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--start", type=data_place, metavar="DATA",
                       help="the table: Parquet, CSV or DuckDB file")
    group.add_argument("--target", metavar="COLUMN", help="the column that is to be predicted")
    group.add_argument("--unit", default="row", metavar="COLUMN",
                       help="the id column of persons, where one has several rows (default: row)")
    group.add_argument("--rows", type=int, default=1, metavar="N",
                       help="the most rows of a person (default: 1)")
    group.add_argument("--anew", action="store_true",
                       help="start it although another budget that is known counts these people")
    group.add_argument("--recipient", action="append", default=[], metavar="NAME=E",
                       help="the most that a recipient may get (repeat)")


def _add_draw(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--draw", metavar="WHAT", help="what is disclosed, in a few words")
    group.add_argument("--to", default="", metavar="NAME", help="who gets it")
    group.add_argument("--as", dest="what_kind", choices=KINDS, default="release",
                       help="what it is (default: %(default)s); without --epsilon it is only "
                            "listed, as something that bounds nothing")


def run(args: argparse.Namespace) -> int:
    """Start, book or show."""
    if args.start is not None and args.draw is not None:
        raise InputError("Use --start or --draw, not both at once.")
    status = 0
    if args.start is not None:
        budget = _start(args)
    else:
        from unspoken.release.budget import Budget

        budget = Budget(args.budget, args.head)
        status = _draw(args, budget) if args.draw is not None else 0
    if args.picture is not None:
        from unspoken.report.budget_picture import save_picture

        save_picture(budget, args.picture)
    emit(args, {"booked": status == 0, **budget.to_json()} if args.draw else budget.to_json(),
         text_of(budget))
    return status


def _start(args: argparse.Namespace) -> Budget:
    from unspoken.release.budget import Budget
    from unspoken.release.budget_copies import list_budget

    if args.epsilon is None:
        raise InputError("A budget needs an epsilon. Type for example --epsilon 1.")
    table = _table(args)
    if not args.anew:
        _refuse_second(table, args)
    budget = Budget.start(args.budget, table, epsilon=args.epsilon, delta=args.delta,
                          unit=args.unit, rows=args.rows, recipients=_caps(args.recipient),
                          head=args.head)
    list_budget(args.budget)
    return budget


def _refuse_second(table: Table, args: argparse.Namespace) -> None:
    """Refuse a budget for people whom another one counts already."""
    from unspoken.cli.book_release import counted_elsewhere
    from unspoken.errors import BudgetError

    known = counted_elsewhere(table, args.start)
    if known is not None and known[0].resolve() != args.budget.resolve():
        words = f"counts {known[1]:.0%} of these people already" if known[1] else \
            "is not known to count others: its columns are alike"
        raise BudgetError(f"'{known[0]}' {words}. A second budget would undo the first. Draw from "
                          "that one, or type --anew to start another on purpose.")


def _table(args: argparse.Namespace) -> Table:
    if not args.start.name.endswith(".dat") and args.transaction is None:
        return read_table(args, args.start, args.target)
    from unspoken.table.basket_tables import to_table

    return to_table(basket_verbs.read(args, args.start))


def _caps(texts: list[str]) -> dict[str, float]:
    try:
        return {name: float(value) for name, value in pairs(texts, "--recipient").items()}
    except ValueError:
        raise InputError(explain("'--recipient'", "NAME=EPSILON", " ".join(texts))) from None


def _draw(args: argparse.Namespace, budget: Budget) -> int:
    import sys

    from unspoken.errors import BudgetError
    from unspoken.release.budget_costs import NONE, Cost

    cost = Cost(None, law=NONE) if args.epsilon is None else Cost(args.epsilon, args.delta)
    try:
        budget.draw(cost, to=args.to, kind=args.what_kind, what=args.draw)
    except BudgetError as error:
        print(f"unspoken: {error}", file=sys.stderr)
        return 1
    return 0


def text_of(budget: Budget) -> str:
    """Return the state of a budget as text."""
    data = budget.to_json()
    unit = "a row" if data["unit"] == "row" else \
        f"a person (column '{data['unit']}', at most {data['rows']} rows)"
    lines = [f"Protects what {unit} says: epsilon {data['epsilon']:g} at delta {data['delta']:g}.",
             f"Spent: {_shown(data['spent'])}. Left: {_shown(data['left'])}.", ""]
    rows = [("recipient", "disclosures", "spent", "left"),
            *((name or "(nobody named)", str(one["disclosures"]), _shown(one["spent"]),
               _shown(one["left"])) for name, one in data["by_recipient"].items())]
    lines.append(columns(rows, (1, 2, 3)))
    if data["without_epsilon"]:
        lines += ["", "Outside the budget, because nothing bounds what it discloses:",
                  *(f"  {_line(one)}" for one in data["without_epsilon"][-50:])]
    lines += ["", "Counted: this table, and copies of it wherever this budget is known (the "
              "folder of the data, UNSPOKEN_BUDGETS, UNSPOKEN_REGISTER). Copies elsewhere, and "
              "what Python disclosed without a draw, are not."]
    if data["delta"]:
        lines += ["", "Totals are composed by privacy loss distributions. They hold where no "
                  "disclosure's parameters were chosen by looking at earlier answers."]
    return "\n".join(lines)


def _line(one: dict[str, Any]) -> str:
    return f"{one['at']}  {one['kind']} to {one['to'] or '(nobody named)'}: {one['what']}"


def _shown(value: float | None) -> str:
    return "unbounded" if value is None else f"{value:.6g}"
