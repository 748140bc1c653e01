"""`unspoken hide`: change baskets so that chosen rules are not found in them."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from unspoken.cli import basket_verbs as baskets
from unspoken.cli.book_release import list_baskets
from unspoken.cli.common import Adder, add_file_options, emit, must_be_new, saved_bytes, verb
from unspoken.cli.enter_register import add_register, people_of, register_of, write_entered
from unspoken.errors import InputError

WAYS = ("removal", "insertion", "unknown")


def add(verbs: Adder) -> None:
    """Add the verb."""
    parser = verb(verbs, "hide", run,
                  "Change baskets so that chosen association rules and itemsets are no longer "
                  "found at the thresholds given, with few changes, and report the side effects. "
                  "It hides rules, not people: mining at lower thresholds still finds them. Exit "
                  "status 2 if a rule cannot be hidden in this way.")
    parser.add_argument("baskets", type=Path, metavar="BASKETS",
                        help="file of baskets: .dat, .csv, .txt (also .gz) or .parquet")
    parser.add_argument("--rule", action="append", required=True, metavar="RULE",
                        help="a rule to hide, such as 'bread, butter -> milk', or an itemset, such "
                             "as 'bread, pills' (repeat)")
    parser.add_argument("--by", choices=WAYS, default="removal",
                        help="take items out, put items of the left side in, or write that it is "
                             "unknown (default: %(default)s)")
    _add_numbers(parser)
    baskets.add_columns(parser)
    add_file_options(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE",
                        help="where the changed baskets go; .parquet for unknown")
    add_register(parser, "the changed baskets")
    parser.add_argument("--report", type=Path, metavar="FILE",
                        help="also write the side effects as JSON; the file names the rules and "
                             "is only for you (mode 0600)")


def _add_numbers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--min-support", type=float, default=0.01, metavar="SHARE",
                        help="rules are mined from this support on (default: %(default)s)")
    parser.add_argument("--min-confidence", type=float, default=0.5, metavar="SHARE",
                        help="rules are mined from this confidence on (default: %(default)s)")
    parser.add_argument("--margin", type=float, default=0.0, metavar="SHARE",
                        help="keep hidden rules this share below the thresholds (default: "
                             "%(default)s)")
    parser.add_argument("--lower", choices=("either", "support", "confidence"), default="either",
                        help="by removal: what must fall (default: %(default)s)")
    parser.add_argument("--decoys", type=float, default=1.0, metavar="N",
                        help="by unknown: absent items made unknown for every one that is there "
                             "(default: %(default)s)")


def run(args: argparse.Namespace) -> int:
    """Hide rules and write the changed baskets."""
    from unspoken.methods.baskets.hiding import RuleHider
    from unspoken.table.baskets import Baskets
    from unspoken.table.baskets_with_unknowns import check_ending

    must_be_new(args.out, "The file of changed baskets")
    if args.report is not None:
        must_be_new(args.report, "The report")
        if args.report.absolute() == args.out.absolute():
            raise InputError("'--report' must be another file than '--out'. Got the same.")
    if args.by == "unknown":
        check_ending(args.out)
    hider = RuleHider(args.rule, args.by, args.min_support, args.min_confidence, args.margin,
                      args.lower, args.decoys)
    source = _read(args)
    hidden = hider.hide(source)
    _book(args, source)
    people = None if register_of(args) is None else people_of(
        args, source if isinstance(source, Baskets) else args.baskets)
    write_entered(args, "baskets", people, "baskets with hidden rules",
                  saved_bytes(hidden.baskets, args.out.name))
    report = hidden.effects.to_json()
    if args.report is not None:
        _write_report(args.report, report)
    emit(args, {"out": str(args.out), "effects": report},
         f"{hidden.effects.summary()}\nWritten to {args.out}.")
    return 0


def _book(args: argparse.Namespace, source: Any) -> None:
    """List what is written in the budget beside the baskets."""
    from unspoken.table.basket_tables import to_table
    from unspoken.table.baskets import Baskets

    if isinstance(source, Baskets):
        list_baskets(args, args.baskets, to_table(source), "baskets with hidden rules")


def _read(args: argparse.Namespace) -> Any:
    """Read baskets; a file in which items are unknown already is read as such."""
    from unspoken.table.baskets_with_unknowns import has_unknown, read_partly_known

    if args.item is None and args.transaction is None and has_unknown(args.baskets):
        return read_partly_known(args.baskets)
    return baskets.read(args, args.baskets)


def _write_report(path: Path, report: dict[str, Any]) -> None:
    from unspoken.table.atomic_files import write_file

    write_file(path, json.dumps(report, allow_nan=False).encode(), 0o600, overwrite=False)
