"""How many items of a basket a randomisation keeps (vcz2006 section 6.1.1).

A law gives, for a basket of m items, the probability p[j] that j of them are kept; which ones is
then uniform. Everything that follows for itemsets depends on p only through the probability that
r given items are all kept: for i items of a basket of m, kept(i, m) = E[C(j, i) / C(m, i)].

Supports can be estimated without knowing how large each basket was only if kept(i, m) is the same
for every m. `Mixture` and `Padded` are such laws: the first draws a probability per basket and
keeps every item with it, the second fills every basket up to one size with items that nobody sees
and draws as for that size. Then a smaller basket amplifies no more than one of the full size: its
transition probabilities are averages of the larger one's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import InputError, explain

MAX_SIZE = 1 << 16


class SizeLaw(Protocol):
    """How many items of a basket are kept."""

    @property
    def size_free(self) -> bool:
        """Return True if supports can be estimated without knowing the sizes."""

    def distribution(self, size: int) -> Floats:
        """Return p[0] .. p[m] for a basket of m items."""

    def kept(self, most: int, size: int) -> Floats:
        """Return for i = 0 .. most the probability that i given items are all kept."""

    def to_json(self) -> dict[str, Any]:
        """Return the law as plain data."""


def binomials(size: int) -> Floats:
    """Return the logarithms of C(size, 0) .. C(size, size)."""
    from scipy.special import gammaln

    j = np.arange(size + 1)
    return np.asarray(gammaln(size + 1) - gammaln(j + 1) - gammaln(size - j + 1))


def binomial(size: int, share: float) -> Floats:
    """Return the binomial distribution."""
    from scipy.special import xlog1py, xlogy

    j = np.arange(size + 1)
    return np.asarray(np.exp(binomials(size) + xlogy(j, share) + xlog1py(size - j, -share)))


def _moments(distribution: Floats, most: int) -> Floats:
    """Return E[C(j, i) / C(m, i)] for i = 0 .. most; i above m is impossible and gets 0."""
    size = distribution.size - 1
    j = np.arange(size + 1, dtype=np.float64)
    out, ratio = np.zeros(most + 1), np.ones(size + 1)
    for i in range(min(most, size) + 1):
        out[i] = ratio @ distribution
        if i < size:
            ratio = ratio * np.maximum(j - i, 0.0) / (size - i)
    return out


def _probabilities(what: str, values: Any) -> Floats:
    try:
        law = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        law = np.full(1, np.nan)
    if law.ndim != 1 or not law.size or not np.all(np.isfinite(law)) or law.min() < 0 \
            or abs(law.sum() - 1.0) > 1e-9:
        raise InputError(explain(what, "probabilities that sum to one", str(values)))
    return np.asarray(law / law.sum())


@dataclass(frozen=True)
class Mixture:
    """Draw one of `keeps` with `weights` for the basket, keep each item with it on its own."""

    keeps: tuple[float, ...]
    weights: tuple[float, ...] = (1.0,)
    kind: ClassVar[str] = "mixture"
    size_free: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse what are no probabilities."""
        object.__setattr__(self, "keeps", tuple(float(k) for k in self.keeps))
        weights = _probabilities("'weights' of a mixture", self.weights)
        object.__setattr__(self, "weights", tuple(weights.tolist()))
        if len(self.keeps) != len(self.weights) or not all(0 <= k <= 1 for k in self.keeps):
            raise InputError(explain("'keeps' of a mixture", f"{len(self.weights)} numbers from 0 "
                                     "to 1", self.keeps))

    def distribution(self, size: int) -> Floats:
        """Return the mixture of binomial distributions."""
        parts = [w * binomial(size, k) for k, w in zip(self.keeps, self.weights, strict=True)]
        return np.asarray(np.sum(parts, axis=0))

    def kept(self, most: int, size: int) -> Floats:
        """Return the moments of the probability, whatever the size."""
        powers = np.asarray(self.keeps)[:, None] ** np.arange(most + 1)
        return np.asarray(np.asarray(self.weights) @ powers)

    def to_json(self) -> dict[str, Any]:
        """Return the law as plain data."""
        return {"kind": self.kind, "keeps": list(self.keeps), "weights": list(self.weights)}


