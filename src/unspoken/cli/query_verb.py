"""`unspoken query`: one statistic of a table, through a guard or a service that may refuse it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from unspoken.cli.book_release import book_guard
from unspoken.cli.common import Adder, add_reading, emit, read_table, verb
from unspoken.cli.data_places import DATA_HELP
from unspoken.cli.enter_register import add_register, register_of
from unspoken.errors import InputError, explain

LIMITS = ("public", "audit", "epsilon", "each", "bounds", "grid", "cells", "smallest", "largest",
          "overlap", "overlapping", "width", "decoys", "group", "noise", "count_noise",
          "least_error", "blur", "sample", "few")


def add(verbs: Adder) -> None:
    """Add the verb."""
    parser = verb(verbs, "query", run,
                  "Answer a count, a sum or a mean over a table with noise, until the declared "
                  "epsilon is spent. Every column is protected unless --public names it. Everybody "
                  "who asks must use the same log. Exit status 1: refused. Limits are set when the "
                  "log is started. With the address of a query service in place of DATA, --ask "
                  "sends it a question.")
    parser.add_argument("data", metavar="DATA",
                        help=f"{DATA_HELP}, or http(s)://HOST:PORT of a service")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--count", action="store_true", help="count the records")
    what.add_argument("--sum", metavar="COLUMN", help="sum a column")
    what.add_argument("--mean", metavar="COLUMN", help="average a column")
    what.add_argument("--ask", metavar="QUESTION",
                      help="of a service: such as \"select mean(age) where sex = 'F' group by "
                           "work\"")
    parser.add_argument("--token-file", type=Path, metavar="FILE",
                        help="of a service: the file whose first line is your token")
    parser.add_argument("--authority", type=Path, metavar="FILE",
                        help="of a service: the certificate that signs its own, PEM")
    parser.add_argument("--where", metavar="CONDITION",
                        help="which records, such as \"age > 30 and sex = 'F'\" (default: all)")
    parser.add_argument("--log", type=Path, metavar="FILE",
                        help="the log of all queries; started if it is not there")
    parser.add_argument("--head", type=Path, metavar="FILE",
                        help="where the end of the log is kept (LOG.head); on another disk, a "
                             "restored backup is noticed")
    parser.add_argument("--target", metavar="COLUMN",
                        help="the column that is to be predicted; it is protected, too")
    add_register(parser, "the answers of a log (once for each recipient)")
    add_reading(parser)
    _add_limits(parser)


def _add_limits(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("limits of a new log")
    group.add_argument("--public", type=_names, metavar="COLUMNS",
                       help="columns that everybody may know of everybody (none)")
    group.add_argument("--bounds", action="append", metavar="COLUMN=LOW..HIGH",
                       help="range of a column by what anybody knows; values beyond are clamped "
                            "(repeat)")
    group.add_argument("--grid", action="append", metavar="COLUMN=STEP",
                       help="step in which a column is counted (1 for whole numbers; repeat)")
    group.add_argument("--epsilon", type=float, metavar="E",
                       help="what all answers together may spend (1)")
    group.add_argument("--each", type=float, metavar="E", help="what one answer spends (0.1)")
    group.add_argument("--cells", type=_names, metavar="COLUMNS",
                       help="public columns whose combinations are answered exactly (none)")
    group.add_argument("--smallest", type=int, metavar="N",
                       help="records a query set must hold (10)")
    group.add_argument("--audit", choices=("noise", "exact", "linear", "sizes"),
                       help="'exact' answers without noise and audits against bounds and grid; "
                            "'linear' takes values for any numbers, 'sizes' stops nobody (noise)")
    _add_exact(parser.add_argument_group("limits with --audit exact"))
    _add_linear(parser.add_argument_group("limits with --audit linear (some: exact, sizes)"))


def _add_exact(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--overlapping", type=int, metavar="N",
                       help="answered sets that a new one may hang together with (3)")
    group.add_argument("--width", type=float, metavar="SHARE",
                       help="share of the range below which an interval counts as disclosed (0.05)")
    group.add_argument("--decoys", type=float, metavar="SHARE",
                       help="share of harmless queries refused like disclosing ones (0.1)")


def _add_linear(group: argparse._ArgumentGroup) -> None:
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
                       help="columns with at most N values count as a yes or no (10)")


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for name in text.split(",") if name)


def _number(text: str) -> int | float:
    return int(text) if text.isdigit() else float(text)


def run(args: argparse.Namespace) -> int:
    """Ask once."""
    from unspoken.errors import BudgetError, QueryRefusedError

    try:
        if args.data.startswith(("http://", "https://")):
            return _ask_service(args)
        answer = _ask(_guard(args), args)
    except QueryRefusedError as refusal:
        emit(args, {"answered": False, "rule": refusal.rule, "reason": str(refusal)},
             f"Refused. {refusal}")
        return 1
    except BudgetError as refusal:
        emit(args, {"answered": False, "rule": "budget", "reason": str(refusal)},
             f"Refused. {refusal}")
        return 1
    emit(args, {"answered": True, **answer.to_json()}, str(answer))
    return 0


def _guard(args: argparse.Namespace) -> Any:
    from unspoken.methods.queries import QueryGuard
    from unspoken.table.formats.data_urls import as_place

    if args.log is None or args.ask is not None:
        raise InputError("A query over a file needs --log FILE, and --count, --sum or --mean. "
                         "--ask goes to a service.")
    place = as_place(args.data)
    table = read_table(args, place, args.target)
    guard = QueryGuard(table, args.log, args.head, register_of(args), args.to, **_limits(args))
    book_guard(args, place, table, guard)
    return guard


def _ask_service(args: argparse.Namespace) -> int:
    from unspoken.methods.queries.service.query_client import QueryClient

    if args.ask is None or args.token_file is None:
        raise InputError("A service is asked with --ask QUESTION --token-file FILE.")
    token = args.token_file.read_text(encoding="utf-8").split("\n")[0].strip()
    client = QueryClient(args.data, token, str(args.authority) if args.authority else None)
    reply = client.ask(args.ask)
    emit(args, reply.data, str(reply))
    return 0


def _ask(guard: Any, args: argparse.Namespace) -> Any:
    if args.count:
        return guard.count(args.where)
    if args.sum is not None:
        return guard.sum(args.sum, args.where)
    return guard.mean(args.mean, args.where)


def _limits(args: argparse.Namespace) -> dict[str, Any]:
    limits = {name: getattr(args, name) for name in LIMITS if getattr(args, name) is not None}
    for name in ("noise", "least_error", "grid"):
        if name in limits:
            limits[name] = _by_column(limits[name], "--" + name.replace("_", "-"))
    if "bounds" in limits:
        limits["bounds"] = _ranges(limits["bounds"])
    return limits


def _ranges(texts: list[str]) -> dict[str, tuple[float, float]]:
    """Read the bounds of columns."""
    try:
        split = [text.rsplit("=", 1) for text in texts]
        pairs = {name: text.split("..") for name, text in split}
        return {name: (float(low), float(high)) for name, (low, high) in pairs.items()}
    except ValueError:
        raise InputError(explain("'--bounds'", "COLUMN=LOW..HIGH for each column",
                                 " ".join(texts), "Such as income=0..200000.")) from None


def _by_column(texts: list[str], option: str) -> Any:
    """Read one number for all columns, or numbers by column."""
    try:
        if len(texts) == 1 and "=" not in texts[0]:
            return float(texts[0])
        split = [text.rsplit("=", 1) for text in texts]
        by_column = {name: float(value) for name, value in split}
    except ValueError:
        raise InputError(explain(f"'{option}'", "one number, or COLUMN=NUMBER for each column",
                                 " ".join(texts))) from None
    if len(by_column) != len(texts):
        raise InputError(f"'{option}' names a column twice: {' '.join(texts)}. Give each column "
                         "once.")
    return by_column
