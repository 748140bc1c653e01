"""The same models from pooled data in one place: what the joint programs are compared with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import DataError
from unspoken.joint.tasks.regression.params import RegressionParams, RegressionTerms
from unspoken.joint.tasks.regression.term_selection import Selection, plain_choice
from unspoken.models.linear_model import LinearModel, Smaller
from unspoken.numerics.least_squares import solve


def pooled(
    terms: RegressionTerms,
    columns: Mapping[str, Any],
    rules: RegressionParams | None = None,
    selection: Selection | None = None,
) -> LinearModel:
    """Fit pooled columns, the response among them."""
    table = terms.table(columns)
    places = list(range(len(terms.features)))
    if selection is not None:
        places = plain_choice(table, selection, terms)
    return fit_table(table, terms, rules or RegressionParams(), places)


def fit_table(
    table: Floats, terms: RegressionTerms, rules: RegressionParams, places: list[int]
) -> LinearModel:
    """Fit some terms of a table whose last column is the response."""
    if np.linalg.matrix_rank(table[:, places] - table[:, places].mean(axis=0)) < len(places):
        raise DataError("Columns must not depend on each other. Some do.")
    fitted = solve(table[:, places], table[:, -1], rules.ridge)
    errors = fitted.errors if rules.inference else np.zeros(0)
    sums = (fitted.rss, fitted.tss) if rules.inference else (float("nan"),) * 2
    return LinearModel(terms.response, tuple(terms.features[i] for i in places), fitted.intercept,
                       fitted.coefficients, table.shape[0], errors, *sums, rules.ridge,
                       tuple(_inside(table, terms, names) for names in rules.smaller))


def _inside(table: Floats, terms: RegressionTerms, names: tuple[str, ...]) -> Smaller:
    places = [terms.place(name) for name in names]
    return Smaller(names, solve(table[:, places], table[:, -1]).rss)
