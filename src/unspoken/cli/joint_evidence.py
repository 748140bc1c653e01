"""What `unspoken joint` asks, keeps and shows: agreement, result, ledgers and their audit."""

from __future__ import annotations

import argparse
import getpass
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unspoken.cli.common import emit
from unspoken.errors import InputError

if TYPE_CHECKING:
    from unspoken.joint.session.play import Outcome


def agree(args: argparse.Namespace, plan: str) -> str:
    """Show the plan and wait for a yes (without a terminal only --yes is one); return whose."""
    who = args.approver or user_name()
    if args.yes:
        return f"{who}, with --yes"
    print(plan, file=sys.stderr)
    if not sys.stdin.isatty():
        raise InputError("Agree to the plan with --yes, or run this on a terminal.")
    print("Type yes to agree: ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip() != "yes":
        raise InputError("You did not agree. Nothing was sent.")
    return f"{who}, on a terminal"


def user_name() -> str:
    """Return who runs this command."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "an unknown user"


def new_ledger_path(path: Path | None, name: str) -> Path:
    """Return where the ledger goes: as asked, or the first NAME.ledger, NAME-2.ledger that is new.

    A path that exists or cannot be written is refused before anything is sent.
    """
    if path is not None:
        return path
    number, chosen = 1, Path(f"{name}.ledger")
    while chosen.exists():
        number += 1
        chosen = Path(f"{name}-{number}.ledger")
    return chosen


def report(args: argparse.Namespace, outcomes: list[Outcome], note: str) -> int:
    """Print every result, and keep the first that a party learned, or raise what went wrong."""
    from unspoken.joint.joint_errors import PartyError
    from unspoken.joint.session.result_file import plain_result

    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    if errors:
        # The party that failed says why; the others only say which one failed.
        raise min(errors, key=lambda error: isinstance(error, PartyError))
    results = {outcome.name: outcome.output for outcome in outcomes}
    learned = [result for result in results.values() if result is not None]
    if args.out is not None and learned:
        _keep(args.out, learned[0])
    lines = [f"{name}: {'nothing to learn' if result is None else _text(result)}"
             for name, result in results.items()]
    lines += list(dict.fromkeys(outcome.ledger.linkage for outcome in outcomes
                                if outcome.ledger.linkage))
    emit(args, {"results": {name: plain_result(result) for name, result in results.items()}},
         "\n".join([*lines, note]).rstrip())
    return 0


def _text(result: Any) -> str:
    """Return a result for people; patterns have a summary."""
    if not hasattr(result, "summary"):
        return str(result)
    return "\n" + "\n".join(f"  {line}" for line in str(result.summary()).splitlines())


def _keep(path: Path, result: Any) -> None:
    from unspoken.joint.session.result_file import result_text
    from unspoken.table.atomic_files import write_file

    write_file(path, result_text(result).encode(), overwrite=False)


def ledger(args: argparse.Namespace) -> int:
    """Show a ledger; with --result, check that a file is the result of its run."""
    from unspoken.joint.wire.ledger import Ledger

    shown = Ledger.load(args.ledger)
    emit(args, shown.to_json(), shown.table())
    return _check_result(args, shown) if args.result is not None else 0


def _check_result(args: argparse.Namespace, shown: Any) -> int:
    from unspoken.joint.session.identity import load_identity
    from unspoken.joint.session.result_file import text_digest

    own = load_identity(shown.party, args.identity)
    text = args.result.read_text(encoding="utf-8")
    same = text_digest(own, shown.session, text) == shown.result
    print(f"'{args.result}' is {'' if same else 'not '}the result of this run.", file=sys.stderr)
    return 0 if same else 1


def audit(args: argparse.Namespace) -> int:
    """Hold the ledgers of several parties against each other."""
    from unspoken.joint.session.ledger_audit import audit_ledgers
    from unspoken.joint.session.study import Study

    study = None if args.study is None else Study.load(args.study)
    verdict = audit_ledgers(args.ledgers, study)
    emit(args, verdict.to_json(), verdict.text())
    return 1 if verdict.deviations else 0
