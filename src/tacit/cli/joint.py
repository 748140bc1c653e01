"""`tacit joint`: several owners, one result. Identities, studies, plans, runs and ledgers."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.common import Adder, emit, must_be_new, names, pairs, verb
from tacit.errors import InputError, explain

if TYPE_CHECKING:
    from tacit.joint.run import Outcome
    from tacit.joint.study import Member, Study


def add(verbs: Adder) -> None:
    """Add the verb and those under it."""
    parser = verb(verbs, "joint", run, "Compute with other owners without showing them your data. "
                                       "Each owner runs its own process.")
    under = parser.add_subparsers(title="verbs", dest="joint_verb", metavar="VERB", required=True)
    _add_identity(under)
    _add_new(under)
    plan = _verb(under, "plan", "Say what each party will learn and what it costs. "
                                "Nothing is sent.")
    plan.add_argument("study", type=Path, metavar="STUDY", help="study.toml")
    _add_join(under)
    _add_local(under)
    ledger = _verb(under, "ledger", "Show what a party learned and what was sent.")
    ledger.add_argument("ledger", type=Path, metavar="FILE", help="a ledger that a run wrote")


def _verb(under: Adder, name: str, text: str) -> argparse.ArgumentParser:
    """Add a verb under `joint`; `--json` counts before it and after it."""
    parser = verb(under, name, run, text)
    for action in parser._actions:
        if action.dest == "json":
            action.default = argparse.SUPPRESS
    return parser


def _add_identity(under: Adder) -> None:
    parser = _verb(under, "identity", "Make a key and a certificate. The key stays on this "
                                      "machine; the certificate goes into the study.")
    parser.add_argument("name", metavar="NAME", help="the party's name in studies")
    parser.add_argument("--folder", type=Path, default=Path(), metavar="DIR",
                        help="where to put NAME.key and NAME.crt (default: here)")


def _add_new(under: Adder) -> None:
    parser = _verb(under, "new", "Make a study from the parties' certificates. "
                                 "Every party must use the same file.")
    parser.add_argument("study", type=Path, metavar="STUDY", help="the file to write")
    parser.add_argument("--name", required=True, metavar="NAME", help="the study's name")
    parser.add_argument("--columns", type=names, required=True, metavar="A,B",
                        help="the columns to sum over all owners")
    parser.add_argument("--scale", type=int, default=0, metavar="BITS",
                        help="fractional bits, for columns that are not whole numbers")
    parser.add_argument("--party", action="append", default=[], metavar="CERT=HOST:PORT",
                        help="an owner: certificate file and address (repeat)")
    parser.add_argument("--dealer", action="append", default=[], metavar="CERT=HOST:PORT",
                        help="a dealer, who holds no data; the first two owners then hold shares")
    parser.add_argument("--three-party", action="store_true",
                        help="three owners without anybody else: two hold shares, the third deals")
    parser.add_argument("--receivers", type=names, default=(), metavar="A,B",
                        help="who learns the result (default: every owner)")


def _add_join(under: Adder) -> None:
    parser = _verb(under, "join", "Take part in a study as one party. Shows the plan and asks "
                                  "before anything is sent. A dealer needs no data.")
    parser.add_argument("study", type=Path, metavar="STUDY", help="study.toml")
    parser.add_argument("--as", dest="name", required=True, metavar="NAME", help="who you are")
    parser.add_argument("--data", type=Path, metavar="FILE", help="your table")
    parser.add_argument("--identity", type=Path, default=Path(), metavar="DIR",
                        help="where NAME.key and NAME.crt lie (default: here)")
    parser.add_argument("--ledger", type=Path, metavar="FILE",
                        help="where to write the ledger (default: NAME.ledger)")
    parser.add_argument("--limit", type=float, default=10.0, metavar="SECONDS",
                        help="end within this time when another party fails (default: 10)")
    parser.add_argument("--yes", action="store_true", help="agree to the plan without asking")


def _add_local(under: Adder) -> None:
    parser = _verb(under, "local", "Run all parties of a study as processes on this machine, "
                                   "to try it out. New keys and ports are used.")
    parser.add_argument("study", type=Path, metavar="STUDY", help="study.toml")
    parser.add_argument("--data", action="append", default=[], metavar="NAME=FILE",
                        help="an owner's table (repeat)")
    parser.add_argument("--ledgers", type=Path, metavar="DIR", help="write every ledger there")


def run(args: argparse.Namespace) -> int:
    """Run the verb under `joint`."""
    verbs = {"identity": _identity, "new": _new, "plan": _plan, "join": _join, "local": _local,
             "ledger": _ledger}
    return verbs[args.joint_verb](args)


def _identity(args: argparse.Namespace) -> int:
    from tacit.joint.identity import make_identity

    made = make_identity(args.name, args.folder)
    emit(args, {"name": made.name, "fingerprint": made.fingerprint,
                "certificate": str(made.certificate_path), "key": str(made.key_path)},
         f"{made.certificate_path}: give this to whoever writes the study\n"
         f"{made.key_path}: keep this here\n"
         f"fingerprint, to compare by telephone: {made.fingerprint}")
    return 0


def _new(args: argparse.Namespace) -> int:
    from tacit.joint.study import Study
    from tacit.joint.tasks import task_of

    must_be_new(args.study, "The study")
    owners = pairs(args.party, "--party")
    members = [_member(path, address, ("owner",)) for path, address in owners.items()]
    dealers = [_member(path, address, ("dealer",))
               for path, address in pairs(args.dealer, "--dealer").items()]
    mode = "three-party" if args.three_party else "dealer" if dealers else "sums"
    members = _with_roles(members, mode, args.receivers) + dealers
    draft = Study(args.name, "sum", mode, tuple(members),
                  {"columns": list(args.columns), "scale": args.scale})
    task = task_of(draft)
    data = draft.to_json()
    data["coalitions"] = task.plan(draft).safe
    data["disclosure"] = [{"because": d.because, "to": list(d.to)} for d in task.disclosures(draft)]
    study = Study.from_json(data)
    study.save(args.study)
    emit(args, {"study": str(args.study), "hash": study.hash(), "parties": list(study.names)},
         f"{args.study}: {', '.join(study.names)}\n{task.plan(study).text()}")
    return 0


def _member(path: str, address: str, roles: tuple[str, ...]) -> Member:
    from tacit.joint.identity import fingerprint, name_in, read_certificate
    from tacit.joint.study import Member

    certificate = read_certificate(path)
    return Member(name_in(certificate), address, roles, fingerprint(certificate), certificate)


def _with_roles(members: list[Member], mode: str, receivers: tuple[str, ...]) -> list[Member]:
    """Let the first two owners hold shares if the mode has any, and receivers get the result."""
    from dataclasses import replace

    known = [member.name for member in members]
    for name in receivers:
        if name not in known:
            raise InputError(explain("'--receivers'", "of " + ", ".join(known), name))
    return [replace(member, roles=(
        *member.roles, *(["holder"] if mode != "sums" and place < 2 else []),
        *(["dealer"] if mode == "three-party" and place == 2 else []),
        *(["receiver"] if member.name in (receivers or known) else [])))
        for place, member in enumerate(members)]


def _plan(args: argparse.Namespace) -> int:
    study = _load(args.study)
    from tacit.joint.tasks import task_of

    plan = task_of(study).plan(study)
    emit(args, {"study": study.name, "hash": study.hash(), **plan.to_json()},
         f"Study '{study.name}', task {study.task}, mode {study.mode}\n{plan.text()}")
    return 0


def _load(path: Path) -> Study:
    from tacit.joint.study import Study

    if not path.exists():
        raise InputError(f"'{path}' must be a study. There is nothing. "
                         "Make one with: tacit joint new")
    return Study.load(path)


def _join(args: argparse.Namespace) -> int:
    import asyncio

    from tacit.joint.identity import load_identity
    from tacit.joint.join import join
    from tacit.joint.tasks import task_of
    from tacit.joint.transport import Limits

    study = _load(args.study)
    task = task_of(study)
    identity = load_identity(study.member(args.name).name, args.identity)
    data = _data(args, study, task)
    _agree(args, task.plan(study).text())
    path = args.ledger or Path(f"{args.name}.ledger")
    outcome = asyncio.run(join(study, identity, task.program(study), data,
                               limits=Limits(limit=args.limit), ledger_path=path))
    return _report(args, [outcome], f"ledger: {path}")


def _data(args: argparse.Namespace, study: Study, task: Any) -> Any:
    owns = "owner" in study.member(args.name).roles
    if owns and args.data is None:
        raise InputError(f"'{args.name}' owns data in this study. Say --data FILE.")
    if not owns and args.data is not None:
        raise InputError(f"'{args.name}' owns no data in this study. Leave --data out.")
    return task.load(args.data, study) if owns else None


def _agree(args: argparse.Namespace, plan: str) -> None:
    """Show the plan and wait for a yes; without a terminal only --yes is one."""
    if args.yes:
        return
    print(plan, file=sys.stderr)
    if not sys.stdin.isatty():
        raise InputError("Agree to the plan with --yes, or run this on a terminal.")
    print("Type yes to agree: ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip() != "yes":
        raise InputError("You did not agree. Nothing was sent.")


def _local(args: argparse.Namespace) -> int:
    from tacit.joint.processes import run_processes
    from tacit.joint.run import roles_of
    from tacit.joint.tasks import task_of

    study = _load(args.study)
    task = task_of(study)
    files = pairs(args.data, "--data")
    for name in [*files, *study.having("owner")]:
        if name not in files or "owner" not in study.member(name).roles:
            raise InputError(f"'--data' must name a file for every owner and nobody else. "
                             f"See '{name}'.")
    roles = roles_of(study)
    inputs = [task.load(Path(files[name]), study) if name in files else None
              for name in roles.program]
    outcomes = run_processes(task.program(study), inputs, study.mode, roles)
    for outcome in outcomes:
        if args.ledgers is not None:
            outcome.ledger.save(args.ledgers / f"{outcome.name}.ledger")
    return _report(args, outcomes, f"ledgers: {args.ledgers}" if args.ledgers else "")


def _report(args: argparse.Namespace, outcomes: list[Outcome], note: str) -> int:
    """Print every result; the first error is raised."""
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
    results = {outcome.name: outcome.output for outcome in outcomes}
    lines = [f"{name}: {'nothing to learn' if result is None else result}"
             for name, result in results.items()]
    emit(args, {"results": results}, "\n".join([*lines, note]).rstrip())
    return 0


def _ledger(args: argparse.Namespace) -> int:
    from tacit.joint.ledger import Ledger

    ledger = Ledger.load(args.ledger)
    emit(args, ledger.to_json(), ledger.table())
    return 0
