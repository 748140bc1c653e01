"""as2000 section 5 again: `python -m unspoken_experiments.as2000.run [--rows N] [--out docs/...]`.

Accuracy of six strategies on five functions, uniform and Gaussian noise, 25% and 100% privacy;
accuracies against the privacy level; distance of reconstructed densities. "refined" goes on from
ByClass as in the paper, which puts records into intervals once, column by column.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.methods.distortion.noise_laws import Noise, for_width
from unspoken.mine import ReconstructingTreeClassifier, reconstruct
from unspoken_experiments.as2000.quest import COLUMNS, RANGES, group, matrix, people

CURVES = ("original", "byclass", "refined", "randomized")
STRATEGIES = ("original", "local", "refined", "byclass", "global", "randomized")
FUNCTIONS = (1, 2, 3, 4, 5)
FAMILIES = ("uniform", "gaussian")
PRIVACY = (0.25, 1.0)
LEVELS = (0.1, 0.25, 0.5, 1.0, 1.5, 2.0)
TEST_ROWS = 5000


@dataclass(frozen=True)
class Study:
    """People to learn from and people to test on; what the learner sees is drawn from a seed."""

    rows: int = 100_000
    seed: int = 1

    def noisy(self, family: str, privacy: float) -> tuple[Floats, list[Noise]]:
        """Return the reports of the training people and the noise of each column."""
        laws = [for_width(family, privacy * (RANGES[c][1] - RANGES[c][0])) for c in COLUMNS]
        rng = np.random.default_rng([self.seed, FAMILIES.index(family), round(100 * privacy)])
        drawn = [law.quantile(rng.random(self.rows)) for law in laws]
        return matrix(people(self.rows, self.seed)) + np.column_stack(drawn), laws

    def accuracy(self, function: int, strategy: str, family: str, privacy: float,
                 **options: Any) -> float:
        """Return the share of 5,000 undistorted people that a tree puts into the right group."""
        train, test = people(self.rows, self.seed), people(TEST_ROWS, self.seed + 1000)
        data, laws = self.noisy(family, privacy)
        learner = ReconstructingTreeClassifier(laws, strategy,
                                               support=[RANGES[c] for c in COLUMNS], **options)
        learner.fit(matrix(train) if strategy == "original" else data, group(train, function))
        return float((learner.predict(matrix(test)) == group(test, function)).mean())


def figure_5(study: Study, functions: Sequence[int] = FUNCTIONS,
             strategies: Sequence[str] = STRATEGIES) -> Iterator[str]:
    """Yield the lines of the table of accuracies."""
    yield "| noise | privacy | function | " + " | ".join(strategies) + " |"
    yield "|" + " --- |" * (3 + len(strategies))
    originals = {f: study.accuracy(f, "original", "uniform", 1.0) for f in functions}
    for family in FAMILIES:
        for privacy in PRIVACY:
            for function in functions:
                found = [originals[function] if s == "original"
                         else study.accuracy(function, s, family, privacy) for s in strategies]
                cells = " | ".join(f"{100 * value:.1f}" for value in found)
                yield f"| {family} | {privacy:.0%} | F{function} | {cells} |"


def figure_6(study: Study, functions: Sequence[int] = FUNCTIONS,
             levels: Sequence[float] = LEVELS) -> Iterator[str]:
    """Yield the lines of accuracies against the privacy level: the figure's curves, and refined."""
    yield "| noise | function | strategy | " + " | ".join(f"{p:.0%}" for p in levels) + " |"
    yield "|" + " --- |" * (3 + len(levels))
    for family, function, strategy in product(FAMILIES, functions, CURVES):
        shares = [study.accuracy(function, strategy, family, level) for level in levels]
        cells = " | ".join(f"{100 * share:.1f}" for share in shares)
        yield f"| {family} | F{function} | {strategy} | {cells} |"


def densities(rows: int = 100_000, seeds: Sequence[int] = range(5)) -> Iterator[str]:
    """Yield the L1 distance of reconstructed densities by stopping rule, 50 intervals, 100%."""
    rules = (("smoothed", 10_000), ("held-out", 10_000), ("discrepancy", 10_000),
             ("change", 10_000), ("steps", 39), ("steps", 10_000))
    yield "| noise | shape | " + " | ".join(f"{r} {s}" if r == "steps" else r
                                            for r, s in rules) + " |"
    yield "|" + " --- |" * (2 + len(rules))
    for family in FAMILIES:
        for shape in ("plateau", "triangles"):
            errors = np.array([[_error(family, shape, rows, seed, *rule) for rule in rules]
                               for seed in seeds])
            cells = " | ".join(f"{value:.3f}" for value in errors.mean(axis=0))
            yield f"| {family} | {shape} | {cells} |"


def _error(family: str, shape: str, rows: int, seed: int, rule: str, steps: int) -> float:
    rng = np.random.default_rng(seed)
    values = drawn(shape, rows, rng)
    noise = for_width(family, 1.0)
    found: Any = reconstruct(values + noise.quantile(rng.random(rows)), noise, 50,
                             support=(0.0, 1.0), stop=rule, steps=steps)
    truth = np.histogram(values, found.edges)[0] / rows
    return float(np.abs(found.probabilities - truth).sum())


def drawn(shape: str, rows: int, rng: np.random.Generator) -> Floats:
    """Return the two shapes of the original study: a plateau, and two triangles."""
    first = rng.random(rows)
    if shape == "plateau":
        return np.where(first < 0.8, 0.25 + 0.5 * rng.random(rows), rng.random(rows))
    return np.where(first < 0.5, rng.triangular(0, 0.25, 0.5, rows),
                    rng.triangular(0.5, 0.75, 1, rows))


def main() -> None:
    """Print the tables, or write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    study = Study(arguments.rows)
    lines = ["# as2000, section 5", "", f"{arguments.rows:,} people to learn from, {TEST_ROWS:,} "
             "undistorted ones to test on. Per cent right.", ""]
    for title, table in (("Strategies", figure_5(study)),
                         ("ByClass against privacy", figure_6(study)),
                         ("Densities: L1 distance, 5 draws", densities(arguments.rows))):
        lines += [f"## {title}", ""]
        for line in table:
            print(line, flush=True)
            lines.append(line)
        lines.append("")
    if arguments.out:
        arguments.out.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
