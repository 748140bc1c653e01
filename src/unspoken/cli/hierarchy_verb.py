"""`unspoken hierarchy`: build, show, check and save what a column may be generalised to."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unspoken.cli.common import Adder, add_reading, emit, must_be_new, names, read_table, verb
from unspoken.cli.data_places import DATA_HELP, data_place

if TYPE_CHECKING:
    from unspoken.methods.anonymity.hierarchy import Hierarchy
    from unspoken.table.table import Table

WAYS = ("steps", "quantiles", "prefixes", "masked", "dates", "frequency", "target", "flat")


def add(verbs: Adder) -> None:
    """Add the verb."""
    parser = verb(verbs, "hierarchy", run,
                  "Show the levels that a column may be generalised to, and save them as a "
                  "file for 'protect' and 'anonymize'. They are built from the values of the "
                  "column, or read from a file (value, level 1, level 2, ..., as ARX writes them) "
                  "and checked against it.")
    parser.add_argument("data", type=data_place, metavar="DATA", help=DATA_HELP)
    parser.add_argument("column", metavar="COLUMN", help="the column")
    parser.add_argument("--how", choices=WAYS,
                        help="how it is built: numbers in round steps or quantiles, texts by "
                             "prefixes or masked, dates, categories merged by frequency or target, "
                             "or flat (default: by the type of the column)")
    parser.add_argument("--steps", type=names, metavar="A,B",
                        help="widths of the bands, each a multiple of the one before")
    parser.add_argument("--bands", type=int, default=16, metavar="N",
                        help="how many bands the first level of quantiles has (default: "
                             "%(default)s)")
    parser.add_argument("--target", metavar="COLUMN", help="what categories are compared by")
    parser.add_argument("--from", dest="source", type=Path, metavar="FILE",
                        help="show and check this file in place of building one")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where the hierarchy goes")
    add_reading(parser)


def run(args: argparse.Namespace) -> int:
    """Build or read, show, save."""
    if args.out is not None:
        must_be_new(args.out, "The hierarchy")
    table = read_table(args, args.data, args.target)
    tree = _built(args, table) if args.source is None else _checked(args, table)
    sizes = [len({row[level:] for row in tree.rows}) for level in range(tree.levels + 1)]
    lines = [tree.summary()]
    if args.out is not None:
        tree.to_csv(args.out)
        option = f"'hierarchies={{\"{args.column}\": \"{args.out}\"}}'"
        lines.append(f"Written to {args.out}. Use it: --option {option} with 'unspoken protect', "
                     f"or --hierarchy {args.column}={args.out} with 'unspoken anonymize'.")
    emit(args, {"column": args.column, "levels": tree.levels, "labels": sizes,
                "rows": [list(row) for row in tree.rows],
                "file": None if args.out is None else str(args.out)}, "\n".join(lines))
    return 0


def _built(args: argparse.Namespace, table: Table) -> Hierarchy:
    from unspoken.methods.anonymity.hierarchy_builders import build_hierarchy

    target = None if args.target is None else table.arrow([args.target])[args.target]
    return build_hierarchy(_column(args, table), args.how, steps=_widths(args.steps),
                           bands=args.bands, target=target)


def _checked(args: argparse.Namespace, table: Table) -> Hierarchy:
    """Read a file, and refuse it if values of the column are not in it."""
    from unspoken.methods.anonymity.hierarchy import Hierarchy
    from unspoken.table.category_codes import coded

    tree = Hierarchy.from_csv(args.source)
    tree.places(args.column, coded(_column(args, table)).values())
    return tree


def _column(args: argparse.Namespace, table: Table) -> Any:
    return table.arrow([table.schema[args.column].name])[args.column]


def _widths(texts: tuple[str, ...] | None) -> list[float] | None:
    from unspoken.errors import InputError, explain

    if texts is None:
        return None
    try:
        return [float(text) for text in texts]
    except ValueError:
        raise InputError(explain("'--steps'", "numbers like 5,10,20", ",".join(texts))) from None
