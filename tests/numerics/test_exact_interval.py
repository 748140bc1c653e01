"""The interval of Clopper and Pearson: against scipy's own test, and what it must cover."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from unspoken.numerics.exact_interval import exact_interval


@given(people=st.integers(1, 400), data=st.data())
@pytest.mark.slow
def test_it_is_the_interval_of_an_independent_program(people, data):
    hits = data.draw(st.integers(0, people))
    expected = binomtest(hits, people).proportion_ci(0.95, method="exact")
    assert np.allclose(exact_interval(hits, people), (expected.low, expected.high), atol=1e-9)


def test_the_true_share_is_covered_whatever_it_is():
    counts = np.arange(21)
    low, high = exact_interval(counts, 20)
    for share in np.linspace(0.001, 0.999, 97):
        assert binom.pmf(counts, 20, share)[(low <= share) & (share <= high)].sum() >= 0.95
