"""`unspoken.joint.mine`: one door for every task, with what is left out taken from the data."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from support.node_fleet import people
from unspoken.errors import InputError
from unspoken.joint import mine
from unspoken.models.categorical_tree import CategoricalTree


@pytest.fixture
def frames():
    return {name: pd.read_csv(io.StringIO(people(place)))
            for place, name in enumerate(("north", "south", "east"))}


@pytest.mark.slow
def test_sums_of_frames(frames):
    whole = pd.concat(frames.values())
    assert mine("sum", list(frames.values()), columns=["age"]) == {"age": whole["age"].sum()}


@pytest.mark.slow
def test_a_tree_whose_categories_and_ranges_nobody_types(frames, tmp_path):
    paths = {}
    for name, frame in frames.items():
        paths[name] = tmp_path / f"{name}.csv"
        frame.to_csv(paths[name], index=False)
    tree = mine("tree", paths, target="ill", attributes=["age", "smoker"], max_depth=2)
    assert isinstance(tree, CategoricalTree)
    assert set(tree.predict(frames["north"])) <= {"no", "yes"}


@pytest.mark.slow
def test_parameters_by_column_are_mappings(frames):
    counts = mine("sum", frames, columns=["age"], edges={"age": (0, 40, 120)})
    assert sum(counts.values()) == sum(map(len, frames.values()))


@pytest.mark.parametrize(("task", "over", "match"), [
    ("tree", "people", "'over' must be"), ("tre", "rows", "A task over rows"),
    ("intersection", "columns", "A task over columns")])
def test_what_there_is_not_is_refused_by_name(frames, task, over, match):
    with pytest.raises(InputError, match=match):
        mine(task, frames, over=over)
