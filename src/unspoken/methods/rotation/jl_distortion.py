"""How far a random projection may stretch or shrink distances (Johnson and Lindenstrauss).

With Gaussian entries the squared length of a projected vector is its squared length times a
chi-squared variable over its degrees of freedom, so the chance for one pair is exact; with sign
entries the bound of Achlioptas (2003) holds. Pairs are joined by the union bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import InputError, unknown


def _gaussian(shape: tuple[int, int], rng: np.random.Generator) -> Floats:
    return rng.standard_normal(shape)


def _sign(shape: tuple[int, int], rng: np.random.Generator) -> Floats:
    return np.asarray(rng.integers(0, 2, shape) * 2.0 - 1.0)


def _sparse(shape: tuple[int, int], rng: np.random.Generator) -> Floats:
    die = rng.integers(0, 6, shape)
    return np.asarray(np.sqrt(3.0) * ((die == 0).astype(np.float64) - (die == 1)))


def _gaussian_failure(delta: float, rows: int) -> float:
    from scipy.special import gammainc, gammaincc

    low = float(gammainc(rows / 2, max(1 - delta, 0.0) * rows / 2))
    return low + float(gammaincc(rows / 2, (1 + delta) * rows / 2))


def _bounded_failure(delta: float, rows: int) -> float:
    # Beyond 1 the exponent turns; a larger change is no likelier than one of 1.
    delta = min(delta, 1.0)
    return float(2 * np.exp(-rows * (delta**2 / 4 - delta**3 / 6)))


@dataclass(frozen=True)
class Entries:
    """A law of the entries: drawing, and the chance of a change; `exact` ones have any delta."""

    draw: Callable[[tuple[int, int], np.random.Generator], Floats]
    failure: Callable[[float, int], float]
    exact: bool = False


LAWS: Mapping[str, Entries] = {
    "gaussian": Entries(_gaussian, _gaussian_failure, exact=True),
    "sign": Entries(_sign, _bounded_failure),
    "sparse": Entries(_sparse, _bounded_failure),
}
ENTRIES = tuple(LAWS)


def entries_of(name: str) -> Entries:
    """Return a law of entries by name; an unknown one is refused."""
    if name not in LAWS:
        raise InputError(unknown("'entries'", name, LAWS))
    return LAWS[name]


def projection(rows: int, columns: int, entries: str, rng: np.random.Generator) -> Floats:
    """Draw R with independent entries of mean 0 and variance 1 / rows (liu2006 section 6).

    "sign" entries are +-1, "sparse" ones +-sqrt(3) with chance 1/6 each and 0 otherwise.
    """
    return np.asarray(entries_of(entries).draw((rows, columns), rng) / np.sqrt(rows))


def failure(delta: float, rows: int, entries: str = "gaussian") -> float:
    """Bound the chance that one squared distance changes by more than the factor 1 +- delta."""
    return entries_of(entries).failure(delta, rows)


def distortion(rows: int, records: int, chance: float = 0.05,
               entries: str = "gaussian") -> float:
    """Return the least delta such that all squared distances stay within 1 +- delta.

    With probability 1 - chance, over all pairs of n records; infinite where the bound for
    sign entries says nothing. From 1 on distances may all but vanish.
    """
    pairs = max(1, records * (records - 1) // 2)
    low, high = 0.0, 1.0
    while pairs * failure(high, rows, entries) > chance:
        if not entries_of(entries).exact:
            return float("inf")
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        if pairs * failure(middle, rows, entries) > chance:
            low = middle
        else:
            high = middle
    return high
