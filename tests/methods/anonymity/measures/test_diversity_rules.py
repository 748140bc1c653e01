"""What L and t mean: computed again by hand, in every method, with ties and missing values."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pycanon import anonymity as pycanon

import unspoken
from unspoken.errors import DataError, InputError, UnspokenError
from unspoken.methods.anonymity.hierarchy import Hierarchy
from unspoken.methods.anonymity.measures import equivalence_classes as stats
from unspoken.methods.anonymity.measures import measure
from unspoken.methods.anonymity.measures.diversity_rules import Secret, diverse
from unspoken.protect import CellSuppressor, MondrianAnonymizer, TreePreservingAnonymizer

DISEASES = ["flu", "cold", "HIV", "none"]


def people(seed, rows=240, gaps=0.2, classes=2):
    """Return a table with ties and missing values in every column but the target."""
    rng = np.random.default_rng(seed)
    ill = [str(v) if rng.random() > gaps else None for v in rng.choice(DISEASES, rows)]
    age = [int(v) if rng.random() > 0.05 else None for v in rng.integers(20, 40, rows)]
    data = {"age": pa.array(age), "city": pa.array(rng.choice(["A", "B", "C"], rows)),
            "ill": pa.array(ill), "y": pa.array(rng.integers(0, classes, rows))}
    return unspoken.read(pa.table(data), target="y", quasi=["age", "city"], sensitive="ill",
                         show=False)


def groups(table, quasi=("age", "city"), secret="ill"):
    """Return the known sensitive values of every class, by plain Python."""
    out = defaultdict(list)
    for row in table.arrow().to_pylist():
        out[tuple(row[name] for name in quasi)].append(row[secret])
    return [([v for v in values if v is not None], len(values)) for values in out.values()]


def holds(values, form, ell, c=3.0):
    """Decide L for one class from its definition, in exact arithmetic where it can be."""
    counts = sorted(Counter(values).values(), reverse=True)
    if form == "distinct":
        return len(counts) >= ell
    if not counts:
        return False
    if form == "strong":
        return Fraction(counts[0], len(values)) < 1 / Fraction(ell)
    if form == "recursive":
        return counts[0] < c * sum(counts[ell - 1:])
    shares = [n / len(values) for n in counts]
    return math.exp(-math.fsum(p * math.log(p) for p in shares)) >= ell - 1e-9


def test_a_missing_sensitive_value_protects_nobody():
    table = unspoken.read(pa.table({"q": [1, 1, 1, 1], "s": ["HIV", None, None, None]}),
                          quasi=["q"], sensitive="s", show=False)
    found = measure(table)
    assert (found.l, found.strong_l, found.entropy_l) == (1, 1.0, 1.0)
    assert found["s"].homogeneous == 1.0


def test_a_class_without_any_value_reaches_nothing():
    secret = Secret.of("s", pa.array(["a", "b", None, None, "a", None]), "categorical")
    found = secret.spread(np.array([0, 0, 1, 1, 2, 2]))
    assert stats.distinct(found).tolist() == [2, 0, 1]
    assert stats.strong(found).tolist() == [2.0, 0.0, 1.0]
    assert stats.entropy(found)[1] == 0
    assert stats.recursive(found, 1)[1] == math.inf
    assert secret.apart(found)[1] == 1.0
    for form in ("distinct", "entropy", "recursive", "strong"):
        assert not diverse(found, 1, form)[1]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("form", ["distinct", "entropy", "recursive", "strong"])
def test_rules_agree_with_their_definitions(seed, form):
    table = people(seed, rows=160)
    secret = Secret.of("ill", table.arrow(["ill"])["ill"], "categorical")
    rows = table.arrow()
    keys = {}
    owner = np.array([keys.setdefault((r["age"], r["city"]), len(keys)) for r in rows.to_pylist()])
    known = defaultdict(list)
    for number, row in zip(owner.tolist(), rows.to_pylist(), strict=True):
        known[number] += [] if row["ill"] is None else [row["ill"]]
    for ell in (1, 2, 3):
        mine = diverse(secret.spread(owner), ell, form)
        assert mine.tolist() == [holds(known[i], form, ell) for i in range(len(keys))]


METHODS = {
    "mondrian": lambda **o: MondrianAnonymizer(3, **o),
    "suppress-cells": lambda **o: CellSuppressor(3, suppression=0.9, **o),
    "tree-preserving": lambda **o: TreePreservingAnonymizer(3, **o),
}


FORMS = ("distinct", "entropy", "recursive", "strong")
# The paper of tree-preserving has no recursive diversity.
ASKED = [(name, form) for name in METHODS for form in FORMS
         if (name, form) != ("tree-preserving", "recursive")]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("name", "form"), ASKED)
def test_l_means_the_same_in_every_method(name, form, seed):
    release, *_ = METHODS[name](l=2, diversity=form).protect(people(seed))
    for values, size in groups(release.table):
        assert size >= 3
        assert holds(values, form, 2)


@pytest.mark.parametrize("name", METHODS)
def test_a_table_of_one_value_and_gaps_is_refused(name):
    table = unspoken.read(pa.table({"age": [1, 2] * 20, "city": ["a"] * 40,
                                    "ill": ["HIV", None] * 20, "y": [0, 1] * 20}),
                          target="y", quasi=["age", "city"], sensitive="ill", show=False)
    with pytest.raises(UnspokenError):
        METHODS[name](l=2).protect(table)


def test_the_default_of_tree_preserving_is_strong_and_strict():
    method = TreePreservingAnonymizer()
    assert (method.diversity, method.l) == ("strong", 1)
    half = unspoken.read(pa.table({"a": [1, 2] * 20, "s": ["u", "v"] * 20, "y": [0, 1] * 20}),
                         target="y", quasi=["a"], sensitive="s", show=False)
    with pytest.raises(InputError, match="cannot be reached"):
        TreePreservingAnonymizer(2, l=2).protect(half)
    TreePreservingAnonymizer(2, l=1.99).protect(half)
    one = unspoken.read(pa.table({"a": [1, 2] * 20, "s": ["u"] * 40, "y": [0, 1] * 20}),
                        target="y", quasi=["a"], sensitive="s", show=False)
    with pytest.raises(InputError, match="cannot be reached"):
        TreePreservingAnonymizer(2).protect(one)
    TreePreservingAnonymizer(2, l=None).protect(one)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_measures_agree_with_pycanon_where_nothing_is_missing(seed):
    table = people(seed, gaps=0.0)
    data = table.arrow().to_pandas()
    data["age"] = data["age"].fillna(-1)
    found = measure(table)
    quasi = ["age", "city"]
    assert found.k == pycanon.k_anonymity(data, quasi)
    assert found.l == pycanon.l_diversity(data, quasi, ["ill"])
    assert found.t == pytest.approx(pycanon.t_closeness(pd.DataFrame(data), quasi, ["ill"]),
                                    abs=1e-9)


TREE = Hierarchy.from_tree({"lung": ["flu", "cold"], "other": ["HIV", "none"]})


def moved(one, two):
    """Return the hierarchical earth mover's distance as in Li et al. (2007), section 4.2."""
    leaf = {v: one.get(v, 0.0) - two.get(v, 0.0) for v in DISEASES}
    inner = [["flu", "cold"], ["HIV", "none"]]

    def cost(height, extras):
        more, less = sum(e for e in extras if e > 0), -sum(e for e in extras if e < 0)
        return height / 2 * min(more, less)

    return math.fsum([*(cost(1, [leaf[v] for v in part]) for part in inner),
                      cost(2, [sum(leaf[v] for v in part) for part in inner])])


