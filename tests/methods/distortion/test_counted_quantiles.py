"""Quantiles of counted values are, bit by bit, those of the values themselves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspoken.methods.distortion.discretize import counted_quantiles

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 2) + 0.0)


@pytest.mark.slow
@given(st.lists(NUMBERS, min_size=1, max_size=60), st.integers(2, 12))
def test_counted_quantiles_are_numpys(values, count):
    shares = np.arange(1, count) / count
    distinct, counts = np.unique(np.array(values), return_counts=True)
    assert (counted_quantiles(distinct, counts, shares) + 0.0).tobytes() == \
        (np.quantile(np.array(values), shares) + 0.0).tobytes()
