"""`unspoken audit`: what an attacker gets out of a release, and whether it may leave.

The exit status is 0 where the policy holds, or without a policy where the verdict is not "do not
release"; 1 otherwise; 2 where the audit could not be made.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unspoken.cli import audit_files
from unspoken.cli import basket_verbs as baskets
from unspoken.cli.audit_files import add_people, control_of
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
from unspoken.cli.data_places import data_place
from unspoken.cli.enter_register import register_of
from unspoken.cli.record_options import (
    add_documents,
    add_terms,
    check_documents,
    terms_of,
    write_documents,
)

if TYPE_CHECKING:
    from unspoken.disclosure.audit_result import Audit
    from unspoken.disclosure.release_verdict import Verdict
    from unspoken.models.tree import Tree
    from unspoken.release.key import Key
    from unspoken.release.release import Release
    from unspoken.table.table import Table


def add(verbs: Adder) -> None:
    """Add the verb."""
    parser = verb(verbs, "audit", run,
                  "Attack a release in every known way and write what each way recovers. "
                  "For in-house use: it needs the original. It is a gate: exit status 0 if the "
                  "policy holds, or without a policy if the verdict is not 'do not release'; 1 if "
                  "not, with the reasons; 2 if the audit could not be made.")
    parser.add_argument("release", type=Path, metavar="RELEASE",
                        help="release directory; or the file of a table that another tool made, or "
                             "of a model (unspoken's or XGBoost's JSON, LightGBM's text)")
    parser.add_argument("--against", type=data_place, required=True, metavar="DATA",
                        help="the original table")
    parser.add_argument("--key", type=Path, metavar="FILE",
                        help="the key that was written with the release; it only says which record "
                             "is whose, adversaries never see it. Without it the verdict is 'not "
                             "assessed'")
    add_passphrase(parser)
    parser.add_argument("--out", type=Path, metavar="REPORT",
                        help="where to write the HTML report, which is kept in-house (default: "
                             "the result is printed alone)")
    parser.add_argument("--overwrite", action="store_true", help="replace an existing report")
    _add_setting(parser)
    add_people(parser)
    add_terms(parser)
    add_documents(parser)
    add_reading(parser)
    baskets.add_columns(parser)


def _add_setting(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sample", type=data_place, metavar="DATA",
                        help="similar data that an attacker may have (default: samples of 1%% and "
                             "0.1%% of the original)")
    parser.add_argument("--policy", type=Path, metavar="FILE",
                        help="what the release must withstand (TOML)")
    parser.add_argument("--register", type=Path, metavar="FILE",
                        help="the custodian's register of what already went out (default: the "
                             "file that UNSPOKEN_REGISTER names, if it is set)")
    parser.add_argument("--tree", type=Path, metavar="MODEL",
                        help="a tree mined from the release, whose paths are attacked too")
    parser.add_argument("--shown", type=Path, metavar="MODEL",
                        help="a model mined from the release that is decoded and then shown to the "
                             "miner: what can be read off it is measured too")
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

    if args.out is not None and not args.overwrite:
        must_be_new(args.out, "The report")
    check_documents(args)
    if args.release.is_file():
        return _file(args)
    release = Release.load(args.release)
    key = load_key(args) if args.key is not None else None
    if release.schema.of_kind("basket"):
        return _baskets(args, release, key)
    table = read_table(args, args.against, None)
    result = _audit(args, table, release, key)
    added = list(result.added)
    if args.out is not None:
        _page(args, result, table, release, key, added).save(args.out)
    return _ended(args, result, table, release, added)


def _file(args: argparse.Namespace) -> int:
    """Audit a table of another tool, or a published model."""
    register = audit_files.register_beside(_register(args))
    policy = audit_files.policy_of(args)
    with steps("audit") as step:
        result, table, published = audit_files.audit_file(args, policy, step)
    result = audit_files.with_earlier(result, register, table, published, args.seed)
    result = audit_files.judged(result, policy)
    added = list(result.added)
    if args.out is not None:
        _with_added(audit_files.page_of(result, args), added).save(args.out)
    return _ended(args, result, table, None, added)


def _baskets(args: argparse.Namespace, release: Release, key: Key | None) -> int:
    """Audit a release of baskets, whose report has no pictures of columns."""
    from unspoken.report import audit_page
    from unspoken.risk import audit

    result = audit(baskets.read(args, args.against), release, key, None, args.trials, args.seed,
                   args.policy, register=_register(args))
    if args.out is not None:
        audit_page(result, source=args.against).save(args.out)
    return _ended(args, result, None, release, [])


def _ended(args: argparse.Namespace, result: Audit, table: Table | None,
           release: Release | None, added: list[str]) -> int:
    """Write what else was asked for, print the result, and return the exit status."""
    from unspoken.disclosure.release_verdict import verdict_of

    more = write_documents(args, result, table, terms_of(args, release), added)
    more += audit_files.write_exposed(args, result)
    verdict = verdict_of(result)
    failed = fails(result, verdict)
    report = None if args.out is None else str(args.out)
    emit(args, {"report": report, "passed": not failed, "added": added,
                "verdict": verdict.to_json(), "audit": result.to_json()},
         "\n".join([_first_line(verdict, failed), result.summary(),
                    *_told("Together with earlier releases:", added), *more, _where(args.out)]))
    return 1 if failed else 0


def _where(report: Path | None) -> str:
    return "No report was written: --out FILE writes one." if report is None else \
        f"Report written to {report}."


def fails(result: Audit, verdict: Verdict) -> bool:
    """Return True if the release may not leave: by the policy, or without one by the verdict."""
    from unspoken.disclosure.release_verdict import may_leave

    return not may_leave(result, verdict)


def _first_line(verdict: Verdict, failed: bool) -> str:
    allowed = "" if verdict.release or failed else \
        " The policy allows what was measured, and the exit status follows the policy."
    return f"{verdict.word}: {verdict.advice}.{allowed}"


def _audit(args: argparse.Namespace, table: Table, release: Release, key: Key | None) -> Any:
    from unspoken.risk import audit

    sample = read_table(args, args.sample, None) if args.sample is not None else None
    with steps("audit") as step:
        return audit(table, release, key, sample, args.trials, args.seed, args.policy,
                     tree=_tree(args.tree), precision=args.precision, progress=step,
                     register=_register(args), control=control_of(args),
                     shown=_shown(args.shown))


def _shown(path: Path | None) -> Any:
    from unspoken.models.readers import read_model

    return None if path is None else read_model(path)


def _tree(path: Path | None) -> Tree | None:
    from unspoken.models.tree import Tree

    return None if path is None else Tree.load(path)


@contextmanager
def steps(label: str) -> Iterator[Callable[[int, int], None] | None]:
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


def _register(args: argparse.Namespace) -> Path | None:
    """Return the register, which must be there to be read."""
    args.register = register_of(args)
    if args.register is not None and not args.register.exists():
        from unspoken.errors import InputError

        raise InputError(f"The register '{args.register}' must be there to be read. "
                         "Check the path; 'unspoken protect --register' starts one.")
    register: Path | None = args.register
    return register


def _page(args: argparse.Namespace, result: Any, table: Table, release: Release,
          key: Key | None, added: list[str]) -> Any:
    from unspoken.report import audit_page

    page = audit_page(result, release=release, table=table, key=key, source=args.against)
    return _with_added(page, added)


def _with_added(page: Any, added: list[str]) -> Any:
    if added:
        page.section("Together with earlier releases").bullets(added)
    return page


def _told(title: str, lines: list[str]) -> list[str]:
    more = [f"  - and {len(lines) - 5} more, see the report"] if len(lines) > 6 else []
    shown = lines[:5] if more else lines
    return [title, *(f"  - {line}" for line in shown), *more] if lines else []
