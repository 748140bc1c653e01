"""Exact linear algebra modulo secret primes of 31 bits: the inverse of a growing Gram matrix.

G = V V' for 0/1 rows V. G^-1 = H' D^-1 H is kept as rows of H, one more for every row of V, and
with it y = G^-1 V x for random x. `stats.query_span` says what this is for and why it is safe.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Bools, Floats, Ints

Residues = npt.NDArray[np.uint64]

PROBES = 2
"""Random vectors per prime: two are needed to see that two records' rows are parallel."""
_LOW, _HIGH = 1 << 30, 1 << 31
_LIMB, _LIMBS, _EXACT = 11, 3, 1 << 11


def random_prime() -> int:
    """Return a prime of 31 bits from the operating system's randomness."""
    while True:
        candidate = _LOW + secrets.randbelow(_HIGH - _LOW) | 1
        if is_prime(candidate):
            return candidate


def is_prime(number: int) -> bool:
    """Return True if a number is prime: Miller and Rabin's test, exact below 3,215,031,751."""
    if number < 2 or any(number % small == 0 and number != small for small in (2, 3, 5, 7)):
        return False
    return number in (2, 3, 5, 7) or all(_witness(number, base) for base in (2, 3, 5, 7))


def _witness(number: int, base: int) -> bool:
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    power = pow(base, odd, number)
    if power in (1, number - 1):
        return True
    return any(pow(base, odd << k, number) == number - 1 for k in range(1, twos))


def times(matrix: Floats, vector: Residues, prime: np.uint64) -> Residues:
    """Return matrix @ vector modulo a prime of at most 31 bits, exactly.

    A limb of 11 bits times an entry of 31 bits is below 2^42; sums of 2^11 of them stay below 2^53.
    """
    shifts = np.uint64(_LIMB) * np.arange(_LIMBS, dtype=np.uint64)
    limbs = (vector[:, None] >> shifts & np.uint64(_EXACT - 1)).astype(np.float64)
    total = np.zeros((matrix.shape[0], _LIMBS), np.uint64)
    for start in range(0, vector.size, _EXACT):
        part = matrix[:, start : start + _EXACT] @ limbs[start : start + _EXACT]
        total += part.astype(np.uint64) % prime
    # Each column is below 2^31 times the number of chunks: shifting it by 22 bits is safe.
    weights = np.uint64(1) << shifts
    return np.asarray((total % prime * weights % prime).sum(axis=1) % prime)


@dataclass(frozen=True)
class Border:
    """What one more row does modulo one prime: G^-1 g, the pivot, its V x, and how y moves."""

    solved: Residues
    pivot: int
    sums: Residues
    step: Residues


class Modular:
    """G^-1 and y = G^-1 V x modulo one prime, bordered row by row."""

    def __init__(self, records: int, prime: int) -> None:
        self.p = np.uint64(prime)
        rng = np.random.Generator(np.random.PCG64(secrets.randbits(128)))
        self.x: Residues = rng.integers(0, prime, (PROBES, records), dtype=np.uint64)
        self._h = np.zeros((16, 16))
        self._d = np.zeros(16, np.uint64)
        self.rows = 0
        self.y: Residues = np.zeros((PROBES, 0), np.uint64)
        self._vx: Residues = np.zeros((PROBES, 0), np.uint64)

    def border(self, overlaps: Ints, members: Bools) -> Border:
        """Return what a new row would change; a pivot of 0 says that it depends on the others."""
        p, m, prime = self.p, self.rows, int(self.p)
        g = overlaps.astype(np.uint64) % p
        h = self._h[:m, :m]
        solved = times(h.T, times(h, g, p) * self._d[:m] % p, p)
        pivot = (int(np.count_nonzero(members)) - int((g * solved % p).sum())) % prime
        sums = (self.x * members).sum(axis=1) % p
        rest = (sums + p - (self._vx * solved % p).sum(axis=1) % p) % p
        return Border(solved, pivot, sums, rest * np.uint64(_inverse(pivot, prime)) % p)

    def moved(self, border: Border) -> Residues:
        """Return y with the new row."""
        down = self.p - border.solved * border.step[:, None] % self.p
        return np.concatenate([(self.y + down) % self.p, border.step[:, None]], axis=1)

    def add(self, border: Border) -> None:
        """Keep the new row."""
        m = self.rows
        if m == self._d.size:
            self._h = np.pad(self._h, ((0, m), (0, m)))
            self._d = np.pad(self._d, (0, m))
        self._h[m, :m] = (self.p - border.solved) % self.p
        self._h[m, m] = 1
        self._d[m] = _inverse(border.pivot, int(self.p))
        self._vx = np.concatenate([self._vx, border.sums[:, None]], axis=1)
        self.y, self.rows = self.moved(border), m + 1


def _inverse(number: int, prime: int) -> int:
    return pow(number, -1, prime) if number else 0
