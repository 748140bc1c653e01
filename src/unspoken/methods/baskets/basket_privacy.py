"""How private randomised baskets are, and what can still be learned from them.

vcz2006 section 6.1.3. `amplification_of` is gamma (6.16), `design_operator` finds the select-a-size
operator that estimates supports best while it excludes a breach, `item_breaches` states what a
randomised basket discloses about single items, and `mask_privacy` is the measure of the MASK scheme
(6.1.4), which weighs guessed ones and guessed zeros. `audit_baskets` attacks a release.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.errors import InputError, explain
from unspoken.methods.baskets.estimate_supports import TOLD_APART
from unspoken.methods.baskets.operator_design import design
from unspoken.methods.baskets.select_a_size import (
    Operator,
    amplification,
    deviation,
    transition,
)
from unspoken.numerics.breach_bound import largest_gamma
from unspoken.table.baskets import Baskets


@dataclass(frozen=True)
class Design:
    """An operator, the bound it keeps, and the supports that can be estimated from its output.

    Supports below `least` cannot be distinguished from zero with 95% confidence.

    Attributes
    ----------
    operator : Operator
        The select-a-size operator.
    gamma : float
        Amplification that it reaches.
    rho1, rho2 : float
        The excluded breach: no property of probability up to rho1 reaches rho2.
    public : bool
        Whether the sizes of the original baskets are published.
    baskets : int
        Number of baskets for which `deviations` are stated.
    deviations : mapping from int to float
        For sets of k items, the standard deviation of the estimated support of a very rare set.
    """

    operator: Operator
    gamma: float
    rho1: float
    rho2: float
    public: bool
    baskets: int
    deviations: Mapping[int, float]

    @property
    def least(self) -> dict[int, float]:
        """Return the least support that can be distinguished from zero, by the size of sets."""
        return {k: TOLD_APART * deviation for k, deviation in self.deviations.items()}

    def summary(self) -> str:
        """Return the design and what can be estimated, in plain words."""
        lines = [f"select-a-size, rho {self.operator.rho:.4g}, gamma {self.gamma:.6g}: no property "
                 f"of probability up to {self.rho1:g} reaches {self.rho2:g}; sizes "
                 + ("are public" if self.public else "stay hidden")]
        for k, value in self.deviations.items():
            limit = f"supports below {self.least[k]:.2%} cannot be distinguished from zero" \
                if self.least[k] < 1 else "no support can be estimated"
            lines.append(f"  sets of {k}: standard deviation {value:.2%} with {self.baskets:,} "
                         f"baskets; {limit}")
        return "\n".join(lines)


def design_operator(baskets: Baskets, rho1: float, rho2: float, *, design_for: int = 3,
                    public_sizes: bool = False) -> Design:
    """Return the operator that estimates supports best while it excludes a breach (vcz2006 6.1.3).

    The sizes of the given baskets enter the design; an operator designed for secret sizes discloses
    something about them when it is published.

    Parameters
    ----------
    baskets : Baskets
        Baskets whose sizes the operator is designed for.
    rho1, rho2 : float
        A property of probability up to rho1 must not become as likely as rho2.
    design_for : int, default 3
        Estimate sets of up to this many items as accurately as possible.
    public_sizes : bool, default False
        Whether the sizes of the original baskets are published.

    Returns
    -------
    Design

    Examples
    --------
    >>> print(design_operator(baskets, 0.05, 0.5).summary())  # doctest: +SKIP
    """
    gamma = largest_gamma(rho1, rho2) * (1 - 1e-9)
    sizes, counts = np.unique(baskets.sizes, return_counts=True)
    shares = dict(zip(sizes.tolist(), (counts / max(counts.sum(), 1)).tolist(), strict=True))
    operator = design(shares, len(baskets.items), gamma, design_for, public_sizes)
    deviations = {k: expected_deviation(operator, k, baskets, public_sizes)
                  for k in range(1, design_for + 1)}
    reached = amplification(operator, sizes, public_sizes)
    return Design(operator, reached, rho1, rho2, public_sizes, len(baskets), deviations)


def expected_deviation(operator: Operator, k: int, baskets: Baskets, public: bool) -> float:
    """Return the standard deviation of the support of a set of k items that nobody has."""
    return _deviation_with(operator, k, baskets, public, 0)


def largest_deviation(operator: Operator, k: int, baskets: Baskets, public: bool) -> float:
    """Return the largest standard deviation that the support of any set of k items can have.

    It depends on how many items of the set the baskets hold: an item that is there adds more
    variance than one that is not. No table exceeds the largest over that number.
    """
    return max(_deviation_with(operator, k, baskets, public, held) for held in range(k + 1))


def _deviation_with(operator: Operator, k: int, baskets: Baskets, public: bool,
                    held: int) -> float:
    sizes, counts = np.unique(baskets.sizes, return_counts=True)
    partial = np.eye(k + 1)[held]
    if operator.size_free and not public:
        size = max(int(sizes.max()), held)
        return deviation(operator, k, min(size, operator.items), len(baskets), partial)
    total = sum(n * (deviation(operator, k, m, 1, np.eye(k + 1)[min(held, m)]) ** 2
                     if m >= k else 0.0)
                for m, n in zip(sizes.tolist(), counts.tolist(), strict=True))
    return math.sqrt(total) / len(baskets)


def amplification_of(operator: Operator, baskets: Baskets, public_sizes: bool = False) -> float:
    """Return the amplification gamma of an operator (vcz2006 equation 6.16).

    Parameters
    ----------
    operator : Operator
        The operator.
    baskets : Baskets
        Baskets whose sizes are considered.
    public_sizes : bool, default False
        If True, only baskets of the same size need to be hard to distinguish.

    Returns
    -------
    float
        Gamma over all pairs of sizes that occur; infinite where nothing is bounded.
    """
    return amplification(operator, np.unique(baskets.sizes), public_sizes)


@dataclass(frozen=True)
class ItemBreaches:
    """What one item in a randomised basket discloses about the original, by item and overall.

    Attributes
    ----------
    items : tuple of str
        Names of the items.
    before : array of float
        Frequency of each item in the original.
    after : array of float
        Probability that an item that is seen was in the original basket.
    breached : array of bool
        Items that rise from rho1 or less to rho2 or more.
    overall : float
        Share of the seen items, weighted by how often they are seen, that are breached.
    """

    items: tuple[str, ...]
    before: Floats
    after: Floats
    breached: npt.NDArray[np.bool_]
    overall: float

    def frame(self) -> Any:
        """Return an Arrow table: item, before, after, breached."""
        import pyarrow as pa

        return pa.table({"item": list(self.items), "before": self.before, "after": self.after,
                         "breached": self.breached})


def item_breaches(operator: Operator, baskets: Baskets, rho1: float = 0.05,
                  rho2: float = 0.5) -> ItemBreaches:
    """Return P[a was there | a is seen] for every item a (vcz2006 equation 6.8).

    Laws that depend on the size are averaged over the sizes of the baskets that hold the item.
    Only single items are considered; seeing a whole basket can disclose more.

    Parameters
    ----------
    operator : Operator
        The operator.
    baskets : Baskets
        The original baskets, from which frequencies are taken.
    rho1 : float, default 0.05
        Items of at most this frequency are looked at.
    rho2 : float, default 0.5
        They are breached if their probability reaches this.

    Returns
    -------
    ItemBreaches
    """
    largest_gamma(rho1, rho2)
    before = baskets.frequencies() / max(len(baskets), 1)
    kept, new = _seen(operator, baskets)
    shown = before * kept + (1 - before) * new
    after = np.where(shown > 0, before * kept / np.where(shown > 0, shown, 1.0), 0.0)
    breached = (before <= rho1) & (before > 0) & (after >= rho2)
    overall = float(shown[breached].sum() / max(shown.sum(), 1e-300))
    return ItemBreaches(baskets.items, before, after, breached, overall)


def _seen(operator: Operator, baskets: Baskets) -> tuple[Floats, Floats]:
    """Return how likely each item is seen if it was there, and if it was not."""
    sizes, place = np.unique(baskets.sizes, return_inverse=True)
    table = np.array([transition(operator, 1, int(m)) for m in sizes])
    kept, new = table[:, 1, 1], table[:, 1, 0]
    have = np.bincount(baskets.codes, kept[place.reshape(-1)][baskets.rows], len(baskets.items))
    count = np.maximum(baskets.frequencies(), 1)
    return have / count, np.full(count.size, float(new[place.reshape(-1)].mean()))


def mask_privacy(p: float, supports: npt.ArrayLike, ones: float = 0.9) -> float:
    """Return the privacy of MASK: one minus the weighted probability of guessing bits correctly.

    The measure of vcz2006 section 6.1.4: a bit is guessed by its posterior given its distorted
    value. It is an average over people and promises nothing about one person.

    Parameters
    ----------
    p : float
        Probability that a bit is kept, above 0 and below 1.
    supports : array of float
        Shares of ones of the items.
    ones : float, default 0.9
        Weight of guessed ones against guessed zeros: having bought something discloses more.

    Returns
    -------
    float
        From 0 (every bit is guessed) to 1.

    Examples
    --------
    >>> round(mask_privacy(0.9, [0.01, 0.05]), 2)  # doctest: +SKIP
    """
    if not 0 < p < 1 or not 0 <= ones <= 1:
        raise InputError(explain("'p' and 'ones'", "p in (0, 1), ones in [0, 1]", (p, ones)))
    share = np.asarray(supports, np.float64)
    guessed_ones, guessed_zeros = reconstruction(p, share), reconstruction(p, 1 - share)
    weight_ones, weight_zeros = share / share.sum(), (1 - share) / (1 - share).sum()
    guessed = ones * guessed_ones @ weight_ones + (1 - ones) * guessed_zeros @ weight_zeros
    return float(1 - guessed)


def reconstruction(p: float, share: Floats) -> Floats:
    """Return the mean posterior of a one that is a one, for items with these shares of ones."""
    seen = p * share + (1 - p) * (1 - share)
    unseen = (1 - p) * share + p * (1 - share)
    return np.asarray(p * p * share / seen + (1 - p) ** 2 * share / unseen)
