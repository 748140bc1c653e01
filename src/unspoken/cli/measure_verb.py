"""`unspoken measure`: measures of the book beside the audit (vcz2006 2, 3.2, 6.3)."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unspoken.cli import measure_inverse, measure_noise, measure_utility
from unspoken.cli.common import Adder, add_reading, columns, emit, names, read_table, verb
from unspoken.cli.data_places import DATA_HELP, data_place
from unspoken.cli.measure_linkage import add_options, measure
from unspoken.errors import InputError, UnspokenError, explain

if TYPE_CHECKING:
    from unspoken.table.table import Table

MOST_CELLS, MOST_VALUES = 2000, 50
Measured = tuple[dict[str, Any], str]


def add(verbs: Adder) -> None:
    """Add the verb with one part for each measure."""
    parser = verb(verbs, "measure", _one_of, "Measure what a table, a published classifier, "
                  "published counts or published itemsets give away, and what a release keeps.")
    parts = parser.add_subparsers(title="measures", metavar="MEASURE", dest="measure")
    _add_isolation(parts)
    _add_indistinguishability(parts)
    _add_contingency(parts)
    _add_indirect(parts)
    _add_itemsets(parts)
    measure_inverse.add_options(_part(
        parts, "inverse", measure_inverse.measure, "Say in which share of all data sets that fit "
        "published itemsets a person has an item (inverse frequent set mining).", table=False))
    _add_linkage(parts)
    measure_noise.add_options(_part(
        parts, "noise", measure_noise.measure, "Say which law of noise loses least at equal "
        "privacy: how many people must be asked in place of one.", table=False))
    measure_utility.add_options(_part(
        parts, "utility", measure_utility.measure, "Say what a release kept of its original: "
        "frequencies, correlations, means, class sizes, what a learner trained on it reaches on "
        "records held back, and what it must not be used for.", table=False))


def _one_of(args: argparse.Namespace) -> int:
    raise InputError("'unspoken measure' needs the name of a measure: isolation, "
                     "indistinguishability, contingency, indirect, itemsets, inverse, linkage, "
                     "noise or utility.")


def _part(parts: Adder, name: str, measure: Callable[[argparse.Namespace], Measured],
          text: str, table: bool = True) -> argparse.ArgumentParser:
    def run(args: argparse.Namespace) -> int:
        emit(args, *measure(args))
        return 0

    parser = verb(parts, name, run, text)
    if table:
        parser.add_argument("data", type=data_place, metavar="DATA", help=DATA_HELP)
        parser.add_argument("--target", metavar="COLUMN", help=argparse.SUPPRESS)
        add_reading(parser)
    return parser


def _table(args: argparse.Namespace) -> Table:
    return read_table(args, args.data, args.target)


def _add_isolation(parts: Adder) -> None:
    parser = _part(parts, "isolation", _isolation,
                   "Say for several ways to guess which share of the records a guess "
                   "(c, t)-isolates: fewer than t records lie within c times its distance.")
    parser.add_argument("--c", type=float, default=4.0, help="how many times as far (default: 4)")
    parser.add_argument("--t", type=int, default=5, help="how many records (default: 5)")


def _isolation(args: argparse.Namespace) -> Measured:
    import numpy as np

    from unspoken.methods.anonymity.measures.isolation import isolation

    table = _table(args)
    numeric = [n for n in table.schema.of_kind("numeric", "ordinal") if n in table.schema.features]
    if not numeric:
        raise InputError("Isolation is about distances, and the table has no column of numbers.")
    data = table.numbers(numeric)
    whole = data[~np.isnan(data).any(axis=1)]
    if not 1 <= args.t <= len(whole) or not 0 <= args.c < float("inf"):
        raise InputError(f"'--c' must be at least 0, and '--t' from 1 to the {len(whole):,} "
                         f"complete records. Got {args.c:g} and {args.t}.")
    shares = isolation(whole, args.c, args.t)
    lines = [[name, f"{share:.1%}"] for name, share in shares.items()]
    return ({"records": int(whole.shape[0]), "c": args.c, "t": args.t, "isolated": shares},
            f"{whole.shape[0]:,} complete records, (c, t) = ({args.c:g}, {args.t})\n"
            + columns([["guess", "isolates"], *lines], right=[1]))


def _add_indistinguishability(parts: Adder) -> None:
    parser = _part(parts, "indistinguishability", _indistinguishability,
                   "Say how far apart classifiers set two people by a sensitive column: at most, "
                   "and on average.")
    parser.add_argument("--column", required=True, metavar="COLUMN", help="the sensitive column")


def _indistinguishability(args: argparse.Namespace) -> Measured:
    from unspoken.methods.anonymity.measures.isolation import indistinguishability

    table = _table(args)
    values = table.engine.count_distinct(table.frame, table.schema[args.column].name)
    if not 2 <= values <= MOST_VALUES or len(set(table.schema.features) - {args.column}) == 0:
        raise InputError(f"'--column' must name a column of 2 to {MOST_VALUES} values, with others "
                         f"beside it. '{args.column}' has {values:,}.")
    gaps = indistinguishability(table, args.column)
    rows = [[one.function, one.value, f"{one.largest:.3f}", f"{one.mean:.3f}"] for one in gaps]
    return ({"column": args.column, "gaps": [vars(one) for one in gaps]},
            columns([["function", "value", "largest gap", "mean gap"], *rows], right=[2, 3]))


def _add_contingency(parts: Adder) -> None:
    parser = _part(parts, "contingency", _contingency,
                   "Cross-tabulate columns, and say which small cells follow from the totals alone "
                   "and how many cells must be left out so that none does.")
    parser.add_argument("--cells", type=names, required=True, metavar="A,B",
                        help="the columns of the table of counts, two or three")
    parser.add_argument("--smallest", type=int, default=3, metavar="N",
                        help="cells with fewer people are small (default: %(default)s)")


def _contingency(args: argparse.Namespace) -> Measured:
    from itertools import combinations

    from unspoken.methods.anonymity.measures.contingency import bounds, small_cells, suppress

    if args.smallest < 2:
        raise InputError(explain("'--smallest'", "a whole number from 2 on", args.smallest))
    counts, labels = _counted(_table(args), args.cells)
    small = small_cells(counts, args.smallest)
    axes = list(combinations(range(counts.ndim), counts.ndim - 1))
    totals = [(kept, counts.sum(axis=tuple(a for a in range(counts.ndim) if a not in kept)))
              for kept in axes]
    reach = bounds(counts.shape, totals, cells=small)
    found_out = [[labels[axis][place] for axis, place in enumerate(cell)]
                 for cell in zip(*(small & reach.disclosed).nonzero(), strict=True)]
    try:
        left_out = suppress(counts, args.smallest)
        hidden, words = int((left_out.primary | left_out.complementary).sum()), left_out.summary()
    except UnspokenError as error:
        hidden, words = None, str(error)
    return ({"cells": int(counts.size), "small": int(small.sum()), "from_totals": found_out,
             "left_out": hidden},
            f"{counts.size:,} cells of {' x '.join(args.cells)}, {int(small.sum()):,} of them with "
            f"1 to {args.smallest - 1} people.\n{len(found_out):,} small cells follow from the "
            f"totals alone.\n{words}")


def _counted(table: Table, cells: tuple[str, ...]) -> tuple[Any, list[list[str]]]:
    """Return the table of counts and the labels of its axes."""
    import numpy as np

    from unspoken.table.category_codes import coded

    if len(cells) not in (2, 3) or len(set(cells)) < len(cells):
        raise InputError(explain("'--cells'", "two or three different columns", ",".join(cells)))
    for name in cells:
        table.schema[name]
    rows = table.arrow(list(cells))
    parts = [coded(rows[name]) for name in cells]
    labels = [[*map(str, part.values()), "(missing)"] for part in parts]
    shape = tuple(int(part.codes.max()) + 1 for part in parts)
    if np.prod(shape) > MOST_CELLS:
        raise InputError(explain("'--cells'", f"columns with at most {MOST_CELLS:,} cells together",
                                 f"{int(np.prod(shape)):,}", "Leave a column out, or bring it "
                                 "into bands."))
    counts = np.zeros(shape)
    np.add.at(counts, tuple(part.codes for part in parts), 1.0)
    return counts, labels


def _add_indirect(parts: Adder) -> None:
    parser = _part(parts, "indirect", _indirect,
                   "Say how much better a sensitive column is guessed by somebody who may ask a "
                   "published classifier.")
    parser.add_argument("--model", type=Path, required=True, metavar="FILE",
                        help="the published classifier")
    parser.add_argument("--column", metavar="COLUMN",
                        help="the sensitive column (default: that of --sensitive)")


def _indirect(args: argparse.Namespace) -> Measured:
    from unspoken.models.load_model import load_model
    from unspoken.risk import indirect

    if args.column is None and len(args.sensitive) != 1:
        raise InputError("'unspoken measure indirect' needs one sensitive column. Name it with "
                         "--column.")
    disclosed = indirect(_table(args), load_model(args.model), sensitive=args.column)
    return disclosed.to_json(), disclosed.summary()


def _add_linkage(parts: Adder) -> None:
    add_options(_part(parts, "linkage", _linkage,
                      "Say how well people without a common id would be linked, by names and dates "
                      "with typing errors, and what a linkage unit could guess of them."))


def _linkage(args: argparse.Namespace) -> Measured:
    return measure(args, _table(args))


def _add_itemsets(parts: Adder) -> None:
    parser = _part(parts, "itemsets", _itemsets,
                   "Bound how many baskets hold sets of items that were not published, from those "
                   "that were (inverse frequent set mining).", table=False)
    parser.add_argument("published", type=Path, metavar="ITEMSETS",
                        help="itemsets that 'unspoken mine --learner itemsets' wrote")
    parser.add_argument("--set", type=names, action="append", required=True, dest="sets",
                        metavar="A,B", help="a set of items to bound (repeat)")
    parser.add_argument("--exact", action="store_true",
                        help="the best bounds, by an integer program (at most 9 items)")


def _itemsets(args: argparse.Namespace) -> Measured:
    from unspoken.attack import deduce
    from unspoken.models.itemsets import Itemsets

    deduced = deduce(Itemsets.load(args.published), args.sets, exact=args.exact)
    return ({"baskets": deduced.baskets,
             "sets": [{"items": list(one), "low": low, "high": high}
                      for one, (low, high) in deduced]}, deduced.summary())
