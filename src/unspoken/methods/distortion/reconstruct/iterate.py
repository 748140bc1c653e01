"""Reconstruction of a distribution from distorted values (as2000 section 3).

Equation (1) as printed has w_1 for w_i and z for a in the numerator; with both put right, one
step replaces the estimate by the mean of everybody's posterior,

    p_j <- sum_k (n_k / n) A_kj p_j / (A p)_k,

n_k reports in interval k and A the kernel. With a kernel whose columns sum to one this is the EM
algorithm, and its fixed point is the maximum-likelihood estimate; with the midpoint kernel as it
comes it is the iteration of as2000. What matters most is when to stop: the likelihood goes on
rising while the estimate starts to fit the sampling noise. Uniform noise over-fits five- to
twelvefold when iterated to the end; under Gaussian noise the estimate moves so slowly that the
usual rule, a small step, stops it far too early. The rule "held-out" holds out a fifth of the
records five times and stops where *their* likelihood is best, which does well on both. Better
than any stop is to iterate to the end of a smoother path: "smoothed" mixes each interval a little
with its neighbours after every step (EMS), and takes the most mixing that held-out records do not
speak against.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.errors import DataError, InputError, explain

RULES = ("smoothed", "held-out", "discrepancy", "change", "steps")
MAX_STEPS = 10_000
FOLDS = 5
PATIENCE = 4
"""Checkpoints without a better held-out likelihood before the search ends."""
MIXED = (0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 1e-3, 3e-4, 1e-4, 0.0)
"""Shares that an interval exchanges with each neighbour after a step, the smoothest first."""
STEPS_EACH = 250
"""Steps at every share of mixing, from the estimate of the one before."""
WORSE = 1.0
"""Held-out log likelihood that does not count: what one parameter gains by chance in five of six
cases (half of a chi-square of one degree)."""
SMALLEST_CHANGE = 1e-3
"""Successive estimates closer than this (L1) stop the rule "change"."""


@dataclass(frozen=True)
class Joint:
    """The kernel of two attributes with noise of their own: never written out, only applied."""

    first: Floats
    second: Floats

    @property
    def shape(self) -> tuple[int, int]:
        """Return the number of pairs of reported and of true intervals."""
        return (self.first.shape[0] * self.second.shape[0],
                self.first.shape[1] * self.second.shape[1])

    @property
    def T(self) -> Joint:
        """Return the transposed kernel."""
        return Joint(np.ascontiguousarray(self.first.T), np.ascontiguousarray(self.second.T))

    def __matmul__(self, flat: Floats) -> Floats:
        cube = np.moveaxis(flat.reshape(self.first.shape[1], self.second.shape[1], -1), 2, 0)
        product = np.moveaxis(self.first @ cube @ self.second.T, 0, 2)
        return np.asarray(product.reshape((self.shape[0], *flat.shape[1:])))


Kernel = Floats | Joint


@dataclass(frozen=True)
class Part:
    """Reports of one kind: how many in each interval, and the kernel they came through."""

    counts: Floats
    kernel: Kernel


@dataclass(frozen=True)
class Solution:
    """The estimate, the steps it took, its deviance per reported interval, and the mixing."""

    probabilities: Floats
    steps: int
    deviance: float
    mixing: float = 0.0


def reconstruct(counts: Floats, kernel: Kernel, stop: str = "held-out",
                steps: int = MAX_STEPS, seed: int = 0, start: Floats | None = None) -> Solution:
    """Return the distribution behind binned reports; `steps` is the most that are taken.

    The iteration starts from the uniform distribution, or from `start`: what is known about
    similar people. What a rule stops early stays near its start.
    """
    counts = np.asarray(counts, np.float64).reshape(-1)
    kernel = checked(counts, kernel)
    if stop not in RULES:
        raise InputError(explain("'stop'", "one of " + ", ".join(RULES), stop))
    first = _uniform(kernel) if start is None else np.maximum(start, 1e-12)
    if stop == "smoothed" and not isinstance(kernel, Joint) and start is None:
        return _smoothed(counts, kernel, steps, seed)
    if stop in ("held-out", "smoothed"):
        # Two columns, or a start to stay near: there the early stop does the smoothing.
        wanted, shares = _held_out(counts, kernel, first / first.sum(), steps, seed)
    else:
        wanted = _steps_for(counts, kernel, first, stop, steps)
        shares = iterate(counts[:, None], kernel, wanted, first)[:, 0]
    return Solution(shares, wanted, _deviance(counts, kernel @ shares))


def stacked(parts: Sequence[Part]) -> Part:
    """Return reports of several kinds as one: one distribution is behind them all.

    True values come with the identity as their kernel, so that they count as what they are.
    """
    if len(parts) == 1:
        return parts[0]
    return Part(np.concatenate([part.counts for part in parts]),
                np.vstack([np.asarray(part.kernel) for part in parts]))


def checked(counts: Floats, kernel: Kernel) -> Kernel:
    """Refuse counts that are none, or that do not fit the kernel."""
    if counts.size != kernel.shape[0]:
        raise InputError(explain("A kernel", f"a row for each of {counts.size} counts",
                                 str(kernel.shape)))
    if not np.all(np.isfinite(counts)) or counts.min(initial=0) < 0 or counts.sum() <= 0:
        raise DataError(explain("Counts", "finite, never negative, and not all zero",
                                f"a total of {counts.sum()}"))
    return kernel if isinstance(kernel, Joint) else _reachable(counts, kernel)


def _reachable(counts: Floats, kernel: Floats) -> Floats:
    """Let every interval explain a report that none can: it must not stop the iteration."""
    lost = (kernel.sum(axis=1) <= 0) & (counts > 0)
    return np.where(lost[:, None], 1e-300, kernel) if lost.any() else kernel


def iterate(counts: Floats, kernel: Kernel, steps: int, start: Floats | None = None,
            mixing: float = 0.0) -> Floats:
    """Take some steps from a start, for every column of counts at once."""
    first = _wide(_uniform(kernel) if start is None else start, counts.shape[1])
    walk = _walk(counts, kernel, first, steps, mixing)
    return deque(walk, maxlen=1).pop() if steps else first


def _uniform(kernel: Kernel) -> Floats:
    return np.full(kernel.shape[1], 1.0 / kernel.shape[1])


def _wide(start: Floats, columns: int) -> Floats:
    return np.repeat((start / start.sum())[:, None], columns, axis=1)


def _walk(counts: Floats, kernel: Kernel, estimate: Floats, steps: int,
          mixing: float = 0.0) -> Iterator[Floats]:
    """Yield the estimate after every step (equation (1) as corrected above)."""
    share = counts / counts.sum(axis=0)
    back = kernel.T if isinstance(kernel, Joint) else np.ascontiguousarray(kernel.T)
    for _ in range(steps):
        expected = kernel @ estimate
        np.maximum(expected, 1e-300, out=expected)
        np.divide(share, expected, out=expected)
        estimate = estimate * (back @ expected)
        if mixing:
            estimate = _mixed(estimate, mixing)
        # Rounding and unnormalised kernels: the sum is one again after every step.
        estimate /= estimate.sum(axis=0)
        yield estimate


def _mixed(estimate: Floats, share: float) -> Floats:
    """Exchange a share of every interval with each of its neighbours; ends keep theirs."""
    moved = share * np.diff(estimate, axis=0)
    out = estimate.copy()
    out[:-1] += moved
    out[1:] -= moved
    return out


def _smoothed(counts: Floats, kernel: Floats, steps: int, seed: int) -> Solution:
    """Return the smoothest estimate that explains held-out records as well as the best one.

    Mixing goes down step by step, each time from the estimate before, with the folds beside it.
    """
    folds = folded(counts, FOLDS, np.random.default_rng(seed))
    rest = counts[:, None] - folds
    if np.any(rest.sum(axis=0) <= 0):
        return Solution(_uniform(kernel), 0, _deviance(counts, kernel @ _uniform(kernel)))
    every, estimate = np.column_stack([rest, counts]), _wide(_uniform(kernel), FOLDS + 1)
    each, tried = max(1, min(STEPS_EACH, steps // len(MIXED))), []
    for number, mixing in enumerate(MIXED, 1):
        estimate = deque(_walk(every, kernel, estimate, each, mixing), maxlen=1).pop()
        explained = _explained(folds, kernel, estimate[:, :FOLDS])
        tried.append((explained, mixing, number * each, estimate[:, FOLDS]))
        if explained < max(tried, key=lambda one: one[0])[0] - 8 * WORSE:
            break
    enough = max(tried, key=lambda one: one[0])[0] - WORSE
    _, mixing, taken, chosen = next(one for one in tried if one[0] >= enough)
    return Solution(chosen, taken, _deviance(counts, kernel @ chosen), mixing)


def _steps_for(counts: Floats, kernel: Kernel, start: Floats, stop: str, steps: int) -> int:
    if stop == "steps":
        return steps
    before = _wide(start, 1)
    target = _noise_floor(counts)
    for number, estimate in enumerate(_walk(counts[:, None], kernel, before, steps), 1):
        if stop == "change" and np.abs(estimate - before).sum() < SMALLEST_CHANGE:
            return number
        # The reports fit as well as a sample of this size fits its own distribution.
        if stop == "discrepancy" and _deviance(counts, kernel @ estimate[:, 0]) <= target:
            return number
        before = estimate
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


def _held_out(counts: Floats, kernel: Kernel, start: Floats, steps: int,
              seed: int) -> tuple[int, Floats]:
    """Return the step after which held-out records are explained best, and the estimate then.

    The estimate from all records runs along with those that leave a fold out.
    """
    folds = folded(counts, FOLDS, np.random.default_rng(seed))
    rest = counts[:, None] - folds
    if np.any(rest.sum(axis=0) <= 0):
        return 0, start
    walk = _walk(np.column_stack([rest, counts]), kernel, _wide(start, FOLDS + 1), steps)
    best, best_at, best_shares, waited = _explained(folds, kernel, _wide(start, FOLDS)), 0, start, 0
    wanted = set(checkpoints(steps).tolist())
    for number, estimate in enumerate(walk, 1):
        if number not in wanted:
            continue
        now = _explained(folds, kernel, estimate[:, :FOLDS])
        waited += 1
        if now > best:
            best, best_at, best_shares, waited = now, number, estimate[:, FOLDS], 0
        if waited >= PATIENCE:
            break
    return best_at, best_shares


def _explained(folds: Floats, kernel: Kernel, estimate: Floats) -> float:
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
