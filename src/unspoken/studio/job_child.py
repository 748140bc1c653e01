"""The process of one piece of long work; see `background_jobs` for how it is spoken to."""

from __future__ import annotations

import json
import os
import sys
import threading
import traceback
import warnings
from typing import Any

from unspoken.errors import UnspokenError
from unspoken.studio.job_kinds import KINDS

_SAY = threading.Lock()


def main() -> int:
    """Do what one line of standard input asks for."""
    request = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_server, daemon=True).start()
    warnings.simplefilter("ignore")
    try:
        say({"result": KINDS[request.pop("kind")](request, progress)})
    except UnspokenError as error:
        say({"error": " ".join(str(error).split())})
    except Exception as error:
        # What an unforeseen error says may hold values of the table: only its kind is shown.
        if os.environ.get("UNSPOKEN_DEBUG"):
            traceback.print_exception(error)
        say({"error": f"It could not be done, for a reason that was not foreseen "
                      f"({type(error).__name__})."})
    return 0


def progress(done: float, total: float, words: str = "") -> None:
    """Say how far the work is."""
    say({"progress": [done, total, words]})


def say(words: dict[str, Any]) -> None:
    """Write one line to the server."""
    with _SAY:
        sys.stdout.write(json.dumps(words, default=str) + "\n")
        sys.stdout.flush()


def _end_with_server() -> None:
    """Standard input ends when the server does, however it ended."""
    while sys.stdin.readline():
        pass
    os._exit(1)


if __name__ == "__main__":
    # Whatever a library prints must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout = answers
    sys.exit(main())
