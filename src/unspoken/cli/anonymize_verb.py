"""`unspoken anonymize`: try what fits, show the frontier, write the best with its record."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from unspoken.cli.book_release import book_release
from unspoken.cli.common import Adder, add_reading, emit, must_be_new, pairs, read_table, verb
from unspoken.cli.data_places import DATA_HELP, data_place
from unspoken.cli.enter_register import add_register, check_register, save_release
from unspoken.cli.measure_utility import add_learner
from unspoken.methods.anonymity.method import DIVERSITIES

TASKS = ("prediction", "statistics")


def add(verbs: Adder) -> None:
    """Add the verb."""
    parser = verb(verbs, "anonymize", run,
                  "Try every method that gives K and L on a table, show what each keeps and "
                  "risks, and write the release that serves the task best.")
    parser.add_argument("data", type=data_place, metavar="DATA", help=DATA_HELP)
    parser.add_argument("--target", metavar="COLUMN", help="the column that is to be predicted")
    parser.add_argument("--out", type=Path, metavar="DIR",
                        help="where the release goes; without it the frontier is only shown")
    parser.add_argument("--record", type=Path, metavar="FILE",
                        help="where the decision record goes, as JSON (stays with the custodian)")
    parser.add_argument("--k", type=int, default=10, metavar="K",
                        help="fewest records that look alike (default: %(default)s)")
    parser.add_argument("--l", type=float, metavar="L",
                        help="least diversity of the sensitive columns in each class")
    parser.add_argument("--diversity", choices=DIVERSITIES, default="strong",
                        help="how diversity is counted (default: %(default)s)")
    parser.add_argument("--t", type=float, metavar="T",
                        help="largest distance of a class's sensitive values from the table's")
    parser.add_argument("--hierarchy", action="append", default=[], metavar="COLUMN=FILE",
                        help="the hierarchy of a column, as 'unspoken hierarchy' saves it (repeat)")
    parser.add_argument("--others", choices=("keep", "drop"),
                        help="what happens to columns that are neither quasi-identifiers nor "
                             "sensitive: keep them as they are, or leave them out")
    parser.add_argument("--for", dest="task", choices=TASKS, default=TASKS[0],
                        help="what the release is for (default: %(default)s)")
    add_learner(parser)
    parser.add_argument("--picture", type=Path, metavar="FILE",
                        help="draw usefulness against risk into a .png, .svg or .pdf file")
    add_register(parser, "the release")
    add_reading(parser)


def run(args: argparse.Namespace) -> int:
    """Try, show, and write the best."""
    from unspoken.methods.anonymity.utility.risk_utility_frontier import frontier
    from unspoken.release.method import method_of

    key_file = None if args.out is None else args.out.with_name(f"{args.out.name}.key")
    for place, what in ((args.out, "The release directory"), (args.record, "The record"),
                        (key_file, "The key file")):
        if place is not None:
            must_be_new(place, what)
    if args.out is not None:
        check_register(args)
    if args.picture is not None:
        from unspoken.report.picture_files import check_picture

        check_picture(args.picture)
    table = read_table(args, args.data, args.target)
    _refuse_undecided(table, args.others)
    tried = frontier(table, _demand(args), args.task, learner=args.learner)
    best = tried.best
    lines = [args.worded(tried.summary()), f"Recommended: {best.method} {dict(best.parameters)}"]
    lines += [] if best.utility is None else list(best.utility.warnings)
    decision: dict[str, Any] = {"asked": _demand(args), **tried.to_json(),
                                "recommended": best.to_json()}
    if key_file is not None:
        release, key = method_of(best.method).build(dict(best.parameters)).protect(table)
        book_release(args, table, release)
        release = save_release(args, table, release, key, key_file=key_file)
        decision |= {"release": str(args.out), "key": str(key_file),
                     "fingerprint": release.fingerprint}
        lines += [f"Written to {args.out}: {release.guarantee.statement}",
                  f"{key_file} says which record is which: it stays with you, for the audit."]
    if args.picture is not None:
        from unspoken.report.frontier_picture import save_frontier

        save_frontier(tried, args.picture)
    if args.record is not None:
        _write(args.record, decision)
    emit(args, decision, "\n".join(lines))
    return 0


def _refuse_undecided(table: Any, others: str | None) -> None:
    """Ask what becomes of columns without a role once, instead of once per method."""
    from unspoken.errors import InputError
    from unspoken.methods.anonymity.loose_columns import loose_columns

    loose = loose_columns(table)
    if loose and others is None:
        raise InputError(f"Columns that are neither quasi-identifiers nor sensitive: "
                         f"{', '.join(loose)}. Use --others keep to release them as they are if "
                         "no outsider can know them, --others drop to leave them out, or name "
                         "them in --quasi.")


def _demand(args: argparse.Namespace) -> dict[str, Any]:
    asked: dict[str, Any] = {"k": args.k}
    if args.others is not None:
        asked["others"] = args.others
    if args.t is not None:
        asked["t"] = args.t
    if args.hierarchy:
        asked["hierarchies"] = pairs(args.hierarchy, "--hierarchy")
    return asked if args.l is None else {**asked, "l": args.l, "diversity": args.diversity}


def _write(path: Path, decision: dict[str, Any]) -> None:
    from unspoken.table.atomic_files import write_file

    write_file(path, json.dumps(decision, indent=2, default=str).encode(), 0o600)
