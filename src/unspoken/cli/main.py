"""The command `unspoken`: finds the verb, runs it, and turns errors into one line.

Exit status: 0 done, 1 the answer is no (models differ, a policy fails), 2 it could not be done.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

from unspoken._version import __version__
from unspoken.cli import (
    advise_verb as advise,
)
from unspoken.cli import (
    anonymize_verb as anonymize,
)
from unspoken.cli import (
    audit_verb as audit,
)
from unspoken.cli import (
    budget_verb as budget,
)
from unspoken.cli import (
    decode_verb as decode,
)
from unspoken.cli import (
    demo_verb as demo,
)
from unspoken.cli import (
    hide_verb as hide,
)
from unspoken.cli import (
    hierarchy_verb as hierarchy,
)
from unspoken.cli import (
    inspect_verb as inspect,
)
from unspoken.cli import (
    joint_verb as joint,
)
from unspoken.cli import (
    measure_verb as measure,
)
from unspoken.cli import (
    methods_verb as methods,
)
from unspoken.cli import (
    mine_verb as mine,
)
from unspoken.cli import (
    predict_verb as predict,
)
from unspoken.cli import (
    private_verb as private,
)
from unspoken.cli import (
    protect_verb as protect,
)
from unspoken.cli import (
    query_verb as query,
)
from unspoken.cli import (
    reconstruct_verb as reconstruct,
)
from unspoken.cli import (
    record_verbs as record,
)
from unspoken.cli import (
    register_verb as register,
)
from unspoken.cli import (
    serve_verb as serve,
)
from unspoken.cli import (
    start_verb as start,
)
from unspoken.cli import (
    summary_verb as summary,
)
from unspoken.cli import (
    verify_verb as verify,
)
from unspoken.cli.flag_words import in_flags

VERBS = (start, advise, inspect, methods, protect, private, hierarchy, anonymize, hide, query,
         serve, budget, mine, reconstruct, decode, predict, verify, summary, audit, measure, record,
         register, joint, demo)


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line, like every other error here."""

    def error(self, message: str) -> NoReturn:
        """Print one line and leave with status 2."""
        self.exit(2, f"unspoken: {message}. See '{self.prog} --help'.\n")


def parser() -> argparse.ArgumentParser:
    """Return the whole parser, one subparser a verb; nothing heavy is imported for it."""
    top = Parser(prog="unspoken", description="Learning from data that nobody is allowed to see.",
                 epilog="Set UNSPOKEN_DEBUG=1 to see the traceback of an error.")
    top.add_argument("--version", action="version", version=f"unspoken {__version__}")
    verbs = top.add_subparsers(title="verbs", dest="verb", metavar="VERB", required=True,
                               parser_class=Parser)
    for verb in VERBS:
        verb.add(verbs)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    top = parser()
    args = top.parse_args(argv)
    warnings.showwarning = _show_warning
    warnings.simplefilter("default", UserWarning)
    try:
        status: int = args.run(args)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        print("unspoken: stopped.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Whoever was reading has read enough, as `| head` does: that is no failure.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if os.environ.get("UNSPOKEN_DEBUG"):
            raise
        print(f"unspoken: {in_flags(one_line(error), top, args)}", file=sys.stderr)
        return 2


def one_line(error: BaseException) -> str:
    """Return what went wrong in one line."""
    from unspoken.errors import UnspokenError

    text = " ".join(str(error).split())
    if isinstance(error, UnspokenError):
        return text
    if isinstance(error, OSError) and error.filename:
        return f"'{error.filename}': {error.strerror}."
    return f"unexpected {type(error).__name__}: {text} (UNSPOKEN_DEBUG=1 shows where)"


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"unspoken: warning: {' '.join(str(message).split())}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
