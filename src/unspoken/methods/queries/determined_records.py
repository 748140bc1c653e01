"""Which records do the answers to sums over sets of records determine?

Answered sums are linear equations in the records' values: one 0/1 row v for every set. With no
bounds on the values a record i is determined exactly if its unit vector lies in the rational span
of the rows, and a combination of two records if some a e_i + b e_j does.

The test is exact and never stores the reduced rows. Let V hold independent answered rows and
G = V V', whose entries are the overlaps of the sets. For x drawn uniformly modulo a prime p,

    r = x - V' y    with    y = G^-1 V x    (mod p)

is a uniform vector of the null space of V, as long as det G is not 0 modulo p. If e_i is in the
span then r_i = 0, always: the coefficients of e_i have denominators that divide det G. If it is
not, r_i is uniform, and 0 with probability 1/p. Two secret primes of 31 bits are used: a record
that is not determined looks determined with probability about 2^-61. In the other direction only
det G matters: a row independent over the rationals is taken for a dependent one if *both* primes
divide a determinant below n^m, which has at most m log2(n) / 30 such factors among some 5e7
primes: about 1e-10 for the thousandth row over 100,000 records. If one prime alone says so, both
are drawn again and everything is computed anew.

Records that no answered set separates form a class; a vector of the span is the same throughout
a class, so only classes smaller than `group` can be disclosed, and r is computed there alone.
G^-1 = H' D^-1 H is kept as rows of H: one more row a set, two products with H a question. The
products run in floating point on limbs of eleven bits, which is exact, and overlaps are popcounts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Bools, Ints, Words
from unspoken.methods.queries.modular_algebra import Border, Modular, Residues, random_prime
from unspoken.numerics.record_bitsets import pack, shared, unpack

_BLOCK = 16


class QuerySpan:
    """The span of the answered sets over `records` records, kept row by row."""

    def __init__(self, records: int, primes: tuple[int, ...] | None = None) -> None:
        self.records = records
        self.rank = 0
        self._labels = np.zeros(records, np.int64)
        self._sets: Words = np.zeros((16, -(-records // 64)), np.uint64)
        self._codes: list[npt.NDArray[np.intp]] = []
        chosen = primes or (random_prime(), random_prime())
        self._fields = [Modular(records, prime) for prime in chosen]
        self._last: tuple[bytes, list[Border] | None] | None = None

    def within(self, members: Bools) -> bool:
        """Return True if the sum over a set follows from the answered ones."""
        return self._borders(members) is None

    def discloses(self, members: Bools, group: int = 2) -> bool:
        """Return True if the span with one more set would disclose fewer than `group` records.

        Exact for 2 (single records) and 3 (any combination of two records). From 4 on every class
        of records that were asked about must hold `group` of them: safe, and stricter than needed.
        """
        borders = self._borders(members)
        if borders is None:
            return False
        labels, sizes = self._split(members)
        if group > 3:
            return bool(np.any(sizes[labels[self._asked(members)]] < group))
        small = np.flatnonzero(sizes[labels] < group)
        if not small.size:
            return False
        views = [View(self, field, field.moved(border), members)
                 for field, border in zip(self._fields, borders, strict=True)]
        return _still(views, small, labels) or (group == 3 and _parallel(
            views, small[sizes[labels[small]] == 1]))

    def determined(self) -> Ints:
        """Return the records whose values the answered sets determine."""
        alone = np.flatnonzero(np.bincount(self._labels)[self._labels] == 1)
        for field in self._fields:
            alone = alone[View(self, field, field.y, None).null(0, alone) == 0]
        return alone

    def revealed(self, members: Bools) -> Ints:
        """Return the records that the answered sets and one more would determine."""
        borders = self._borders(members)
        if borders is None:
            return self.determined()
        labels, sizes = self._split(members)
        alone = np.flatnonzero(sizes[labels] == 1)
        for field, border in zip(self._fields, borders, strict=True):
            alone = alone[View(self, field, field.moved(border), members).null(0, alone) == 0]
        return alone

    def add(self, members: Bools) -> None:
        """Keep one more answered set; one that follows from the others changes nothing."""
        borders = self._borders(members)
        if borders is None:
            return
        for field, border in zip(self._fields, borders, strict=True):
            field.add(border)
        self._labels, self._last = self._split(members)[0], None
        if self.rank % _BLOCK == 0:
            self._codes.append(np.zeros(self.records, np.intp))
        self._codes[-1] |= members.astype(np.intp) << self.rank % _BLOCK
        if self.rank == len(self._sets):
            self._sets = np.pad(self._sets, ((0, self.rank), (0, 0)))
        self._sets[self.rank] = pack(members)
        self.rank += 1

    def _borders(self, members: Bools) -> list[Border] | None:
        """Return how the set borders the rows, or None if it depends on them."""
        words = pack(members)
        if self._last is None or self._last[0] != words.tobytes():
            self._last = (words.tobytes(), self._bordered(members, words))
        return self._last[1]

    def _bordered(self, members: Bools, words: Words) -> list[Border] | None:
        overlaps = shared(self._sets[: self.rank], words)
        while True:
            borders = [field.border(overlaps, members) for field in self._fields]
            zeros = sum(border.pivot == 0 for border in borders)
            if zeros in (0, len(borders)):
                return None if zeros else borders
            self._draw_again()

    def _draw_again(self) -> None:
        """Start over with other primes: one of them divided a determinant."""
        anew = QuerySpan(self.records)
        for row in self._sets[: self.rank]:
            anew.add(unpack(row, self.records))
        self.__dict__.update(anew.__dict__)

    def _split(self, members: Bools) -> tuple[Ints, Ints]:
        """Return the class of every record once the set is answered, and the classes' sizes."""
        halves = 2 * self._labels + members
        sizes = np.bincount(halves)
        taken = np.flatnonzero(sizes)
        number = np.zeros(sizes.size, np.int64)
        number[taken] = np.arange(taken.size)
        return number[halves], sizes[taken]

    def _asked(self, members: Bools) -> Bools:
        """Return which records are in any set."""
        asked = members.copy()
        for codes in self._codes:
            asked |= codes != 0
        return asked

    def weigh(self, y: Residues, at: Ints, prime: np.uint64) -> Residues:
        """Return V' y at some records: sums of y over the sets that a record is in."""
        total, part = np.zeros(at.size, np.uint64), np.empty(at.size, np.uint32)
        for block, codes in enumerate(self._codes):
            weights = y[_BLOCK * block : min(_BLOCK * (block + 1), self.rank)]
            here = codes if at.size == self.records else codes.take(at)
            total += np.take(_subset_sums(weights, prime), here, out=part, mode="clip")
        return total


