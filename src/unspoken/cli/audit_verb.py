"""`unspoken audit`: what an attacker gets out of a release. Exit status 1 if a policy fails."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unspoken.cli import basket_verbs as baskets
from unspoken.cli.common import (
    Adder,
    add_passphrase,
    add_reading,
    emit,
    load_key,
    must_be_new,
    read_table,
    verb,
)

if TYPE_CHECKING:
    from unspoken.models.tree import Tree
    from unspoken.release.key import Key
    from unspoken.release.release import Release
    from unspoken.table.table import Table


def add(verbs: Adder) -> None:
    """Add the verb."""
    parser = verb(verbs, "audit", run,
                  "Attack a release in every known way and write what each way recovers. "
                  "For in-house use: it needs the original. With a policy it is a gate: exit "
                  "status 1 and the reasons if the policy fails.")
    parser.add_argument("release", type=Path, metavar="RELEASE", help="release directory")
    parser.add_argument("--against", type=Path, required=True, metavar="DATA",
                        help="the original table")
    parser.add_argument("--key", type=Path, metavar="FILE",
                        help="the key file; it only scores guesses, adversaries never see it")
    add_passphrase(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="REPORT",
                        help="where to write the HTML report; keep it in-house")
    parser.add_argument("--overwrite", action="store_true", help="replace an existing report")
    _add_setting(parser)
    add_reading(parser)
    baskets.add_columns(parser)


def _add_setting(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sample", type=Path, metavar="DATA",
                        help="similar data that an attacker may have (default: samples of 1%% and "
                             "0.1%% of the original)")
    parser.add_argument("--policy", type=Path, metavar="FILE",
                        help="what the release must withstand (TOML)")
    parser.add_argument("--register", type=Path, metavar="FILE",
                        help="the custodian's register of what already went out")
    parser.add_argument("--tree", type=Path, metavar="MODEL",
                        help="a tree mined from the release, whose paths are attacked too")
    parser.add_argument("--trials", type=int, default=100, metavar="N",
                        help="random trials for each number (default: %(default)s)")
    parser.add_argument("--precision", type=float, metavar="SHARE",
                        help="make as many trials as bring every median within this share, such "
                             "as 0.01, with 95%% confidence")
    parser.add_argument("--seed", type=int, metavar="N",
                        help="the same seed gives the same numbers")


def run(args: argparse.Namespace) -> int:
    """Audit a release and write the report."""
    from unspoken.release.release import Release

    if not args.overwrite:
        must_be_new(args.out, "The report")
    release = Release.load(args.release)
    key = load_key(args) if args.key is not None else None
    if release.schema.of_kind("basket"):
        return _baskets(args, release)
    table = read_table(args, args.against, None)
    result = _audit(args, table, release, key)
    added = _added(args, table, release, key)
    _page(args, result, table, release, key, added).save(args.out)
    failed = result.judgement is not None and not result.judgement.passed
    emit(args, {"report": str(args.out), "passed": not failed, "added": added,
                "audit": result.to_json()},
         "\n".join([result.summary(), *_told("Together with earlier releases:", added),
                    f"Report written to {args.out}."]))
    return 1 if failed else 0


def _baskets(args: argparse.Namespace, release: Release) -> int:
    """Audit a release of baskets, whose report has no pictures of columns."""
    from unspoken.report import audit_page
    from unspoken.risk import audit

    result = audit(baskets.read(args, args.against), release, None, None, args.trials, args.seed,
                   args.policy)
    audit_page(result, source=args.against).save(args.out)
    failed = result.judgement is not None and not result.judgement.passed
    emit(args, {"report": str(args.out), "passed": not failed, "added": [],
                "audit": result.to_json()},
         f"{result.summary()}\nReport written to {args.out}.")
    return 1 if failed else 0


def _audit(args: argparse.Namespace, table: Table, release: Release, key: Key | None) -> Any:
    from unspoken.risk import audit

    sample = read_table(args, args.sample, None) if args.sample is not None else None
    with _steps("audit") as step:
        return audit(table, release, key, sample, args.trials, args.seed, args.policy,
                     tree=_tree(args.tree), precision=args.precision, progress=step)


def _tree(path: Path | None) -> Tree | None:
    from unspoken.models.tree import Tree

    return None if path is None else Tree.load(path)


@contextmanager
def _steps(label: str) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a callback for (done, all) that moves a bar on a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm

    with tqdm(desc=label, leave=False) as bar:
        def step(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield step


def _added(args: argparse.Namespace, table: Table, release: Release,
           key: Key | None) -> list[str]:
    """Return what earlier releases of the same columns and this one show together."""
    if args.register is None:
        return []
    from unspoken.errors import InputError
    from unspoken.release.method import method_of
    from unspoken.risk import Register, what_it_adds

    if not args.register.exists():
        raise InputError(f"The register '{args.register}' must be there to be read. "
                         "Check the path; 'unspoken protect --register' starts one.")
    names = method_of(release.mechanism).released_names(key, release) \
        if key is not None else None
    additions = what_it_adds(Register.load(args.register), table, release, names,
                             random_state=args.seed)
    return [one.words for one in additions]


def _page(args: argparse.Namespace, result: Any, table: Table, release: Release,
          key: Key | None, added: list[str]) -> Any:
    from unspoken.report import audit_page

    page = audit_page(result, release=release, table=table, key=key, source=args.against)
    if added:
        page.section("Together with earlier releases").bullets(added)
    return page


def _told(title: str, lines: list[str]) -> list[str]:
    more = [f"  - and {len(lines) - 5} more, see the report"] if len(lines) > 6 else []
    shown = lines[:5] if more else lines
    return [title, *(f"  - {line}" for line in shown), *more] if lines else []
