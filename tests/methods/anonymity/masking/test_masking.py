"""Methods that hide people among each other: the contract, and what each promises, counted."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import estimator_checks_generator

import unspoken
from unspoken import checks
from unspoken.errors import DataError, InputError, SchemaError
from unspoken.methods.anonymity import measures as an
from unspoken.methods.anonymity.hierarchy import Hierarchy
from unspoken.protect import (
    CellSuppressor,
    DataSwapper,
    Generalizer,
    MondrianAnonymizer,
    SampleReleaser,
    TopBottomCoder,
)

pytestmark = pytest.mark.slow

METHODS = {
    "mondrian": MondrianAnonymizer,
    "mondrian gain": lambda **k: MondrianAnonymizer(**{"cuts": "gain", "mode": "relaxed", **k}),
    "mondrian mean": lambda **k: MondrianAnonymizer(**{"publish": "mean", **k}),
    "generalizer": lambda **k: Generalizer(
        **{"widths": {"age": 40, "dose": 50, "visits": 4}, "k": 2, "suppression": 0.5, **k}),
    "top-bottom": TopBottomCoder,
    "cells": CellSuppressor,
    "swap": DataSwapper,
    "sample": lambda **k: SampleReleaser(**{"share": 0.5, **k}),
}
NOTHING = dict.fromkeys(
    ["random_state_repeats_and_is_declared"], "nothing but the order of rows is drawn")
BLANKS = {"missing_stays_missing": "missing hides among missing: the class publishes none"}
EXCEPTIONS = {
    "mondrian": NOTHING | BLANKS, "mondrian gain": NOTHING | BLANKS,
    "mondrian mean": NOTHING | BLANKS, "top-bottom": NOTHING,
    "generalizer": NOTHING,
    "cells": NOTHING | {"missing_stays_missing": "blanking cells is what it does"},
    "sample": {"missing_stays_missing": "records are left out"},
}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("check", checks.RELEASE_METHOD, ids=lambda check: check.__name__)
def test_contract(name, check):
    if check.__name__ in EXCEPTIONS.get(name, {}):
        with pytest.raises((AssertionError, TypeError)):
            check(METHODS[name])
    else:
        check(METHODS[name])


@pytest.mark.parametrize(("estimator", "check"), [
    pytest.param(made, check, id=getattr(check, "func", check).__name__)
    for made, check in estimator_checks_generator(TopBottomCoder(), legacy=True)])
def test_top_and_bottom_is_a_scikit_learn_transformer(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def adult(shared):
    rows = pq.read_table(shared("adult_data.parquet")).slice(0, 6000)
    names = ["age", "education", "marital-status", "sex", "hours-per-week", "occupation", "income"]
    return unspoken.read(rows.select(names), target="income", sensitive="occupation", show=False,
                      quasi=["age", "education", "marital-status", "sex", "hours-per-week"])


@pytest.mark.parametrize("options", [
    {}, {"mode": "relaxed"}, {"cuts": "gain"}, {"l": 3}, {"l": 3, "diversity": "entropy"},
    {"l": 2, "diversity": "strong"}, {"l": 2, "diversity": "recursive", "c": 2.0}, {"t": 0.4},
    {"suppression": 0.02}, {"publish": "mean"},
], ids=str)
def test_mondrian_keeps_what_it_promises(adult, options):
    method = MondrianAnonymizer(8, **options)
    release, key = method.protect(adult)
    found = an.measure(release.table)
    key.fits(release)
    assert found.k >= 8
    assert release.guarantee.verify(release.table)
    job, demanded = found["occupation"], options.get("l", 0)
    measured = {"distinct": job.distinct, "entropy": job.entropy, "strong": job.strong}
    # exp(log(3)) is a hair below 3.
    assert measured.get(options.get("diversity", "distinct"), demanded) >= demanded - 1e-12
    if options.get("diversity") == "strong":
        assert job.strong > 2
    if options.get("diversity") == "recursive":
        from unspoken.methods.anonymity.measures import equivalence_classes as stats
        from unspoken.table.category_codes import coded

        codes = coded(release.table.arrow()["occupation"]).codes
        owner = an.class_codes(release.table, found.quasi)
        assert stats.recursive(stats.spread(owner, codes), 2).max() < 2
    if "t" in options:
        assert job.t <= 0.4 + 1e-12
    assert method.rows_.size >= (1 - options.get("suppression", 0)) * adult.rows
    assert found.classes > 20


def test_mondrian_tells_no_lies(adult):
    """Every published interval and set holds the value that it stands for."""
    release, _ = MondrianAnonymizer(5, shuffle_rows=False).protect(adult)
    before, after = adult.arrow().to_pydict(), release.table.arrow().to_pydict()
    about = release.mechanism["columns"]["education"]
    for own, shown in zip(before["education"], after["education"], strict=True):
        assert own in (about["values"] if shown == "*" else shown.split(about["separator"]))
    for own, shown in zip(before["age"], after["age"], strict=True):
        low, *high = (float(end) for end in shown.strip("[]").split(","))
        assert low <= own <= (high or [low])[0]
    assert after["occupation"] == before["occupation"]
    assert after["income"] == before["income"]


def test_values_that_look_like_sets_are_not_taken_for_some():
    jobs = ["a", "b", "a | b", "a || b"] * 10
    table = unspoken.read(pa.table({"job": jobs, "n": [i // 4 for i in range(40)]}), show=False)
    release, _ = MondrianAnonymizer(4, shuffle_rows=False).protect(table)
    about = release.mechanism["columns"]["job"]
    assert about["separator"] == " ||| "
    shown = release.table.arrow()["job"].to_pylist()
    assert all(own in (about["values"] if label == "*" else label.split(" ||| "))
               for own, label in zip(jobs, shown, strict=True))


def plain_mondrian(rows, k):
    """Strict Mondrian as its paper writes it, one class at a time."""
    spans = [(min(column), max(column)) for column in zip(*rows, strict=True)]

    def cut(part):
        widths = []
        for at, (low, high) in enumerate(spans):
            values = [rows[i][at] for i in part]
            widths.append((max(values) - min(values)) / max(high - low, 1e-9))
        for at in sorted(range(len(spans)), key=lambda d: -widths[d]):
            if widths[at] == 0:
                continue
            values = sorted(rows[i][at] for i in part)
            middle = values[len(values) // 2]
            sides = []
            for left in ([i for i in part if rows[i][at] < middle],
                         [i for i in part if rows[i][at] <= middle]):
                sides.append((left, [i for i in part if i not in set(left)]))
            left, right = max(sides, key=lambda two: min(len(two[0]), len(two[1])))
            if min(len(left), len(right)) >= k:
                return cut(left) + cut(right)
        return [sorted(part)]

    return sorted(cut(list(range(len(rows)))))


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5)), min_size=4, max_size=60),
       st.integers(1, 4))
def test_strict_mondrian_is_the_recursion_of_the_paper(rows, k):
    method = MondrianAnonymizer(k)
    method.fit(np.array(rows, float))
    found = sorted(np.flatnonzero(method.owner_ == one).tolist()
                   for one in range(method.owner_.max() + 1))
    assert found == plain_mondrian(rows, k)


def test_gain_cuts_where_the_target_changes():
    data = np.arange(40, dtype=float)[:, None]
    labels = (np.arange(40) >= 13).astype(float)
    method = MondrianAnonymizer(12, cuts="gain").fit(data, labels)
    assert np.flatnonzero(np.diff(method.owner_)).tolist()[0] == 12
    numbers = MondrianAnonymizer(12, cuts="gain").fit(
        np.arange(120, dtype=float)[:, None], np.r_[np.linspace(0, 1, 31), np.linspace(50, 51, 89)])
    assert 30 in np.flatnonzero(np.diff(numbers.owner_)).tolist()


def test_transform_is_for_the_fitted_records_only():
    data = np.random.default_rng(0).normal(size=(50, 2))
    method = MondrianAnonymizer(5)
    means = method.fit_transform(data)
    assert means == pytest.approx(method.transform(data))
    assert means.mean(axis=0) == pytest.approx(data.mean(axis=0))
    with pytest.raises(InputError, match="were fitted"):
        method.transform(data[:10])
    far = np.r_[np.zeros(30), np.ones(20), [500.0]][:, None]
    few = MondrianAnonymizer(15, suppression=0.1)
    means = few.fit_transform(far)
    assert (np.isnan(means[:, 0]) == (few.owner_ < 0)).all()
    assert np.flatnonzero(few.owner_ < 0).tolist() == [50]
    assert means[:50] == pytest.approx(far[:50])


def test_hierarchies_are_cut_between_siblings(tmp_path):
    file = tmp_path / "job.csv"
    file.write_text("a;left;*\nb;left;*\nc;right;*\nd;right;*\n")
    jobs = ["a"] * 9 + ["b"] * 9 + ["c"] * 3 + ["d"] * 11
    table = unspoken.read(pa.table({"job": jobs}), show=False)
    release, key = MondrianAnonymizer(5, hierarchies={"job": file},
                                      shuffle_rows=False).protect(table)
    shown = release.table.arrow()["job"].to_pylist()
    assert shown == ["a"] * 9 + ["b"] * 9 + ["right"] * 14
    # Three people hold c: the manifest does not name it, the key does.
    assert release.mechanism["columns"]["job"]["groups"]["right"] == ["d"]
    assert key.secrets["members"]["job"]["right"] == ["c", "d"]


def test_generalizer_raises_and_leaves_out_within_its_limit():
    tree = Hierarchy.from_tree({"left": ["a", "b"], "right": ["c"]})
    rows = {"job": ["a", "b", "a", "c"], "age": [11, 19, 12, 15]}
    table = unspoken.read(pa.table(rows), show=False)
    make = lambda **k: Generalizer({"job": tree}, 1, widths={"age": 10},  # noqa: E731
                                      shuffle_rows=False, **k)
    shown = make().protect(table)[0].table.arrow().to_pydict()
    assert shown == {"job": ["left"] * 3 + ["right"], "age": ["[10, 20)"] * 4}
    method = make(k=2, suppression=0.25)
    release, _ = method.protect(table)
    assert method.rows_.tolist() == [0, 1, 2]
    assert release.guarantee.verify(release.table)
    with pytest.raises(DataError, match=r"at most 0\.00%"):
        make(k=2).protect(table)
    diverse = make(l=2, suppression=0.25, sensitive=["ill"]).protect(
        unspoken.read(pa.table({**rows, "ill": ["x", "y", "x", "x"]}), show=False))[0]
    assert diverse.table.rows == 3
    assert an.measure(diverse.table, ["job", "age"], "ill").l == 2
    with pytest.raises(InputError, match="has 2 levels"):
        Generalizer({"job": tree}, 3).protect(table)


def test_target_must_not_be_sensitive(adult):
    with pytest.raises(SchemaError, match="predicts it"):
        MondrianAnonymizer(sensitive=["income"]).protect(adult)
    with pytest.raises(SchemaError, match="sensitive column"):
        MondrianAnonymizer(l=2).protect(unspoken.read(adult.arrow(["age"]), show=False))
    with pytest.raises(DataError, match="even all records together"):
        MondrianAnonymizer(k=7000).protect(adult)
    with pytest.raises(SchemaError, match="others='drop'"):
        MondrianAnonymizer(columns=["age"]).protect(adult)


def test_top_and_bottom(adult):
    method = TopBottomCoder(top={"age": 60}, bottom={"age": 20}, share=None, columns=["age"],
                            others="keep", shuffle_rows=False)
    shown = method.protect(adult)[0].table.arrow()["age"].to_numpy()
    own = adult.arrow()["age"].to_numpy()
    assert (shown == np.clip(own, 20, 60)).all()
    with pytest.raises(InputError, match="must not exceed its top"):
        TopBottomCoder(1.0, 2.0, columns=["age"], others="drop").protect(adult)


def test_cells_are_blank_only_where_records_stood_out(adult):
    method = CellSuppressor(5, suppression=0.01, shuffle_rows=False)
    release, _ = method.protect(adult)
    found = an.measure(release.table)
    assert found.k >= 5
    before = an.measure(adult)
    assert before.k == 1
    owner = an.class_codes(adult, before.quasi)
    large = (np.bincount(owner) >= 5)[owner]
    own, shown = adult.arrow().to_pylist(), release.table.arrow().to_pylist()
    place = {row: at for at, row in enumerate(method.rows_.tolist())}
    assert all(shown[place[row]] == own[row] for row in np.flatnonzero(large).tolist())
    blanks = {n: release.table.arrow()[n].null_count for n in before.quasi}
    assert blanks == method.blanks_


@pytest.mark.parametrize("within", [None, 0.05])
def test_swapping_keeps_columns_and_moves_about_as_many_as_it_says(adult, within):
    release, _ = DataSwapper(0.2, within, shuffle_rows=False, random_state=1).protect(adult)
    own, shown = adult.arrow().to_pandas(), release.table.arrow().to_pandas()
    ages = own["age"].to_numpy(), shown["age"].to_numpy()
    assert sorted(ages[0]) == sorted(ages[1])
    moved = (ages[0] != ages[1]).mean()
    assert 0.1 < moved <= 0.2 if within is None else 0 < moved <= 0.2
    if within is not None:
        rank = np.argsort(np.argsort(ages[0], kind="stable"))
        changed = ages[0] != ages[1]
        first = np.searchsorted(np.sort(ages[0]), ages[1][changed])
        last = np.searchsorted(np.sort(ages[0]), ages[1][changed], side="right") - 1
        gap = np.maximum(first - rank[changed], rank[changed] - last)
        assert gap.max() <= 0.05 * ages[0].size


def test_a_sample_is_drawn_and_unless_shuffled_in_order(adult):
    method = SampleReleaser(0.1, shuffle_rows=False, random_state=3)
    release, _ = method.protect(adult)
    assert release.table.rows == 600
    assert release.table.arrow().equals(adult.arrow(release.schema.names).take(
        pa.array(method.rows_)))
    other = SampleReleaser(0.1, random_state=4)
    other.protect(adult)
    assert len(set(method.rows_) & set(other.rows_)) < 200


def test_a_fitted_mondrian_never_returns_the_classes_of_another_table():
    rng = np.random.default_rng(0)
    fitted, other = rng.normal(size=(60, 2)), rng.normal(size=(60, 2))
    method = MondrianAnonymizer(5)
    means = method.fit_transform(fitted)
    assert np.array_equal(method.transform(fitted), means)
    with pytest.raises(InputError, match="only the records that were fitted"):
        method.transform(other)
    with pytest.raises(InputError, match="only the records that were fitted"):
        MondrianAnonymizer(5).transform(fitted)


def test_classes_that_are_published_alike_are_counted_once():
    table = unspoken.read(pa.table({"x": [1] * 7 + [2]}), quasi=["x"], show=False)
    release, _ = MondrianAnonymizer(k=2, mode="relaxed").protect(table)
    shown = set(release.table.arrow(["x"])["x"].to_pylist())
    assert release.guarantee.facts["classes"] == len(shown) == 2
