"""Functions of one's own, ranges that look real, and a number of pieces that nobody is told."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unspoken
from unspoken.cli.main import main
from unspoken.errors import DataError, InputError
from unspoken.methods.encoding.decode.mined_again import decoded_and_mined_again
from unspoken.methods.encoding.formulas import Formula
from unspoken.methods.encoding.own_codes import OwnCodes, strictly_increasing
from unspoken.mine import fit
from unspoken.numerics.label_runs import Pieces
from unspoken.protect import PiecewiseEncoder


def people(rows=300):
    rng = np.random.default_rng(0)
    age, income = rng.integers(17, 91, rows), rng.normal(30_000, 9_000, rows).round()
    return unspoken.read({"age": age, "income": income,
                          "y": np.where(age + income / 1000 > 75, "high", "low")},
                         target="y", show=False)


def test_figure_one_of_the_paper():
    """Ages 0.9 age + 10: 17 becomes 25.3 and 68 becomes 71.2, as whole numbers here."""
    ages = np.array([17.0, 20.0, 23.0, 32.0, 43.0, 68.0])
    one = Pieces(np.array([0]), np.array([False]), 6)
    codes = OwnCodes("0.9*x + 10").codes("age", ages, one).codes
    assert codes.tolist() == [25, 28, 31, 39, 49, 71]


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=30))
def test_equal_whole_numbers_move_up_and_no_further(numbers):
    whole = np.sort(np.array(numbers))
    codes = strictly_increasing(whole)
    assert np.all(np.diff(codes) > 0)
    assert np.all(codes >= whole)
    # The least such numbers: each is the wanted one, or follows right after the one before.
    assert all(code == want or code == before + 1
               for before, code, want in zip(codes, codes[1:], whole[1:], strict=False))


@pytest.mark.parametrize(("text", "at_4"), [
    ("x", 4.0), ("-(-x)**1", 4.0), ("sqrt(x) * 3 - 1", 5.0), ("log1p(x)/log(5)", 1.0),
    ("2*x**2 + exp(0)", 33.0)])
def test_formulas_are_read(text, at_4):
    assert Formula().admits(text)
    values = np.array([4.0])
    piece = Pieces(np.array([0]), np.array([False]), 1)
    assert OwnCodes(f"1000*({text})").codes("a", values, piece).codes[0] == round(1000 * at_4)


@pytest.mark.parametrize("text", [
    "y", "x.real", "__import__('os')", "open('f')", "x[0]", "lambda: 1", "x if x else 1", "'x'",
    "exp(x, x)", "x @ x", "(x", "", "9" * 300, "1e400", "True", "[x]", "x; x"])
def test_anything_else_is_refused_unrun(text):
    assert not Formula().admits(text)
    with pytest.raises(InputError, match="formula"):
        PiecewiseEncoder(functions={"age": text}).protect(people())


def test_codes_by_function_and_range_keep_the_model():
    table = people()
    encoder = PiecewiseEncoder(functions={"age": "0.9*x + 10"}, looks={"income": [9_000, 80_000]})
    release, key = encoder.protect(table)
    codes = release.table.numbers(["age", "income"])
    assert codes[:, 0].min() >= 24
    assert codes[:, 0].max() <= 100
    assert codes[:, 1].min() >= 9_000
    assert codes[:, 1].max() <= 80_000
    mined = fit(release, "tree", max_depth=5)
    assert mined.verdict
    decoded, original = decoded_and_mined_again(mined.model, mined.recipe, key, table)
    assert original.model.same_as(decoded)
    assert "0.9" not in str(release.mechanism)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["anti", "max-mono"])
def test_ranges_hold_in_other_modes(mode):
    release, _ = PiecewiseEncoder(mode=mode, looks={"age": (1, 99)}).protect(people())
    codes = release.table.numbers(["age"])
    assert (codes.min() >= 1) & (codes.max() <= 99)


@pytest.mark.parametrize(("options", "why"), [
    ({"functions": {"age": "-x"}}, "must increase"),
    ({"functions": {"age": "log(x - 50)"}}, "finite number"),
    ({"functions": {"income": "x**3"}}, "within 8,388,608"),
    ({"looks": {"age": [10, 20]}}, "74 different values"),
    ({"looks": {"y": [10, 20]}}, "no numeric column"),
    ({"looks": {"age": [10, 20]}, "functions": {"age": "x"}}, "both"),
    ({"functions": {"age": "x"}, "mode": "anti"}, "turns the order round"),
])
def test_what_cannot_be_is_refused_in_a_sentence(options, why):
    with pytest.raises((DataError, InputError), match=why):
        PiecewiseEncoder(**options).protect(people())


def test_the_number_of_pieces_is_drawn_for_every_column_and_told_to_nobody():
    rng = np.random.default_rng(0)
    table = unspoken.read({**{f"c{i}": rng.normal(size=400) for i in range(30)},
                           "y": rng.integers(0, 2, 400)}, target="y", show=False)
    encoder = PiecewiseEncoder()
    release, _ = encoder.protect(table)
    numbers = [column.pieces.starts.size for column in encoder.book_.columns]
    assert min(numbers) >= 20
    assert max(numbers) <= 60
    assert len(set(numbers)) > 8
    assert "breakpoints" not in release.mechanism
    fixed = PiecewiseEncoder(breakpoints=7)
    fixed.protect(table)
    assert {column.pieces.starts.size for column in fixed.book_.columns} == {7}


@pytest.mark.slow
def test_the_command_line_takes_both(tmp_path):
    data = tmp_path / "people.csv"
    people().arrow().to_pandas().to_csv(data, index=False)
    out = tmp_path / "release"
    assert main(["protect", str(data), "--target", "y", "--out", str(out), "--key",
                 str(tmp_path / "the.key"), "--option", 'functions={"age": "0.9*x + 10"}',
                 "--option", 'looks={"income": [9000, 80000]}']) == 0
    codes = unspoken.Release.load(out).table.numbers(["age", "income"])
    assert codes[:, 0].max() <= 100
    assert codes[:, 1].max() <= 80_000
