"""`unspoken register`: what went out of which people, and entering what no other verb enters."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unspoken.cli.common import Adder, add_reading, columns, emit, read_table, verb
from unspoken.cli.data_places import data_place
from unspoken.errors import InputError

if TYPE_CHECKING:
    from unspoken.risk import Entry, Register

KINDS = ("model", "query", "study", "table")
FILES = ("model", "study", "table")
"""What is entered with its content, so that it can be attacked together with the next release."""
_HEAD = ["when", "kind", "what", "to", "guarantee"]


def add(verbs: Adder) -> None:
    """Add the verb."""
    parser = verb(verbs, "register", run,
                  "List a custodian's register, or enter a published model, an answered query, a "
                  "joint study or a table that another tool made. Releases are entered by "
                  "'unspoken protect --register'. With --of it lists only what went out of the "
                  "people of a table.")
    parser.add_argument("register", type=Path, metavar="REGISTER", help="the register")
    parser.add_argument("--enter", choices=KINDS, metavar="KIND",
                        help=f"enter one of {', '.join(KINDS)}; needs --of and --what")
    parser.add_argument("--of", type=data_place, metavar="DATA",
                        help="the table whose people it is about")
    parser.add_argument("--what", metavar="WORDS",
                        help="what went out: of a table its file; of a model, the result of a "
                             "study or the log of a query service too where it is at hand. It is "
                             "then attacked together with the next release")
    parser.add_argument("--to", default="", metavar="NAME", help="who got it")
    add_reading(parser)


def run(args: argparse.Namespace) -> int:
    """List or enter."""
    from unspoken.risk import Register

    if args.enter is not None:
        return _enter(args)
    if not args.register.exists():
        raise InputError(f"The register '{args.register}' must be there to be read. Check the "
                         "path; 'unspoken protect --register' starts one.")
    register = Register.load(args.register)
    entries, shares = register.entries, {}
    if args.of is not None:
        table = read_table(args, args.of, None)
        entries, shares = register.before(table), register.known_people(table)
    emit(args, {"register": str(args.register), "entries": [_data(one) for one in entries]},
         _text(register, entries, shares))
    return 0


def _enter(args: argparse.Namespace) -> int:
    from unspoken.risk import Register

    for name in ("of", "what"):
        if getattr(args, name) is None:
            raise InputError(f"'--enter {args.enter}' needs '--{name}'.")
    table = read_table(args, args.of, None)
    register = Register.load(args.register).add_other(args.enter, table, _what(args), args.to)
    emit(args, {"register": str(args.register), "entries": [_data(register.entries[-1])]},
         f"Entered {args.enter} '{args.what}' into {args.register}.")
    return 0


def _what(args: argparse.Namespace) -> str:
    """Return what went out in words; a file is known again by its content."""
    from unspoken.release.automatic_entries import file_words

    path = Path(args.what)
    if args.enter in FILES and path.is_file():
        return file_words(args.enter, path, path.read_bytes())
    if args.enter == "query" and path.is_file():
        return f"query log {path.absolute()}"
    if args.enter == "table":
        raise InputError(f"'--what' must be the file of the table that went out. Got '{args.what}',"
                         " which is not there. Check the path.")
    return str(args.what)


def _data(entry: Entry) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in (*_HEAD, "place")} | {
        "columns": list(entry.columns)}


def _text(register: Register, entries: tuple[Entry, ...], shares: dict[int, float]) -> str:
    if not entries:
        return "Nothing of these people is in the register." if shares else "The register is empty."
    place = {id(one): number for number, one in enumerate(register.entries)}
    head = [*_HEAD, *(["people"] if shares else [])]
    rows = [[*(str(getattr(one, name))[:40] or "-" for name in _HEAD),
             *([f"{shares[place[id(one)]]:.0%}"] if shares else [])] for one in entries]
    return columns([head, *rows])
