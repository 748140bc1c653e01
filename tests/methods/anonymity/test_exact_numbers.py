"""Numbers that nothing can be computed with exactly: infinite ones, and whole ones beyond 2^53."""

from __future__ import annotations

import pyarrow as pa
import pytest

import unspoken
from unspoken.errors import DataError
from unspoken.methods.anonymity.utility import risk_utility_frontier
from unspoken.methods.anonymity.utility.risk_utility_frontier import frontier
from unspoken.protect import (
    Condenser,
    Generalizer,
    IsolationGuard,
    Microaggregator,
    MondrianAnonymizer,
    OptimalRecoder,
    TopBottomCoder,
)

LARGE = 1 << 60
BANDS = Generalizer(widths={"x": 4})
INFINITE = [OptimalRecoder(k=2), BANDS, MondrianAnonymizer(k=2), Microaggregator(k=2),
            MondrianAnonymizer(k=2, publish="mean"), Condenser(k=2), IsolationGuard(t=2)]
WITH_MEANS = [*(one for one in INFINITE if one is not INFINITE[2]),
              TopBottomCoder(share=0.1, columns=["x"], others="keep")]


def table_of(numbers):
    return unspoken.read(pa.table({"x": numbers, "y": [*range(len(numbers))]}), quasi=["x", "y"],
                         show=False)


def named(method):
    return type(method).__name__


@pytest.mark.parametrize("method", INFINITE, ids=named)
@pytest.mark.parametrize("sign", [1, -1])
def test_infinite_quasi_identifiers_are_refused_by_name(method, sign):
    with pytest.raises(DataError, match=f"{named(method)}: 'x' must be finite"):
        method.protect(table_of([sign * float("inf"), *map(float, range(19))]))


@pytest.mark.parametrize("method", WITH_MEANS, ids=named)
def test_whole_numbers_beyond_2_to_the_53_are_refused_by_name(method):
    with pytest.raises(DataError, match=rf"{named(method)}: whole numbers must lie within.*'x'"):
        method.protect(table_of([LARGE + at for at in range(20)]))


def test_classes_of_large_whole_numbers_are_published_exactly():
    release, _ = MondrianAnonymizer(k=10, shuffle_rows=False).protect(
        table_of([LARGE + at for at in range(20)]))
    assert release.table.arrow(["x"])["x"][0].as_py() == f"[{LARGE}, {LARGE + 9}]"


def test_bands_that_are_narrower_than_numbers_are_exact_are_refused():
    with pytest.raises(DataError, match="bands of width 4 are narrower than the numbers of 'x'"):
        BANDS.protect(table_of([1e300, *map(float, range(19))]))


@pytest.mark.slow
def test_one_method_that_refuses_leaves_the_others(monkeypatch):
    table = unspoken.read(pa.table({"x": [float("inf"), *map(float, range(79))],
                                    "z": [*range(80)], "y": ["a", "b"] * 40}),
                          quasi=["x", "z"], target="y", show=False)
    tried = frontier(table, {"k": 2}, random_state=0).tried
    assert any("must be finite" in one.refusal for one in tried)
    real = risk_utility_frontier.release_utility

    def broken(train, release, held_back, learner):
        if release.mechanism["name"] == "mondrian":
            raise OverflowError("cannot convert float infinity to integer")
        return real(train, release, held_back, learner)

    monkeypatch.setattr(risk_utility_frontier, "release_utility", broken)
    good = unspoken.read(pa.table({"z": [*range(80)], "y": ["a", "b"] * 40}), quasi=["z"],
                         target="y", show=False)
    best = frontier(good, {"k": 2}, random_state=0).best
    assert best.method != "mondrian"
