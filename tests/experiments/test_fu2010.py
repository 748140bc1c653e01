"""The experiment of fu2010 in small, and what it says of the paper in full where that is quick."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken.methods.anonymity.adversaries.table_adversary import TableView
from unspoken_experiments.fu2010 import data, figures, folds, learners, releases, tablei

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def study():
    rng = np.random.default_rng(3)
    a, b, town = rng.integers(0, 20, 500), rng.normal(size=500), rng.choice(list("pqrs"), 500)
    y = np.where((a > 9) ^ (town < "q"), "yes", "no")
    y = np.where(rng.random(500) < 0.1, "no", y)
    table = unspoken.read(pa.table({"a": a, "b": b, "town": town, "s": rng.choice(list("uvwxyz"),
                                                                                  500),
                                 "y": y}), target="y", sensitive="s", show=False)
    return data.Study("small", table, "gini")


@pytest.fixture(scope="module")
def adult(shared):
    return data.adult(folder=shared("adult_data.parquet").parent)


def cells(lines):
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines
             if line.startswith("|")]
    return found[2:]


def test_table_i_as_published_and_not(adult):
    assert adult.table.rows == 30718
    rows = cells(tablei.table_i(adult))
    assert [row[1:3] for row in rows] == [["154", "154"], ["120", "120"], ["25", "64"]]


def test_k_and_l_of_adult_by_tree_size(adult):
    (row,) = cells(figures.anonymity(adult, (4,)))
    assert row[1] == row[2] == "120, 2.26"
    assert int(row[3].split(",")[0]) >= 150
    assert row[4].startswith("120, ")


def test_people_outside_get_the_tree_of_the_original(study):
    """Nine parts of ten are released, and the held-out rows are placed by public words alone."""
    pairs = {m: folds.outside(study, m, 4) for m in ("original", "tree-preserving")}
    for first, second in zip(*pairs.values(), strict=True):
        wanted, found = (learners.tree(study, pair, 4) for pair in (first, second))
        assert wanted.tolist() == found.tolist()


def test_releases_keep_the_leaves_or_not(study):
    assert releases.same_leaves(study, releases.kept(study, 4), 4)
    assert not releases.same_leaves(study, releases.cut(study, 20, "median"), 4)


def test_placed_people_stand_in_the_class_that_holds_them(study):
    rows = study.table.arrow()
    view = TableView.of(releases.cut(study, 20, "gain", "interval"))
    shown = releases.cut(study, 20, "gain")
    found = folds.placed(shown, view, rows, "y")
    mine = shown.table.arrow()
    # Strict cuts make boxes that do not overlap, so everybody is found in their own.
    assert found.select(["a", "b", "town"]).equals(mine.select(["a", "b", "town"]))
    assert found["y"].equals(rows["y"])


def test_tables_of_every_learner(study):
    lines = list(figures.quality(study, (3,), methods=("original", "tree-preserving", "gain")))
    assert sum(line.endswith("folds):") for line in lines) == 6
    scores = [float(cell.split(" ± ")[0]) for row in cells(lines) if row[0] == "3"
              for cell in row[1:]]
    assert len(scores) == 18
    assert all(40 < score <= 100 for score in scores)


def test_regression(study):
    rows = study.table.arrow()
    y = rows["a"].to_numpy() * 3.0 + rows["b"].to_numpy()
    table = unspoken.read(rows.set_column(4, "y", pa.array(y)), target="y", sensitive="s",
                          show=False)
    other = data.Study("numbers", table, "variance")
    pairs = folds.outside(other, "original", 4)
    assert learners.scores(other, pairs, learners.linear, 4).min() > 0.999
    assert 0.5 < learners.scores(other, pairs, learners.tree, 4).mean() < 0.999


def test_run_times_have_a_line_for_every_size(study):
    rows = cells(figures.seconds(study, (0.5, 1.0), 1))
    assert [row[0] for row in rows] == ["250", "500", "attributes", "---", "3", "4"]


def test_several_trees(study):
    rows = cells(figures.several(study))
    assert int(rows[2][2]) <= min(int(rows[0][2]), int(rows[1][2]))
