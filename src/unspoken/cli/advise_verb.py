"""`unspoken advise`: which way of sharing serves whom, from three answers."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from unspoken.cli.common import Adder, add_reading, emit, read_table, reading_words, verb
from unspoken.cli.data_places import data_place
from unspoken.cli.range_flags import add_wanted, lacking, private_words, refuse_ranges
from unspoken.errors import InputError, unknown
from unspoken.release.uses import KNOWLEDGE, PURPOSES, RECIPIENTS

if TYPE_CHECKING:
    from unspoken.advice import Advice
    from unspoken.table.identify import Finding
    from unspoken.table.table import Table

QUESTIONS: tuple[tuple[str, str, Mapping[str, str]], ...] = (
    ("recipient", "Who gets it?", RECIPIENTS),
    ("purpose", "What for?", PURPOSES),
    ("knowledge", "What might they know?", KNOWLEDGE),
)


def add(verbs: Adder) -> None:
    """Add the verb."""
    parser = verb(verbs, "advise", run,
                  "Say which way of sharing serves a purpose, what it promises and what breaks it. "
                  "Three questions are asked unless they are answered by options. The exit status "
                  "is 1 where nothing should be released.")
    parser.add_argument("data", type=data_place, nargs="?", metavar="DATA",
                        help="the table; ways that cannot take it are ruled out")
    parser.add_argument("--target", metavar="COLUMN", help="the column that is to be predicted")
    add_questions(parser)
    add_reading(parser)
    add_wanted(parser)


def add_questions(parser: argparse.ArgumentParser) -> None:
    """Add the three answers as options."""
    for name, question, answers in QUESTIONS:
        words = "; ".join(f"{answer}: {meaning}" for answer, meaning in answers.items())
        parser.add_argument(f"--{name}", metavar="ANSWER", help=f"{question} {words}")


def run(args: argparse.Namespace) -> int:
    """Print the advice."""
    answer_all(args)
    table = None if args.data is None else look(args)[0]
    advice = advice_for(args, table)
    emit(args, advice.to_json(), "\n".join([advice.summary(), "",
                                               *steps(args, advice, table)]))
    return 0 if advice.best is not None else 1


def look(args: argparse.Namespace, notes: bool = True) -> tuple[Table, list[Finding]]:
    """Read the table; what seems to be a quasi-identifier becomes one unless some are named.

    What would not be released as it is stays so: a postcode that nobody shares names people.
    """
    from unspoken.table.identify import identify

    table = read_table(args, args.data, args.target, notes=notes)
    findings = list(identify(table))
    declared = {args.target, *args.sensitive, *args.identifiers, *args.keep}
    if not args.quasi:
        args.quasi = tuple(dict.fromkeys(
            one.column for one in findings if one.role == "quasi" and one.column not in declared
            and table.schema[one.column].role != "identifier"))
        args.noticed = True
        table = read_table(args, args.data, args.target, notes=False)
    return table, findings


def answer_all(args: argparse.Namespace) -> None:
    """Check the answers that were given as options, and ask for the others on a terminal."""
    for name, question, answers in QUESTIONS:
        answer = getattr(args, name)
        if answer is None:
            answer = _ask(name, question, answers)
            setattr(args, name, answer)
        if answer not in answers:
            raise InputError(unknown(f"'--{name}'", answer, answers))


def _ask(name: str, question: str, answers: Mapping[str, str]) -> str:
    if not sys.stdin.isatty():
        raise InputError(f"'--{name}' is not answered, and there is no terminal to ask on. "
                         f"Choose one of {', '.join(answers)}.")
    print(question, file=sys.stderr)
    for number, (answer, meaning) in enumerate(answers.items(), 1):
        print(f"  {number}. {answer}: {meaning}", file=sys.stderr)
    print("Number or word: ", end="", file=sys.stderr, flush=True)
    reply = sys.stdin.readline().strip()
    if reply.isdigit() and 1 <= int(reply) <= len(answers):
        return list(answers)[int(reply) - 1]
    return reply


def advice_for(args: argparse.Namespace, table: Table | None) -> Advice:
    """Return the advice for the answers in the options."""
    from unspoken.advice import advise

    advice = advise(args.recipient, args.purpose, args.knowledge, table)
    if advice.best is not None and advice.best.way.name != "private":
        refuse_ranges(args, advice.best.way.name)
    return advice


def steps(args: argparse.Namespace, advice: Advice, table: Table | None = None) -> list[str]:
    """Return the commands that follow the advice."""
    if advice.best is None:
        return []
    private = advice.best.way.name == "private"
    open_ones = lacking(args, table) if private else []
    stated = [*private_words(args), *([] if open_ones else ["--out", "result.json"])] \
        if private else []
    words: dict[str, Any] = {"data": shlex.quote(str(args.data or "DATA")), "out": "release",
                             "target": _typed(_reading(args, private)), "private": _typed(stated)}
    return ["What to type next:",
            *(f"  {line.format(**words)}" for line in advice.best.way.commands),
            *(_to_declare(open_ones) if open_ones else [])]


def _typed(flags: Sequence[str]) -> str:
    return "".join(f" {shlex.quote(one)}" for one in flags)


def _reading(args: argparse.Namespace, private: bool) -> list[str]:
    """Return target and reading options; no role that was noticed reaches a private result."""
    stated = argparse.Namespace(**{**vars(args), "quasi": ()}) \
        if private and getattr(args, "noticed", False) else args
    return [*(["--target", args.target] if args.target else []), *reading_words(stated)]


def _to_declare(flags: Sequence[str]) -> list[str]:
    """Say which flags an epsilon still asks for; nobody takes them from the table."""
    return ["It looks at no value, and states no epsilon yet. Add these flags, from what everybody "
            "knows and never from the", "table, or leave columns out with --columns; then --out "
            "result.json measures:", *(f"  {flag}" for flag in flags)]


def private_command(args: argparse.Namespace, out: str) -> list[str]:
    """Return the words of the private result that was advised, all of which were stated."""
    return [*_reading(args, True), *private_words(args), "--out", out, str(args.data)]
