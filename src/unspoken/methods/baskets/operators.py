"""Select-a-size, cut-and-paste, the uniform operator and MASK (vcz2006 sections 6.1.1, 6.1.4).

Each randomises every basket on its own and treats all items alike. What leaks: the operator and
the list of items; with `public_sizes` how many items everybody bought; without, the size of the
largest basket where the law was designed for it. A randomised basket changes the odds of anything
about its original at most gamma-fold, `release.guarantee.facts["gamma"]`; where that is null some
originals are ruled out, and single items or baskets can be disclosed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from unspoken.arrays import Ints
from unspoken.errors import InputError, explain
from unspoken.methods.baskets.basket_method import BasketOperator
from unspoken.methods.baskets.operator_design import design
from unspoken.methods.baskets.select_a_size import Operator
from unspoken.methods.baskets.size_laws import Cut, Mixture, Padded, SizeLaw, Sizes, check_rho
from unspoken.release.parameters import Real

_SHARE = Real(0.0, 1.0)


class SelectASize(BasketOperator):
    """Keep a random number of a basket's items, insert every other item with probability rho.

    Parameters
    ----------
    rho : probability that an item outside the basket is inserted, in (0, 1).
    sizes : how many items are kept. A mapping {m: [p0, .., pm]} for baskets of m items; or one
        list [p0, .., pm] for the largest size, to which smaller baskets are filled up with unseen
        items, so that supports can be estimated with sizes hidden.
    keep : in place of `sizes`: every item is kept with this probability on its own.
    rho1, rho2 : in place of all of these: design the operator of best accuracy that excludes every
        breach from rho1 to rho2 (6.13). It uses the sizes of the baskets it is fitted to.
    design_for : estimate sets of up to this many items as accurately as possible.
    public_sizes : declare the size of every basket public and release it. Then originals of one
        size only must be hard to distinguish, and more accuracy is left.
    items : the list of all items; by default that of the baskets, and then no gamma is stated.
    largest : how many items a basket can hold, declared; needed for a gamma where sizes are hidden.
    outside : larger baskets lose items at random ("clamp") or are refused ("refuse").
    random_state : for tests and experiments only; a release made with it says so.

    Examples
    --------
    >>> operator = SelectASize(rho1=0.05, rho2=0.5, items=items, largest=10)  # doctest: +SKIP
    >>> release, _ = operator.protect(baskets)  # doctest: +SKIP
    """

    name: ClassVar[str] = "select-a-size"

    def __init__(  # noqa: PLR0913
            self, rho: Any = None, sizes: Any = None, keep: Any = None, *, rho1: Any = None,
            rho2: Any = None, design_for: int = 3, public_sizes: bool = False,
            items: Any = None, largest: Any = None, outside: str = "clamp",
            random_state: Any = None) -> None:
        self.rho = rho
        self.sizes = sizes
        self.keep = keep
        self.rho1 = rho1
        self.rho2 = rho2
        self.design_for = design_for
        self.public_sizes = public_sizes
        self.items = items
        self.largest = largest
        self.outside = outside
        self.random_state = random_state

    def _needs_sizes(self) -> bool:
        return self.rho1 is not None or self.rho2 is not None or isinstance(self.sizes, Mapping)

    def _operator(self, sizes: Ints, items: int) -> Operator:
        designed = self.rho1 is not None or self.rho2 is not None
        if designed and (self.rho, self.sizes, self.keep) != (None, None, None):
            raise InputError("SelectASize: use rho1 and rho2, or rho with sizes or keep, not "
                             "both.")
        if designed:
            return self._designed(sizes, items)
        law = self._law()
        if isinstance(law, Sizes) and np.unique(sizes).size == 1 and not self.public_sizes:
            # One size for all: nothing is hidden, and the law may be used as it is.
            law = Padded(tuple(law.distribution(int(sizes[0])).tolist()))
        return Operator(law, check_rho(self.rho), items)

    def _law(self) -> SizeLaw:
        if (self.sizes is None) == (self.keep is None):
            raise InputError("SelectASize: use 'sizes' or 'keep', or rho1 and rho2. Got "
                             f"{'both' if self.sizes is not None else 'none of them'}.")
        if self.keep is not None:
            return Mixture((self.keep,))
        if isinstance(self.sizes, Mapping):
            return Sizes({int(m): tuple(p) for m, p in self.sizes.items()})
        return Padded(tuple(self.sizes))

    def _designed(self, sizes: Ints, items: int) -> Operator:
        low, high = self.rho1, self.rho2
        real = all(isinstance(p, int | float) and not isinstance(p, bool) for p in (low, high))
        if not real or not 0 < low < high < 1:
            raise InputError(explain("SelectASize: 'rho1' and 'rho2'", "0 < rho1 < rho2 < 1",
                                     f"{low} and {high}"))
        distinct, counts = np.unique(sizes, return_counts=True)
        shares = dict(zip(distinct.tolist(), (counts / max(counts.sum(), 1)).tolist(), strict=True))
        # (6.13) is strict: stay a little below the bound.
        gamma = high / low * (1 - low) / (1 - high) * (1 - 1e-9)
        wanted = min(int(self.design_for), max(int(distinct.max(initial=0)), 1))
        return design(shares, items, gamma, wanted, self.public_sizes)


class CutAndPaste(BasketOperator):
    """Keep up to `cutoff` items, and of all others, in the basket or not, each with rho.

    Supports of sets larger than `cutoff` cannot be estimated: nothing is left of them. The law
    depends on the size of the basket, so sizes that differ must be public.

    Parameters
    ----------
    cutoff : the largest number of items that are surely kept, drawn from 0 to it.
    rho : probability of every other item.
    public_sizes, items, largest, outside, random_state : as for SelectASize.

    Examples
    --------
    >>> release, _ = CutAndPaste(3, 0.1).protect(baskets)  # doctest: +SKIP
    """

    name: ClassVar[str] = "cut-and-paste"

    def __init__(self, cutoff: int = 3, rho: Any = 0.1, *, public_sizes: bool = True,
                 items: Any = None, largest: Any = None, outside: str = "clamp",
                 random_state: Any = None) -> None:
        self.cutoff = cutoff
        self.rho = rho
        self.public_sizes = public_sizes
        self.items = items
        self.largest = largest
        self.outside = outside
        self.random_state = random_state

    def _operator(self, sizes: Ints, items: int) -> Operator:
        return Operator(Cut(int(self.cutoff), float(self.rho)), float(self.rho), items)


class UniformOperator(BasketOperator):
    """Replace every item with probability p by one that was not in the basket.

    Items that come in are distinct, so that a basket keeps its size, which everybody sees. With
    many items nearly every item that is seen and popular is real: the baseline of the book, and a
    weak one. Baskets may hold at most half of the items.

    Parameters
    ----------
    p : probability that an item is replaced.
    items, largest, outside, random_state : as for SelectASize.

    Examples
    --------
    >>> release, _ = UniformOperator(0.8).protect(baskets)  # doctest: +SKIP
    """

    name: ClassVar[str] = "uniform"

    def __init__(self, p: float = 0.5, *, items: Any = None, largest: Any = None,
                 outside: str = "clamp", random_state: Any = None) -> None:
        self.p = p
        self.items = items
        self.largest = largest
        self.outside = outside
        self.random_state = random_state

    def _operator(self, sizes: Ints, items: int) -> Operator:
        return Operator(Mixture((1.0 - float(self.p),)), None, items)


class Mask(BasketOperator):
    """MASK: every bit of every basket is kept with probability p and flipped otherwise.

    The odds of single items change by p / (1 - p) at most, those of a whole basket by that to the
    power of the sizes of two baskets together: gamma is huge for baskets of usual sizes.

    Parameters
    ----------
    p : probability that a bit is kept, not 1/2.
    items, largest, outside, random_state : as for SelectASize.

    Examples
    --------
    >>> release, _ = Mask(0.9).protect(baskets)  # doctest: +SKIP
    """

    name: ClassVar[str] = "mask"
    public_sizes: ClassVar[bool] = False

    def __init__(self, p: float = 0.9, *, items: Any = None, largest: Any = None,
                 outside: str = "clamp", random_state: Any = None) -> None:
        self.p = p
        self.items = items
        self.largest = largest
        self.outside = outside
        self.random_state = random_state

    def _operator(self, sizes: Ints, items: int) -> Operator:
        return Operator(Mixture((float(self.p),)), 1.0 - float(self.p), items)
