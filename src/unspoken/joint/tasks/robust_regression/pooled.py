"""The same estimate from pooled columns, by weights in place of held down residuals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.joint.tasks.regression.params import RegressionTerms
from unspoken.joint.tasks.robust_regression.params import counted, error_factor, new_scale

PASSES, CLOSE = 500, 1e-12


def pooled(terms: RegressionTerms, columns: Mapping[str, Any],
           tuning: float = 1.345) -> dict[str, Any]:
    """Fit pooled columns by iteratively reweighted least squares, the response among them."""
    table = terms.table(columns)
    x, y = np.column_stack([np.ones(len(table)), table[:, :-1]]), table[:, -1]
    (rows, width), beta = x.shape, np.linalg.lstsq(x, y, rcond=None)[0]
    scale = float(np.sqrt(((y - x @ beta) ** 2).sum() / (rows - width)))
    for _ in range(PASSES):
        before, reach = (beta, scale), tuning * scale
        rest = y - x @ beta
        weights = np.minimum(1.0, reach / np.maximum(np.abs(rest), 1e-300))
        beta = np.linalg.solve((x * weights[:, None]).T @ x, (x * weights[:, None]).T @ y)
        scale = new_scale(scale, float((counted(rest, reach) ** 2).mean()), tuning,
                          (rows - width) / rows)
        if np.abs(beta - before[0]).max() < CLOSE and abs(scale - before[1]) < CLOSE * scale:
            break
    return _told(terms, x, y, np.asarray(beta, np.float64), scale, tuning)


def _told(terms: RegressionTerms, x: Floats, y: Floats, beta: Floats, scale: float,
          tuning: float) -> dict[str, Any]:
    rest = y - x @ beta
    square, inside = ((counted(rest, tuning * scale) ** 2).mean(),
                      (np.abs(rest) <= tuning * scale).mean())
    factor = error_factor(float(square), float(inside), tuning, len(y), len(terms.features))
    return told(terms, beta, scale, len(y), round(float(inside) * len(y)),
                scale * np.sqrt(factor * np.diag(np.linalg.inv(x.T @ x))))


def told(terms: RegressionTerms, beta: Floats, scale: float, records: int, inside: int,
         errors: Floats) -> dict[str, Any]:
    """Return the result: coefficients and errors by term, the intercept first."""
    names = ("(intercept)", *terms.features)
    return {"response": terms.response, "records": records, "scale": float(scale),
            "held down": records - inside,
            "coefficients": dict(zip(names, beta.tolist(), strict=True)),
            "errors": dict(zip(names, errors.tolist(), strict=True))}