@pytest.mark.parametrize("seed", range(5))
def test_hierarchical_closeness_is_that_of_its_authors(seed):
    rng = np.random.default_rng(seed)
    ill, owner = rng.choice(DISEASES, 60), np.sort(rng.integers(0, 6, 60))
    owner = stats.dense(owner)
    secret = Secret.of("ill", pa.array(ill), "categorical", TREE)
    whole = {v: float((ill == v).mean()) for v in DISEASES}
    for number, value in enumerate(secret.apart(secret.spread(owner))):
        part = ill[owner == number]
        assert value == pytest.approx(moved({v: float((part == v).mean()) for v in DISEASES},
                                            whole))


def test_a_hierarchy_of_a_sensitive_column_decides_t():
    table = people(1, gaps=0.0)
    release, _ = MondrianAnonymizer(3, t=0.35, hierarchies={"ill": TREE}).protect(table)
    whole = Counter(table.arrow()["ill"].to_pylist())
    shares = {v: n / table.rows for v, n in whole.items()}
    for values, size in groups(release.table):
        part = {v: n / size for v, n in Counter(values).items()}
        assert moved(part, shares) <= 0.35 + 1e-9


def test_a_release_that_was_made_poorer_fails_its_check():
    table = people(2)
    release, _ = MondrianAnonymizer(3, l=2).protect(table)
    assert release.guarantee.verify(release.table)
    rows = release.table.arrow()
    poor = rows.set_column(rows.column_names.index("ill"), "ill", pa.array(["HIV"] * len(rows)))
    other = unspoken.read(poor, target="y", quasi=["age", "city"], sensitive="ill", show=False)
    assert "too alike" in str(release.guarantee.verify(other).reason)


def test_a_demand_that_nobody_reaches_is_refused():
    with pytest.raises(DataError, match="even all records together"):
        MondrianAnonymizer(3, l=9).protect(people(0))


@pytest.mark.parametrize("form", ["distinct", "recursive"])
def test_a_fraction_of_a_value_is_refused_by_name(form):
    table = people(1)
    for method in (MondrianAnonymizer, CellSuppressor):
        with pytest.raises(InputError, match=rf"'l' of {method.__name__} must be a whole number "
                           rf"for diversity='{form}'.*Got 1.9. Use 2"):
            method(2, l=1.9, diversity=form).protect(table)


def test_a_fraction_is_refused_where_trees_are_kept_and_taken_where_it_means_something():
    with pytest.raises(InputError, match="must be a whole number"):
        TreePreservingAnonymizer(2, l={"ill": 1.9}, diversity="distinct").protect(people(1))
    release, _ = MondrianAnonymizer(2, l=1.9, diversity="entropy").protect(people(1))
    assert release.guarantee.verify(release.table)
    assert release.guarantee.facts["l"] == 1.9


def test_recursive_diversity_is_never_rounded_down():
    one_value = Secret("ill", np.array([0, 0, 0, 0]), 2)
    counted = one_value.spread(np.zeros(4, np.int64))
    assert not diverse(counted, 1.9, "recursive", 3.0).any()
