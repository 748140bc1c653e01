"""What everybody knows about a regression before it begins: response, terms, and how it is fitted.

Columns and who has them, products of columns, ridge, and who learns the model. Numbers of records
are not part of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import DataError, InputError, explain
from unspoken.joint.tasks.common.column_checks import numbers as finite
from unspoken.models.coefficients import TIMES
from unspoken.release.parameters import OneOf, Real, Rule, check

MOST_TERMS = 200
_RULES: dict[str, tuple[Rule, str]] = {
          "ridge": (Real(-1e-300, 1e12), "It is scikit-learn's alpha; 0 is least squares."),
          "condition": (Real(1.0, 2.0**28), "Use 2**20."),
          "inference": (OneOf((True, False)), "False opens coefficients alone.")}


@dataclass(frozen=True)
class RegressionParams:
    """How a model is fitted, and who learns it (all if nobody is named).

    Attributes
    ----------
    ridge : float, default 0.0
        Scikit-learn's alpha; 0 is least squares.
    condition : float, default 2**20
        A bound on the condition of the matrix that is inverted.
    inference : bool, default True
        Whether more than coefficients is opened, such as standard errors.
    receivers : tuple of str, default ()
        Who learns the model.
    smaller : tuple of tuple of str, default ()
        Terms of models inside this one; their residual sums of squares are opened too, for tests
        and C_p.
    """

    ridge: float = 0.0
    condition: float = 2.0**20
    inference: bool = True
    receivers: tuple[str, ...] = ()
    smaller: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        """Refuse what cannot be fitted."""
        check("regression", _RULES, vars(self))
        if self.smaller and (self.ridge or not self.inference):
            raise InputError("'smaller' models need least squares with inference. Ridge has no "
                             "such test.")


@dataclass(frozen=True)
class RegressionTerms:
    """The response, the columns and the products of two of them.

    Attributes
    ----------
    response : str
        The name of the response.
    columns : tuple of str
        The names of the columns.
    products : tuple of pairs of str, default ()
        Products of two columns that are terms as well.
    """

    response: str
    columns: tuple[str, ...]
    products: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        """Refuse names that stand twice, are missing, or could be taken for products."""
        names = (*self.columns, self.response)
        for name in names:
            if not isinstance(name, str) or not name or TIMES in name:
                raise InputError(explain("The name of a column", f"a text without '{TIMES}'", name))
        twice = next((n for i, n in enumerate(names) if n in names[:i]), None)
        if twice is not None:
            raise InputError(f"Every column must stand once, with one owner. '{twice}' stands "
                             "twice. Leave it out in one place.")
        for pair in self.products:
            self._check_product(pair)
        if not self.columns or len(self.features) > MOST_TERMS:
            raise InputError(explain("A regression", f"of 1 to {MOST_TERMS} terms",
                                     len(self.features)))

    def _check_product(self, pair: tuple[str, str]) -> None:
        for name in pair:
            if name not in self.columns:
                raise InputError(explain("A product", "of two of " + ", ".join(self.columns), name))
        if self.products.count(pair) + self.products.count(pair[::-1]) > 1 + (pair[0] == pair[1]):
            raise InputError(f"Every product must stand once. '{TIMES.join(pair)}' stands twice.")

    @property
    def features(self) -> tuple[str, ...]:
        """Return the names of all terms."""
        return (*self.columns, *(TIMES.join(pair) for pair in self.products))

    def place(self, name: str) -> int:
        """Return where a term stands; an unknown one is refused."""
        if name not in self.features:
            raise InputError(explain("A term", "of " + ", ".join(self.features), name))
        return self.features.index(name)

    def table(self, data: Mapping[str, Any]) -> Floats:
        """Return rows of all terms and, last, the response; the data must have every column."""
        values = numbers(data, (*self.columns, self.response))
        at = {name: values[:, i] for i, name in enumerate(self.columns)}
        terms = [at[one] * at[other] for one, other in self.products]
        return np.column_stack([values[:, :-1], *terms, values[:, -1]])


def pair_of(text: str) -> tuple[str, str]:
    """Return the two names of a product such as "age*income"."""
    parts = text.split(TIMES)
    if len(parts) != 2:
        raise InputError(explain("A product", f"two names with '{TIMES}' between", text))
    return parts[0], parts[1]


def numbers(data: Mapping[str, Any], names: Sequence[str]) -> Floats:
    """Return columns as float64; a missing column or value is refused by name."""
    columns = []
    for name in names:
        if name not in data:
            raise DataError(explain("The data", f"with a column '{name}'",
                                    ", ".join(map(str, data)) or "none",
                                    "All owners must agree on the columns."))
        columns.append(finite(name, data[name]))
    if len({column.size for column in columns}) > 1:
        raise DataError(explain("Columns", "of one length",
                                sorted({column.size for column in columns})))
    return np.column_stack(columns) if columns else np.zeros((0, 0))
