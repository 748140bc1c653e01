"""`unspoken audit FILE`: tables that other tools made, and published models."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unspoken.cli.common import file_options, names, read_table
from unspoken.cli.data_places import data_place

if TYPE_CHECKING:
    from unspoken.disclosure.audit_result import Audit
    from unspoken.disclosure.policy import Policy
    from unspoken.release.register import Register
    from unspoken.table.table import Table

_SUFFIXES = (".unspoken", ".json", ".txt", ".model", ".ubj", ".pkl", ".pickle", ".joblib")


def add_people(parser: argparse.ArgumentParser) -> None:
    """Add the options about people who are attacked."""
    parser.add_argument("--control", type=data_place, metavar="DATA",
                        help="people of the same population who are not in the release; without "
                             "them every risk to people is an upper bound")
    parser.add_argument("--known", type=names, metavar="A,B",
                        help="columns that an attacker knows of people (default: those declared "
                             "--quasi, else the most telling ones)")
    parser.add_argument("--people", type=int, default=500, metavar="N",
                        help="the most people that are attacked (default: %(default)s)")
    parser.add_argument("--exposed", type=Path, metavar="FILE",
                        help="write the row numbers of the most exposed people, for the custodian "
                             "only (mode 0600)")
    parser.add_argument("--target", metavar="COLUMN",
                        help="of a model: the column that it predicts")


def is_model(path: Path) -> bool:
    """Return True if a file is a model: JSON with a known format, or LightGBM's text."""
    if path.suffix.lower() not in _SUFFIXES or path.name.lower().endswith(".csv"):
        return False
    from unspoken.models.packed_models import is_packed

    with path.open("rb") as file:
        start = file.read(4096)
    return start[:5] == b"tree\n" or is_packed(start) or start.lstrip()[:1] == b"{" or \
        path.suffix.lower() in (".pkl", ".pickle", ".joblib", ".ubj")


def audit_file(args: argparse.Namespace, policy: Policy | None,
               progress: Callable[[int, int], None] | None = None) -> tuple[Audit, Table, Any]:
    """Audit a table of another tool, or a model; return the original and what the file holds."""
    from unspoken.models.load_model import load_model

    table = read_table(args, args.against, args.target)
    if is_model(args.release):
        return _with_digest(_model(args, table), args.release), table, load_model(args.release)
    from unspoken.audit.file_extras import file_extras
    from unspoken.audit.people.audit_people import audit_table
    from unspoken.table.read import read

    released = read(args.release, show=False, kinds=None, keep=(), **file_options(args))
    result = audit_table(released, table, control_of(args), known=args.known, people=args.people,
                         random_state=args.seed, name=args.release.name, progress=progress,
                         policy=policy)
    result = replace(result, unscored={**result.unscored, **file_extras(args.release)})
    return _with_digest(result, args.release), table, released


def _with_digest(result: Audit, path: Path) -> Audit:
    """Return an audit that says which file it is about."""
    from unspoken.table.atomic_files import sha256_of

    return replace(result, release={**result.release, "data_sha256": sha256_of(path)})


def _model(args: argparse.Namespace, table: Table) -> Audit:
    from unspoken.audit.published.audit_model import audit_model

    return audit_model(args.release, table, control_of(args), random_state=args.seed,
                       name=args.release.name)


def control_of(args: argparse.Namespace) -> Table | None:
    """Read the control group, if one was named."""
    return None if args.control is None else read_table(args, args.control, args.target)


def register_beside(path: Path | None) -> Register | None:
    """Read the register before any work is done; one that cannot be read is refused."""
    from unspoken.release.register import Register

    return None if path is None else Register.load(path)


def with_earlier(audit: Audit, register: Register | None, table: Table, published: Any,
                 seed: int | None) -> Audit:
    """Attack the file together with what went out of the same people before."""
    from unspoken.audit.file_overlap import with_earlier_files

    if register is None:
        return audit
    return with_earlier_files(audit, register, table, published, seed)


def policy_of(args: argparse.Namespace) -> Policy | None:
    """Read the policy before any work is done, if one was named."""
    from unspoken.disclosure.policy import Policy

    return None if args.policy is None else Policy.load(args.policy)


def judged(audit: Audit, policy: Policy | None) -> Audit:
    """Judge all that was found by the policy, if one was named."""
    return audit if policy is None else replace(audit, judgement=policy.judge(audit))


def write_exposed(args: argparse.Namespace, audit: Audit) -> list[str]:
    """Write the rows of the most exposed people; nobody but the owner may read the file."""
    if args.exposed is None:
        return []
    from unspoken.errors import InputError
    from unspoken.table.atomic_files import write_file

    if audit.people is None or audit.people.persons is None:
        raise InputError("'--exposed' needs an audit of people, and this release has none: "
                         "leave the option out.")
    rows = [f"{row},{chance:.6g},{other:.6g}"
            for row, chance, other in audit.people.persons.exposed()]
    text = "\n".join(["row,prosecutor,journalist", *rows, ""])
    write_file(args.exposed, text.encode(), 0o600)
    return [f"The {len(rows)} most exposed people are listed by row in {args.exposed}: keep it "
            "with the original."]


def page_of(audit: Audit, args: argparse.Namespace) -> Any:
    """Return the report about a file."""
    from unspoken.report import audit_page

    return audit_page(audit, source=args.against)
