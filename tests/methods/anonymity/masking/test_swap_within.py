"""Swapping among near ranks reaches the share that it states, or is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError

import unspoken
from unspoken.audit.kept_promises import faults_of
from unspoken.errors import DataError
from unspoken.methods.anonymity.masking.swap_partners import swapped_rows
from unspoken.protect import DataSwapper


def numbers(rows=1000):
    rng = np.random.default_rng(1)
    return unspoken.read(pa.table({"a": rng.permutation(rows) * 1.5, "b": rng.normal(size=rows)}),
                         show=False)


@pytest.mark.parametrize(("share", "within"), [(0.1, 0.001), (0.3, 0.002), (0.1, 0.2), (1.0, 0.01)])
def test_the_share_is_reached_and_partners_are_near(share, within):
    source = swapped_rows(np.arange(1000), share, within, np.random.default_rng(3))
    assert sorted(source) == list(range(1000))
    assert np.abs(source - np.arange(1000)).max() <= max(within * 1000, 1)
    assert (source != np.arange(1000)).mean() == pytest.approx(share, abs=0.02)


def test_what_is_stated_is_what_was_done():
    table = numbers()
    release, key = DataSwapper(0.1, 0.002).protect(table)
    assert "10.0% to 10.0% of the values differ" in release.guarantee.statement
    assert release.mechanism["columns"]["a"]["changed"] == pytest.approx(0.1)
    assert faults_of(table, release, key) == ()
    columns = {name: {**about, "changed": 0.5}
               for name, about in release.mechanism["columns"].items()}
    other = replace(release, mechanism={**release.mechanism, "columns": columns})
    assert any("less often than promised" in line for line in faults_of(table, other, key))


def test_a_swap_of_equal_values_is_refused():
    table = unspoken.read(pa.table({"a": [0] * 500 + [1] * 500, "b": [*"xy"] * 500}), show=False)
    with pytest.raises(DataError, match="Use a larger 'within'"):
        DataSwapper(0.2, 0.001).protect(table)


def test_the_transformer_checks_what_it_was_fitted_with():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"a": np.arange(20.0), "b": np.arange(20.0) ** 2})
    with pytest.raises(NotFittedError):
        DataSwapper(0.5).transform(X)
    one = DataSwapper(0.5).set_output(transform="pandas").fit(X)
    assert one.get_feature_names_out().tolist() == ["a", "b"]
    shown = one.transform(X)
    assert list(shown.columns) == ["a", "b"]
    assert sorted(shown["b"]) == sorted(X["b"])
    assert X["a"].tolist() == list(range(20))
    for other in (X[["b", "a"]], X[["a"]], X.assign(c=1.0)):
        with pytest.raises(ValueError, match="feature"):
            one.transform(other)
