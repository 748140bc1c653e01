"""Run everything and write docs/experiments/bu2007.md."""

from __future__ import annotations

import argparse
from pathlib import Path

from unspoken.table.atomic_files import write_file
from unspoken_experiments.bu2007 import (
    families,
    figure8,
    figure9,
    figure10,
    figure11,
    figure12,
    paths,
)
from unspoken_experiments.bu2007.result import Result
from unspoken_experiments.bu2007.setting import SEED, TRIALS, Data, load

HEAD = f"""# bu2007, section 6, on its own data

Bu, Lakshmanan, Ng and Ramesh, *Preservation of Patterns and Input-Output Privacy* (ICDE 2007),
measured on Forest Covertype (581,012 records, ten attributes). Medians of {TRIALS} trials with
fresh codes and fresh knowledge points in every trial; intervals hold the true median with 95%
confidence. Random state {SEED}. Made by `python -m unspoken_experiments.bu2007.run`.

The paper leaves open how wide pieces are drawn, on which axis functions act, where knowledge
points lie and which class is used. The setting that fits all its numbers together best:
Aspen against the rest; sqrt(log x) on the attribute's own axis with the minimum shifted to 2
(attribute 1 unshifted); the output width of a piece is its input width times a Pareto(0.5) number,
with gaps of 1-30% of that; increasing pieces, at least 20 breakpoints; knowledge points uniform
over distinct values with an error uniform within the radius; straight continuation outside the
points; a radius of 2% of max - min + 1.

How far agreement goes: this setting was picked from 2,916 by its distance to published numbers of
section 6 (Figure 12 was kept out), so that their agreement is a fit and no independent
confirmation. Details that the search left open (Pareto numbers that start at 0 and not at 1, 21
pieces, single values counted as width 1, MATLAB's spline, the place of a bad point) were then
settled by trying alternatives against the numbers of an earlier prototype. Figure 8 and
the formula of Figure 11 hold no randomness. Where a note gives no
reason, none was found or tested.
"""


def results(data: Data) -> list[Result]:
    """Run every figure and table."""
    return [figure8.run(data), figure9.run(data), families.run(data), figure10.run(data),
            figure11.run(data), figure12.run(data), paths.run(data)]


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs") / "experiments" / "bu2007.md")
    out = parser.parse_args().out
    text = "\n".join([HEAD, *(result.markdown() for result in results(load()))])
    out.parent.mkdir(parents=True, exist_ok=True)
    write_file(out, text.rstrip().encode() + b"\n")


if __name__ == "__main__":
    main()
