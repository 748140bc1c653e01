"""What the randomisations of baskets share: fit, transform, one basket, release."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from unspoken.errors import ClampedWarning, DataError, InputError
from unspoken.methods.baskets.draw_baskets import Drawing, random_order
from unspoken.methods.baskets.guarantee import RandomisedBaskets, promise
from unspoken.methods.baskets.method import BASKETS, FORMS
from unspoken.methods.baskets.select_a_size import Operator
from unspoken.numerics.random import generator
from unspoken.release.distorted import Draws
from unspoken.release.parameters import check_parameters
from unspoken.release.release import Release
from unspoken.table.basket_tables import to_table
from unspoken.table.baskets import Baskets


class BasketOperator(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the operators that randomise baskets one by one, whatever the items are.

    `fit` learns the list of items and the sizes; `transform` and `protect` draw afresh at every
    call. `distort` randomises one basket on a person's own device: it needs no data, only `items`
    (and `largest`, for a law that depends on the sizes of all baskets).

    Two things must be declared before a gamma is stated: the list of items, and, where sizes are
    hidden, `largest`. Lists and sizes that are taken from the data disclose something about it.
    Baskets beyond `largest` lose items at random (`outside="clamp"`) or are refused, on devices
    too.
    """

    name: ClassVar[str] = ""
    random_state: Any
    items: Any
    largest: Any
    outside: str

    @abstractmethod
    def _operator(self, sizes: npt.NDArray[np.int64], items: int) -> Operator:
        """Return the operator that the parameters describe, for baskets of these sizes."""

    def _needs_sizes(self) -> bool:
        """Return True if the law is made for the sizes of all baskets."""
        return False

    def _made_for(self, sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the sizes the law is made for: all up to the declared one, not the data's."""
        hidden = self.largest is not None and not self._public
        return np.arange(int(self.largest) + 1) if hidden else sizes

    @property
    def _public(self) -> bool:
        return bool(getattr(self, "public_sizes", True))

    def fit(self, X: Baskets, y: Any = None) -> BasketOperator:
        """Learn the items and make the operator."""
        baskets = _baskets(X)
        check_parameters(type(self).__name__, FORMS[self.name].parameters, self.get_params())
        self.items_ = baskets.items
        sizes = self._made_for(baskets.sizes)
        self.operator_ = self._operator(sizes, len(baskets.items))
        if not self._public and not self.operator_.size_free and np.unique(sizes).size > 1:
            raise InputError(f"{type(self).__name__}: sizes differ and the law depends on "
                             "them, so that supports could not be estimated without the "
                             "sizes. Use public_sizes=True.")
        self.draws_ = Draws(self.random_state)
        return self

    def transform(self, X: Baskets) -> Baskets:
        """Return randomised baskets, drawn afresh at every call."""
        check_is_fitted(self, "operator_")
        seed = self.draws_.next()
        return Drawing(self.operator_, seed)(self._fitting(self._known(_baskets(X)), seed))

    def _fitting(self, baskets: Baskets, seed: bytes) -> Baskets:
        """Return baskets of at most the declared size."""
        if self.largest is None or int(baskets.sizes.max(initial=0)) <= self.largest:
            return baskets
        count = int(np.count_nonzero(baskets.sizes > self.largest))
        if self.outside == "refuse":
            raise DataError(f"{count} baskets hold more than the declared {self.largest} "
                            "items. Declare a larger size, or use outside='clamp'.")
        warnings.warn(f"{count} baskets beyond the declared size lost items at random.",
                      ClampedWarning, stacklevel=3)
        kept = random_order(baskets, generator(seed, "largest")) < self.largest
        return Baskets.from_rows(baskets.rows[kept], baskets.codes[kept], len(baskets),
                                 baskets.items)

    def fit_transform(self, X: Baskets, y: Any = None, **_: Any) -> Baskets:
        """Learn the items and randomise."""
        return self.fit(X).transform(X)

    def _known(self, baskets: Baskets) -> Baskets:
        if baskets.items == self.items_:
            return baskets
        from unspoken.table.basket_files import known_items

        return known_items(baskets, self.items_)

    def distort(self, basket: Sequence[Any]) -> list[str]:
        """Return one person's basket, randomised."""
        if not hasattr(self, "operator_"):
            if not self.items:
                raise InputError(f"{type(self).__name__}: 'items' is required where there are "
                                 "no baskets to fit.")
            if self._needs_sizes() and self.largest is None and not self._public:
                raise InputError(f"{type(self).__name__}: 'largest' is required where there "
                                 "are no baskets to fit. A law designed for one person's "
                                 "basket discloses its size.")
            self.fit(Baskets.of([basket], self.items))
        return self.transform(Baskets.of([basket], self.items_)).lists()[0]

    def protect(self, baskets: Baskets) -> tuple[Release, None]:
        """Return the release of randomised baskets; there is no key."""
        original = _baskets(baskets)
        if len(original) == 0:
            raise DataError("There are no baskets to protect.")
        if self.items is not None:
            from unspoken.table.basket_files import known_items

            original = known_items(original, self.items)
        self.fit(original)
        seed = self.draws_.next()
        original = self._fitting(original, seed)
        drawn = Drawing(self.operator_, seed)(original)
        public = self._public
        mechanism = {"name": BASKETS.name, "operator": self.name, **self.operator_.to_json(),
                     "public_sizes": public, "items": list(original.items)}
        return Release(to_table(drawn, original.sizes if public else None), mechanism,
                       self._promise(original.sizes),
                       generator(seed, "id").bytes(16).hex(),
                       {"seeded": self.random_state is not None}), None


    def _promise(self, sizes: npt.NDArray[np.int64]) -> RandomisedBaskets:
        # A law without inserted coins shows the size of every basket, declared or not.
        shown = self._public or self.operator_.rho is None
        declared = self.items is not None and (shown or self.largest is not None)
        return promise(self.operator_, self._made_for(sizes), self._public, declared)


def _baskets(source: Any) -> Baskets:
    if not isinstance(source, Baskets):
        raise InputError(f"Only Baskets can be randomised. Got {type(source).__name__}. Read "
                         "them with unspoken.read_baskets, or use Baskets.of.")
    return source
