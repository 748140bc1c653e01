"""One awkward file through the commands: `protect`, `audit` and `mine`, in this process.

A command is good if it ends as stated: 0 done, 1 the answer is no (`audit` only), 2 it could not
be done. Then stderr ends in one line in the words of the command line, stdout is empty and nothing
was written. Anything else is a sentence.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from support.awkward_cells import GENEROUS, _names, source_of
from support.awkward_frames import Awkward
from unspoken.cli.main import main

PYTHON = (re.compile(r"\bunspoken\.\w+"), re.compile(r"\w\(\)|\w\(\w*="),
          re.compile(r"(?<!--option )(?<!--param )(?<!--option=)\b[a-z]+(_[a-z]+)*=(True|False|None"
                     r"|'|\"|\[|\.\.\.|\d)"), re.compile(r"\b(None|True|False|dict|dtype|kwarg)\b"))
"""What only a Python user writes or reads."""
BY_METHOD = {"rotation": "kmeans", "randomized-response": "naive-bayes"}
"""The learner that is tried; a tree where none is named."""


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    status: object
    out: str
    err: str


def ended(words: Sequence[str]) -> Ended:
    """Run a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    before = os.environ.pop("UNSPOKEN_DEBUG", None)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(out), \
                contextlib.redirect_stderr(err):
            status: object = main(list(words))
    except SystemExit as left:
        status = f"left with {left.code}"
    except BaseException as error:
        status = f"raw {type(error).__name__}: {error}"
    finally:
        os.environ.update({} if before is None else {"UNSPOKEN_DEBUG": before})
    return Ended(status, out.getvalue(), err.getvalue())


def wrong_with(done: Ended, allowed: Sequence[int], mine: Sequence[str] = ()) -> str:
    """Return what is wrong with the way a command ended; nothing if all is well.

    `mine` are words of the user's own file, which may look like anything.
    """
    if done.status not in allowed:
        return f"ended with {done.status}: {done.err[-300:]}"
    said = done.err.splitlines()
    if any(not line.startswith("unspoken: ") for line in said):
        return f"stderr has other lines: {done.err[-300:]}"
    last = said[-1] if said else ""
    told = last.startswith("unspoken: ") and not last.startswith(
        ("unspoken: note: ", "unspoken: warning: "))
    if told != (done.status == 2):
        return f"status {done.status} beside: {last!r}"
    if done.status == 2 and done.out:
        return f"stdout holds {done.out[:100]!r}"
    return _foreign(done.err, mine) or ("" if done.status == 2 else _json(done.out))


def _foreign(text: str, mine: Sequence[str]) -> str:
    for word in mine:
        text = text.replace(word, "")
    text = re.sub(r"'[^']*'", "''", text)
    found = [sign.search(text) for sign in PYTHON] + [re.search(r"unexpected \w+:", text)]
    hit = next((one for one in found if one), None)
    return f"speaks Python ({hit[0]!r}): {text[-400:]}" if hit else ""


def _json(text: str) -> str:
    try:
        json.loads(text)
    except ValueError:
        return f"stdout is no JSON: {text[:100]!r}"
    return ""


def reading(frame: Awkward, source: Path, kind: str) -> list[str]:
    """Return the options that read a file as the frame means it."""
    quasi = [name for name in ("x", "age") if name in _names(source, kind)]
    flags = [f"--{name}={value}" for name, value in frame.reading.items()] if kind == "csv" else []
    return [*flags, "--target", frame.target, *(["--quasi", ",".join(quasi)] if quasi else [])]


def options(name: str) -> list[str]:
    """Return the parameters with which a method takes as much of a table as it can."""
    return [f"--option={key}={value if isinstance(value, str) else json.dumps(value)}"
            for key, value in GENEROUS.get(name, {}).items()]


def walk_commands(frame: Awkward, kind: str, folder: Path,
                  names: Sequence[str]) -> Iterator[tuple[str, str, int, str]]:
    """Yield (method, verb, status, what is wrong) for the commands of one file."""
    source = source_of(frame, kind, folder)
    if source is None:
        return
    told = reading(frame, source, kind)
    for name in names:
        if name in frame.untried:
            continue
        out = folder / "out"
        out.mkdir()
        yield from _commands(name, source, told, out)
        shutil.rmtree(out)


def _commands(name: str, source: Path, told: list[str],
              out: Path) -> Iterator[tuple[str, str, int, str]]:
    kept = ["--key", str(out / "k")]
    done = ended(["protect", str(source), *told, "--method", name, *options(name), "--out",
                  str(out / "r"), *kept, "--json"])
    wrong = wrong_with(done, (0, 2))
    left = sorted(path.name for path in out.iterdir())
    if not wrong and done.status == 2 and left:
        wrong = f"refused, and left {left}"
    yield name, "protect", done.status, wrong
    if done.status != 0:
        return
    done = ended(["audit", str(out / "r"), "--against", str(source), *told, *kept, "--trials", "2",
                  "--people", "5", "--out", str(out / "a.html"), "--json"])
    yield name, "audit", done.status, wrong_with(done, (0, 1, 2))
    done = ended(["mine", str(out / "r"), "--learner", BY_METHOD.get(name, "tree"), "--out",
                  str(out / "m.json"), "--json"])
    yield name, "mine", done.status, wrong_with(done, (0, 2))
