"""Select-a-size: transition probabilities, their inverse, variance and amplification.

vcz2006 sections 6.1.1 to 6.1.3. An operator keeps some items of a basket (a law of sizes) and
inserts others: each with probability rho, or, for the uniform operator, as many as were dropped.

For an itemset A of k items P[l', l] is the probability that l' items of A are in the randomised
basket if l were in the original one. P need not be inverted, which is badly conditioned. With
coins, every item outside the basket is inserted on its own, so that the product of (1 or 0 - rho)
over the items of A has mean 0 unless all of A was there, and mean `trace` then. Hence the last row
of the inverse is w[l'] = (1 - rho)^l' (-rho)^(k - l') / trace, without any loss of digits.

For the uniform operator subsets are used: the expected share of randomised baskets that hold a set
B of r items is the sum over D in B of g(|D|, r) support(D), with g(s, r) = sum_i (-1)^(s-i) C(s, i)
v(i, r - i), where v(i, e) is the probability that i given items are kept and e given ones come in.
That system is triangular.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import InputError, explain
from unspoken.methods.baskets.size_laws import (
    Mixture,
    SizeLaw,
    binomial,
    binomials,
    check_rho,
    law_from_json,
)

LEAST_TRACE = 1e-9
"""Where less is left of a set, nothing can be estimated from any real number of baskets."""


@dataclass(frozen=True)
class Operator:
    """A per-transaction, item-invariant randomisation of baskets over `items` possible items.

    `rho` is the probability that an item outside the basket is inserted; None means the uniform
    operator: every dropped item is replaced by another one from outside the basket.
    """

    law: SizeLaw
    rho: float | None
    items: int

    def __post_init__(self) -> None:
        """Refuse a rho outside (0, 1) and no items."""
        if self.rho is not None:
            check_rho(self.rho)
        if type(self.items) is not int or self.items < 1:
            raise InputError(explain("'items'", "an int >= 1", self.items))

    @property
    def size_free(self) -> bool:
        """Return True if supports can be estimated without knowing the sizes of the baskets."""
        return self.law.size_free and self.rho is not None

    def check_size(self, size: int) -> None:
        """Refuse a basket larger than the number of items, or too large to replace from."""
        most = self.items if self.rho is not None else self.items // 2
        if not 0 <= size <= most:
            raise InputError(explain("The size of a basket", f"from 0 to {most}, as there are "
                                     f"{self.items} items", size))

    def together(self, most: int, size: int) -> Floats:
        """Return v(i, e) for i, e = 0 .. most: i given items kept and e given ones inserted."""
        self.check_size(size)
        if self.rho is not None:
            kept = self.law.kept(most, size)
            return np.asarray(np.outer(kept, self.rho ** np.arange(most + 1)))
        return self._replacing(most, size)

    def _replacing(self, most: int, size: int) -> Floats:
        """Return v for the uniform operator: m - j of the n - m other items come in."""
        law = self.law.distribution(size)
        j = np.arange(size + 1, dtype=np.float64)
        out = np.zeros((most + 1, most + 1))
        kept = np.ones(size + 1)
        for i in range(min(most, size) + 1):
            new = np.ones(size + 1)
            for e in range(most + 1):
                out[i, e] = law @ (kept * new)
                new = new * np.maximum(size - j - e, 0.0) / max(self.items - size - e, 1)
            kept = kept * np.maximum(j - i, 0.0) / max(size - i, 1)
        return out

    def to_json(self) -> dict[str, Any]:
        """Return the operator as plain data, without the number of items."""
        return {"law": self.law.to_json(), "rho": self.rho}

    @classmethod
    def from_json(cls, data: Any, items: int) -> Operator:
        """Read an operator of a manifest."""
        if not isinstance(data, dict) or "rho" not in data:
            raise InputError(f"An operator must have a law and a rho. Got {str(data)[:100]}.")
        return cls(law_from_json(data.get("law")), data["rho"], items)


def transition(operator: Operator, k: int, size: int) -> Floats:
    """Return P[l', l] = p[l -> l'] for itemsets of k items and baskets of `size` (6.3).

    Columns with l above `size` cannot occur and are zero; all others sum to one. p[l -> l'] is
    the sum over j and q of p[j] C(l, q) C(m - l, j - q) / C(m, j) times the probability that
    l' - q of the k - l other items come in.
    """
    operator.check_size(size)
    law = operator.law.distribution(size)
    out = np.zeros((k + 1, k + 1))
    for l in range(min(k, size) + 1):  # noqa: E741
        for j in range(size + 1):
            kept = _hypergeometric(size, l, j)
            rest = k - l
            new = binomial(rest, operator.rho) if operator.rho is not None \
                else _hypergeometric(operator.items - size, rest, size - j)
            both = np.convolve(kept, new)
            out[:both.size, l] += law[j] * both[:k + 1]
    return out


def _hypergeometric(total: int, marked: int, drawn: int) -> Floats:
    """Return the distribution of marked ones among `drawn` out of `total`."""
    whole = binomials(total)[drawn]
    out = np.zeros(marked + 1)
    for q in range(max(0, drawn - (total - marked)), min(marked, drawn) + 1):
        out[q] = math.exp(binomials(marked)[q] + binomials(total - marked)[drawn - q] - whole)
    return out


def trace(operator: Operator, k: int, size: int) -> float:
    """Return what is left of a set of k items: E[product of (kept or not - rho)], for coins."""
    rho = check_rho(operator.rho)
    if isinstance(operator.law, Mixture):
        keeps = np.asarray(operator.law.keeps)
        return float(np.asarray(operator.law.weights) @ (keeps - rho) ** k)
    kept = operator.law.kept(k, size)
    return float(sum((-rho) ** (k - i) * math.comb(k, i) * kept[i] for i in range(k + 1)))


def weights(operator: Operator, k: int, size: int) -> Floats:
    """Return w[l']: the mean of w over baskets is the unbiased support estimate (6.7).

    That is the last row of the inverse of P. Baskets smaller than k hold no set of k items; where
    the law depends on the size they get zeros. An operator that leaves no trace of sets of k items
    is refused: cut-and-paste leaves none of sets larger than its cutoff.
    """
    if size < k and not operator.size_free:
        return np.zeros(k + 1)
    if operator.rho is None:
        return _weights_of_replacing(operator, k, size)
    left = trace(operator, k, size)
    if abs(left) < LEAST_TRACE:
        raise _untraceable(k, size)
    counts = np.arange(k + 1)
    return np.asarray((1 - operator.rho) ** counts * (-operator.rho) ** (k - counts) / left)


def _weights_of_replacing(operator: Operator, k: int, size: int) -> Floats:
    together, solved = operator.together(k, size), np.zeros((k + 1, k + 1))
    for r in range(k + 1):
        solved[r, r] = 1.0
        share = [sum((-1) ** (s - i) * math.comb(s, i) * together[i, r - i] for i in range(s + 1))
                 for s in range(r + 1)]
        for s in range(r):
            solved[r] -= share[s] * math.comb(k - s, r - s) * solved[s]
        if abs(share[r]) < LEAST_TRACE:
            raise _untraceable(r, size)
        solved[r] /= share[r]
    chosen = np.array([[math.comb(n, r) for r in range(k + 1)] for n in range(k + 1)], np.float64)
    return np.asarray(chosen @ solved[k])


def _untraceable(k: int, size: int) -> InputError:
    return InputError(f"The randomisation of baskets of {size} items leaves no trace of sets "
                      f"of {k} items. Estimate smaller sets, or protect less.")


def spread_weights(counts: Floats) -> Floats:
    """Return w^2 - w, whose mean over n baskets, divided by n, is the variance of the estimate.

    For a fixed original a basket's w has mean 0 or 1, so that its variance is E[w^2] - E[w].
    """
    return np.asarray(counts * counts - counts)


def in_subsets(values: Floats) -> Floats:
    """Return d with values[l] = sum_r d[r] C(l, r): what each subset of r items found adds."""
    k = values.size - 1
    return np.array([sum((-1) ** (r - n) * math.comb(r, n) * values[n] for n in range(r + 1))
                     for r in range(k + 1)])


def deviation(operator: Operator, k: int, size: int, baskets: int,
              partial: Floats | None = None) -> float:
    """Return the standard deviation of a support estimate from n baskets of one size.

    `partial` are the true partial supports s_0 .. s_k; by default nobody has any of the items,
    which is what a rare set has to be distinguished from.
    """
    shares = np.eye(k + 1)[0] if partial is None else np.asarray(partial, np.float64)
    spread = spread_weights(weights(operator, k, size)) @ transition(operator, k, size) @ shares
    return math.sqrt(max(float(spread), 0.0) / baskets)


def log_ratio(operator: Operator, size: int) -> Floats:
    """Return ln p[t -> t'] for j = 0 .. m items in common, up to what all originals share (6.14).

    With coins that is ln p[j] - ln C(m, j) - j ln rho - (m - j) ln(1 - rho): the rest depends on
    t' alone, so that differences are those of (6.15) for one size and for two.
    """
    from scipy.special import xlogy

    with np.errstate(divide="ignore"):
        law = np.log(operator.law.distribution(size))
    j = np.arange(size + 1)
    if operator.rho is not None:
        return np.asarray(law - binomials(size) - xlogy(j, operator.rho)
                          - xlogy(size - j, 1 - operator.rho))
    ways = binomials(operator.items - size)
    return np.asarray(law - binomials(size) - ways[size - j])


def amplification(operator: Operator, sizes: Any, public: bool) -> float:
    """Return gamma over baskets of the sizes given (6.16): infinite if some j is impossible.

    With public sizes two originals are compared only if they are of one size; else all pairs of
    sizes are. The uniform operator shows the size, so that nothing else is possible for it.
    """
    logs = [log_ratio(operator, int(m)) for m in np.unique(np.asarray(sizes)).tolist()]
    groups = logs if public or operator.rho is None else [np.concatenate(logs)]
    worst = max(float(one.max() - one.min()) for one in groups)
    return math.exp(worst) if worst < 700 else math.inf
