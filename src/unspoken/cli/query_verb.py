"""`unspoken query`: one count, sum or mean over a table, through a guard that may refuse it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from unspoken.cli.common import Adder, add_reading, emit, read_table, verb
from unspoken.errors import InputError, explain

LIMITS = ("smallest", "largest", "overlap", "group", "noise", "count_noise", "least_error",
          "blur", "sample", "few")


def add(verbs: Adder) -> None:
    """Add the verb."""
    parser = verb(verbs, "query", run,
                  "Answer a count, a sum or a mean over a table, unless the answers given so far "
                  "and this one together would tell a person's value. Everybody who asks must use "
                  "the same log. Exit status 1: refused. Limits are set when the log is started.")
    parser.add_argument("data", type=Path, metavar="DATA", help="Parquet, CSV or DuckDB file")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--count", action="store_true", help="count the records")
    what.add_argument("--sum", metavar="COLUMN", help="sum a column")
    what.add_argument("--mean", metavar="COLUMN", help="average a column")
    parser.add_argument("--where", metavar="CONDITION",
                        help="which records, such as \"age > 30 and sex = 'F'\" (default: all)")
    parser.add_argument("--log", type=Path, required=True, metavar="FILE",
                        help="the log of all queries; started if it is not there")
    parser.add_argument("--target", metavar="COLUMN",
                        help="the column that is to be predicted; it is protected, too")
    add_reading(parser)
    _add_limits(parser)


def _add_limits(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("limits of a new log")
    group.add_argument("--smallest", type=int, metavar="N",
                       help="records a query set must hold (10)")
    group.add_argument("--largest", type=_number, metavar="N",
                       help="records, or share of them, it may hold (all but the smallest, or all)")
    group.add_argument("--overlap", type=int, metavar="N",
                       help="records it may share with each answered set (no limit)")
    group.add_argument("--group", type=int, metavar="N",
                       help="values of fewer records than this must not be determined (2)")
    group.add_argument("--noise", action="append", metavar="[COLUMN=]DEVIATION",
                       help="noise on sums, for all columns or for one (repeat)")
    group.add_argument("--count-noise", type=float, metavar="DEVIATION",
                       help="noise on counts of protected conditions, which need it")
    group.add_argument("--least-error", action="append", metavar="[COLUMN=]ERROR",
                       help="error that estimates of single values must keep (the noise's)")
    group.add_argument("--blur", type=float, metavar="ERROR",
                       help="error that estimates of a single yes or no must keep (1)")
    group.add_argument("--sample", type=float, metavar="SHARE",
                       help="answer from this share of each set")
    group.add_argument("--few", type=int, metavar="N",
                       help="columns with at most so many values count as a yes or no (10)")


def _number(text: str) -> int | float:
    return int(text) if text.isdigit() else float(text)


def run(args: argparse.Namespace) -> int:
    """Ask once."""
    from unspoken.errors import QueryRefusedError
    from unspoken.methods.queries import QueryGuard

    table = read_table(args, args.data, args.target)
    guard = QueryGuard(table, args.log, **_limits(args))
    try:
        answer = _ask(guard, args)
    except QueryRefusedError as refusal:
        emit(args, {"answered": False, "rule": refusal.rule, "reason": str(refusal)},
             f"Refused. {refusal}")
        return 1
    emit(args, {"answered": True, **answer.to_json()}, str(answer))
    return 0


def _ask(guard: Any, args: argparse.Namespace) -> Any:
    if args.count:
        return guard.count(args.where)
    if args.sum is not None:
        return guard.sum(args.sum, args.where)
    return guard.mean(args.mean, args.where)


def _limits(args: argparse.Namespace) -> dict[str, Any]:
    given = {name: getattr(args, name) for name in LIMITS if getattr(args, name) is not None}
    for name in ("noise", "least_error"):
        if name in given:
            given[name] = _by_column(given[name], "--" + name.replace("_", "-"))
    return given


def _by_column(texts: list[str], option: str) -> Any:
    """Read one number for all columns, or numbers by column."""
    try:
        if len(texts) == 1 and "=" not in texts[0]:
            return float(texts[0])
        split = [text.rsplit("=", 1) for text in texts]
        found = {name: float(value) for name, value in split}
    except ValueError:
        raise InputError(explain(f"'{option}'", "one number, or COLUMN=NUMBER for each column",
                                 " ".join(texts))) from None
    if len(found) != len(texts):
        raise InputError(explain(f"'{option}'", "given once for a column", " ".join(texts)))
    return found
