"""The command `unspoken`: finds the verb, runs it, and turns errors into one line.

Exit status: 0 done, 1 the answer is no (models differ, a policy fails), 2 it could not be done.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from unspoken._version import __version__
from unspoken.cli.common import shown_passes
from unspoken.cli.data_places import data_place
from unspoken.cli.endings import STOPPED, StoppedError, full_disk, stopped_in_order
from unspoken.cli.flag_words import flags_of, in_flags, verb_parser
from unspoken.cli.verb_list import VERBS


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line, like every other error here."""

    more_help: Callable[[], str] | None = None

    def format_help(self) -> str:
        """Return the help, and what is too much to be made ready for every command."""
        return super().format_help() + (self.more_help() if self.more_help else "")

    def error(self, message: str) -> NoReturn:
        """Print one line and leave with status 2."""
        end = "" if message.endswith("?") else "."
        self.exit(2, f"unspoken: {message}{end} See '{self.prog} --help'.\n")

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """Refuse an empty path: it would stand for the current folder."""
        if action.type in (Path, data_place) and not arg_string.strip():
            raise argparse.ArgumentError(action, "a path must name a file or a folder; it is empty")
        return super()._get_value(action, arg_string)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse what is no choice, and name the choice that is nearest to it."""
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            raise argparse.ArgumentError(
                action, str(error.message) + _meant(str(value), map(str, action.choices or ()))
            ) from None


def parser(argv: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """Return the parser: every verb whole, or for a command line its own verb, others by a line."""
    top = Parser(prog="unspoken", description="Learning from data that nobody is allowed to see.",
                 epilog="Set UNSPOKEN_DEBUG=1 to see the traceback of an error.")
    top.add_argument("--version", action="version", version=f"unspoken {__version__}")
    verbs = top.add_subparsers(title="verbs", dest="verb", metavar="VERB", required=True,
                               parser_class=Parser)
    _add_verbs(verbs, None if argv is None else set(argv))
    return top


def _add_verbs(verbs: Any, words: set[str] | None) -> None:
    """Add verbs whole where their name is among the words, or all if there are none."""
    for line in VERBS:
        if line.name in verbs.choices:
            continue
        if words is None or any(one.name in words for one in VERBS if one.file == line.file):
            importlib.import_module(f"unspoken.cli.{line.file}").add(verbs)
        else:
            verbs.add_parser(line.name, help=line.text)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    argv = sys.argv[1:] if argv is None else argv
    top = parser(argv)
    args = _parsed(top, argv)
    args.worded = partial(in_flags, top=top, args=args)
    warnings.showwarning = partial(_show_warning, args.worded)
    warnings.simplefilter("default", UserWarning)
    if not os.environ.get("UNSPOKEN_DEBUG"):
        # What a library says of its own arithmetic tells whoever typed a command nothing.
        warnings.simplefilter("ignore", RuntimeWarning)
    try:
        with stopped_in_order(), shown_passes():
            status: int = args.run(args)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt as stop:
        print("unspoken: stopped. Nothing half-written was left.", file=sys.stderr)
        return STOPPED if isinstance(stop, StoppedError) else 130
    except BrokenPipeError:
        _read_enough()
        return 0
    except Exception as error:
        if os.environ.get("UNSPOKEN_DEBUG"):
            raise
        print(f"unspoken: {args.worded(one_line(error))}", file=sys.stderr)
        return 2


def _parsed(top: argparse.ArgumentParser, argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line; `--help | head` is no failure either."""
    try:
        args, rest = top.parse_known_args(argv)
        if rest:
            near = _meant(rest[0].partition("=")[0], flags_of(top, args))
            verb_parser(top, args).error(f"unrecognized arguments: {' '.join(rest)}{near}")
        return args
    except SystemExit:
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            _read_enough()
        raise


def _meant(word: str, known: Iterable[str]) -> str:
    import difflib

    # Without their dashes: those that all options have make any two alike.
    names = {name.lstrip("-"): name for name in sorted(known)}
    near = difflib.get_close_matches(word.lstrip("-"), names, 1)
    return f". Did you mean '{names[near[0]]}'?" if near else ""


def _read_enough() -> None:
    """Go on without a reader: whoever was reading has read enough, as `| head` does."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def one_line(error: BaseException) -> str:
    """Return what went wrong in one line."""
    from unspoken.errors import UnspokenError

    text = full_disk(error) or " ".join(str(error).split())
    if isinstance(error, UnspokenError) or full_disk(error):
        return text
    if isinstance(error, OSError) and error.filename:
        return f"'{error.filename}': {error.strerror}."
    return f"unexpected {type(error).__name__}: {text} (UNSPOKEN_DEBUG=1 shows where)"


def _show_warning(worded: Callable[[str], str], message: Warning | str, *_: Any,
                  **__: Any) -> None:
    print(f"unspoken: warning: {worded(' '.join(str(message).split()))}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
