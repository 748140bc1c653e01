"""Task `quantiles` against numpy on all rows in one place, and what shows of them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.joint_tables import OWNERS, outputs_of, owners_tables, study_of
from support.mining_views import watched
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.ops.sharing import reveal, share_sum
from unspoken.joint.tasks.column_quantiles import program_rows
from unspoken.joint.tasks.column_quantiles.params import QuantileParams
from unspoken.joint.tasks.column_quantiles.pooled import pooled
from unspoken.joint.tasks.column_quantiles.program_rows import QUANTILES
from unspoken.joint.tasks.common.quantile_search import Grid, QuantileSearch
from unspoken.joint.tasks.task_list import all_tasks, task_of

RANGES = {"range.tied": [0, 8], "range.spread": [-32, 96], "range.gaps": [-4, 4],
          "range.same": [0, 10]}
COLUMNS = ["tied", "spread", "gaps", "same"]
AT = [0.01, 0.25, 0.5, 0.9]


def by_numpy(values, at, low, high, bits, fewest):
    """Return a quantile on the grid, None where too few values lie on a side; written apart."""
    exact = Fraction(str(at))
    if len(values) * min(exact, 1 - exact) < fewest:
        return None
    # numpy's own share of all may lie a rounding beside the exact one: the rank is taken exactly.
    rank = max(1, math.ceil(exact * len(values)))
    value = float(np.sort(values)[rank - 1])
    if at in (0.25, 0.5):
        assert value == np.quantile(values, at, method="inverted_cdf")
    step = (high - low) / 2**bits
    return min(max(low + step * math.ceil((value - low) / step), low), high)


def all_by_numpy(tables, bits, fewest):
    whole = pd.concat(tables)
    return {name: {str(at): by_numpy(whole[name].dropna().to_numpy(float), at,
                                     *RANGES[f"range.{name}"], bits, fewest) for at in AT}
            for name in COLUMNS}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_joint_quantiles_are_those_of_all_rows_in_one_place(seed, tmp_path):
    tables = owners_tables(seed)
    outputs = outputs_of("quantiles", tables, tmp_path, columns=COLUMNS, at=AT, bits=6, **RANGES)
    expected = all_by_numpy(tables, 6, 5)
    for output in outputs:
        assert output["exact_to"] == {"tied": 0.125, "spread": 2.0, "gaps": 0.125, "same": 10 / 64}
        for name in COLUMNS:
            assert output["quantiles"][name] == pytest.approx(expected[name]), name
    assert outputs[0]["quantiles"]["spread"]["0.01"] is None, "nobody learns the least value"


@pytest.mark.slow
def test_two_hundred_random_studies_are_right():
    """Searches are answered by plain counts here: on shares these are exact."""
    params = QuantileParams(tuple(COLUMNS), {n: tuple(RANGES[f"range.{n}"]) for n in COLUMNS},
                            tuple(AT), 6, 1)
    for seed in range(200):
        tables = owners_tables(3000 + seed, 14)
        parts = [{name: table[name].to_numpy(float) for name in COLUMNS} for table in tables]
        expected = all_by_numpy(tables, 6, 1)
        shown = pooled(parts, params)["quantiles"]
        assert all(shown[name] == pytest.approx(expected[name]) for name in COLUMNS)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.lists(st.integers(-3, 19), max_size=5), min_size=2, max_size=3),
       st.sampled_from([(1, 2), (1, 4), (9, 10), (1, 100)]), st.integers(1, 5))
def test_a_search_ends_at_the_first_grid_point_with_enough_values(owners, wanted, bits):
    grid = Grid(0.0, 16.0, bits, (wanted,))
    everything = [value for own in owners for value in own]
    searches = [QuantileSearch({"x": grid}, {"x": np.array(own, float)}) for own in owners]
    for _ in range(bits + 1):
        below = sum(int(search.counts()[0]) for search in searches)
        for search in searches:
            search.answer(np.array([below * wanted[1] < len(everything) * wanted[0]]))
    points = [16.0 * step / 2**bits for step in range(2**bits + 1)]
    enough = [point for point in points
              if sum(value <= point for value in everything) * wanted[1]
              >= len(everything) * wanted[0]]
    for search in searches:
        assert search.ends()["x"][0] == (enough[0] if enough else 16.0)


# What shows -----------------------------------------------------------------------------------

NUMBERED = ("p0", "p1", "p2")


def views(first, second, **more):
    study = study_of("quantiles", {"columns": ["x"], "range.x": [0, 8], "bits": 3, "at": [0.5, 0.9],
                                   "fewest": 1, **more}, NUMBERED)
    return [watched(task_of(study).program(study),
                    [{"x": np.array(own, float)} for own in owners]) for owners in (first, second)]


@pytest.mark.slow
def test_nothing_shows_but_the_quantiles():
    """Medians and ninth deciles are 3 and 8; how many values there are, and whose, is not shown."""
    first, second = views([[3] * 6, [8] * 2, [1] * 2], [[0] * 4, [3] * 8 + [500] * 8, []])
    assert first == second


@pytest.mark.slow
def test_a_count_that_is_opened_would_show(monkeypatch):
    real = program_rows.search_on_shares

    async def leaking(party, search, most, *, because):
        total = await share_sum(party, search.known()[:1], (1,), 0, most)
        await reveal(party, total, because=QUANTILES)
        await real(party, search, most, because=because)

    monkeypatch.setattr(program_rows, "search_on_shares", leaking)
    first, second = views([[3] * 6, [8] * 2, [1] * 2], [[0] * 4, [3] * 8 + [500] * 8, []])
    assert first != second


def test_of_a_quantile_with_too_few_values_beyond_it_only_that_shows():
    first, second = views([[1] * 10, [2] * 9, [7]], [[1] * 9, [2] * 11, []], fewest=5, at=[0.9])
    assert first == second


# Plans and refusals ---------------------------------------------------------------------------

def test_a_plan_says_how_fine_quantiles_are_and_that_everybody_learns_them():
    study = study_of("quantiles", {"columns": ["x"], "range.x": [0, 8], "bits": 3})
    outlook = task_of(study).outlook(study)
    assert "quantiles are exact to a step of 1 (x)" in outlook.notes
    assert all(QUANTILES in outlook.learns[name] for name in OWNERS)


@pytest.mark.parametrize(("parameters", "match"), [
    ({"columns": ["a"]}, "needs a range of column 'a'"),
    ({"columns": ["a"], "range.a": [0, 1], "range.b": [0, 1]}, "'range.b' of task 'quantiles'"),
    ({"columns": ["a"], "range.a": [0, 1], "at": [0.5, 0.5]}, "increasing"),
    ({"columns": ["a"], "range.a": [0, 1], "at": [0, 0.5]}, "between 0 and 1"),
    ({"columns": ["a"], "range.a": [0, 1], "at": [1 / 3]}, "at most 6 decimals"),
    ({"columns": ["a"], "range.a": [0, 1], "fewest": 0}, "from 1 to")])
def test_what_does_not_fit_together_is_refused(parameters, match):
    with pytest.raises(StudyError, match=match):
        all_tasks()["quantiles"].check(parameters)
