"""The residuals of the same model from pooled data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.joint.tasks.regression.params import RegressionTerms
from unspoken.models.linear_model import LinearModel


def pooled(terms: RegressionTerms, columns: Mapping[str, Any], model: LinearModel) -> Floats:
    """Return the residual of every record: response less prediction."""
    table = terms.table(columns)
    return np.asarray(table[:, -1] - model.predict(table[:, :-1]))
