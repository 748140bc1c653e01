"""liu2006 as findings: the breach probability, Figures 1 to 4, the remedy, and the run times."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.attack import KnownSample, RotatedView, RowKnowledge
from unspoken.numerics.orthogonal import breach_probability, haar, paper_breach
from unspoken_experiments.findings import Finding, Section, Setting
from unspoken_experiments.liu2006.pictures import clouds, curves, records
from unspoken_experiments.liu2006.run import (
    PAPER_SECONDS,
    TRIALS,
    Draw,
    adult,
    errors,
    gaussian,
    projection_errors,
)

ATTACKS = ("the paper's attack", "moments about the origin", "the sample's mean")
Part = tuple[str, Any]


def parts(setting: Setting) -> list[Part]:
    """Return the parts of the paper, by name."""
    trials = setting.scaled(TRIALS, 8)
    return [("section 3.1", breaches),
            ("Figures 1 and 2", lambda: example("Figure 1", "Figure 2", "a Gaussian",
                                                gaussian, trials)),
            ("Figures 3 and 4", lambda: example(
                "Figure 3", "Figure 4", "Adult", adult(setting.folder), trials)),
            ("section 6", lambda: remedy(trials)),
            ("section 4.4", lambda: run_times((2, 8) if setting.quick else (2, 12)))]


def breaches() -> Iterator[Section]:
    """Equation (2) beside the exact probability."""
    found = tuple(Finding(f"n - k = {q}, s = {s}", f"{float(paper_breach(s)):.4f}",
                          float(breach_probability(s, q)))
                  for q in (1, 2, 3, 5, 10) for s in (0.5, 0.45))
    yield Section("liu2006", "Section 3.1", "the probability of a breach", found, (
        "Published: equation (2). It holds for n - k = 2 alone; the exact probability is a "
        "regularised incomplete beta function. s = ||x|| epsilon / (2 d).",), digits=4)


def example(first: str, second: str, name: str, draw: Draw, trials: int) -> Iterator[Section]:
    """A scatter plot before and after, and errors by the size of the sample."""
    one = attacked(draw, 0.05)
    picture = records if name == "Adult" else clouds
    relative = float(np.mean(np.linalg.norm(one[2] - one[0], axis=1)
                             / np.linalg.norm(one[0], axis=1)))
    yield Section("liu2006", first, f"{name}, a sample of 5%",
                  (Finding("relative error of this draw, the paper's attack", "", relative),),
                  digits=4, figure=partial(picture, *one),
                  caption="Original, released and recovered records.")
    ratios = (0.02, 0.05, 0.1, 0.15, 0.2)
    ours = {ratio: np.array([errors(draw, ratio, seed) for seed in range(trials)])
            for ratio in ratios}
    found = tuple(_mean(f"{ratio:.0%} sample, {attack}", ours[ratio][:, i])
                  for i, attack in enumerate(ATTACKS) for ratio in ratios)
    yield Section("liu2006", second, f"{name}, relative error by size of the sample", found, (
        "The figure prints no numbers. It says that the error falls as the sample grows, and so "
        "does ours. Guessing the sample's mean needs no release: that is the baseline.",),
        digits=4, figure=partial(curves, ours, ATTACKS),
        caption=f"Mean relative error over {trials} trials with 95% intervals.")


def attacked(draw: Draw, ratio: float, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    """Return original, released and recovered records of one draw."""
    rng = np.random.default_rng(seed)
    data, sample = draw(rng, ratio)
    turned = data @ haar(data.shape[1], rng).T
    seen = RotatedView({"name": "rotation"}, turned, np.arange(data.shape[0]))
    guess = KnownSample(True).attack(seen, RowKnowledge(data.shape[1], sample=sample))
    return data, turned, guess.records


def remedy(trials: int) -> Iterator[Section]:
    """One random projection: the paper says that the attack will not work."""
    found = tuple(_mean(f"l = {columns}", projection_errors(columns, trials)[False])
                  for columns in (2, 10, 100, 1000))
    yield Section("liu2006", "Section 6", "random projection as a remedy", found, (
        "The paper says that the attack will not work, because the covariance vanishes. It does on "
        "average over projections, not for the one that is released: the error falls as more "
        "columns are released.",), "Relative error, a sample of 5%.", digits=4)


def run_times(dimensions: tuple[int, ...]) -> Iterator[Section]:
    """Seconds beside the paper's, on other machines twenty years apart."""
    found = []
    for width in dimensions:
        rng = np.random.default_rng(width)
        data = rng.standard_normal((5250, width)) * np.arange(1, width + 1) + 10
        seen = RotatedView({"name": "rotation"}, data[250:] @ haar(width, rng).T, np.arange(5000))
        start = time.perf_counter()
        KnownSample(search="all").attack(seen, RowKnowledge(width, sample=data[:250]))
        seconds = PAPER_SECONDS.get(width)
        found.append(Finding(f"{width} dimensions, all signs, s",
                             f"<{seconds:,.0f}" if seconds else "",
                             time.perf_counter() - start))
    yield Section("liu2006", "Section 4.4", "run time, 5,250 records", tuple(found), (
        "The paper's seconds are shown as a bound: machines differ. A Gray code makes each choice "
        "of signs a rank-1 update.",), digits=3)


def _mean(what: str, values: Any) -> Finding:
    sample = np.asarray(values)
    half = 1.96 * sample.std(ddof=1) / np.sqrt(sample.size)
    middle = float(sample.mean())
    return Finding(what, "", middle, middle - half, middle + half)
