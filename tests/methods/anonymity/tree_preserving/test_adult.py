"""Known answers on Adult: rows with an unknown occupation dropped, income no quasi-identifier."""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import unspoken
from unspoken import mine
from unspoken.errors import InputError
from unspoken.methods.anonymity.measures.equivalence_classes import k_of
from unspoken.methods.anonymity.tree_preserving.cells import classes_of, make_cells
from unspoken.methods.anonymity.tree_preserving.kept_trees import Question
from unspoken.methods.anonymity.tree_preserving.recoding_rules import Recoder
from unspoken.protect import Growth, TreePreservingAnonymizer
from unspoken.table.integer_columns import code_column

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def adult(shared):
    table = pq.read_table(shared("adult_data.parquet"))
    table = table.filter(pc.not_equal(table["occupation"], "?"))
    assert table.num_rows == 30718
    return unspoken.read(table, target="income", sensitive="occupation", show=False)


def released(table, leaves, rule="safe", k=1, **more):
    tree = Growth(max_leaves=leaves, criterion="gini")
    return TreePreservingAnonymizer(k=k, tree=tree, rule=rule, diversity="strong", refine=False,
                                    **more).protect(table)[0]


@pytest.mark.parametrize(("leaves", "k", "ell"),
                         [(1, 30718, 7.42), (2, 14139, 5.58), (3, 3531, 2.46), (4, 120, 2.26)])
def test_gini_trees(adult, leaves, k, ell):
    release = released(adult, leaves)
    assert release.tree.leaves == leaves
    assert release.manifest["reached"]["k"] == k
    assert release.manifest["reached"]["l"]["occupation"] == pytest.approx(ell, abs=0.005)


def test_accuracy_of_four_leaves(adult):
    release = released(adult, 4)
    columns = {name: adult.arrow()[name].to_numpy(zero_copy_only=False)
               for name in release.guarantee.facts["predictors"]}
    right = release.tree.predict(columns) == adult.arrow()["income"].to_numpy(zero_copy_only=False)
    assert right.mean() == pytest.approx(0.8249, abs=5e-5)


def test_one_row_more_than_the_table_is_refused(adult):
    with pytest.raises(InputError, match="reaches only K = 30718"):
        released(adult, 4, k=30719)
    assert released(adult, 4, k=30718).tree.leaves == 1


@pytest.mark.parametrize(("rule", "k"), [("safe", 5), ("min-block", 25)])
def test_five_leaves(adult, rule, k):
    release = released(adult, 5, rule)
    assert release.tree.leaves == 5
    assert release.manifest["reached"]["k"] == k


@pytest.mark.parametrize("leaves", [5, 6, 7, 8])
def test_leaf_merge_reaches_150(adult, leaves):
    release = released(adult, leaves, "leaf-merge", 150)
    assert release.tree.leaves == leaves
    assert release.manifest["reached"]["k"] >= 150
    assert release.manifest["verified"]["identical"] is True
    plain = released(adult, leaves).tree
    # Both have the same leaves for everybody; categories that fewer than k hold are not named.
    assert np.array_equal(release.tree.apply(release.table), plain.apply(release.table))
    assert release.tree.depth == plain.depth
    if leaves > 5:
        assert release.tree.same_as(plain)


def test_leaf_merge_moves_few_rows(adult):
    assert released(adult, 5, "leaf-merge", 150).manifest["changed"]["moved_rows"] == 347


def test_what_k_leaves_over_keeps_more_columns_and_the_mean(adult):
    """The mean of capital-gain was 7,330 where the original has 1,106."""
    tree = Growth(max_leaves=4, criterion="gini")
    method = TreePreservingAnonymizer(k=25, tree=tree)
    release, _ = method.protect(adult)
    plain = released(adult, 4, "leaf-merge", 25)
    assert release.tree.same_as(plain.tree)
    assert len(release.mechanism["suppressed"]) < len(plain.mechanism["suppressed"])
    assert release.manifest["reached"]["k"] >= 25
    gain = adult.arrow()["capital-gain"].to_numpy()
    assert release.table.arrow()["capital-gain"].to_numpy().mean() == pytest.approx(
        gain.mean(), abs=0.1 * gain.std())


def paper_tree(table, *gains):
    """Return K of {Husband, Wife} x education-num 12|13 x cuts of capital-gain."""
    names = ("relationship", "education-num", "capital-gain")
    columns = {n: code_column(table.schema[n], table.arrow([n])[n], "two-way") for n in names}
    married = np.array([label in ("Husband", "Wife") for label in columns["relationship"].labels])
    asked = [Question("relationship", None, False, married.astype(np.int16), ())]
    for name, pair in (("education-num", (12, 13)), *(("capital-gain", g) for g in gains)):
        cut = tuple(int(np.searchsorted(columns[name].values, v)) for v in pair)
        asked.append(Question(name, cut, False, None, ()))
    cells = make_cells(columns, Recoder(columns, "min-block").recode(asked), table.rows)
    return k_of(classes_of(cells, names, ()))


def test_the_k_of_the_papers_two_trees(adult):
    assert paper_tree(adult, (5013, 5178)) == 154
    assert paper_tree(adult, (6849, 7298)) == 120


def test_both_trees_of_the_paper_do_not_reach_its_64(adult):
    assert paper_tree(adult, (5013, 5178), (6849, 7298)) == 25


def test_what_the_readme_shows(adult):
    release, key = TreePreservingAnonymizer(k=25, l=2, rule="min-block").protect(adult)
    assert key.mechanism == "tree-preserving"
    assert release.tree.leaves == release.manifest["stopping_rule"]["leaves"] == 5
    assert mine.grow(release).same_as(release.tree)


def test_the_largest_class_bounds_the_table(adult):
    release = released(adult, 6, "leaf-merge", 100, l=2)
    rows = release.table.arrow().group_by(list(release.mechanism["quasi"])).aggregate(
        [([], "count_all")])
    assert min(rows["count_all"].to_pylist()) >= 100
