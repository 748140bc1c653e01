"""Run everything and write docs/experiments/liu2006.md."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from unspoken.arrays import Floats
from unspoken.attack import KnownSample, RotatedView, RowKnowledge
from unspoken.disclosure.record_scores import relative_errors
from unspoken.methods.rotation.jl_distortion import projection
from unspoken.numerics.orthogonal import breach_probability, haar, paper_breach
from unspoken.table.atomic_files import write_file
from unspoken_experiments.data_sets import find, need

Draw = Callable[[np.random.Generator, float], tuple[Floats, Floats]]
"""(generator, sample ratio) -> original records and the attacker's sample."""

ADULT = "adult_data.parquet"
TRIALS = 20
MEAN, COVARIANCE = np.array([-10.0, 10.0]), np.array([[1.0, 1.5], [1.5, 3.0]])
PAPER_SECONDS = {2: 143.109, 12: 124_420.0}
HEAD = """# liu2006, sections 3, 4 and 6

Liu, Giannella and Kargupta, *An Attacker's View of Distance Preserving Maps For Privacy Preserving
Data Mining* (PKDD 2006). {trials} trials each, mean ± half a 95% interval of the mean; a new
rotation in every trial. "Paper" is Algorithm 4.2.1 (axes of covariances), "origin" uses second
moments about the origin, "mean" guesses the sample's mean and ignores the release. The figures of
the paper hold no numbers in print; its two run times stand beside ours. Made by
`python -m unspoken_experiments.liu2006.run`.
"""


def shown(values: Iterable[float]) -> str:
    """Return mean and half a 95% interval."""
    found = np.array(list(values))
    return f"{found.mean():.4f} ± {1.96 * found.std(ddof=1) / np.sqrt(found.size):.4f}"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a Markdown table."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def breach_table(trials: int = 200_000) -> str:
    """Return breach probabilities for s = .5 and .45 beside Monte Carlo and the paper's formula."""
    rng = np.random.default_rng(0)
    rows = []
    for q in (1, 2, 3, 5, 10):
        for s in (0.5, 0.45):
            unit = rng.standard_normal((trials, q))
            unit /= np.linalg.norm(unit, axis=1)[:, None]
            hits = np.linalg.norm(unit - np.eye(q)[0], axis=1) <= 2 * s
            error = 1.96 * np.sqrt(max(hits.var(), 1e-12) / trials)
            rows.append((str(q), f"{s}", f"{float(breach_probability(s, q)):.4f}",
                         f"{hits.mean():.4f} ± {error:.4f}", f"{float(paper_breach(s)):.4f}",
                         f"{float(breach_probability(s, q, 'shrunken')):.4f}"))
    head = ("n - k", "s", "exact", f"{trials:,} draws", "paper's (2)", "shrunken guess")
    return table(head, rows)


def gaussian(rng: np.random.Generator, ratio: float) -> tuple[Floats, Floats]:
    """Draw the paper's 1,000 records and a sample of them."""
    drawn = rng.multivariate_normal(MEAN, COVARIANCE, 1000 + round(1000 * ratio))
    return drawn[:1000], drawn[1000:]


def adult(folder: Path | None = None) -> Draw:
    """Return a draw that splits Adult into original and sample."""
    import pyarrow.parquet as pq

    found = pq.read_table(need(ADULT, folder))
    names = ("age", "education-num", "hours-per-week")
    data = np.column_stack([found[name].to_numpy().astype(np.float64) for name in names])

    def draw(rng: np.random.Generator, ratio: float) -> tuple[Floats, Floats]:
        order = rng.permutation(data.shape[0])
        cut = round(data.shape[0] * ratio / (1 + ratio))
        return data[order[cut:]], data[order[:cut]]

    return draw


