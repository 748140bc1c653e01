"""How each learner puts a threshold between the largest left and the smallest right value.

The formulas differ in the last bit, and a decoded model is promised to the last bit.
"""

from __future__ import annotations

import numpy as np

from unspoken.arrays import Floats


def sklearn_midpoint(left: Floats, right: Floats) -> Floats:
    """scikit-learn's exact splitter: float32 values, halves summed in float64."""
    low = left.astype(np.float32).astype(np.float64)
    high = right.astype(np.float32).astype(np.float64)
    middle = low / 2.0 + high / 2.0
    return np.asarray(np.where((middle == high) | np.isinf(middle), low, middle))


def xgboost_midpoint(left: Floats, right: Floats) -> Floats:
    """XGBoost's exact method: everything in float32."""
    low, high = left.astype(np.float32), right.astype(np.float32)
    return np.asarray(((low + high) * np.float32(0.5)).astype(np.float64))


def lightgbm_midpoint(left: Floats, right: Floats) -> Floats:
    """LightGBM's bin boundaries: the next double above the midpoint."""
    return np.asarray(np.nextafter((left + right) / 2.0, np.inf))
