"""What messages of the weak protocols give away, and what they do not."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from unspoken.errors import InputError
from unspoken.joint import secure_sum
from unspoken.joint.mpc.declared import declares
from unspoken.joint.museum import weak_products
from unspoken.joint.museum.message_equations import (
    Equations,
    equations_of,
    ranges,
    recover,
    solve,
    stacked,
    wendel,
)
from unspoken.joint.museum.message_leaks import (
    Totals,
    matched_rows,
    moved_points,
    others,
    published_columns,
)
from unspoken.joint.museum.weak_products import WEAK, matrix_product
from unspoken.joint.session.recorded_run import coalition, run_recorded
from unspoken.joint.session.run import run_local

ROWS = 40


def views_of(a, b, method, times=1):
    @declares(WEAK)
    async def program(party, data):
        for _ in range(times):
            await matrix_product(party, data, ["p0", "p1"], ROWS, (a.shape[1], b.shape[1]),
                                 method=method)

    outcomes, views = run_recorded(program, [a, b])
    assert [outcome.error for outcome in outcomes] == [None] * 3
    return views


@pytest.fixture
def binary(monkeypatch):
    """Let discrete columns through, which the protocols refuse."""
    monkeypatch.setattr(weak_products, "checked", lambda values, *_: np.asarray(values, float))
    return np.random.default_rng(1).integers(0, 2, (2, ROWS, 60))


@pytest.mark.slow
@pytest.mark.parametrize(("method", "mine", "equations"),
                         [("protocol-1", 3, 20), ("protocol-2", 4, 22), ("protocol-2", 10, 25)])
def test_a_linear_program_finds_columns_of_yes_and_no(binary, method, mine, equations):
    a, b = binary[0][:, :mine], binary[1]
    view = views_of(a, b, method)["p0"]
    [found] = equations_of(view)
    assert (found.victim, found.rank, found.unknowns) == ("p1", equations, ROWS)
    result = solve(found, (0, 1))
    right = result.columns[:, result.certain]
    assert np.array_equal(right, b[:, result.certain])
    # 60 columns: within five standard deviations of Wendel's probability.
    expected = wendel(ROWS, equations)
    assert abs(result.certain.mean() - expected) <= 5 * np.sqrt(expected * (1 - expected) / 60)
    assert result.success(b) == result.certain.mean()
    assert (result.bits_before, result.bits_left, result.baseline) == (ROWS, 0, 0.5)


def test_the_other_side_is_found_as_well(binary):
    a, b = binary[0], binary[1][:, :20]
    for method, equations in (("protocol-1", 20), ("protocol-2", 20)):
        [found] = equations_of(views_of(a[:, :5], b, method)["p1"])
        assert found.victim == "p0"
        assert found.rank >= equations - 3
        assert np.allclose(found.coefficients @ a[:, :5], found.values, atol=1e-9)


def test_wendels_probability():
    assert wendel(100, 50) == pytest.approx(0.5)
    for n, q in ((7, 3), (12, 9), (5, 5)):
        assert wendel(n, q) == pytest.approx(sum(comb(n - 1, i) for i in range(q)) / 2 ** (n - 1))


def test_reals_keep_half_of_their_freedom_for_one_run_and_nothing_for_two():
    rng = np.random.default_rng(2)
    a, b = rng.random((ROWS, 2)), rng.random((ROWS, 2))
    found = equations_of(views_of(a, b, "protocol-1", times=2)["p1"])
    once, twice = solve(found[0], bits=10), solve(stacked(found), bits=10)
    assert not once.certain.any()
    assert np.isnan(once.columns).all()
    assert (once.bits_before, once.bits_left) == (400, 200)
    assert twice.bits_left == 0
    assert np.allclose(twice.columns, a, atol=1e-6)
    assert "2 of 2 columns of 'p0' are known exactly; 0.0 of 400.0 bits" in str(twice)


def test_a_view_is_attacked_as_a_whole():
    rng = np.random.default_rng(10)
    a, b = rng.random((ROWS, 3)), rng.random((ROWS, 2))
    view = views_of(a, b, "protocol-1", times=2)["p0"]
    [found] = recover(view)
    assert np.allclose(found.columns, b, atol=1e-6)
    [found] = recover(views_of(a, b, "protocol-2")["p0"], bits=8)
    assert (found.bits_before, found.bits_left) == (320, 8 * (ROWS - (ROWS + 3) // 2 - 1))
    assert recover(views_of(a, b, "commodity")["p0"]) == []


def test_bounds_narrow_single_values():
    """Amounts, of which most are small, are bounded well; values in the middle are not."""
    rng = np.random.default_rng(3)
    a, b = rng.random((ROWS, 12)), rng.random((ROWS, 2)) ** np.array([8, 1])
    [found] = equations_of(views_of(a, b, "protocol-2")["p0"])
    assert found.rank == 26
    widths = []
    for column in (0, 1):
        least, greatest = ranges(found, column, 0.0, 1.0, range(8)).T
        assert (least <= b[:8, column] + 1e-9).all()
        assert (greatest >= b[:8, column] - 1e-9).all()
        widths.append((greatest - least).mean())
    assert widths[0] < 0.3
    assert widths[1] > 0.7


def test_shares_give_no_equations():
    rng = np.random.default_rng(4)
    a, b = rng.random((ROWS, 2)), rng.random((ROWS, 2))
    views = views_of(a, b, "commodity")
    assert [equations_of(view) for view in views.values()] == [[], [], []]


def test_a_coalition_does_not_attack_its_own_members():
    rng = np.random.default_rng(5)
    views = views_of(rng.random((ROWS, 2)), rng.random((ROWS, 2)), "protocol-1")
    assert equations_of(coalition([views["p0"], views["p1"]])) == []
    assert len(equations_of(coalition([views["p0"], views["dealer"]]))) == 1


def test_what_does_not_belong_together_is_refused():
    one = Equations("a", np.eye(2), np.zeros((2, 1)))
    with pytest.raises(InputError, match="same columns of one owner"):
        stacked([one, Equations("b", np.eye(2), np.zeros((2, 1)))])
    with pytest.raises(InputError, match="two values"):
        solve(one, (0, 1, 2))
    with pytest.raises(InputError, match="Known records"):
        published_columns(np.eye(3), [0], [[1, 2, 3]])
    with pytest.raises(InputError, match="Rows seen"):
        matched_rows(np.eye(3), np.eye(2))


def totals(points):
    return Totals(len(points), points.sum(axis=0), (points**2).sum(axis=0))


def test_one_moved_point_is_the_difference_of_two_iterations():
    rng = np.random.default_rng(6)
    mine, theirs = rng.normal(size=(9, 3)), rng.normal(size=(20, 3))
    before, after = totals(np.vstack([mine, theirs[:19]])), totals(np.vstack([mine[:5], theirs]))
    found = moved_points(others(before, totals(mine)), others(after, totals(mine[:5])))
    assert np.allclose(found, theirs[19:])
    assert np.allclose(moved_points(totals(theirs), totals(theirs[1:])), theirs[:1])


def test_two_moved_points_are_solved_for_unlike_the_book_says():
    theirs = np.random.default_rng(7).normal(size=(20, 1))
    found = moved_points(totals(theirs[:18]), totals(theirs))
    assert np.allclose(found[:, 0], np.sort(theirs[18:, 0]))
    assert moved_points(totals(theirs[:17]), totals(theirs)) is None
    assert moved_points(totals(theirs), totals(theirs)) is None


def test_literal_powell_publishes_columns():
    """Three owners sum w = X d in the open; directions of the first sweep touch one owner."""
    rng = np.random.default_rng(8)
    parts = [rng.normal(size=(12, 2)) for _ in range(3)]
    turn = rng.normal(size=(2, 2))

    def sweep(directions):
        @declares("w")
        async def program(party, data):
            own = data @ directions if party.index == 1 else np.zeros((12, 2))
            return await secure_sum(party, own, because="w", scale=40)

        return run_local(program, parts, "sums")[0][0]

    assert np.allclose(published_columns(sweep(np.eye(2))), parts[1], atol=1e-9)
    seen = sweep(turn)
    assert not np.allclose(seen, parts[1], atol=0.1)
    found = published_columns(seen, [3, 7], parts[1][[3, 7]])
    assert np.allclose(found, parts[1], atol=1e-8)


def test_unique_patterns_are_found_in_encrypted_columns():
    rng = np.random.default_rng(9)
    items = rng.random((300, 8)) < rng.uniform(0.1, 0.45, 8)
    own, foreign = items[:, :5], items[:, 5:]
    order = rng.permutation(300)
    codes = rng.permutation(1000)[:16].reshape(8, 2)
    encrypted = codes[np.arange(5), own[order].astype(int)]
    found = matched_rows(own, encrypted)
    # Independently: rows whose pattern occurs once.
    patterns = [tuple(row) for row in own.tolist()]
    once = np.array([patterns.count(pattern) == 1 for pattern in patterns])
    assert np.array_equal(found.own_row, np.where(once[order], order, -1))
    assert 0 < found.share < 1
    assert found.learned(foreign[order]) == foreign[once].sum()
