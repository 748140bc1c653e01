"""The patterns Itemsets and Rules."""

from __future__ import annotations

import json

import numpy as np
import pytest

import unspoken
from unspoken.errors import InputError, ModelError
from unspoken.models.rules import MEASURES

ITEMS = ("a", "b", "c")
SETS = unspoken.Itemsets(ITEMS, ((0, 1), (1,), (0,)), np.array([0.1, 0.5, 0.2]), 100)


def test_sets_stand_in_order_with_their_supports():
    assert SETS.sets == ((0,), (1,), (0, 1))
    assert SETS.supports.tolist() == [0.2, 0.5, 0.1]
    assert SETS.counts.tolist() == [20, 50, 10]
    assert SETS.support("b", "a") == 0.1
    assert ("b", "a") in SETS
    assert ("c",) not in SETS
    with pytest.raises(InputError, match="min_support"):
        SETS.support("c")


@pytest.mark.parametrize("sets", [((1, 0),), ((0, 0),), ((3,),), ((-1,),), ((0,), (0,))])
def test_what_are_no_sets_is_refused(sets):
    with pytest.raises(InputError):
        unspoken.Itemsets(ITEMS, sets, np.full(len(sets), 0.1), 10)


def test_frame_has_items_support_low_high():
    frame = SETS.frame()
    assert frame.column_names == ["items", "support", "low", "high"]
    assert frame["items"].to_pylist() == [["a"], ["b"], ["a", "b"]]
    assert frame["low"].to_pylist() == frame["support"].to_pylist()


def test_itemsets_are_saved_and_read_again(tmp_path):
    whole = unspoken.Itemsets(ITEMS, SETS.sets, SETS.supports, 100, np.full(3, 0.01),
                           SETS.supports - 0.02, SETS.supports + 0.02, {"x": 1})
    whole.save(tmp_path / "i.json")
    found = unspoken.Itemsets.load(tmp_path / "i.json")
    assert found.same_as(whole)
    assert found.high.tolist() == whole.high.tolist()
    assert found.estimated
    assert not SETS.estimated
    assert not whole.same_as(whole.take([0, 1]))


@pytest.mark.parametrize(("field", "value"), [
    ("format", "other"), ("sizes", [1, 1, 9]), ("codes", [0, 1, 0, 7]), ("supports", [0.1]),
    ("codes", [0, 0, 1, 0]), ("baskets", -1), ("items", [1, 2, 3]), ("version", 99)])
def test_hostile_itemsets_are_refused_by_field(field, value):
    data = {**SETS.to_json(), field: value}
    with pytest.raises(ModelError):
        unspoken.Itemsets.load(json.dumps(data))


def rules(**bounds):
    return unspoken.Rules(ITEMS, ((0,),), ((1,),), np.array([0.1]), np.array([0.2]),
                          np.array([0.4]),
                       100, **bounds)


def test_measures_follow_their_definitions():
    found = rules()
    assert found.confidence.tolist() == [0.5]
    assert found.lift.tolist() == pytest.approx([1.25])
    assert found.leverage.tolist() == pytest.approx([0.02])
    assert found.conviction.tolist() == pytest.approx([1.2])
    assert all(found.interval(m)[0] == found.interval(m)[1] for m in MEASURES)


def test_a_rule_without_exception_has_infinite_conviction():
    sure = unspoken.Rules(ITEMS, ((0,),), ((1,),), np.array([0.2]), np.array([0.2]),
                          np.array([0.4]),
                       100)
    assert np.isinf(sure.conviction[0])


def test_intervals_are_the_extremes_inside_the_bounds_of_the_supports():
    rng = np.random.default_rng(0)
    low, high = np.array([[0.08, 0.18, 0.35]]), np.array([[0.12, 0.25, 0.45]])
    found = rules(low=low, high=high)
    inside = low + rng.random((20000, 3)) * (high - low)
    inside = np.vstack([inside, [[0.08, 0.25, 0.45], [0.12, 0.18, 0.35]]])
    many = unspoken.Rules(ITEMS, ((0,),) * len(inside), ((1,),) * len(inside), *inside.T, 100)
    for measure in MEASURES:
        value = getattr(many, measure)
        ends = found.interval(measure)
        assert ends[0][0] == pytest.approx(value.min())
        assert ends[1][0] == pytest.approx(value.max())


def test_rules_are_saved_and_read_again(tmp_path):
    whole = rules(low=np.array([[0.0, 0.1, 0.2]]), high=np.array([[0.3, 0.4, 0.5]]))
    whole.save(tmp_path / "r.json")
    found = unspoken.Rules.load(tmp_path / "r.json")
    assert found.same_as(whole)
    assert found.low.tolist() == whole.low.tolist()
    assert "a -> b" in found.summary()
    for field, value in (("left_sizes", [2]), ("right_codes", [0]), ("support", [])):
        with pytest.raises(ModelError):
            unspoken.Rules.load(json.dumps({**whole.to_json(), field: value}))
