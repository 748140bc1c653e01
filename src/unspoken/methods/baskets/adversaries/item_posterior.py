"""The adversary who asks of every item in a randomised basket whether it was there.

vcz2006 section 6.1.3, equations (6.8) and (6.9), for the property "this item was bought". She
needs the release alone: its manifest states the operator, and the frequencies of single items are
estimated from it. She takes items as independent; then the number of items that were kept is
weighed by how well the whole basket fits it, and every item by whether it is rather a kept or an
inserted one. Somebody who knows which items go together can do better.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.disclosure.adversary import Adversary
from unspoken.methods.baskets.learners.frequent_itemsets import frequencies, operator_of
from unspoken.methods.baskets.select_a_size import Operator
from unspoken.methods.baskets.size_laws import Mixture
from unspoken.release.release import Release
from unspoken.table.baskets import Baskets

LEAST = 1e-6
"""Nobody is sure that an item was never bought, or always."""


@dataclass(frozen=True)
class BasketView:
    """All that an adversary sees of a release of baskets.

    Attributes
    ----------
    baskets : Baskets
        The randomised baskets.
    operator : Operator
        The published operator.
    sizes : array of int or None
        Sizes of the original baskets, where they are public.
    frequencies : array of float
        Estimated frequency of every item in the original.
    """

    baskets: Baskets
    operator: Operator
    sizes: Ints | None
    frequencies: Floats

    @classmethod
    def of(cls, release: Release) -> BasketView:
        """Look at a release and estimate how frequent every item is."""
        operator, sizes = operator_of(release)
        shares = np.clip(frequencies(release), LEAST, 1 - LEAST)
        return cls(release.baskets, operator, sizes, shares)

    def take(self, rows: Ints) -> BasketView:
        """Look at some baskets only; the frequencies stay those of all."""
        sizes = None if self.sizes is None else self.sizes[rows]
        return BasketView(self.baskets.take(rows), self.operator, sizes, self.frequencies)


@dataclass(frozen=True)
class Posteriors:
    """What the adversary believes: of every item seen, and of the best item not seen."""

    seen: Floats
    unseen_item: Ints
    unseen: Floats


class BasketPosterior(Adversary):
    """Names the items that were likeliest in each basket (vcz2006 equations 6.8 and 6.9).

    Needs the release alone and treats items as independent; an adversary who knows which items are
    bought together can do better.

    Examples
    --------
    >>> view = BasketView.of(release)  # doctest: +SKIP
    >>> BasketPosterior().posteriors(view).seen  # doctest: +SKIP
    """

    name: ClassVar[str] = "basket-posterior"
    gets: ClassVar[str] = "estimates whether every item of a randomised basket was in the original"

    def posteriors(self, view: BasketView) -> Posteriors:
        """Return the probability that each item of each randomised basket was there before."""
        seen = np.zeros(view.baskets.codes.size)
        unseen_item, unseen = np.zeros(len(view.baskets), np.int64), np.zeros(len(view.baskets))
        for size, rows in _groups(view):
            part = view.baskets.take(rows)
            entries = _entries(view.baskets, rows)
            posteriors = _believe(view, part, size)
            seen[entries], unseen[rows] = posteriors.seen, posteriors.unseen
            unseen_item[rows] = posteriors.unseen_item
        return Posteriors(seen, unseen_item, unseen)


def _groups(view: BasketView) -> list[tuple[int | None, Ints]]:
    if view.sizes is None:
        return [(None, np.arange(len(view.baskets)))]
    return [(int(m), np.flatnonzero(view.sizes == m)) for m in np.unique(view.sizes)]


def _entries(baskets: Baskets, rows: Ints) -> Ints:
    sizes = baskets.sizes[rows]
    ends = np.cumsum(sizes)
    return np.asarray(np.arange(int(ends[-1]) if ends.size else 0)
                      + np.repeat(baskets.offsets[rows] - ends + sizes, sizes))


def components(operator: Operator, size: int | None) -> tuple[Floats, Floats]:
    """Return how likely each share of kept items is, taking items as kept one by one."""
    law: Any = operator.law
    if isinstance(law, Mixture):
        return np.asarray(law.weights), np.asarray(law.keeps)
    whole = law.size if size is None else size
    table = law.distribution(whole)
    return table, np.arange(whole + 1) / max(whole, 1)


def _believe(view: BasketView, part: Baskets, size: int | None) -> Posteriors:
    """Weigh the share of kept items by the whole basket, then every item by that share."""
    prior = view.frequencies
    if size is not None:
        usual = max(float(prior.sum()), LEAST)
        prior = np.clip(prior * size / usual, LEAST, 1 - LEAST)
    chance, keeps = components(view.operator, size)
    rho = view.operator.rho
    if rho is None:
        away = (size or 0) * float(1 - chance @ keeps)
        rho = away / max(view.operator.items - (size or 0), 1)
    shown = prior * keeps[:, None] + (1 - prior) * rho
    shown = np.clip(shown, 1e-300, 1 - 1e-12)
    weight = _weights(part, chance, shown)
    present = prior * keeps[:, None] / shown
    absent = prior * (1 - keeps[:, None]) / (1 - shown)
    seen = np.zeros(part.codes.size)
    for place in range(keeps.size):
        seen += weight[place][part.rows] * present[place][part.codes]
    best, value = _best_unseen(part, weight, absent, prior)
    return Posteriors(seen, best, value)


def _weights(part: Baskets, chance: Floats, shown: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        logs = np.log(chance)[:, None] + np.log1p(-shown).sum(axis=1)[:, None] + np.stack([
            np.bincount(part.rows, np.log(one / (1 - one))[part.codes], len(part))
            for one in shown])
    logs -= logs.max(axis=0)
    weights = np.exp(logs)
    return np.asarray(weights / weights.sum(axis=0))


def _best_unseen(part: Baskets, weight: Floats, absent: Floats,
                 prior: Floats) -> tuple[Ints, Floats]:
    """Return the commonest item that is not in each randomised basket, and its probability."""
    order = np.argsort(-prior, kind="stable")
    best = np.full(len(part), order[0])
    for code in order[:50].tolist():
        held = np.zeros(len(part), np.bool_)
        held[part.rows[part.codes == best[part.rows]]] = True
        if not held.any():
            break
        best[held & (best != code)] = code
    value = (weight * absent[:, best]).sum(axis=0)
    return best.astype(np.int64), np.asarray(value)
