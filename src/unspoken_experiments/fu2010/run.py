"""fu2010 section 4 again.

    python -m unspoken_experiments.fu2010.run [--rows N] [--part P] [--out FILE]

Prints the tables from which docs/experiments/fu2010.md was written.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from unspoken_experiments.fu2010 import figures
from unspoken_experiments.fu2010.data import Study, adult, seer, support
from unspoken_experiments.fu2010.tablei import table_i

STUDIES: dict[str, Callable[[], Study]] = {"Adult": adult, "SEER": seer, "SUPPORT2": support}
PARTS = ("anonymity", "quality", "rest")


def lines(part: str, rows: int | None = None) -> Iterator[str]:
    """Run one part of the experiment, over the first rows of every table."""
    for name, make in STUDIES.items():
        study = make() if rows is None else make().some(np.arange(rows))
        yield f"## {name}, {study.table.rows:,} records"
        yield ""
        if part == "anonymity":
            yield from figures.anonymity(study)
            yield from figures.preserved(study)
        elif part == "quality":
            yield from figures.quality(study)
        elif name == "Adult":
            yield from table_i(study)
            yield from figures.several(study)
            yield from figures.seconds(study)


def main() -> None:
    """Print the tables, or write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    kept = []
    for part in PARTS if arguments.part is None else (arguments.part,):
        for line in lines(part, arguments.rows):
            print(line, flush=True)
            kept.append(line)
    if arguments.out:
        arguments.out.write_text("\n".join(kept) + "\n")


if __name__ == "__main__":
    main()
