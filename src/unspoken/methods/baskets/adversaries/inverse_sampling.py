"""Estimating, where counting is too large, how many compatible data sets disclose a person.

Many Markov chains walk over all data sets, whether they fit or not. A step changes one item of one
person, or lets two people exchange some of their items; it is accepted with probability
min(1, exp(-beta (E' - E))), where E is how far the counts are from those published. The steps are
symmetric, so that a chain visits data sets in proportion to exp(-beta E), and all that fit (E = 0)
alike. Any data set can be reached, since none is forbidden. (Walks over fitting data sets alone
need not reach all of them.) At steps at which the data set fits, the person asked about may have
changed places with anybody of whom nothing is known and who has what she must have: all these data
sets fit alike. What is averaged is the share of them in which she has the item.

How far to trust it: `beta` is set in a first part that is thrown away. Chains start at random
data sets far from each other, and `Sampled.mixed` says whether they agree in the end: the potential
scale reduction over half chains (Gelman and Rubin) is below 1.05 and nearly all chains found
fitting data sets again and again. The interval comes from the differences between chains. None of
this is proof: chains that all miss the same corner agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.errors import NotCoveredError
from unspoken.methods.baskets.adversaries.inverse_mining import (
    Group,
    Knows,
    Puzzle,
    baseline,
    group_of,
)
from unspoken.numerics.random import generator, seed_from
from unspoken.release.parameters import Whole, check

REDUCTION = 1.05
"""Half chains agree if their potential scale reduction is below this."""
VISITS = 20
"""Times that a chain must visit a fitting data set in each half."""
FITTING = 0.2
"""`beta` is raised until the chains fit for this share of the time."""
THIN = 4
"""Steps between two looks at a data set."""
_RULES = {"chains": (Whole(4), "Use 64."), "steps": (Whole(100), "Use 20000.")}


@dataclass(frozen=True)
class Sampled:
    """An estimated share with its interval and the convergence check of the chains.

    Attributes
    ----------
    item : str
        The item asked about.
    share, low, high : float
        The estimated share of compatible data sets and its interval.
    baseline : Fraction
        The share that the counts of single items alone give.
    fitting : float
        Share of the steps at which the data set fitted the published counts.
    reduction : float
        Potential scale reduction over half chains (Gelman and Rubin).
    silent : int
        Chains that hardly ever reached a fitting data set.
    chains, steps : int
        Number of chains, and of steps per chain.
    beta : float
        Inverse temperature at which the chains ran.
    """

    item: str
    share: float
    low: float
    high: float
    baseline: Fraction
    fitting: float
    reduction: float
    silent: int
    chains: int
    steps: int
    beta: float

    @property
    def mixed(self) -> bool:
        """Return True if the chains agree so well that the share may be used."""
        return self.reduction < REDUCTION and self.silent * 20 <= self.chains

    def summary(self) -> str:
        """Return the share, its interval and the check in one line."""
        word = "agree" if self.mixed else "DO NOT AGREE: do not use this number"
        return (f"{self.item}: {self.share:.1%} ({self.low:.1%} to {self.high:.1%}) of compatible "
                f"data sets, {float(self.baseline):.1%} by single items; {self.chains} chains of "
                f"{self.steps:,} steps {word} (scale reduction {self.reduction:.3f}, "
                f"{self.fitting:.1%} of steps fitting)")


class Chains:
    """Data sets, one per chain: the basket of every person as bits."""

    def __init__(self, asked: Puzzle, chains: int, rng: np.random.Generator) -> None:
        self.rng, self.items = rng, len(asked.items)
        self.has, self.lacks = (np.repeat([getattr(g, side) for g in asked.groups],
                                          [g.people for g in asked.groups])
                                for side in ("has", "lacks"))
        sets = [mask for mask, _ in asked.equal + asked.most]
        kinds = np.arange(1 << self.items)
        self.holds = np.stack([(kinds & mask) == mask for mask in sets] or [kinds < 0],
                              axis=1).astype(np.int64)
        self.wanted = np.array([many for _, many in asked.equal + asked.most] or [0], np.int64)
        self.bounded = np.arange(self.wanted.size) >= (len(asked.equal) if sets else 1)
        drawn = rng.integers(0, 1 << self.items, (chains, self.has.size))
        self.baskets = (drawn | self.has) & ~self.lacks
        self.sums = self.holds[self.baskets].sum(axis=1)
        self.energy = self._energy(self.sums)

    def _energy(self, sums: Ints) -> Ints:
        """Return how far counts are from those published."""
        off = sums - self.wanted
        return np.asarray(np.where(self.bounded, np.maximum(off, 0), np.abs(off)).sum(axis=1))

    def step(self, beta: float) -> None:
        """Propose one change in every chain, and take it or not."""
        chain = np.arange(self.baskets.shape[0])
        one, other = self._pairs(chain.size)
        was = self.baskets[chain, one], self.baskets[chain, other]
        now = self._proposed(was, one != other)
        sums = self.sums + sum(self.holds[n] - self.holds[w] for n, w in zip(now, was,
                                                                             strict=True))
        energy = self._energy(sums)
        taken = self._allowed(now, (one, other)) & (
            np.log(self.rng.random(chain.size)) < beta * (self.energy - energy))
        self.baskets[chain[taken], one[taken]] = now[0][taken]
        pair = taken & (one != other)
        self.baskets[chain[pair], other[pair]] = now[1][pair]
        self.sums[taken], self.energy[taken] = sums[taken], energy[taken]

    def _pairs(self, chains: int) -> tuple[Ints, Ints]:
        """Draw two people per chain; the same one twice means a change of her own basket."""
        people = self.has.size
        one = self.rng.integers(0, people, chains)
        other = self.rng.integers(0, people, chains)
        alone = self.rng.random(chains) < 0.3
        return one, np.where(alone, one, other)

    def _proposed(self, was: tuple[Ints, Ints], pair: Bools) -> tuple[Ints, Ints]:
        """Return the new baskets: some items exchanged, or one item of one person flipped."""
        flip = np.left_shift(1, self.rng.integers(0, self.items, pair.size))
        swap = (was[0] ^ was[1]) & self.rng.integers(0, 1 << self.items, pair.size)
        change = np.where(pair, swap, flip)
        # For one person alone the second basket must not be counted: it stays as it was.
        return was[0] ^ change, np.where(pair, was[1] ^ change, was[1])

    def _allowed(self, now: tuple[Ints, Ints], who: tuple[Ints, Ints]) -> Bools:
        """Return where both people have what they are known to have and lack what they lack."""
        fine = np.ones(now[0].size, np.bool_)
        for person, (basket, row) in enumerate(zip(now, who, strict=True)):
            known = ((basket & self.has[row]) == self.has[row]) & ((basket & self.lacks[row]) == 0)
            fine &= known | ((who[0] == who[1]) & (person == 1))
        return fine


def sample_disclosure(asked: Puzzle, item: str, person: Knows | None = None, *, chains: int = 64,
           steps: int = 20_000, random_state: Any = None) -> Sampled:
    """Estimate the share of compatible data sets in which a person has an item.

    For puzzles that are too large for `disclosure`. Check `.mixed` before the number is used: the
    chains may not have converged, and agreement is no proof that they have.

    Parameters
    ----------
    asked : Puzzle
        The published counts and what is known.
    item : str
        The item asked about.
    person : Knows, optional
        What is known of the person, one entry of the puzzle's knowledge. By default a person of
        whom nothing is known.
    chains : int, default 64
        Number of Markov chains, at least 4.
    steps : int, default 20000
        Steps per chain, at least 100.
    random_state : int or Generator, optional
        Makes the estimate repeatable.

    Returns
    -------
    Sampled

    Examples
    --------
    >>> estimate = sample_disclosure(asked, "pills")  # doctest: +SKIP
    >>> estimate.share if estimate.mixed else None  # doctest: +SKIP
    """
    check("sample_disclosure", _RULES, {"chains": chains, "steps": steps})
    bit, group = asked.bit(item), group_of(asked, person)
    walk = Chains(asked, chains, generator(seed_from(random_state), "inverse"))
    beta = _settle(walk, steps // 2)
    halves = np.stack([_walk(walk, beta, steps // 2, group, bit) for _ in range(2)])
    visits, sums = halves.sum(axis=0)[:2]
    if not visits.sum():
        raise NotCoveredError("No chain met a data set that fits. The published itemsets may "
                              "contradict what is known, or 'steps' must be larger.")
    return Sampled(item, *share_of(visits, sums), baseline(asked, bit, group),
                   float(visits.mean() / (2 * (steps // 2 // THIN))), _reduction(halves),
                   int((halves[:, 0].min(axis=0) < VISITS).sum()), chains, steps, beta)


def share_of(visits: Floats, sums: Floats) -> tuple[float, float, float]:
    """Return the share over all chains, and the ends of its 95% interval.

    Chains are independent of each other, so their spread is the error; there are few of them, which
    Student's quantile allows for.
    """
    from scipy.special import stdtrit

    share, chains = float(sums.sum() / visits.sum()), visits.size
    error = float(np.sqrt(np.sum((sums - share * visits) ** 2) * chains / (chains - 1))
                  / visits.sum())
    reach = float(stdtrit(chains - 1, 0.975)) * error
    return share, max(share - reach, 0.0), min(share + reach, 1.0)


def _settle(walk: Chains, steps: int) -> float:
    """Raise beta until data sets fit often enough, then walk on as long again."""
    beta, part = 0.25, max(steps // 20, 1)
    for _ in range(20):
        fitting = 0.0
        for _ in range(part):
            walk.step(beta)
            fitting += float((walk.energy == 0).mean()) / part
        if fitting >= FITTING:
            break
        beta *= 1.15
    for _ in range(steps):
        walk.step(beta)
    return beta


def _walk(walk: Chains, beta: float, steps: int, group: Group, bit: int) -> Floats:
    """Return per chain the fitting steps, and the sum and sum of squares of the share there."""
    sums = np.zeros((3, walk.baskets.shape[0]))
    alike = (walk.has == group.has) & (walk.lacks == group.lacks)
    free = (walk.has == 0) & (walk.lacks == 0) & ~alike
    for step in range(1, steps + 1):
        walk.step(beta)
        fits = walk.energy == 0
        if step % THIN == 0 and fits.any():
            share = _exchanged(walk.baskets[fits], alike, free, group, bit)
            sums[:, fits] += np.stack([np.ones(share.size), share, share**2])
    return sums


def _exchanged(baskets: Ints, alike: Bools, free: Bools, group: Group, bit: int) -> Floats:
    """Return how often a person of the group has the item if she changes places with the free."""
    others, own = baskets[:, free], (baskets[:, alike] & bit) > 0
    could = ((others & group.has) == group.has) & ((others & group.lacks) == 0)
    have = could & ((others & bit) > 0)
    places = 1 + could.sum(axis=1, keepdims=True)
    return np.asarray(((own + have.sum(axis=1, keepdims=True)) / places).mean(axis=1))


def _reduction(halves: Floats) -> float:
    """Return the potential scale reduction over the half chains that met fitting data sets."""
    visits, sums, squares = halves.transpose(1, 0, 2).reshape(3, -1)
    seen = visits > 0
    means = sums[seen] / visits[seen]
    within = float(np.sum(squares[seen] - visits[seen] * means**2) / visits[seen].sum())
    between = float(means.var(ddof=1)) if means.size > 1 else 0.0
    if within <= 1e-12:
        return 1.0 if between <= 1e-12 else float("inf")
    return float(np.sqrt((within + between) / within))
