"""All of a release is attacked: labels, target, missing values, row order, people; mutants fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import unspoken
from support.people import people, release_of
from unspoken.methods.encoding.audit.released_labels import label_columns
from unspoken.methods.encoding.encoder import PiecewiseEncoder
from unspoken.risk import Policy, audit

POLICY = Policy.parse('allow_seeded = true\n[columns]\nmax_recovered = 0.6\nagainst = "expert"\n')
CHEAP = ["unchanged", "ignorant", "row-order", "missing-pattern", "label-order",
         "category-records"]


class InClear(PiecewiseEncoder):
    """A broken encoder: some columns leave as they are."""

    clear = ("age",)

    def _draw(self, recipe, names, counted, seed, rows):
        super()._draw(recipe, names, counted, seed, rows)
        columns = tuple(replace(c, codes=c.values.astype(np.int64)) if c.name in self.clear else c
                        for c in self.book_.columns)
        self.book_ = replace(self.book_, columns=columns)


class DoesNothing(InClear):
    """A broken encoder: everything leaves as it is."""

    clear = ("age", "salary")


def judged(table, encoder, **options):
    release, key = encoder.protect(table)
    options = {"trials": 5, "random_state": 0, "subspaces": 1, "adversaries": CHEAP, **options}
    return audit(table, release, key, policy=POLICY, **options)


def whole_people():
    table = people()
    return unspoken.read(table.arrow(["age", "salary", "group"]), target="group", show=False)


def test_a_sound_release_passes_the_cheap_adversaries():
    found = judged(whole_people(), PiecewiseEncoder(random_state=1))
    assert found.judgement
    assert found.assessed
    assert found.verdict == "the policy holds"


def test_a_release_that_does_nothing_is_caught():
    found = judged(whole_people(), DoesNothing(random_state=1, shuffle_rows=False))
    assert not found.judgement
    assert found.worst("age").value == found.worst("salary").value == 1.0
    (row,) = found.select(adversary="row-order")
    assert row.value == 1.0


def test_one_column_in_clear_is_caught():
    found = judged(whole_people(), InClear(random_state=1))
    assert not found.judgement
    assert any("'age'" in reason and "unchanged" in reason for reason in found.judgement.reasons)


def test_order_that_is_kept_is_caught_by_whoever_has_a_sample():
    table = whole_people()
    release, key = release_of(table)
    policy = Policy.parse('allow_seeded = true\n[columns]\nmax_recovered = 0.6\n'
                          'against = "sample"\n')
    found = audit(table, release, key, sample=people(seed=4), trials=5, random_state=0,
                  policy=policy, subspaces=1, adversaries=["alignment", "quantile"])
    assert not found.judgement
    assert found.worst("age").adversary == "alignment"


def test_zeros_that_stay_zeros_are_counted():
    rng = np.random.default_rng(0)
    gain = np.where(rng.random(500) < 0.9, 0, rng.integers(1000, 90000, 500))
    table = unspoken.read({"gain": gain, "y": rng.integers(0, 2, 500)}, target="y", show=False)
    hidden = judged(table, PiecewiseEncoder(random_state=1))
    (row,) = hidden.select(adversary="unchanged", column="gain", measure="exact records")
    assert row.value == 0.0
    found = judged(table, PiecewiseEncoder(keep_zero=True, random_state=1))
    (row,) = found.select(adversary="unchanged", column="gain", measure="exact records")
    assert row.value == pytest.approx((gain == 0).mean())
    assert not found.judgement
    assert any("keep_zero" in one.what for one in found.suggestions)


def test_a_class_in_clear_is_said_first_and_a_quantity_counts_like_a_column():
    found = judged(whole_people(), PiecewiseEncoder(random_state=1))
    assert "target 'group' is released as it is" in found.summary().splitlines()[1]
    rng = np.random.default_rng(0)
    table = unspoken.read({"x": rng.normal(size=300).round(2), "y": rng.normal(size=300)},
                          target="y", show=False)
    found = judged(table, PiecewiseEncoder(random_state=1, clear_target="y"))
    assert not found.judgement
    assert found.worst("y").value == 1.0
    # In secret units it does not leave as it is, and two known targets read it all the same.
    found = judged(table, PiecewiseEncoder(random_state=1), adversaries=[*CHEAP, "target-line"])
    assert not found.judgement
    assert found.worst("y").value > 0.9


def test_neutral_classes_are_read_by_their_order():
    found = judged(whole_people(), PiecewiseEncoder(random_state=1, neutral_names=True))
    rows = found.select(adversary="label-order", column="group", measure="records")
    assert [row.value for row in rows] == [1.0]
    assert not found.select(measure="target")


def test_a_pattern_of_missing_values_singles_people_out():
    rng = np.random.default_rng(0)
    columns = {name: rng.normal(size=100).round(1) for name in "abc"}
    columns["a"][3] = columns["b"][3] = np.nan
    columns["b"][:2] = np.nan
    table = unspoken.read({**columns, "y": rng.integers(0, 2, 100)}, target="y", show=False)
    found = judged(table, PiecewiseEncoder(random_state=1))
    rows = {row.column: row.value for row in found.select(measure="missing pattern")}
    assert rows == {"a": 0.01, "b": 0.01}


def test_labels_nobody_attacks_are_not_assessed():
    rng = np.random.default_rng(0)
    table = unspoken.read({"x": rng.normal(size=60), "town": rng.choice(["a", "b"], 60),
                           "y": rng.integers(0, 2, 60)}, target="y", show=False)
    encoder = PiecewiseEncoder(random_state=1, categorical="relabel")
    found = judged(table, encoder, adversaries=["rank", "ignorant"])
    assert set(found.unscored) == {"town"}
    assert not found.judgement
    assert "not assessed" in found.verdict


@pytest.mark.slow
def test_categories_that_share_a_label_are_those_of_the_most_frequent():
    towns = ["a"] * 60 + ["b"] * 30 + ["c"] * 5 + ["d"] * 3 + ["e"] * 2
    table = unspoken.read({"age": list(range(100)), "town": towns, "y": ["u", "v"] * 50},
                          target="y", keep=["age"], show=False)
    release, key = PiecewiseEncoder(rare=10, random_state=3).protect(table)
    column = next(one for one in label_columns(table, release, key)[0] if one.name == "town")
    assert len(column.labels) == 3
    shared = column.label_of[[column.categories.index(town) for town in "cde"]]
    assert len(set(shared.tolist())) == 1
    assert column.categories[column.owner[shared[0]]] == "c"
    assert column.counts[shared[0]] == 10
    assert audit(table, release, key, trials=3, random_state=0).frame().num_rows
