"""An owner's own table, prepared by joint results: against scikit-learn and pandas."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from support.joint_commands import joint_command
from unspoken import read
from unspoken.errors import DataError, InputError
from unspoken.joint import mine, prepare

SUMMARY = {"summary": {"x": {"known": 40, "missing": 3, "mean": 4.0, "variance": 4.0,
                             "deviation": 2.0, "below": 0, "above": 1, "range": [0.0, 10.0]},
                       "flat": {"mean": 7.0, "deviation": 0.0, "range": [0.0, 10.0]},
                       "rare": {"mean": None, "deviation": None, "range": [0.0, 1.0]}}}
QUANTILES = {"quantiles": {"x": {"0.05": 1.0, "0.25": 3.0, "0.5": 4.5, "0.75": 5.0, "0.9": None}}}
BINS = {"classes": ["no", "yes"], "bins": {
    "x": {"cuts": [2.0, 5.0], "counts": [[1, 1], None, [5, 5], [1, 0]],
          "weights": [-0.5, None, 0.75, 0.1], "information": 0.2},
    "town": {"categories": ["a", "b"], "counts": [[3, 3], [2, 2], None],
             "weights": [0.25, -0.25, None], "information": 0.1}}}
ROWS = pd.DataFrame({"id": [1, 2, 3, 4, 5], "x": [-3.0, 2.0, np.nan, 5.0, 30.0],
                     "flat": [7.0, 8.0, 7.0, 7.0, 7.0], "town": ["a", "b", None, "a", "b"]})


def column(name="x", by=(SUMMARY, QUANTILES, BINS), **steps):
    rows = prepare(read(ROWS, show=False), by, columns=[name], **steps)
    assert rows.column_names == list(ROWS.columns)
    assert rows["id"].to_pylist() == [1, 2, 3, 4, 5]
    return rows[name].to_pylist()


@pytest.mark.parametrize(("way", "expected"), [
    ("range", [0.0, 2.0, None, 5.0, 10.0]), ("deviations", [-2.0, 2.0, None, 5.0, 10.0]),
    ("quartiles", [0.0, 2.0, None, 5.0, 8.0])])
def test_values_farther_out_are_moved_to_the_limits(way, expected):
    assert column(limit=way) == expected


def test_limits_by_quantiles_are_the_outermost_that_came_out():
    quantiles = {"quantiles": {"x": {"0.9": 6.0, "0.05": 1.0, "0.5": 4.5}}}
    assert column(limit="quantiles", by=[quantiles]) == [1.0, 2.0, None, 5.0, 6.0]
    with pytest.raises(DataError, match=r"no 0\.9 of column 'x'"):
        column(limit="quantiles")
    with pytest.raises(InputError, match="need two"):
        column(limit="quantiles", by=[{"quantiles": {"x": {"0.5": 1.0}}}])


def test_missing_values_get_the_mean_or_the_median_of_all():
    assert column(impute="mean")[2] == 4.0
    assert column(impute="median")[2] == 4.5


def test_scales_put_the_same_number_at_every_owner_at_the_same_place():
    assert column(scale="deviation") == [-3.5, -1.0, None, 0.5, 13.0]
    assert column(scale="range") == [-0.3, 0.2, None, 0.5, 3.0]
    assert column(scale="quartiles") == [-3.75, -1.25, None, 0.25, 12.75]
    assert column("flat", scale="deviation") == [0.0, 1.0, 0.0, 0.0, 0.0]


def test_bins_are_numbered_or_weighed_and_an_empty_one_weighs_nothing():
    assert column(bin="number") == [0, 0, 3, 1, 2]
    assert column(bin="weights") == [-0.5, -0.5, 0.1, 0.0, 0.75]
    assert column("town", bin="number") == [0, 1, 2, 0, 1]
    assert column("town", bin="weights") == [0.25, -0.25, 0.0, 0.25, -0.25]
    assert column(bin="number", impute="mean", limit="range") == [0, 0, 1, 1, 2]


def test_without_columns_all_that_the_results_are_about_are_prepared():
    rows = prepare(read(ROWS, show=False), [{"summary": {
        name: SUMMARY["summary"][name] for name in ("x", "flat")}}], scale="deviation")
    assert rows["x"].to_pylist()[1] == -1.0
    assert rows["flat"].to_pylist() == [0.0, 1.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(("steps", "match"), [
    ({}, "without a step"), ({"scale": "range", "bin": "number"}, "Leave one"),
    ({"impute": "mode"}, "one of mean, median")])
def test_steps_that_make_no_sense_are_refused(steps, match):
    with pytest.raises(InputError, match=match):
        column(**steps)


def test_what_the_results_do_not_say_is_refused():
    with pytest.raises(InputError, match="No result of task 'quantiles' is about column 'x'"):
        column(impute="median", by=[SUMMARY])
    with pytest.raises(DataError, match="'rare' is there"):
        column("rare", impute="mean")
    with pytest.raises(DataError, match="no mean of column 'x'"):
        column(impute="mean", by=[{"summary": {"x": SUMMARY["summary"]["rare"]}}])
    with pytest.raises(InputError, match="of another"):
        column(impute="mean", by=[{"x": 3}])
    with pytest.raises(InputError, match="names no target"):
        column(bin="weights", by=[{"bins": {"x": {"cuts": [1.0], "counts": [1, 2, 3]}}}])


@pytest.mark.slow
def test_from_a_joint_summary_every_owner_gets_what_scikit_learn_gets_from_all_rows():
    rng = np.random.default_rng(8)
    parts = [pd.DataFrame({"age": rng.integers(20, 90, size).astype(float)})
             for size in (30, 50, 9)]
    parts[1].loc[:4, "age"] = np.nan
    whole = pd.concat(parts)
    summary = mine("summary", parts, columns=["age"])
    assert summary["summary"]["age"]["range"] == [whole["age"].min(), whole["age"].max()]
    filled = SimpleImputer().set_output(transform="pandas").fit(whole)
    for part in parts:
        mine_ = prepare(read(part, show=False), [summary], impute="mean", scale="range")
        scaled = MinMaxScaler().fit(whole).transform(filled.transform(part))
        np.testing.assert_allclose(mine_["age"].to_numpy(), scaled[:, 0], atol=1e-12)
        even = prepare(read(part, show=False), [summary], scale="deviation")["age"].to_numpy()
        reference = StandardScaler().fit(whole)
        size = whole["age"].count()
        expected = reference.transform(part)[:, 0] * np.sqrt((size - 1) / size)
        np.testing.assert_allclose(even, expected, atol=1e-9)


@pytest.mark.slow
def test_the_command_writes_the_prepared_table(tmp_path, capsys):
    (tmp_path / "summary.json").write_text(json.dumps(SUMMARY))
    (tmp_path / "quantiles.json").write_text(json.dumps(QUANTILES))
    ROWS.to_csv(tmp_path / "t.csv", index=False)
    words = ("prepare", tmp_path / "t.csv", "--by", tmp_path / "summary.json", "--by",
             tmp_path / "quantiles.json", "--columns", "x", "--impute", "median", "--scale",
             "range", "--out", tmp_path / "out.csv")
    assert joint_command(*words) == 0
    assert "5 rows written" in capsys.readouterr().out
    written = pd.read_csv(tmp_path / "out.csv")
    assert written["x"].tolist() == [-0.3, 0.2, 0.45, 0.5, 3.0]
    assert written["town"].fillna("").tolist() == ["a", "b", "", "a", "b"]
    assert (tmp_path / "out.csv").stat().st_mode & 0o777 == 0o600
    with pytest.raises(InputError, match="must not exist yet"):
        joint_command(*words)
    with pytest.raises(InputError, match="holds no JSON"):
        joint_command("prepare", tmp_path / "t.csv", "--by", tmp_path / "t.csv", "--bin", "number",
                      "--out", tmp_path / "other.csv")


@pytest.mark.slow
def test_an_owner_without_a_known_value_takes_part():
    parts = [pd.DataFrame({"age": [20.0, 30.0, 50.0]}), pd.DataFrame({"age": [np.nan, np.nan]})]
    summary = mine("summary", parts, columns=["age"], range={"age": [0, 100]}, fewest=1)
    shown = summary["summary"]["age"]
    assert (shown["known"], shown["missing"]) == (3, 2)
    assert shown["mean"] == pytest.approx(100 / 3)
