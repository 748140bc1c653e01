"""The select-a-size operator that estimates supports best under a bound on amplification.

vcz2006 section 6.1.3. For a basket of m items let base[j] be the binomial probability of keeping j
items if all were kept like items from outside are inserted, with probability rho. A law p[j] =
base[j] f[j] amplifies by max f / min f (6.16), so that f lies between 1 and gamma up to a factor.
The standard deviation of the support of a rare set of k items is (rho (1 - rho))^(k/2) / |trace| /
sqrt(n), and the trace is the mean of a polynomial h[j] under p. A ratio of two linear forms in f is
largest at a corner: f = gamma where h is large (or where it is small), 1 elsewhere. So all best
laws for one rho and one k are found by sorting h, and rho by trying many. A design serves sets of 1
to k items: mining goes from small sets to larger ones, so that the worst of them counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.errors import InputError, explain
from unspoken.methods.baskets.select_a_size import Operator
from unspoken.methods.baskets.size_laws import Padded, Sizes, binomial

TRIES = 24


@dataclass(frozen=True)
class Best:
    """The best law for one size and one rho: p[j], and n times the (worst) variance."""

    law: Floats
    variance: float


def polynomial(k: int, size: int, rho: float) -> Floats:
    """Return h[j] = E[product over k given items of (kept or not - rho) | j of m are kept]."""
    j = np.arange(size + 1, dtype=np.float64)
    out, ratio = np.zeros(size + 1), np.ones(size + 1)
    for i in range(min(k, size) + 1):
        out += (-rho) ** (k - i) * math.comb(k, i) * ratio
        if i < size:
            ratio = ratio * np.maximum(j - i, 0.0) / (size - i)
    return out


def best_law(ks: Sequence[int], size: int, rho: float, gamma: float) -> Best:
    """Return the law that amplifies by gamma of least variance for the worst of some set sizes.

    For one k it is the best there is. For several, the best of those that are best for one of
    them at some number of raised j: a law that is best for pairs alone may leave no trace of
    single items, and then no miner can find the pairs.
    """
    base = binomial(size, rho)
    heights = np.array([polynomial(k, size, rho) for k in ks])
    noise = np.array([(rho * (1 - rho)) ** k for k in ks])[:, None]
    tried: list[tuple[float, npt.NDArray[np.int64]]] = []
    for height in (*heights, *-heights):
        order = np.argsort(-height, kind="stable")
        mass, pull = np.cumsum(base[order]), np.cumsum((base * heights)[:, order], axis=1)
        traces = (gamma - 1) * pull / (1 + (gamma - 1) * mass)
        variance = (noise / np.maximum(traces**2, 1e-300)).max(axis=0)
        best = int(np.argmin(variance))
        tried.append((float(variance[best]), order[:best + 1]))
    variance_, chosen = min(tried, key=lambda one: one[0])
    law = base.copy()
    law[chosen] *= gamma
    return Best(law / law.sum(), variance_)


def candidates() -> Floats:
    """Return the values of rho to try first."""
    return np.concatenate([np.geomspace(1e-4, 0.05, TRIES, endpoint=False),
                           np.linspace(0.05, 0.95, TRIES)])


def design(shares: Mapping[int, float], items: int, gamma: float, k: int,
           public: bool) -> Operator:
    """Return the operator of least variance for sets of up to k items at amplification gamma.

    `shares`: the share of baskets of each size. With public sizes every size has its own law and
    all share one rho; else one law is made for the largest size, and smaller baskets are padded.
    """
    sizes = {int(m): float(s) for m, s in shares.items() if s > 0 and m > 0}
    _check(sizes, items, gamma, k)
    if not public:
        sizes = {max(sizes): 1.0}
    rho = best_rho(tuple(sorted(sizes.items())), k, gamma)
    laws = {m: best_law(_ks(k, m), m, rho, gamma).law for m in sizes}
    if public:
        return Operator(Sizes({m: tuple(law.tolist()) for m, law in laws.items()}), rho, items)
    return Operator(Padded(tuple(laws[max(sizes)].tolist())), rho, items)


@lru_cache(maxsize=64)
def best_rho(sizes: tuple[tuple[int, float], ...], k: int, gamma: float) -> float:
    """Return the rho of least variance for baskets of these sizes and shares."""
    tries = candidates()
    for _ in range(2):
        totals = [_total(dict(sizes), k, float(rho), gamma) for rho in tries]
        best = int(np.argmin(totals))
        rho = float(tries[best])
        # Look again, closer, between the neighbours of the best.
        tries = np.linspace(tries[max(best - 1, 0)], tries[min(best + 1, tries.size - 1)], TRIES)
    return rho


def _total(sizes: Mapping[int, float], k: int, rho: float, gamma: float) -> float:
    """Return the variance over all sizes; baskets too small for k items do not matter."""
    large = {m: s for m, s in sizes.items() if m >= k} or sizes
    return sum(share * best_law(_ks(k, m), m, rho, gamma).variance for m, share in large.items())


def _ks(k: int, size: int) -> tuple[int, ...]:
    return tuple(range(1, min(k, size) + 1))


def _check(sizes: Mapping[int, float], items: int, gamma: float, k: int) -> None:
    if not sizes:
        raise InputError("All baskets are empty: there is nothing to design an operator for.")
    if max(sizes) > items:
        raise InputError(explain("The size of a basket", f"at most {items}, the number of items",
                                 max(sizes)))
    if not 1 < gamma < math.inf:
        raise InputError(explain("'gamma'", "a finite number above 1", gamma))
    if type(k) is not int or not 1 <= k <= max(sizes):
        raise InputError(explain("The size of itemsets to design for", f"an int from 1 to "
                                 f"{max(sizes)}, the largest basket", k))
