"""Every value lies in the band that is printed for it, and so does every new one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unspoken
from unspoken.cli.main import main
from unspoken.errors import DataError, InputError
from unspoken.methods.anonymity.hierarchy_builders import build_hierarchy
from unspoken.protect import Generalizer, OptimalRecoder

TENTHS = [at / 10 for at in range(1, 13)]


def holds(label, value):
    low, high = map(Fraction, label[1:-1].split(", "))
    number = Fraction(str(value))
    return low <= number < high if label[-1] == ")" else low <= number <= high


def test_steps_of_a_tenth():
    tree = build_hierarchy([*TENTHS, 0.35], "steps", steps=[0.1, 0.3])
    assert dict(row[:2] for row in tree.rows)["0.3"] == "[0.3, 0.4)"
    assert dict((row[0], row[2]) for row in tree.rows)["0.6"] == "[0.6, 0.9)"


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-1e12, 1e12), min_size=2, max_size=9, unique=True),
       st.sampled_from([0.1, 0.3, 0.7, 5, 1e-3]))
def test_every_value_lies_in_its_bands(numbers, width):
    values = [number + 0.0 for number in numbers]
    for tree in (build_hierarchy(values, "steps"), build_hierarchy(values, "steps", steps=[width]),
                 build_hierarchy(values, "quantiles", bands=3)):
        for row in tree.rows:
            assert all(holds(label, row[0]) for label in row[1:-1] if label[0] == "[")


def test_ends_far_from_zero_are_printed_in_full():
    times = [1700000000.078, 1700000000.079, 1700000000.093]
    tree = build_hierarchy(times, "steps", steps=[0.01])
    assert [row[1] for row in tree.rows] == ["[1700000000.07, 1700000000.08)"] * 2 + [
        "[1700000000.09, 1700000000.1)"]
    assert build_hierarchy(times, "steps").levels > 1
    whole = [2**60 + 1, 2**60 + 2, 2**60 + 3]
    assert build_hierarchy(whole, "steps", steps=[2]).rows[0][1] == f"[{2**60}, {2**60 + 2})"
    shown = build_hierarchy([times[0], times[1], 1.8e9], "quantiles", bands=2).rows
    assert all(holds(row[1], row[0]) for row in shown if row[1][0] == "[")


def test_bands_of_the_generalizer():
    table = unspoken.read(pa.table({"x": TENTHS}), quasi=["x"], show=False)
    release, _ = Generalizer(widths={"x": 0.1}, shuffle_rows=False).protect(table)
    labels = release.table.arrow()["x"].to_pylist()
    assert labels[5] == "[0.6, 0.7)"
    assert all(map(holds, labels, TENTHS))
    method = Generalizer(widths={"x": 0.1}).fit(pd.DataFrame({"x": TENTHS}))
    assert method.transform(pd.DataFrame({"x": [0.3, 0.34]})).tolist() == [[0.35], [0.35]]


def test_new_records_stand_in_the_band_that_is_printed():
    X = pd.DataFrame({"x": [at / 10 for at in range(40)] * 2})
    method = OptimalRecoder(4, suppression=0.0)
    shown = method.fit_transform(X)
    assert all(holds(label, value) for label, value in zip(shown[:, 0], X["x"], strict=True))
    new = pd.DataFrame({"x": [0.35, 2.05, 3.8]})
    assert all(map(holds, method.transform(new)[:, 0], new["x"]))


@pytest.mark.parametrize("steps", [[0], [float("nan")], [-1], [float("inf")], [0.1, 0.25]])
def test_steps_that_are_no_widths_are_refused(steps):
    with pytest.raises(InputError, match="positive, each a multiple"):
        build_hierarchy(TENTHS, "steps", steps=steps)


@pytest.mark.slow
@pytest.mark.parametrize("steps", ["0", "nan", "-1"])
def test_the_command_refuses_one_step_that_is_no_width(steps, tmp_path, capsys):
    (tmp_path / "x.csv").write_text("x\n" + "\n".join(map(str, TENTHS)) + "\n")
    assert main(["hierarchy", str(tmp_path / "x.csv"), "x", "--how", "steps",
                 f"--steps={steps}"]) != 0
    assert "positive, each a multiple of the one before" in capsys.readouterr().err


def test_infinite_numbers_have_no_band():
    with pytest.raises(DataError, match="finite"):
        build_hierarchy([1.0, np.inf], "steps")
