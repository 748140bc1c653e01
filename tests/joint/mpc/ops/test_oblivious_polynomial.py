"""Oblivious polynomial evaluation against numpy, and what would give somebody away."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.watching import frames_to
from unspoken.joint import reveal
from unspoken.joint.joint_errors import RefusedError, RingError
from unspoken.joint.mpc.declared import declares
from unspoken.joint.mpc.ops.oblivious_polynomial import (
    Side,
    evaluate,
    evaluate_to,
    plain_polynomial,
)
from unspoken.joint.session.run import run_local

CIRCLES = [("dealer", 2), ("dealer", 3), ("three-party", 3), ("two-party", 2), ("two-party", 3)]


def evaluated(mode, parties, sides, values, scale=0):
    """Let two owners give coefficients and points, and open p(x) to everybody."""
    if mode == "two-party":
        pytest.importorskip("rbcl", reason="rbcl is not installed")

    @declares("values")
    async def program(party, data):
        given_ = dict(zip((side.owner for side in sides), values, strict=True)).get(party.name)
        shared = await evaluate(party, given_, *sides, scale)
        return await reveal(party, shared, because="values")

    outputs = [output for output, _ in run_local(program, [None] * parties, mode)]
    for output in outputs[1:]:
        assert np.array_equal(output, outputs[0])
    return outputs[0]


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "parties"), CIRCLES)
@pytest.mark.parametrize("owners", [("p0", "p1"), ("p1", "p0")])
@settings(max_examples=5)
@given(data=st.data())
def test_whole_numbers_are_exact(mode, parties, owners, data):
    coefficients = data.draw(st.lists(st.integers(-1000, 1000), min_size=2, max_size=6))
    points = data.draw(st.lists(st.integers(-100, 100), min_size=1, max_size=9))
    sides = Side(owners[0], len(coefficients), -1000, 1000), Side(owners[1], len(points), -100, 100)
    got = evaluated(mode, parties, sides, (coefficients, points))
    exact = [sum(a * x**k for k, a in enumerate(coefficients)) for x in points]
    assert got.tolist() == exact


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "parties"), CIRCLES)
def test_fixed_point_is_as_close_as_it_says(mode, parties):
    coefficients, points = np.array([0.3, -1.7, 0.9, 1.1]), np.linspace(-1.9, 1.9, 11)
    sides = Side("p0", 4, -2, 2), Side("p1", 11, -2, 2)
    got = evaluated(mode, parties, sides, (coefficients, points), 20)
    limit = np.abs(coefficients).sum() / 2 + 1.9**3 * 4 / 2 + 1
    assert np.abs(got - plain_polynomial(coefficients, points)).max() <= limit * 2.0**-20


def test_three_owners_none_of_whom_holds_both():
    sides = Side("p2", 3, -9, 9), Side("p0", 2, -9, 9)
    assert evaluated("two-party", 3, sides, ([1, 2, 3], [4, -5])).tolist() == [57, 66]


def opened(points, degree, owner="p1"):
    @declares("values")
    async def program(party, data):
        given_ = list(range(degree + 1)) if party.index == 0 else [2] * points
        return await evaluate_to(party, given_, Side("p0", degree + 1, 0, 9),
                                 Side(owner, points, 0, 9), because="values")

    return [output for output, _ in run_local(program, [None] * 2)]


def test_only_the_owner_of_the_points_learns_the_values():
    nothing, values = opened(2, 3)
    assert nothing is None
    assert values.tolist() == [34, 34]


def test_what_would_give_somebody_away_is_refused():
    with pytest.raises(RefusedError, match="4 values of a polynomial of degree 3 give it away"):
        opened(4, 3)
    with pytest.raises(RefusedError, match="must not have both"):
        opened(2, 3, "p0")
    with pytest.raises(RefusedError, match=r"owns no data here\. Owners: "):
        opened(2, 3, "p9")
    with pytest.raises(RingError, match="at least 2"):
        opened(1, 0)


@pytest.mark.parametrize("mode", ["dealer", "two-party"])
def test_values_outside_their_bounds_are_refused(mode):
    for sides, values in (
            ((Side("p0", 2, -9, 9), Side("p1", 1, -9, 9)), ([1, 50], [2])),
            ((Side("p0", 2, -9, 9), Side("p1", 1, -9, 9)), ([1, 5], [200])),
            ((Side("p0", 3, -9, 9), Side("p1", 1, -2**40, 2**40)), ([1, 5, 1], [2])),
            ((Side("p0", 3, -9, 9), Side("p1", 2, -9, 9)), ([1, 5, 1], [2])),
            ((Side("p0", 3, -9, 9), Side("p1", 2, -9, 9)), ([1, 5], [2, 3]))):
        with pytest.raises(RingError):
            evaluated(mode, 2, sides, values)


def test_nobody_sees_coefficients_or_powers():
    pytest.importorskip("rbcl", reason="rbcl is not installed")

    @declares("values")
    async def program(party, data):
        return await evaluate(party, data, Side("p0", 3, 0, 99), Side("p1", 64, 0, 99))

    got, outputs = frames_to(program, [np.full(3, 41), np.full(64, 42)], {"p0", "p1"}, "two-party")
    seen = np.concatenate([frame.view("<u8") for frame in (
        *got["p0", "p1", "product.words"], *got["p1", "p0", "product.choice"])])
    # All words differ: nothing small, nothing twice, though every value was the same.
    assert np.unique(seen).size == seen.size
    assert seen.min() > 2**32
    assert np.unique(outputs[0].share).size == np.unique(outputs[1].share).size == 64
