"""`unspoken start`: look at a table, ask three questions, protect it, attack it, show one page."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unspoken.cli import advise_verb, audit_verb, private_verb, protect_verb
from unspoken.cli.common import (
    Adder,
    add_reading,
    emit,
    listed,
    must_be_new,
    read_table,
    reading_words,
    refuse_missing_target,
    verb,
)
from unspoken.cli.data_places import DATA_HELP, data_place
from unspoken.cli.findings_text import findings_text
from unspoken.cli.range_flags import add_wanted, lacking
from unspoken.errors import InputError

if TYPE_CHECKING:
    from unspoken.advice import Advice, Way
    from unspoken.table.identify import Finding
    from unspoken.table.table import Table


def add(verbs: Adder) -> None:
    """Add the verb."""
    parser = verb(verbs, "start", run,
                  "Begin here: show what a table holds, ask three questions, recommend a method, "
                  "run it, attack the release, and write one page about it. Columns that seem "
                  "to be quasi-identifiers are taken as such unless --quasi names others. The exit "
                  "status is 1 where nothing should be released.")
    parser.add_argument("data", type=data_place, metavar="DATA", help=DATA_HELP)
    parser.add_argument("--target", metavar="COLUMN", help="the column that is to be predicted")
    parser.add_argument("--out", type=Path, metavar="DIR",
                        help="a folder that is not there yet, for the release, its key and the "
                             "page (default: named after DATA, with -unspoken)")
    advise_verb.add_questions(parser)
    add_reading(parser)
    add_wanted(parser)


@dataclass(frozen=True)
class Walk:
    """What the steps of `start` came to."""

    findings: Sequence[Finding]
    advice: Advice
    table: Table
    protected: dict[str, Any] | None = None
    audited: dict[str, Any] | None = None
    measured: dict[str, Any] | None = None

    @property
    def may_leave(self) -> bool:
        """Return True if something may be given away."""
        return self.advice.best is not None and (self.audited is None
                                                 or bool(self.audited["passed"]))


def run(args: argparse.Namespace) -> int:
    """Walk a newcomer through a table."""
    if args.out is None:
        folder = args.data.parent if isinstance(args.data, Path) else Path()
        args.out = folder / f"{args.data.name.split('.')[0]}-unspoken"
    must_be_new(args.out, "The folder", "Choose another name (--out).")
    # Whoever reads the text finds the notes there.
    table, findings = advise_verb.look(args, notes=args.json)
    refuse_missing_target(table)
    shown = findings_text(findings, table.schema)
    if not args.json:
        print("\n".join([args.worded(repr(table)), "", shown, *_taken(args), ""]), flush=True)
    advise_verb.answer_all(args)
    advice = advise_verb.advice_for(args, table)
    if not args.json:
        print(f"{advice.summary()}\n", flush=True)
    walk = _followed(args, Walk(findings, advice, table))
    emit(args, _data(walk), "\n".join(_last_words(args, walk)))
    return 0 if walk.may_leave else 1


def _followed(args: argparse.Namespace, walk: Walk) -> Walk:
    """Protect and audit if a release method was recommended, or measure what was all stated."""
    best = walk.advice.best
    if best is None or not _can_follow(args, walk, best.way):
        return walk
    args.out.mkdir(mode=0o700)
    try:
        return _measured(args, walk) if best.way.method is None else \
            _released(args, walk, best.way)
    except BaseException:
        # A release that nobody has attacked looks like one that may be sent.
        shutil.rmtree(args.out, ignore_errors=True)
        raise


def _can_follow(args: argparse.Namespace, walk: Walk, way: Way) -> bool:
    """Return True if nothing has to be asked before the way is gone."""
    if way.method is not None:
        return not way.method.takes_baskets
    return way.name == "private" and args.purpose != "rules" and not lacking(args, walk.table)


def _released(args: argparse.Namespace, walk: Walk, way: Way) -> Walk:
    """Protect as advised, and attack what came out."""
    protected = _verb(protect_verb, "protect", [
        *reading_words(args), "--out", args.out / "release", "--key", args.out / "release.key",
        "--method", way.name, *_options(way.parameters),
        *(["--target", args.target] if args.target else []), args.data])
    return replace(walk, protected=protected, audited=_audited(args, way))


def _measured(args: argparse.Namespace, walk: Walk) -> Walk:
    """Measure a private result for which everything was stated by flags."""
    words = advise_verb.private_command(args, str(args.out / "result.json"))
    return replace(walk, measured=_verb(private_verb, "private", words))


def _audited(args: argparse.Namespace, way: Way) -> dict[str, Any]:
    """Attack the release, with a control group from a trial, and write the page."""
    from unspoken.audit.trial_release import FEWEST, with_trial
    from unspoken.disclosure.release_verdict import verdict_of
    from unspoken.release.key import Key
    from unspoken.release.method import method_of
    from unspoken.release.release import Release
    from unspoken.report import audit_page
    from unspoken.risk import audit

    table = read_table(args, args.data, args.target, notes=False)
    release, key = Release.load(args.out / "release"), Key.load(args.out / "release.key")
    with audit_verb.steps("audit") as step:
        result = audit(table, release, key, progress=step, people=table.rows < FEWEST)
    result = with_trial(result, table, method_of(way.name).build(way.parameters))
    page = args.out / "report.html"
    audit_page(result, release=release, table=table, key=key, source=args.data).save(page)
    page.chmod(0o600)
    verdict = verdict_of(result)
    return {"report": str(page), "passed": not audit_verb.fails(result, verdict),
            "verdict": verdict.to_json(), "audit": result.to_json()}


def _options(parameters: Mapping[str, Any]) -> list[str]:
    return [f"--option={name}={json.dumps(value)}" for name, value in parameters.items()]


def _verb(module: Any, name: str, words: Sequence[Any]) -> dict[str, Any]:
    """Run another verb as a user would, and return what it prints as JSON."""
    parser = argparse.ArgumentParser(prog="unspoken")
    module.add(parser.add_subparsers())
    printed = io.StringIO()
    # What was done to the file while it was read has been said once.
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        args = parser.parse_args([name, "--json", *map(str, words)])
        status = args.run(args)
    if status == 2 or not printed.getvalue():
        raise InputError(f"'unspoken {name}' could not be run.")
    result: dict[str, Any] = json.loads(printed.getvalue())
    return result


def _taken(args: argparse.Namespace) -> list[str]:
    """Say which columns count as quasi-identifiers: most were guessed."""
    return [f"Taken as quasi-identifiers: {', '.join(args.quasi)}. Name others with --quasi."] \
        if args.quasi else []


def _data(walk: Walk) -> dict[str, Any]:
    return {"findings": [one.to_json() for one in walk.findings], "advice": walk.advice.to_json(),
            "release": walk.protected, "audit": walk.audited,
            "measured": walk.measured, "may_leave": walk.may_leave}


def _last_words(args: argparse.Namespace, walk: Walk) -> list[str]:
    if walk.measured is not None:
        return [f"{walk.measured['result']}: the result, for epsilon "
                f"{walk.measured['cost']['epsilon']:g}."]
    if walk.protected is None or walk.audited is None:
        return advise_verb.steps(args, walk.advice, walk.table) or ["Nothing was written."]
    missing = walk.protected["not_released"]
    verdict = walk.audited["verdict"]
    return [*([f"Not released: {', '.join(missing)}"] if missing else []),
            f"{args.out / 'release'}: the release, with {walk.protected['rows']:,} rows.",
            f"{args.out / 'release.key'}: the key; it stays with you.",
            f"{args.out / 'report.html'}: what every known attacker would get; it stays with you.",
            "", f"Verdict: {verdict['word']}: {verdict['advice']}.",
            *(f"  - {reason}" for reason in _why(verdict)), *_hint(verdict, walk.findings),
            *_if_they_know_more(args, walk)]


def _why(verdict: dict[str, Any]) -> list[str]:
    """Return what an attacker gets, and the first of the other reasons."""
    found = [verdict[side]["words"] for side in ("naming", "inferring") if verdict[side]]
    return [*found, *verdict["reasons"][:4]]


def _hint(verdict: dict[str, Any], findings: Sequence[Finding]) -> list[str]:
    """What a table without a sensitive column discloses about people cannot be judged."""
    if not any("no sensitive column" in reason for reason in verdict["reasons"]):
        return []
    special = listed(list(dict.fromkeys(one.column for one in findings if one.special)))
    return ["  Name what nobody should learn about a person with --sensitive"
            + (f", such as --sensitive {shlex.quote(special)}." if special else ".")]


def _if_they_know_more(args: argparse.Namespace, walk: Walk) -> list[str]:
    """The audit attacks with more knowledge than somebody may be thought to have: say so."""
    if walk.may_leave or args.knowledge == "anything":
        return []
    from unspoken.advice import advise

    best = advise(args.recipient, args.purpose, "anything").best
    other = "nothing here serves that purpose" if best is None else \
        f"'{best.way.name}' serves that purpose, {best.use.keeps}"
    return ["The audit also counts attackers who know more than you said. Against somebody who "
            f"may know anything, {other}."]