@dataclass(frozen=True)
class Sizes:
    """Any distribution for each size: select-a-size as Definition 6.1 has it."""

    tables: Mapping[int, tuple[float, ...]]
    kind: ClassVar[str] = "sizes"
    size_free: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Refuse tables that are no distributions over 0 .. m."""
        checked = {}
        for size, table in self.tables.items():
            law = _probabilities(f"'sizes' of a basket of {size}", table)
            if not 0 <= int(size) <= MAX_SIZE or law.size != int(size) + 1:
                raise InputError(explain(f"'sizes' of a basket of {size}",
                                         f"{int(size) + 1} probabilities, of keeping 0 to {size} "
                                         "items", f"{law.size}"))
            checked[int(size)] = tuple(law.tolist())
        object.__setattr__(self, "tables", checked)

    def distribution(self, size: int) -> Floats:
        """Return what was given for that size."""
        if size == 0:
            return np.ones(1)
        if size not in self.tables:
            known = sorted(self.tables)
            raise InputError(f"The law has no distribution for baskets of {size} items, only "
                             f"for {known[:20]}. Give it in 'sizes'.")
        return np.asarray(self.tables[size])

    def kept(self, most: int, size: int) -> Floats:
        """Return the factorial moments of the distribution."""
        return _moments(self.distribution(size), most)

    def to_json(self) -> dict[str, Any]:
        """Return the law as plain data."""
        return {"kind": self.kind, "tables": {str(m): list(p) for m, p in self.tables.items()}}


@dataclass(frozen=True)
class Padded:
    """One distribution for the largest size; smaller baskets are filled up with unseen items."""

    table: tuple[float, ...]
    kind: ClassVar[str] = "padded"
    size_free: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse what is no distribution over 0 .. m."""
        law = _probabilities("'sizes'", self.table)
        object.__setattr__(self, "table", tuple(law.tolist()))

    @property
    def size(self) -> int:
        """Return the size up to which baskets are filled."""
        return len(self.table) - 1

    def distribution(self, size: int) -> Floats:
        """Return how many of the real items are kept."""
        if size > self.size:
            raise InputError(f"The law was made for baskets of at most {self.size} items. Got "
                             f"one of {size}. Make one for the largest basket.")
        drawn, real = np.arange(self.size + 1)[:, None], np.arange(size + 1)
        unseen = drawn - real
        possible = (unseen >= 0) & (unseen <= self.size - size)
        ways = binomials(size) + binomials(self.size - size)[np.where(possible, unseen, 0)] \
            - binomials(self.size)[:, None]
        return np.asarray(np.asarray(self.table) @ np.where(possible, np.exp(ways), 0.0))

    def kept(self, most: int, size: int) -> Floats:
        """Return the factorial moments at the full size, which hold for every smaller one."""
        return _moments(np.asarray(self.table), most)

    def to_json(self) -> dict[str, Any]:
        """Return the law as plain data."""
        return {"kind": self.kind, "table": list(self.table)}


@dataclass(frozen=True)
class Cut:
    """Cut-and-paste: keep up to `cutoff` items for sure, paste the rest with probability `rho`.

    A number from 0 to cutoff is drawn; this many items (all of a smaller basket) are kept; every
    other item of the basket is kept with probability rho, as items outside it are inserted.
    """

    cutoff: int
    rho: float
    kind: ClassVar[str] = "cut"
    size_free: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Refuse a cutoff below 1 and a rho outside (0, 1)."""
        if type(self.cutoff) is not int or not 1 <= self.cutoff <= MAX_SIZE:
            raise InputError(explain("'cutoff'", "an int >= 1", self.cutoff))
        check_rho(self.rho)

    def distribution(self, size: int) -> Floats:
        """Return the distribution of the number kept, cut and pasted together."""
        out = np.zeros(size + 1)
        drawn = np.bincount(np.minimum(np.arange(self.cutoff + 1), size), minlength=1)
        for cut, ways in enumerate(drawn.tolist()):
            out[cut:] += ways / (self.cutoff + 1) * binomial(size - cut, self.rho)
        return out

    def kept(self, most: int, size: int) -> Floats:
        """Return the factorial moments of the distribution."""
        return _moments(self.distribution(size), most)

    def to_json(self) -> dict[str, Any]:
        """Return the law as plain data."""
        return {"kind": self.kind, "cutoff": self.cutoff, "rho": self.rho}


def check_rho(rho: Any) -> float:
    """Return a probability strictly between 0 and 1, or refuse it."""
    real = isinstance(rho, int | float | np.number) and not isinstance(rho, bool)
    if not real or not 0 < float(rho) < 1:
        raise InputError(explain("'rho'", "a number above 0 and below 1", rho,
                                 "It is the probability that an item is inserted."))
    return float(rho)


def law_from_json(data: Any) -> SizeLaw:
    """Read a law; anything malformed is refused by what is wrong with it."""
    kind = data.get("kind") if isinstance(data, dict) else None
    try:
        if kind == "mixture":
            return Mixture(tuple(data["keeps"]), tuple(data["weights"]))
        if kind == "sizes":
            return Sizes({int(m): tuple(p) for m, p in data["tables"].items()})
        if kind == "padded":
            return Padded(tuple(data["table"]))
        if kind == "cut":
            return Cut(data["cutoff"], data["rho"])
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(f"The law of sizes '{kind}' is not complete: {error}.") from None
    raise InputError(explain("A law of sizes", "a mixture, padded, sizes or cut", data))
