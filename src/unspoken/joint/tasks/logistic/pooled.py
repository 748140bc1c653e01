"""The same logistic model from pooled columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unspoken.joint.tasks.regression.params import RegressionParams, RegressionTerms
from unspoken.models.logistic_model import LogisticModel
from unspoken.numerics.logistic_fit import fit_logistic


def pooled_logistic(terms: RegressionTerms, columns: Mapping[str, Any],
                     rules: RegressionParams | None = None) -> LogisticModel:
    """Fit pooled columns, the response among them."""
    table, ridge = terms.table(columns), (rules or RegressionParams()).ridge
    beta, errors, likelihood = fit_logistic(table[:, :-1], table[:, -1], ridge)
    return LogisticModel(terms.response, terms.features, float(beta[0]), beta[1:],
                         table.shape[0], np.zeros(0) if ridge else errors, likelihood, ridge)
