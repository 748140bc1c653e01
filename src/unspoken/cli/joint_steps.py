"""What the verbs under `unspoken joint` do; each function has the name of its verb."""

from __future__ import annotations

import argparse
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unspoken.cli.common import columns, emit, file_options, must_be_new, pairs
from unspoken.cli.enter_register import enter, people_of, register_of
from unspoken.cli.joint_evidence import agree, new_ledger_path, report
from unspoken.errors import InputError, unknown

if TYPE_CHECKING:
    from unspoken.joint.mpc.engines.mode import Mode
    from unspoken.joint.session.study import Study
    from unspoken.joint.wire.credentials import Member
    from unspoken.table.formats.data_urls import Place


def identity(args: argparse.Namespace) -> int:
    """Make a key and a certificate."""
    from unspoken.joint.session.identity import make_identity

    own = make_identity(args.name, args.folder)
    emit(args, {"name": own.name, "fingerprint": own.fingerprint,
                "certificate": str(own.certificate_path), "key": str(own.key_path)},
         f"{own.certificate_path}: give this to the author of the study\n"
         f"{own.key_path}: keep this here\n"
         f"fingerprint, to compare by telephone: {own.fingerprint}")
    return 0


def new(args: argparse.Namespace) -> int:
    """Make a study."""
    from unspoken.joint.session.study import Study
    from unspoken.joint.tasks.new_study import completed
    from unspoken.joint.tasks.task_list import task_of
    from unspoken.joint.wire.credentials import refuse_out_of_date

    must_be_new(args.study, "The study")
    mode = chosen_mode(args)
    draft = Study(args.name, args.task, mode.name, _members(args, mode), given_settings(args),
                  author=args.author, wait=args.wait)
    refuse_out_of_date(draft.members)
    study = completed(draft)
    study.save(args.study)
    plan_text = task_of(study).plan(study).text()
    emit(args, {"study": str(args.study), "hash": study.hash(), "parties": list(study.names),
                "mode": mode}, f"{args.study}: {', '.join(study.names)}\n{plan_text}")
    return 0


def tasks(args: argparse.Namespace) -> int:
    """List the tasks, or explain one."""
    from unspoken.joint.tasks.task_list import all_tasks

    known = all_tasks()
    if args.task is not None and args.task not in known:
        raise InputError(unknown("A task", args.task, known))
    asked = known if args.task is None else {args.task: known[args.task]}
    words = {name: task.text() for name, task in asked.items()}
    first = {name: _heading(text) for name, text in words.items()}
    shown = columns(sorted(first.items())) if args.task is None else words[args.task]
    emit(args, {"tasks": words}, shown)
    return 0


def _heading(text: str) -> str:
    """Return the first sentence of an explanation."""
    return " ".join(text.split("\n\n")[0].split())


def chosen_mode(args: argparse.Namespace) -> Mode:
    """Return the mode that was chosen, or the best that these parties can run."""
    from unspoken.joint.mpc.engines.modes import MODE_NAMES, mode_of, usual_mode

    if args.mode is not None and args.mode not in MODE_NAMES:
        raise InputError(unknown("'--mode'", args.mode, MODE_NAMES))
    # These need no shares; everything else does.
    shares = args.task not in ("sum", "intersection") and len(args.party) > 1
    mode = mode_of(args.mode) if args.mode is not None else usual_mode(
        dealer=bool(args.dealer), shares=shares)
    if mode.dealer_outside and not args.dealer:
        raise InputError(f"Mode '{mode.name}' needs a dealer. Missing --dealer CERT=HOST:PORT.")
    if args.dealer and not mode.dealer_outside:
        raise InputError(f"Mode '{mode.name}' has no dealer. Leave --dealer out.")
    return mode