def errors(draw: Draw, ratio: float, seed: int) -> tuple[float, float, float]:
    """Return the relative errors of both attacks and of the sample's mean in one trial."""
    rng = np.random.default_rng(seed)
    data, sample = draw(rng, ratio)
    width = data.shape[1]
    seen = RotatedView({"name": "rotation"}, data @ haar(width, rng).T, np.arange(data.shape[0]))
    told = RowKnowledge(width, sample=sample)
    found = [float(KnownSample(centred).attack(seen, told).relative_errors(data).mean())
             for centred in (True, False)]
    return found[0], found[1], float(relative_errors(told.blind(), data).mean())


def by_ratio(draw: Draw, ratios: tuple[float, ...]) -> str:
    """Return errors by the size of the sample (Figures 2 and 4)."""
    rows = []
    for ratio in ratios:
        found = np.array([errors(draw, ratio, seed) for seed in range(TRIALS)])
        rows.append((f"{ratio:.0%}", *(shown(found[:, i]) for i in range(3))))
    return table(("sample", "paper", "origin", "mean"), rows)


def projection_errors(columns: int, trials: int) -> dict[bool, list[float]]:
    """Return relative errors trial by trial, as released and with axes rescaled."""
    kept: dict[bool, list[float]] = {False: [], True: []}
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        data, sample = gaussian(rng, 0.05)
        turned = data @ projection(columns, 2, "gaussian", rng).T
        seen = RotatedView({"name": "random-projection"}, turned, np.arange(1000))
        for rescale, errors_so in kept.items():
            guess = KnownSample(rescale=rescale).attack(seen, RowKnowledge(2, sample=sample))
            errors_so.append(float(guess.relative_errors(data).mean()))
    return kept


def projections() -> str:
    """Return errors by the number of released columns of one random projection."""
    rows = []
    for columns in (2, 10, 100, 1000):
        kept = projection_errors(columns, TRIALS)
        rows.append((str(columns), shown(kept[False]), shown(kept[True])))
    return table(("l", "origin", "origin, axes rescaled"), rows)


def seconds(dimensions: tuple[int, ...] = (2, 4, 6, 8, 10, 12)) -> str:
    """Return run times of both searches by dimension, 5,000 records and a sample of 250."""
    rows = []
    for width in dimensions:
        rng = np.random.default_rng(width)
        root = rng.standard_normal((width, width)) * np.arange(1, width + 1)
        data = rng.standard_normal((5250, width)) @ root.T + 10 * rng.standard_normal(width)
        seen = RotatedView({"name": "rotation"}, data[250:] @ haar(width, rng).T, np.arange(5000))
        took = []
        for search in ("all", "moments"):
            start = time.perf_counter()
            KnownSample(search=search).attack(seen, RowKnowledge(width, sample=data[:250]))
            took.append(time.perf_counter() - start)
        published = f"{PAPER_SECONDS[width]:,.0f}" if width in PAPER_SECONDS else ""
        rows.append((str(width), published, f"{took[0]:.3f}", f"{took[1]:.3f}"))
    return table(("dimensions", "paper (s)", "all signs (s)", "fast search (s)"), rows)


def page() -> str:
    """Run everything and return the page."""
    parts = [HEAD.format(trials=TRIALS),
             "## Breach probability (section 3.1)\n", breach_table(),
             "## The two-dimensional Gaussian, 1,000 records (Figures 1 and 2)\n",
             by_ratio(gaussian, (0.01, 0.02, 0.05, 0.1, 0.15, 0.2))]
    if find(ADULT):
        parts += ["## Adult: age, education-num, hours-per-week (Figures 3 and 4)\n",
                  by_ratio(adult(), (0.02, 0.05, 0.1, 0.15, 0.2))]
    parts += ["## One random projection, sample of 5% (section 6)\n", projections(),
              "## Run time, 5,250 records (section 4.4)\n", seconds()]
    return "\n".join(parts)


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs") / "experiments" / "liu2006.md")
    write_file(parser.parse_args().out, page().rstrip().encode() + b"\n")


if __name__ == "__main__":
    main()
