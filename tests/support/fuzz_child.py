"""One child process of the fuzzer: `python -m support.fuzz_child FIRST COUNT [PROGRESS]`.

Every case is decoded and predicted with under a limit on memory and time. Whatever is not an error
of unspoken's own, or shows an original value, is written out with the number of its case. PROGRESS
names a file that holds the number of the case at hand, so that a death can be told. Time is the
processor's, so that other work does not count; who started the child watches the clock.
"""

from __future__ import annotations

import ctypes
import faulthandler
import json
import mmap
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from support.exchange_files import Kind, kinds
from support.model_mutations import Originals, spoiled, written
from unspoken.errors import UnspokenError
from unspoken.models.hostile_json import parse_json
from unspoken.models.recipe import Recipe
from unspoken.protect import decode
from unspoken.release.key import Key
from unspoken.release.release import Release

SECONDS = 5
SPARE = 512 << 20
"""Bytes of memory that a case may take."""
ARENA_MAX = -8
"""glibc's number for the most arenas that its allocator reserves memory for."""


class TooLongError(BaseException):
    """A case that did not end in time; nothing on the way may take it for an error."""


def _late(signum, frame):
    raise TooLongError


def one_arena() -> None:
    """Keep the allocator from reserving memory for every thread: it would count as taken."""
    ctypes.CDLL(None).mallopt(ARENA_MAX, 1)


def limit_memory() -> None:
    """Allow 512 MiB above what is mapped now."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + SPARE
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def run_case(originals: Originals, folder: Path, kind: str, content: bytes) -> None:
    """Take one spoiled file as far as it goes."""
    if kind == "manifest":
        (folder / "release" / "manifest.json").write_bytes(content)
        originals.key.fits(Release.load(folder / "release"))
        return
    key = originals.key
    if kind == "recipe":
        recipe = Recipe.from_json(parse_json(content))
        decode(originals.stopped, key, originals.table, recipe=recipe).summary()
        return
    if kind == "key":
        (folder / "spoiled").write_bytes(content)
        key, content = Key.load(folder / "spoiled", None), _plain(originals)
    options = {"learner": "hist"} if kind in ("xgboost", "dart", "classes") else {}
    decoded = decode(content, key, originals.data, originals.labels, **options)
    decoded.predict(originals.data)
    if hasattr(decoded, "booster"):
        decoded.booster().num_features() if kind != "lightgbm" else decoded.booster().num_trees()
    decoded.summary()


def _plain(originals: Originals) -> bytes:
    return json.dumps(originals.valid["tree"]).encode()


def older_kinds(originals: Originals, folder: Path) -> dict[str, Kind]:
    """Return the files of one small table, as `model_mutations` spoils them."""
    def run(kind: str) -> Callable[[bytes], None]:
        return lambda content: run_case(originals, folder, kind, content)

    def spoil(kind: str) -> Callable[[np.random.Generator], bytes]:
        return lambda rng: spoiled(originals.valid[kind], kind, rng)

    return {kind: Kind(written(valid, kind), spoil(kind), run(kind))
            for kind, valid in originals.valid.items()}


def outcome(originals: Originals, kind: Kind, content: bytes) -> str:
    """Return "taken", "refused", or what went wrong."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        kind.run(content)
    except UnspokenError as error:
        text = str(error)
        shown = next((value for value in originals.seen if value in text), None)
        return "refused" if shown is None else f"shows an original value: {text[:200]}"
    except (Exception, TooLongError) as error:
        return f"{type(error).__name__}: {str(error)[:160]}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return "taken"


class Place:
    """The case at hand, in a file that another process reads; costs nothing to move."""

    def __init__(self, path: str | None) -> None:
        self.memory = None
        if path is not None:
            with Path(path).open("r+b") as file:
                self.memory = mmap.mmap(file.fileno(), 8)

    def move(self, number: int) -> None:
        """Say which case is being run."""
        if self.memory is not None:
            self.memory[:8] = number.to_bytes(8, "little")


def warm(originals: Originals, files: dict[str, Kind]) -> None:
    """Take the files as they are, so that threads and libraries are there before the limit."""
    for name, kind in files.items():
        result = outcome(originals, kind, kind.valid)
        # The model of three classes is refused: the labels have two.
        wanted = "refused" if name in ("classes", "onnx") else "taken"
        assert result == wanted, f"{name}: {result}"


def main(first: int, count: int, progress: str | None = None) -> None:
    """Run cases first .. first + count - 1."""
    faulthandler.enable()
    one_arena()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGPROF, _late)
    counts: Counter[str] = Counter()
    wrong, slowest, place = [], 0.0, Place(progress)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        originals = Originals(folder)
        files = {**older_kinds(originals, folder), **kinds(originals, folder)}
        names = sorted(files)
        warm(originals, files)
        limit_memory()
        before = _peak()
        for number in range(first, first + count):
            place.move(number)
            kind, began = names[number % len(names)], time.process_time()
            content = files[kind].spoil(np.random.default_rng(number))
            result = outcome(originals, files[kind], content)
            slowest = max(slowest, time.process_time() - began)
            counts[result if result in ("taken", "refused") else "wrong"] += 1
            if result not in ("taken", "refused"):
                wrong.append(f"case {number} ({kind}): {result}")
    print(json.dumps({"counts": dict(counts), "wrong": wrong, "seconds": slowest,
                      "mib": _peak() - before}))


def _peak() -> float:
    """Return the most memory that this process has held, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:4])
