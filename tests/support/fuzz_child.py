"""One child process of the fuzzer: `python -m support.fuzz_child FIRST COUNT` prints its counts.

Every case is decoded and predicted with under a limit on memory and time. Whatever is not an error
of unspoken's own, or shows an original value, is written out with the number of its case.
"""

from __future__ import annotations

import faulthandler
import json
import resource
import signal
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

from support.model_mutations import Originals, spoiled
from unspoken.errors import UnspokenError
from unspoken.protect import decode
from unspoken.release.key import Key
from unspoken.release.release import Release

SECONDS = 5
SPARE = 1 << 30


class TooLongError(Exception):
    """A case that did not end in time."""


def _late(signum, frame):
    raise TooLongError


def limit_memory() -> None:
    """Allow one gibibyte above what is mapped now."""
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


def outcome(originals: Originals, folder: Path, kind: str, content: bytes) -> str:
    """Return "taken", "refused", or what went wrong."""
    signal.alarm(SECONDS)
    try:
        run_case(originals, folder, kind, content)
    except UnspokenError as error:
        text = str(error)
        shown = next((value for value in originals.seen if value in text), None)
        return "refused" if shown is None else f"shows an original value: {text[:200]}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:160]}"
    finally:
        signal.alarm(0)
    return "taken"


def main(first: int, count: int) -> None:
    """Run cases first .. first + count - 1."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, _late)
    counts: Counter[str] = Counter()
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        originals = Originals(folder)
        kinds = sorted(originals.valid)
        assert outcome(originals, folder, "tree", _plain(originals)) == "taken"
        limit_memory()
        for number in range(first, first + count):
            kind = kinds[number % len(kinds)]
            content = spoiled(originals.valid[kind], kind, np.random.default_rng(number))
            result = outcome(originals, folder, kind, content)
            counts[result if result in ("taken", "refused") else "wrong"] += 1
            if result not in ("taken", "refused"):
                wrong.append(f"case {number} ({kind}): {result}")
    print(json.dumps({"counts": dict(counts), "wrong": wrong}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
