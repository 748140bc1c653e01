"""The contract of every release method, and clear answers to tables that ask for one."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pyarrow as pa
import pytest
from sklearn.tree import DecisionTreeClassifier

import unspoken
from unspoken import checks, mine
from unspoken.errors import DataError, InputError, NotCoveredError, ReleaseError, SchemaError
from unspoken.methods.anonymity.tree_preserving import anonymizer
from unspoken.protect import Growth, TreePreservingAnonymizer

pytestmark = pytest.mark.slow

METHODS = {
    "safe": TreePreservingAnonymizer,
    "min-block": lambda **k: TreePreservingAnonymizer(**{"rule": "min-block", **k}),
    "leaf-merge": lambda **k: TreePreservingAnonymizer(**{"rule": "leaf-merge", "k": 20, **k}),
    "scikit-learn": lambda **k: TreePreservingAnonymizer(
        **{"tree": {"learner": "scikit-learn", "max_leaves": 4}, **k}),
}
EXCEPTIONS = {
    "missing_stays_missing": "a column that the tree does not use is one value in every row; "
                             "where a value was missing would be knowledge too",
}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("check", checks.RELEASE_METHOD, ids=lambda check: check.__name__)
def test_contract(name, check):
    if check.__name__ in EXCEPTIONS:
        pytest.skip(EXCEPTIONS[check.__name__])
    check(METHODS[name])


def test_missing_stays_missing_in_columns_that_are_used():
    table = read({"a": [None, None, 1, 2, None, 3, 4, None], "y": [0, 0, 1, 1, 0, 1, 1, 0]},
                 kinds={"a": "numeric"})
    release, _ = TreePreservingAnonymizer(k=2).protect(table)
    assert release.tree.leaves == 2
    assert release.table.arrow()["a"].null_count == 4
    assert np.isinf(release.tree.threshold[0])


def read(columns, **roles):
    return unspoken.read(pa.table(columns), target="y", show=False, **roles)


def rows(count=40, seed=0):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 9, count), rng.integers(0, 9, count)
    return {"a": a, "b": b, "s": rng.choice(list("pqr"), count), "y": (a + b > 8).astype(int)}


def test_an_empty_table():
    table = read(rows())
    empty = table.with_frame(type(table.frame)(table.arrow().slice(0, 0)))
    with pytest.raises(DataError, match="at least one row"):
        TreePreservingAnonymizer().protect(empty)


def test_more_than_the_one_node_table_reaches():
    with pytest.raises(InputError, match="reaches only K = 40"):
        TreePreservingAnonymizer(k=41).protect(read(rows()))
    with pytest.raises(InputError, match="Ask for less"):
        TreePreservingAnonymizer(k=2, l=4).protect(read(rows(), sensitive="s"))


def test_diversity_needs_sensitive_columns():
    with pytest.raises(SchemaError, match="Declare them"):
        TreePreservingAnonymizer(l=2).protect(read(rows()))
    with pytest.raises(SchemaError, match="names 'a', which is not a sensitive column"):
        TreePreservingAnonymizer(l={"a": 2}).protect(read(rows(), sensitive="s"))


def test_a_target_with_missing_values():
    columns = rows() | {"y": [None, *rows()["y"][1:]]}
    with pytest.raises(DataError, match="a value in every row"):
        TreePreservingAnonymizer(k=2).protect(read(columns))


def test_an_infinite_value():
    columns = rows() | {"a": np.r_[np.inf, rows()["a"][1:]]}
    with pytest.raises(DataError, match="'a' must be finite"):
        TreePreservingAnonymizer(k=2).protect(read(columns))


def test_no_predictor():
    with pytest.raises(SchemaError, match="has no predictor"):
        TreePreservingAnonymizer(k=1).protect(read({"s": list("pq"), "y": [0, 1]}, sensitive="s"))


def test_constant_and_duplicate_columns():
    columns = rows()
    table = read({"one": [7] * 40, **columns, "again": columns["a"]}, sensitive="s")
    release, _ = TreePreservingAnonymizer(k=3).protect(table)
    used = {release.tree.features[f] for f in release.tree.feature if f >= 0}
    assert used <= {"a", "b"}
    assert {"one", "again"} <= set(release.mechanism["suppressed"])
    assert set(release.table.arrow()["one"].to_pylist()) == {7}


def test_sensitive_columns_are_no_predictors_even_if_they_tell_everything():
    columns = rows()
    columns["s"] = np.where(columns["y"] == 1, "p", "q")
    release, _ = TreePreservingAnonymizer(k=3).protect(read(columns, sensitive="s"))
    assert "s" not in release.tree.features
    kept, _ = TreePreservingAnonymizer(k=3, sensitive="suppress").protect(
        read(columns, sensitive="s"))
    assert kept.table.arrow()["s"].null_count == 40


def test_the_response_is_no_quasi_identifier_unless_it_is_said():
    columns = {"a": [1] * 10, "y": [0] * 9 + [1]}
    assert TreePreservingAnonymizer(k=10).protect(read(columns))[0].manifest["reached"]["k"] == 10
    with pytest.raises(InputError, match="reaches only K = 1"):
        TreePreservingAnonymizer(k=10, response_quasi=True).protect(read(columns))


def test_declared_quasi_identifiers_are_those_that_count():
    table = read(rows(), quasi=["a"], sensitive="s")
    release, _ = TreePreservingAnonymizer(k=4, tree={"max_leaves": 8}).protect(table)
    assert release.mechanism["quasi"] == ["a"]
    counts = np.unique(release.table.arrow()["a"].to_numpy(), return_counts=True)[1]
    assert counts.min() >= 4


def test_several_targets():
    columns = rows() | {"number": np.arange(40.0) / 2}
    trees = [Growth(), Growth(target="number"), Growth(criterion="entropy")]
    release, _ = TreePreservingAnonymizer(k=2, tree=trees).protect(read(columns, sensitive="s"))
    assert [t.task for t in release.trees] == ["classification", "regression", "classification"]
    assert "number" not in release.trees[0].features
    assert release.table.arrow()["number"].sort().equals(pa.chunked_array([columns["number"]]))
    for index, tree in enumerate(release.trees):
        assert mine.grow(release, index=index).same_as(tree)


def test_nothing_is_released_if_the_tree_is_not_found_again(monkeypatch):
    """Break the rule: one block less than the tree needs."""
    from unspoken.methods.anonymity.tree_preserving import recoding_rules as rules
    from unspoken.methods.anonymity.tree_preserving.threshold_blocks import Blocks, safe

    def shifted(values, pairs, weights):
        blocks = safe(values, pairs, weights)
        return Blocks(blocks.owner, blocks.representatives + np.r_[0.0, np.ones(
            blocks.count - 1)])

    monkeypatch.setattr(rules, "safe", shifted)
    with pytest.raises(NotCoveredError, match="nothing was released"):
        TreePreservingAnonymizer(k=3, rule="safe", refine=False).protect(
            read(rows(), sensitive="s"))


def test_verify_finds_changed_data_and_changed_trees(tmp_path):
    table = read(rows(200), sensitive="s")
    release, _ = TreePreservingAnonymizer(k=3).protect(table)
    assert release.guarantee.verify(table, release)
    saved = release.save(tmp_path / "r")
    assert saved.guarantee.verify(table, saved)
    assert saved.tree.same_as(release.tree)
    other = read(rows(200, seed=5), sensitive="s")
    assert not release.guarantee.verify(other, release)
    thinner = dataclasses.replace(release, table=release.table.with_frame(
        type(table.frame)(release.table.arrow().slice(0, 190))))
    assert not release.guarantee.verify(table, thinner)
    trees = json.loads(json.dumps(release.details["trees"]))
    trees[0]["threshold"][0] += 0.25
    forged = dataclasses.replace(release, details={**release.details, "trees": trees})
    assert "changed" in release.guarantee.verify(table, forged).difference


def test_verify_measures_k_on_the_release():
    table = read(rows(200), sensitive="s")
    release, _ = TreePreservingAnonymizer(k=3).protect(table)
    facts = {**release.guarantee.facts, "k": 150}
    wrong = dataclasses.replace(release.guarantee, facts=facts)
    assert "reaches only" in wrong.verify(table, release).difference


def test_covers():
    table = read(rows(200), sensitive="s")
    own, _ = TreePreservingAnonymizer(k=3).protect(table)
    growth, _ = Growth.of_rule(own.manifest["stopping_rule"])
    assert own.guarantee.covers(growth)
    assert not own.guarantee.covers(Growth(criterion="entropy", target="y"))
    leaves = own.manifest["stopping_rule"]["leaves"]
    assert not own.guarantee.covers(DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0))
    theirs, _ = TreePreservingAnonymizer(k=3, tree={"learner": "scikit-learn", "max_leaves": 5}
                                         ).protect(table)
    leaves = theirs.manifest["stopping_rule"]["leaves"]
    miner = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0)
    assert theirs.guarantee.covers(miner, ["a", "b"])
    assert not theirs.guarantee.covers(miner, ["b", "a"])
    assert not theirs.guarantee.covers(DecisionTreeClassifier(max_depth=2, random_state=0))
    with pytest.warns(UserWarning, match="Left out"):
        mined = mine.fit(theirs, "tree", max_leaf_nodes=leaves)
    assert mined.model.same_as(theirs.tree)


def test_scikit_learn_regression_needs_whole_numbers():
    columns = rows() | {"y": rows()["a"] + 0.1}
    growth = Growth(learner="scikit-learn", max_leaves=4)
    with pytest.raises(DataError, match="whole numbers"):
        TreePreservingAnonymizer(k=2, tree=growth).protect(read(columns))
    whole = rows() | {"y": rows()["a"] * 7 + rows()["b"]}
    growth = Growth(learner="scikit-learn", criterion="variance", max_leaves=4)
    release, _ = TreePreservingAnonymizer(k=2, tree=growth).protect(read(whole))
    assert release.manifest["verified"]["identical"] is True


def test_a_release_without_a_tree_has_none():
    release, _ = unspoken.protect.NoiseAdder(columns=["a"], others="drop").protect(read(rows()))
    assert release.trees == ()
    with pytest.raises(ReleaseError, match="without a tree"):
        _ = release.tree


def test_types_stay_where_they_hold_the_values():
    release, _ = TreePreservingAnonymizer(k=3).protect(read(rows(200), sensitive="s"))
    types = {f.name: str(f.type) for f in release.table.arrow().schema}
    assert types == {"a": "int64", "b": "int64", "s": "string", "y": "int64"}


def test_manifest_names_what_was_changed():
    release, _ = TreePreservingAnonymizer(k=3, shuffle_rows=False).protect(
        read(rows(200), sensitive="s"))
    before, after = read(rows(200)).arrow(), release.table.arrow()
    changed = release.manifest["changed"]
    for name in ("a", "b"):
        different = np.sum(before[name].to_numpy() != after[name].to_numpy())
        assert changed["columns"][name] == different
    assert changed["rows"] == np.sum((before["a"].to_numpy() != after["a"].to_numpy())
                                     | (before["b"].to_numpy() != after["b"].to_numpy()))


def test_the_owner_is_named_in_errors():
    with pytest.raises(InputError, match=f"{anonymizer.OWNER}: 'rule' must be one of"):
        TreePreservingAnonymizer(rule="literal").protect(read(rows()))


def test_a_table_that_is_read_in_batches(tmp_path):
    """Rows pass through files in pieces; sensitive values and response stay beside their cells."""
    import pyarrow.parquet as pq

    table = read(rows(3000), sensitive="s")
    pq.write_table(table.arrow(), tmp_path / "t.parquet")
    lazy = unspoken.read(tmp_path / "t.parquet", target="y", sensitive="s", lazy=True, show=False)
    lazy.engine.batch_rows = 700
    releases = [TreePreservingAnonymizer(k=5, rule="leaf-merge", random_state=4).protect(t)[0]
                for t in (table, lazy)]
    saved = releases[1].save(tmp_path / "r")
    assert saved.guarantee.verify(table, saved)
    assert saved.table.arrow().equals(releases[0].table.arrow())


def test_rows_that_move_stay_in_their_leaf():
    """Every released row reaches the leaf that its original reaches."""
    table = read(rows(400), sensitive="s")
    release, _ = TreePreservingAnonymizer(k=12, rule="leaf-merge", shuffle_rows=False).protect(
        table)
    assert release.manifest["changed"]["moved_rows"] > 0
    leaves = [release.tree.apply({n: t.arrow()[n].to_numpy() for n in ("a", "b")})
              for t in (table, release.table)]
    assert leaves[0].tolist() == leaves[1].tolist()
    assert release.table.arrow()["s"].equals(table.arrow()["s"])


def test_scikit_learn_through_mine_fit_leaves_sensitive_numbers_out():
    columns = rows(200)
    columns["s"] = columns["y"] * 10 + np.arange(200) % 3
    table = read(columns, sensitive="s")
    release, _ = TreePreservingAnonymizer(
        k=3, tree={"learner": "scikit-learn", "max_leaves": 4}).protect(table)
    leaves = release.manifest["stopping_rule"]["leaves"]
    with pytest.warns(UserWarning, match="Left out"):
        mined = mine.fit(release, "tree", max_leaf_nodes=leaves)
    assert mined.verdict
    assert mined.recipe.columns == ("a", "b")
    assert mined.model.same_as(release.tree)


def test_too_many_classes():
    table = read({"a": np.arange(2000) / 4, "y": np.arange(2000) / 2})
    with pytest.raises(DataError, match="Use criterion='variance'"):
        TreePreservingAnonymizer(k=2, tree={"criterion": "gini"}).protect(table)


def test_dates_as_classes_and_as_predictors():
    import datetime

    days = [datetime.date(2020, 1, 1 + i % 20) for i in range(60)]
    table = read({"day": days, "y": [days[i % 2] for i in range(60)], "x": np.arange(60) % 7})
    release, _ = TreePreservingAnonymizer(k=3).protect(table)
    assert release.tree.classes == ("2020-01-01", "2020-01-02")
    assert str(release.table.arrow().schema.field("day").type) in ("date32[day]", "double")
