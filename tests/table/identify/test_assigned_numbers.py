"""Numbers that were given to people are told from measured ones by their values alone."""

from __future__ import annotations

import numpy as np
import pytest

import unspoken
from unspoken.table.identify import identify

GIVEN = {
    "shuffled rows": lambda rng, n: rng.permutation(n) + 1,
    "with gaps": lambda rng, n: rng.choice(3 * n, n, replace=False) + 500,
    "by year": lambda rng, n: (2020 + rng.integers(0, 4, n)) * 10**6 + rng.permutation(n),
    "every tenth": lambda rng, n: 10 * rng.permutation(n) + 1000,
    "twice for a few": lambda rng, n: np.r_[rng.permutation(n - 5), rng.permutation(n - 5)[:5]],
    "seven digits": lambda rng, n: rng.integers(10**6, 10**7, n),
    "nine digits of a block": lambda rng, n: rng.integers(31 * 10**7, 32 * 10**7, n),
    "sixteen digits": lambda rng, n: rng.integers(4 * 10**15, 4 * 10**15 + 10**12, n),
}
MEASURED = {
    "incomes": lambda rng, n: np.round(np.exp(rng.normal(10.3, 0.6, n))).astype(int),
    "salaries": lambda rng, n: rng.integers(20_000, 90_000, n),
    "prices": lambda rng, n: rng.gamma(4, 80_000, n).astype(int),
    "grams": lambda rng, n: rng.normal(75_000, 14_000, n).astype(int),
    "balances": lambda rng, n: rng.normal(0, 1e6, n).astype(int),
    "sampling weights": lambda rng, n: np.exp(rng.normal(12, 0.5, n)).astype(int),
    "inhabitants": lambda rng, n: np.exp(rng.normal(12, 2, n)).astype(int),
    "milliseconds": lambda rng, n: rng.gamma(3, 1e5, n).astype(int),
    "five digits": lambda rng, n: rng.integers(10**4, 10**5, n),
    "round amounts": lambda rng, n: 100 * rng.integers(10**5, 10**6, n),
    "ages": lambda rng, n: rng.integers(18, 95, n),
    "days": lambda rng, n: rng.poisson(40, n),
}


def flagged(make, rows, seed, missing=False):
    values = make(np.random.default_rng(seed), rows)
    values = np.random.default_rng(seed + 1).permutation(values)
    values = np.where(np.arange(rows) % 50, values, np.nan) if missing else values
    table = unspoken.read({"x": values, "y": np.random.default_rng(9).normal(size=rows)},
                          show=False)
    return table.schema["x"].role == "identifier"


@pytest.mark.slow
@pytest.mark.parametrize("name", GIVEN)
def test_given_numbers_are_withheld(name):
    assert all(flagged(GIVEN[name], rows, seed) for rows in (300, 3000) for seed in range(3))
    assert flagged(GIVEN[name], 900, 7, missing=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", MEASURED)
def test_measured_quantities_are_not(name):
    assert not any(flagged(MEASURED[name], rows, seed)
                   for rows in (60, 300, 3000) for seed in range(5))


def test_what_is_flagged_says_why_and_is_released_only_by_name():
    rng = np.random.default_rng(0)
    columns = {"x": rng.permutation(500) + 7, "y": rng.normal(size=500)}
    (finding,) = [one for one in identify(unspoken.read(columns, show=False)) if one.withheld]
    assert (finding.what, finding.how) == ("record number", "by content")
    assert "would by chance" in finding.reason
    assert unspoken.read(columns, keep=["x"], show=False).schema["x"].role == "plain"
