"""What the randomisations of baskets share: fit, transform, one basket, release."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from unspoken.errors import DataError, InputError, explain
from unspoken.methods.baskets.draw_baskets import Drawing
from unspoken.methods.baskets.guarantee import promise
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
    (and, for a law that depends on it, the sizes it was made for).
    """

    name: ClassVar[str] = ""
    random_state: Any
    items: Any

    @abstractmethod
    def _operator(self, sizes: npt.NDArray[np.int64], items: int) -> Operator:
        """Return the operator that the parameters describe, for baskets of these sizes."""

    @property
    def _public(self) -> bool:
        return bool(getattr(self, "public_sizes", True))

    def fit(self, X: Baskets, y: Any = None) -> BasketOperator:
        """Learn the items and make the operator."""
        baskets = _baskets(X)
        check_parameters(type(self).__name__, FORMS[self.name].parameters, self.get_params())
        self.items_ = baskets.items
        self.operator_ = self._operator(baskets.sizes, len(baskets.items))
        if not self._public and not self.operator_.size_free and np.unique(baskets.sizes).size > 1:
            raise InputError(explain(
                f"{type(self).__name__}: 'public_sizes'", "True where the law depends on the size "
                "and sizes differ", False, "Supports could not be estimated without the sizes."))
        self.draws_ = Draws(self.random_state)
        return self

    def transform(self, X: Baskets) -> Baskets:
        """Return randomised baskets, drawn afresh at every call."""
        check_is_fitted(self, "operator_")
        return Drawing(self.operator_, self.draws_.next())(self._known(_baskets(X)))

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
                raise InputError(explain(f"{type(self).__name__}: 'items'",
                                         "given where there are no baskets to fit", self.items))
            self.fit(Baskets.of([basket], self.items))
        return self.transform(Baskets.of([basket], self.items_)).lists()[0]

    def protect(self, baskets: Baskets) -> tuple[Release, None]:
        """Return the release of randomised baskets; there is no key."""
        original = _baskets(baskets)
        if len(original) == 0:
            raise DataError(explain("Baskets", "at least one", "none"))
        if self.items is not None:
            from unspoken.table.basket_files import known_items

            original = known_items(original, self.items)
        self.fit(original)
        seed = self.draws_.next()
        drawn = Drawing(self.operator_, seed)(original)
        public = self._public
        mechanism = {"name": BASKETS.name, "operator": self.name, **self.operator_.to_json(),
                     "public_sizes": public, "items": list(original.items)}
        return Release(to_table(drawn, original.sizes if public else None), mechanism,
                       promise(self.operator_, original.sizes, public),
                       generator(seed, "id").bytes(16).hex(),
                       {"seeded": self.random_state is not None}), None


def _baskets(found: Any) -> Baskets:
    if not isinstance(found, Baskets):
        raise InputError(explain("What is to be randomised", "Baskets", type(found).__name__,
                                 "Read them with unspoken.read_baskets, or use Baskets.of."))
    return found
