"""The matrix of awkward tables: every frame from every source, protected by every method.

    PYTHONPATH=src:tests:bench python bench/awkward_matrix.py [FRAME ...]
    PYTHONPATH=src:tests:bench python bench/awkward_matrix.py --commands [FRAME ...]

With `--commands` every file, CSV and Parquet, goes through `protect`, `audit` and `mine`. Prints
every cell that is wrong, and how many were tried; ends with 1 if any is wrong.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from support.awkward_cells import walk
from support.awkward_commands import walk_commands
from support.awkward_frames import FRAMES, Awkward
from support.first_hour_frames import FIRST_HOUR
from unspoken.release.method import methods


def cells(frame: Awkward, folder: Path, names: tuple[str, ...],
          commands: bool) -> Iterator[tuple[str, str, str]]:
    """Yield (source, method and verb, what is wrong) for every cell of a frame."""
    if not commands:
        yield from walk(frame, folder, names)
        return
    for kind in ("csv", "parquet"):
        for method, verb, _, said in walk_commands(frame, kind, folder, names):
            yield kind, f"{method} {verb}", said


def main(wanted: list[str]) -> int:
    commands = "--commands" in wanted
    wanted = [name for name in wanted if name != "--commands"]
    tried, wrong, spent = 0, Counter(), Counter()
    names = tuple(methods())
    with tempfile.TemporaryDirectory() as folder:
        for frame in (*FRAMES, *FIRST_HOUR):
            if wanted and frame.name not in wanted:
                continue
            since = time.process_time()
            for source, method, said in cells(frame, Path(folder), names, commands):
                tried += 1
                spent[method] += time.process_time() - since
                since = time.process_time()
                if said:
                    wrong[method] += 1
                    print(f"{frame.name} | {source} | {method} | {said[:300]}", flush=True)
    slowest = ", ".join(f"{name} {cost:.0f} s" for name, cost in spent.most_common(5))
    print(f"{tried:,} cells, {sum(wrong.values()):,} wrong; {sum(spent.values()):.0f} s of "
          f"processor time ({slowest})")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
