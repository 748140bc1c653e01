"""What a release is for, and the documents that are written from an audit."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unspoken.cli.common import must_be_new

if TYPE_CHECKING:
    from unspoken.disclosure.audit_result import Audit
    from unspoken.release.record_subject import Subject
    from unspoken.release.release import Release
    from unspoken.release.terms_of_use import Terms
    from unspoken.table.table import Table

_DOCUMENTS = ("record", "expert_determination", "impact_assessment")


def add_terms(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what a release is for."""
    parser.add_argument("--purpose", default="", metavar="TEXT", help="what the release is for")
    parser.add_argument("--legal-basis", default="", metavar="TEXT",
                        help="what allows it, such as consent or a section of a law")
    parser.add_argument("--recipient", default="", metavar="NAME", help="who gets it")
    parser.add_argument("--retention", default="", metavar="TEXT",
                        help="until when it may be kept")


def add_documents(parser: argparse.ArgumentParser) -> None:
    """Add the options that name documents to write."""
    parser.add_argument("--record", type=Path, metavar="FILE",
                        help="write the decision record (HTML): two pages, then the appendix")
    parser.add_argument("--compare", action="store_true",
                        help="for the record: try other methods on a sample of the table")
    parser.add_argument("--expert-determination", type=Path, metavar="FILE",
                        help="write an expert determination (HIPAA) to be completed; .md or .html")
    parser.add_argument("--impact-assessment", type=Path, metavar="FILE",
                        help="write an impact assessment (GDPR article 35) to be completed; .md or "
                             ".html")


def check_documents(args: argparse.Namespace) -> None:
    """Refuse documents that exist already, before any work is done; note what is audited."""
    from unspoken.release.record_subject import digest_of

    args.digest = None if args.record is None else digest_of(args.release)
    for name in _DOCUMENTS:
        path = getattr(args, name)
        if path is not None and not args.overwrite:
            must_be_new(path, "The document")


def terms_of(args: argparse.Namespace, release: Release | None = None) -> Terms:
    """Return what was said on the command line, else what the manifest says."""
    from unspoken.release.terms_of_use import Terms

    said = Terms(args.purpose, args.legal_basis, args.recipient or getattr(args, "to", ""),
                 args.retention)
    return said if release is None else said.filled(Terms.of(release))


def write_documents(args: argparse.Namespace, audit: Audit, table: Table | None,
                    terms: Terms, added: list[str]) -> list[str]:
    """Write the documents that were asked for; return a line about each."""
    from unspoken.report.legal_templates import expert_determination, impact_assessment

    lines = []
    if args.record is not None:
        _record(args, audit, table, terms, added)
        lines.append(f"Decision record written to {args.record}. Sign it: unspoken sign "
                     f"{args.record} --key KEY")
    for path, make in ((args.expert_determination, expert_determination),
                       (args.impact_assessment, impact_assessment)):
        if path is not None:
            make(audit, terms).save(path)
            lines.append(f"Template written to {path}: complete what it marks as open.")
    return lines


def _record(args: argparse.Namespace, audit: Audit, table: Table | None, terms: Terms,
            added: list[str]) -> None:
    from unspoken.report.decision_record import Decision, decision_record, save_private

    policy = "" if args.policy is None else args.policy.read_text(encoding="utf-8")
    decision = Decision(terms, policy, args.seed, _compared(args, table), tuple(added),
                        args.release.name, subject=_subject(args))
    save_private(decision_record(audit, decision), args.record)


def _subject(args: argparse.Namespace) -> Subject:
    """Return what the record is about; what was replaced while it was audited is refused."""
    from unspoken.errors import InputError
    from unspoken.release.record_subject import Subject, digest_of

    if digest_of(args.release) != args.digest:
        raise InputError(f"'{args.release}' must not change while it is audited. Audit it again.")
    return Subject(args.release.resolve().name, args.digest)


def _compared(args: argparse.Namespace, table: Table | None) -> Any:
    if not args.compare or table is None:
        return ()
    from unspoken.audit.people.compare_methods import compare_methods
    from unspoken.cli.audit_files import control_of

    return compare_methods(table, control_of(args), args.seed)