def given_settings(args: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters of the task; a value is TOML, or a text if it is not."""
    parameters: dict[str, Any] = {}
    for name, text in pairs(args.settings, "--set").items():
        try:
            parameters[name] = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            parameters[name] = text
    if args.columns:
        parameters["columns"] = list(args.columns)
    if args.scale is not None:
        parameters["scale"] = args.scale
    return parameters


def _members(args: argparse.Namespace, mode: Mode) -> tuple[Member, ...]:
    from unspoken.joint.session.run_roles import with_roles
    from unspoken.joint.tasks.new_study import member_of

    groups = [("--party", args.party, ("owner",)), ("--receiver", args.receiver, ("receiver",)),
              ("--dealer", args.dealer, ("dealer",)), ("--linker", args.linker, ("linker",))]
    owners, outside, dealers, linkers = (
        [member_of(path, address, roles) for path, address in pairs(texts, option).items()]
        for option, texts, roles in groups)
    receivers = args.receivers or (() if outside else tuple(m.name for m in owners))
    return (*with_roles(owners, mode, receivers), *outside, *linkers, *dealers)


def plan(args: argparse.Namespace) -> int:
    """Show what a study will do."""
    study = _load(args.study)
    from unspoken.joint.session.consent import (
        broken_by,
        dealer_lines,
        engine_lines,
        linker_lines,
    )
    from unspoken.joint.tasks.task_list import task_of

    if args.records is not None and args.records < 1:
        raise InputError(f"--records must be at least 1. Got {args.records}.")
    outlook = task_of(study).plan(study, args.records)
    who = [*dealer_lines(study), *linker_lines(study), *broken_by(study), *engine_lines(study)]
    emit(args, {"study": study.name, "hash": study.hash(), **outlook.to_json(), "trust": who},
         "\n".join([f"Study '{study.name}', task {study.task}, mode {study.mode}", *who,
                    outlook.text()]))
    return 0


def _load(path: Path) -> Study:
    from unspoken.joint.session.study import Study

    if not path.exists():
        raise InputError(f"There is no study '{path}'. Make one with: unspoken joint new")
    return Study.load(path)


def join(args: argparse.Namespace) -> int:
    """Take part in a study."""
    return _take_part(args, _load(args.study))


def dealer(args: argparse.Namespace) -> int:
    """Be the dealer of a study."""
    study = _load(args.study)
    if study.outside_dealer is None:
        raise InputError(f"Study '{study.name}' has no dealer: its mode is '{study.mode}'. "
                         "This command is not needed for it.")
    args.name = study.outside_dealer
    return _take_part(args, study)


def _take_part(args: argparse.Namespace, study: Study) -> int:
    import asyncio

    from unspoken.joint.session.allocator import keep_memory
    from unspoken.joint.session.consent import consent
    from unspoken.joint.session.identity import load_identity
    from unspoken.joint.session.join import join as join_study
    from unspoken.joint.session.join import listening_at
    from unspoken.joint.tasks.task_list import task_of
    from unspoken.joint.wire.transports import Limits

    task = task_of(study)
    if args.out is not None:
        must_be_new(args.out, "The result")
    own = load_identity(study.member(args.name).name, args.identity)
    data = _data(args, study, task)
    path = new_ledger_path(args.ledger, args.name)
    limits = Limits(limit=args.limit, start=study.start_limit if args.wait is None else args.wait)
    listening = None if args.listen is None else listening_at(args.listen)
    approver = agree(args, f"{consent(study, args.name)}\n{task.plan(study).text()}")
    if args.data is not None:
        _enter(args, study, args.data)
        _book(args, study, args.data, args.budget)
    keep_memory()
    try:
        outcome = asyncio.run(join_study(
            study, own, task.program(study), data, limits=limits, listening=listening,
            ledger_path=path, approver=approver))
    except asyncio.CancelledError:
        print(f"Ended by SIGTERM. ledger: {path}", file=sys.stderr)
        return 143
    status = report(args, [outcome], f"ledger: {path}")
    if args.data is not None:
        _enter_result(args, study, args.data)
    return status


def _enter(args: argparse.Namespace, study: Study, path: Place) -> None:
    """Enter the study into the register of whoever owns the data, before it is run."""
    if register_of(args) is not None and not _is_model(path):
        enter(args, "study", people_of(args, path), _words(study),
              ", ".join(study.having("receiver")))


def _is_model(path: Place) -> bool:
    """Return whether a party's file is a model that a study uses, not rows about people.

    No file of this ending is read as a table, but a folder of tables may have any name.
    """
    return isinstance(path, Path) and path.suffix == ".json" and path.is_file()


def _words(study: Study) -> str:
    return f"study {study.name} ({study.task}) {study.hash()[:16]}"


def _enter_result(args: argparse.Namespace, study: Study, path: Path) -> None:
    """Enter the file of the result too: an audit attacks it together with the next release."""
    from unspoken.release.automatic_entries import file_words

    if register_of(args) is None or _is_model(path):
        return
    if args.out is not None and args.out.is_file():
        goal = study.parameters.get("target") or study.parameters.get("response")
        about = f" about {goal}" if isinstance(goal, str) else ""
        words = file_words(f"{_words(study)}{about} result", args.out, args.out.read_bytes())
        enter(args, "study", people_of(args, path), words, ", ".join(study.having("receiver")))


def _data(args: argparse.Namespace, study: Study, task: Any) -> Any:
    owns = "owner" in study.member(args.name).roles
    if owns and args.data is None:
        raise InputError(f"'{args.name}' owns data in this study. Use --data FILE.")
    if not owns and args.data is not None:
        raise InputError(f"'{args.name}' owns no data in this study. Leave --data out.")
    return _loaded(args, task, args.data, study) if owns else None


def _book(args: argparse.Namespace, study: Study, path: Place, budget: Path | None) -> None:
    """Book a study in the budget of an owner's table; without an epsilon it is only listed."""
    from unspoken.cli.book_release import place_of
    from unspoken.joint.session.book_study import book_study

    if _is_model(path):
        return
    table = people_of(args, path)
    place = place_of(budget, path, table)
    if place is None and "epsilon" not in study.parameters:
        args.unbooked = path
        return
    book_study(study, table, place)


def _loaded(args: argparse.Namespace, task: Any, path: Place, study: Study) -> Any:
    """Return a party's data; the format of its file is no part of the study."""
    from unspoken.joint.tasks.common.party_files import load_with

    return load_with(task.load, path, study, **file_options(args))


def local(args: argparse.Namespace) -> int:
    """Run all parties here."""
    from unspoken.joint.session.processes import run_processes
    from unspoken.joint.session.run import new_ledgers_in
    from unspoken.joint.session.run_roles import roles_of
    from unspoken.joint.tasks.task_list import task_of
    from unspoken.table.formats.data_urls import as_place

    study = _load(args.study)
    task = task_of(study)
    if args.out is not None:
        must_be_new(args.out, "The result")
    files = pairs(args.data, "--data")
    for name in files:
        if "owner" not in study.member(name).roles:
            raise InputError(f"'{name}' owns no data in this study. Leave --data {name}=... out.")
    for name in study.having("owner"):
        if name not in files:
            raise InputError(f"Missing --data {name}=FILE.")
    roles = roles_of(study)
    inputs = [_loaded(args, task, as_place(files[name]), study) if name in files else None
              for name in roles.program]
    for path in files.values():
        _enter(args, study, as_place(path))
    if args.ledgers is not None:
        args.ledgers.mkdir(parents=True, exist_ok=True)
        new_ledgers_in(args.ledgers, roles.everybody)
    for name in study.having("owner"):
        _book(args, study, as_place(files[name]), None)
    outcomes = run_processes(task.program(study), inputs, study.mode, roles, folder=args.ledgers)
    status = report(args, outcomes, f"ledgers: {args.ledgers}" if args.ledgers else "")
    for path in files.values():
        _enter_result(args, study, Path(path))
    return status
