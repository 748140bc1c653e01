"""The command `tacit`: finds the verb, runs it, and turns errors into one line.

Exit status: 0 done, 1 the answer is no (models differ, a policy fails), 2 it could not be done.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

from tacit._version import __version__
from tacit.cli import (
    audit,
    decode,
    demo,
    hide,
    inspect,
    joint,
    mine,
    protect,
    query,
    summary,
    verify,
)

VERBS = (inspect, protect, hide, query, mine, decode, verify, summary, audit, joint, demo)


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line, like every other error here."""

    def error(self, message: str) -> NoReturn:
        """Print one line and leave with status 2."""
        self.exit(2, f"tacit: {message}. See '{self.prog} --help'.\n")


def parser() -> argparse.ArgumentParser:
    """Return the whole parser, one subparser a verb; nothing heavy is imported for it."""
    top = Parser(prog="tacit", description="Learning from data that nobody is allowed to see.",
                 epilog="Set TACIT_DEBUG=1 to see the traceback of an error.")
    top.add_argument("--version", action="version", version=f"tacit {__version__}")
    verbs = top.add_subparsers(title="verbs", dest="verb", metavar="VERB", required=True,
                               parser_class=Parser)
    for verb in VERBS:
        verb.add(verbs)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    args = parser().parse_args(argv)
    warnings.showwarning = _show_warning
    warnings.simplefilter("default", UserWarning)
    try:
        status: int = args.run(args)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        print("tacit: stopped.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Whoever was reading has left; a second complaint at exit would help nobody.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except Exception as error:
        if os.environ.get("TACIT_DEBUG"):
            raise
        print(f"tacit: {one_line(error)}", file=sys.stderr)
        return 2


def one_line(error: BaseException) -> str:
    """Return what went wrong in one line."""
    from tacit.errors import TacitError

    text = " ".join(str(error).split())
    if isinstance(error, TacitError):
        return text
    if isinstance(error, OSError) and error.filename:
        return f"'{error.filename}': {error.strerror}."
    return f"unexpected {type(error).__name__}: {text} (TACIT_DEBUG=1 shows where)"


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"tacit: warning: {' '.join(str(message).split())}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