@dataclass(frozen=True)
class View:
    """The null vectors of one prime, perhaps with one more set."""

    span: QuerySpan
    field: Modular
    y: Residues
    last: Bools | None

    def null(self, probe: int, at: Ints) -> Residues:
        """Return a random null vector at some records."""
        p = self.field.p
        total = self.span.weigh(self.y[probe], at, p)
        if self.last is not None:
            total += np.where(self.last[at], self.y[probe, -1], np.uint64(0))
        return np.asarray((self.field.x[probe, at] + (p - total % p)) % p)


def _still(views: list[View], small: Ints, labels: Ints) -> bool:
    """Return True if the sum over some class is fixed under every null vector."""
    for view in views:
        # At most two residues of 31 bits a class: floats hold their sum exactly.
        sums = np.bincount(labels[small], view.null(0, small).astype(np.float64))
        moving = sums.astype(np.uint64) % view.field.p != 0
        small = small[~moving[labels[small]]]
        if not small.size:
            return False
    return True


def _parallel(views: list[View], alone: Ints) -> bool:
    """Return True if some combination of two records is fixed under every null vector."""
    ratios = [_ratio(view.null(0, alone), view.null(1, alone), int(view.field.p))
              for view in views]
    together = ratios[0] << np.uint64(32) | ratios[1]
    return bool(np.unique(together).size < alone.size)


def _subset_sums(weights: Residues, prime: np.uint64) -> npt.NDArray[np.uint32]:
    """Return the sum of the weights of every subset of a block, below twice the prime."""
    halves = []
    for half in (weights[: _BLOCK // 2], weights[_BLOCK // 2 :]):
        sums = np.zeros(1, np.uint64)
        for weight in half:
            sums = np.concatenate([sums, (sums + weight) % prime])
        halves.append(sums.astype(np.uint32))
    return np.add.outer(halves[1], halves[0]).reshape(-1)


def _ratio(first: Residues, second: Residues, prime: int) -> Residues:
    """Return first / second modulo a prime; parallel rows have the same ratio."""
    p = np.uint64(prime)
    power, base, exponent = np.ones(first.size, np.uint64), second.copy(), prime - 2
    while exponent:
        if exponent & 1:
            power = power * base % p
        base, exponent = base * base % p, exponent >> 1
    return np.asarray(first * power % p)
