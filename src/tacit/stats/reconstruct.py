"""Reconstruction of a distribution from distorted values (as2000 section 3).

Equation (1) as printed has w_1 for w_i and z for a in the numerator; with both put right, one
step replaces the estimate by the mean of everybody's posterior,

    p_j <- sum_k (n_k / n) A_kj p_j / (A p)_k,

n_k reports in interval k and A the kernel. With a kernel whose columns sum to one this is the EM
algorithm, and its fixed point is the maximum-likelihood estimate; with the midpoint kernel as it
comes it is the iteration of as2000. What matters most is when to stop: the likelihood goes on
rising while the estimate starts to fit the sampling noise. Uniform noise over-fits five- to
twelvefold when iterated to the end; under Gaussian noise the estimate moves so slowly that the
usual rule, a small step, stops it far too early. The default rule holds out a fifth of the
records five times and stops where *their* likelihood is best, which does well on both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.errors import DataError, InputError, explain

Floats = npt.NDArray[np.float64]

RULES = ("held-out", "discrepancy", "change", "steps")
MAX_STEPS = 10_000
FOLDS = 5
PATIENCE = 6
"""Checkpoints without a better held-out likelihood before the search ends."""
SMALLEST_CHANGE = 1e-3
"""Successive estimates closer than this (L1) stop the rule "change"."""


@dataclass(frozen=True)
class Part:
    """Reports of one kind: how many in each interval, and the kernel they came through."""

    counts: Floats
    kernel: Floats


@dataclass(frozen=True)
class Found:
    """The estimate, the steps it took, and its deviance per reported interval."""

    probabilities: Floats
    steps: int
    deviance: float


def reconstruct(counts: Floats, kernel: Floats, stop: str = "held-out",
                steps: int = MAX_STEPS, seed: int = 0) -> Found:
    """Return the distribution behind binned reports; `steps` is the most that are taken."""
    return reconstruct_parts([Part(np.asarray(counts, np.float64), kernel)], stop, steps, seed)


def reconstruct_parts(parts: Sequence[Part], stop: str = "held-out",
                      steps: int = MAX_STEPS, seed: int = 0) -> Found:
    """Return the one distribution behind reports of several kinds, each used as what it is.

    True values come with the identity as their kernel, so that they count as what they are.
    """
    counts, kernel = _stacked(parts)
    if stop not in RULES:
        raise InputError(explain("'stop'", "one of " + ", ".join(RULES), stop))
    wanted = _steps_for(counts, kernel, stop, steps, seed)
    found = _iterate(counts[:, None], kernel, wanted)[:, 0]
    return Found(found, wanted, _deviance(counts, kernel @ found))


def _stacked(parts: Sequence[Part]) -> tuple[Floats, Floats]:
    counts = np.concatenate([part.counts for part in parts])
    kernel = np.vstack([part.kernel for part in parts])
    if counts.size != kernel.shape[0]:
        raise InputError(explain("A kernel", f"a row for each of {counts.size} counts",
                                 str(kernel.shape)))
    if not np.all(np.isfinite(counts)) or counts.min(initial=0) < 0 or counts.sum() <= 0:
        raise DataError(explain("Counts", "finite, never negative, and not all zero",
                                f"a total of {counts.sum()}"))
    return counts, _reachable(counts, kernel)


def _reachable(counts: Floats, kernel: Floats) -> Floats:
    """Let every interval explain a report that none can: it must not stop the iteration."""
    lost = (kernel.sum(axis=1) <= 0) & (counts > 0)
    return np.where(lost[:, None], 1e-300, kernel) if lost.any() else kernel


def _iterate(counts: Floats, kernel: Floats, steps: int) -> Floats:
    """Take some steps from the uniform distribution, for every column of counts at once."""
    estimate = _uniform(kernel, counts.shape[1])
    for estimate in _walk(counts, kernel, estimate, steps):
        pass
    return estimate


def _uniform(kernel: Floats, columns: int) -> Floats:
    return np.full((kernel.shape[1], columns), 1.0 / kernel.shape[1])


def _walk(counts: Floats, kernel: Floats, estimate: Floats, steps: int) -> Iterator[Floats]:
    """Yield the estimate after every step (equation (1) as corrected above)."""
    share = counts / counts.sum(axis=0)
    back = np.ascontiguousarray(kernel.T)
    for _ in range(steps):
        expected = kernel @ estimate
        np.maximum(expected, 1e-300, out=expected)
        np.divide(share, expected, out=expected)
        estimate = estimate * (back @ expected)
        # Rounding and unnormalised kernels: the sum is one again after every step.
        estimate /= estimate.sum(axis=0)
        yield estimate


def _steps_for(counts: Floats, kernel: Floats, stop: str, steps: int, seed: int) -> int:
    if stop == "steps":
        return steps
    if stop == "change":
        return _until_still(counts, kernel, steps)
    if stop == "discrepancy":
        return _until_it_fits(counts, kernel, steps)
    return _held_out(counts, kernel, steps, seed)


def _until_still(counts: Floats, kernel: Floats, steps: int) -> int:
    before = _uniform(kernel, 1)
    for number, estimate in enumerate(_walk(counts[:, None], kernel, before, steps), 1):
        if np.abs(estimate - before).sum() < SMALLEST_CHANGE:
            return number
        before = estimate
    return steps


def _until_it_fits(counts: Floats, kernel: Floats, steps: int) -> int:
    """Stop when the reports fit as well as a sample of this size fits its own distribution."""
    target = _noise_floor(counts)
    walk = _walk(counts[:, None], kernel, _uniform(kernel, 1), steps)
    for number, estimate in enumerate(walk, 1):
        if _deviance(counts, kernel @ estimate[:, 0]) <= target:
            return number
    return steps


def _noise_floor(counts: Floats) -> float:
    """Return the expected deviance of a right model: one for each interval that can be filled."""
    return float(max(np.minimum(counts, 1.0).sum() - 1.0, 1.0))


def _deviance(counts: Floats, expected: Floats) -> float:
    seen = counts > 0
    share = np.maximum(expected[seen] / expected.sum(), 1e-300)
    return float(2 * np.sum(counts[seen] * np.log(counts[seen] / (counts.sum() * share))))


def checkpoints(steps: int) -> npt.NDArray[np.int64]:
    """Return the steps at which held-out records are looked at, a tenth apart."""
    grid = np.unique(np.round(1.1 ** np.arange(0, 98)).astype(np.int64))
    return np.unique(np.append(grid[grid < steps], steps))


def _held_out(counts: Floats, kernel: Floats, steps: int, seed: int) -> int:
    """Return the number of steps after which held-out records are explained best."""
    folds = folded(counts, FOLDS, np.random.default_rng(seed))
    rest = counts[:, None] - folds
    if np.any(rest.sum(axis=0) <= 0):
        return 1
    walk = _walk(rest, kernel, _uniform(kernel, FOLDS), steps)
    best, best_at, waited = _explained(folds, kernel, _uniform(kernel, FOLDS)), 0, 0
    wanted = set(checkpoints(steps).tolist())
    for number, estimate in enumerate(walk, 1):
        if number not in wanted:
            continue
        found = _explained(folds, kernel, estimate)
        best_at, waited = (number, 0) if found > best else (best_at, waited + 1)
        best = max(best, found)
        if waited >= PATIENCE:
            break
    return best_at


def _explained(folds: Floats, kernel: Floats, estimate: Floats) -> float:
    expected = kernel @ estimate
    return float(np.sum(folds * np.log(np.maximum(expected, 1e-300))))


def folded(counts: Floats, folds: int, rng: np.random.Generator) -> Floats:
    """Deal whole counts out to folds at random, as if every record were dealt out."""
    rest = np.rint(counts).astype(np.int64)
    out = np.zeros((counts.size, folds))
    for index in range(folds - 1):
        dealt = rng.binomial(rest, 1.0 / (folds - index))
        out[:, index] = dealt
        rest = rest - dealt
    out[:, folds - 1] = rest
    return out
