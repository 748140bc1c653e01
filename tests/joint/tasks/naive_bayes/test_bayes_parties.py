"""Naive Bayes, private classification and K2 of any parties; records some lack; bad input."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.bayes_columns import agree
from support.bayes_data import CLASSES, LAYOUT, parts_of, table
from support.network_data import dependent, spread
from support.tree_data import LAYOUT as QUESTIONS
from support.tree_data import WEATHER
from unspoken.errors import DataError
from unspoken.joint import SetRules, run_outcomes
from unspoken.joint.joint_errors import PartyError, RefusedError
from unspoken.joint.session.play import in_memory
from unspoken.joint.tasks.classify.program_bayes import (
    ClassifyPrivately,
    Sides,
    classify_privately,
)
from unspoken.joint.tasks.classify.program_tree import ClassifyByTree, full_tree
from unspoken.joint.tasks.common.record_order import InOneOrder
from unspoken.joint.tasks.naive_bayes.params import BayesLayout, BayesParams, Given
from unspoken.joint.tasks.naive_bayes.pooled import pooled
from unspoken.joint.tasks.naive_bayes.program_columns import (
    BayesOverColumns,
    ClassifyOverColumns,
    classify_columns,
    mine_bayes_columns,
    plain_table,
)
from unspoken.joint.tasks.naive_bayes.program_rows import BayesOverRows
from unspoken.joint.tasks.naive_bayes.score_tables import table_of
from unspoken.joint.tasks.naive_bayes.site_parts import BayesShape, BayesSite, Part, coding_of
from unspoken.joint.tasks.network.params import NetworkSite as NetworkSite
from unspoken.joint.tasks.network.pooled import pooled as pooled_network
from unspoken.joint.tasks.network.program_columns import NetworkOverColumns, mine_network_columns
from unspoken.joint.tasks.tree.level_growth import TreeParams as TreeRules
from unspoken.joint.tasks.tree.pooled import pooled as grown
from unspoken.joint.wire.endpoint import Roles

pytestmark = pytest.mark.slow

NUMBERS = ("h", "w", "k")


def five(rows, seed):
    """Return five columns and a class."""
    random = np.random.default_rng(seed)
    columns = table(rows, seed)
    return columns | {"k": random.normal(0, 1, rows) + (columns["class"] == "c1")}


def sites_of(columns, groups, at, known=False, ids=None):
    """Return one site a group of columns; the site at `at` has the class."""
    sites, parts = {}, []
    for place, names in enumerate(groups):
        own = {n: columns[n] for n in names}
        coding = coding_of(own, [n for n in names if n in NUMBERS])
        sites[f"p{place}"] = BayesSite(
            coding, own, columns["class"] if known or place == at else None, ids
        )
        parts.append(Part(f"p{place}", coding.sizes, len(coding.numeric)))
    return sites, BayesShape(tuple(parts), CLASSES, f"p{at}", class_known=known)


def pooled_scores(sites, shape, new, labels):
    """Return scores of new records by the same model in one place."""
    codings = [site.coding for site in sites.values()]
    hot, z, new_hot, new_z = (np.hstack([getattr(c, what)(columns) for c, columns in zip(
        codings, given_, strict=True)]) for given_ in ([s.columns for s in sites.values()], new)
        for what in ("hot", "z"))
    classes = np.array([[c == k for k in CLASSES] for c in labels], float)
    return plain_table(hot, z, classes, shape.sizes, BayesParams()).scores(new_hot, new_z)


@st.composite
def partitions(draw):
    """Five columns at two to five sites, and who has the class."""
    names = draw(st.permutations(["a", "h", "b", "w", "k"]))
    ends = sorted(draw(st.sets(st.integers(1, 4), min_size=1, max_size=4)))
    groups = [part.tolist() for part in np.split(np.array(names), ends)]
    return groups, draw(st.integers(0, len(groups) - 1))


@settings(max_examples=8, deadline=None)
@given(partitions(), st.integers(0, 2**32 - 2), st.booleans())
def test_any_columns_at_any_sites_give_the_classes_of_pooled_columns(partition, seed, known):
    groups, at = partition
    columns, new = five(40, seed), five(30, seed + 1)
    sites, shape = sites_of(columns, groups, at, known)
    parts, _ = mine_bayes_columns(sites, shape)
    records = [{n: new[n] for n in names} for names in groups]
    found, _ = classify_columns(parts, dict(zip(sites, records, strict=True)))
    scores = pooled_scores(sites, shape, records, columns["class"])
    assert all(agree(found[name], scores) for name in sites)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32 - 2), st.integers(2, 5), st.integers(1, 40))
def test_private_classes_are_those_of_the_model(seed, parties, rows):
    model, new = pooled(LAYOUT, table(60, seed)), table(rows, seed + 1)
    names = [f"p{i}" for i in range(parties)]
    found, _ = classify_privately(model, new, LAYOUT, names=names)
    ordered = np.sort(model.log_joint(new), axis=1)
    sure = ordered[:, -1] - ordered[:, -2] > 1e-3
    for each in found:
        assert (each == model.predict(new))[sure].all()


def test_a_column_of_two_sites_counts_twice():
    columns = five(60, 4)
    sites, shape = sites_of(columns, [["a", "h"], ["a", "b"]], 0)
    parts, _ = mine_bayes_columns(sites, shape)
    new = five(30, 5)
    records = [{n: new[n] for n in names} for names in (["a", "h"], ["a", "b"])]
    found, _ = classify_columns(parts, dict(zip(sites, records, strict=True)))
    assert agree(found["p0"], pooled_scores(sites, shape, records, columns["class"]))


# Records that only some sites have: what comes out is that of those in common.

def test_bayes_is_learned_from_the_records_that_all_have():
    pytest.importorskip("rbcl")
    columns, new = five(60, 6), five(40, 7)
    groups, rows = [["a", "h"], ["b"], ["w"]], [np.arange(50), np.arange(5, 60), np.arange(60)]
    sites = {}
    for place, (names, own) in enumerate(zip(groups, rows, strict=True)):
        order = np.random.default_rng(place).permutation(own)
        mine = {n: columns[n][order] for n in names}
        coding = coding_of(mine, [n for n in names if n in NUMBERS])
        sites[f"p{place}"] = BayesSite(
            coding, mine, columns["class"][order] if place == 1 else None, [f"r{i}" for i in order]
        )
    parts = tuple(Part(n, s.coding.sizes, len(s.coding.numeric)) for n, s in sites.items())
    shape = BayesShape(parts, CLASSES, "p1")
    found, ledgers = mine_bayes_columns(sites, shape, align=SetRules(least=5))
    assert "which records all owners have" in {o.because for o in ledgers["p0"].openings}
    records = [{n: new[n] for n in names} for names in groups]
    common = np.arange(5, 50)
    both = {n: BayesSite(s.coding, {c: columns[c][common] for c in names}) for (n, s), names in zip(
        sites.items(), groups, strict=True)}
    scores = pooled_scores(both, shape, records, columns["class"][common])
    classes, _ = classify_columns(found, dict(zip(sites, records, strict=True)))
    assert agree(classes["p2"], scores)


def test_a_network_is_learned_from_the_records_that_all_have():
    pytest.importorskip("rbcl")
    codes, sizes = dependent(60, (2, 2, 3, 2), 3), (2, 2, 3, 2)
    sites, order = spread(codes, sizes, (0, 1, 2, 1))
    rows = {"north": np.arange(50), "south": np.arange(8, 60), "east": np.arange(60)[::-1]}
    given_ = {n: NetworkSite(s.codes[:, rows[n]], [f"r{i}" for i in rows[n]])
              for n, s in sites.items()}
    found, _ = mine_network_columns(given_, order, align=SetRules(least=5))
    both = {n: NetworkSite(s.codes[:, 8:50]) for n, s in sites.items()}
    assert found == pooled_network(both, order)
    assert found != pooled_network(sites, order)


# Bad input, for every miner, on all sides.

def columns_run(change):
    sites, shape = sites_of(five(40, 1), [["a", "h"], ["b"], ["w"]], 1, ids=IDS)
    given_ = change(list(sites.values()))
    return run_outcomes(InOneOrder(BayesOverColumns(shape), ["p0", "p1", "p2"], ALIGN), given_)


def network_run(change):
    sites, order = spread(dependent(40, (2, 2, 2), 1), (2, 2, 2), (0, 1, 2))
    given_ = change([NetworkSite(s.codes, IDS) for s in sites.values()])
    program = InOneOrder(NetworkOverColumns(order), list(sites), ALIGN)
    return run_outcomes(program, given_, names=list(sites))


IDS, ALIGN = [f"r{i}" for i in range(40)], SetRules(least=5)
OTHERS = [f"s{i}" for i in range(40)]


def with_ids(ids):
    """Return a change of the last site: the same columns with other ids."""
    def change(given_):
        last = given_[-1]
        given_[-1] = NetworkSite(last.codes, ids) if isinstance(last, NetworkSite) else BayesSite(
            last.coding, last.columns, last.labels, ids)
        return given_
    return change


BAD_IDS = {
    "no record in common": (with_ids(OTHERS), "same records"),
    "ids that stand twice": (with_ids([*IDS[:39], "r3"]), "stand twice"),
    "no ids": (with_ids(None), "must give ids"),
    "fewer ids than records": (with_ids(IDS[:30]), "of one length"),
    "more ids than records": (with_ids([*IDS, "r40"]), "of one length"),
    "nothing": (lambda given_: [*given_[:-1], None], "must give its columns"),
}


@pytest.mark.parametrize("run", [columns_run, network_run])
@pytest.mark.parametrize("name", BAD_IDS)
def test_bad_sites_end_the_run_on_all_sides(name, run):
    pytest.importorskip("rbcl")
    change, words = BAD_IDS[name]
    outcomes = run(change)
    assert all(outcome.error is not None for outcome in outcomes)
    own = [o.error for o in outcomes if not isinstance(o.error, PartyError)]
    assert own
    assert all(isinstance(e, DataError | RefusedError) and words in str(e) for e in own)


def test_bad_rows_end_the_run_on_all_sides():
    given_ = [LAYOUT.rows(part) for part in parts_of(table(60, 1), np.arange(60) % 3, 3)]
    few = given_[2].labels == given_[2].labels[0]
    few[np.flatnonzero(~few)[0]] = True
    for bad in (Given(given_[2].codes[:1], given_[2].numbers, given_[2].labels),
                Given(given_[2].codes[:, few], given_[2].numbers[:, few], given_[2].labels[few])):
        outcomes = run_outcomes(BayesOverRows(LAYOUT), [*given_[:2], bad])
        assert isinstance(outcomes[2].error, DataError | RefusedError)
        for outcome in (*outcomes[:2], outcomes[3]):
            assert isinstance(outcome.error, PartyError)
            assert "'p2'" in str(outcome.error)


def asked_by_tree():
    layout = BayesLayout(QUESTIONS.attributes, QUESTIONS.classes, QUESTIONS.target)
    tree = full_tree(grown(QUESTIONS, WEATHER, TreeRules(most=64)), layout, 4)
    return ClassifyByTree(layout, Sides("p0", "p1"), 4), [tree, layout.records(WEATHER)]


def asked_by_bayes():
    model = table_of(pooled(LAYOUT, table(60, 1)), LAYOUT)
    return ClassifyPrivately(LAYOUT, Sides("p0", "p1")), [model, LAYOUT.records(table(14, 2))]


@pytest.mark.parametrize("asked", [asked_by_tree, asked_by_bayes])
def test_whoever_has_neither_model_nor_records_does_not_count(asked):
    """A third party's file says nothing, and how long it is stays with it."""
    program, (model, records) = asked()
    third = Given(records.codes[:, :3], records.numbers[:, :3], records.labels[:3])
    outcomes = run_outcomes(program, [model, records, third])
    assert [outcome.error for outcome in outcomes] == [None] * 4
    assert outcomes[2].output.tolist() == outcomes[0].output.tolist()
    assert len(outcomes[0].output) == 14


@pytest.mark.parametrize("asked", [asked_by_tree, asked_by_bayes])
def test_models_and_records_that_are_not_there_end_the_run_on_all_sides(asked):
    program, (model, records) = asked()
    empty = Given(records.codes[:, :0], records.numbers[:, :0], records.labels[:0])
    for bad in ([records, model], [model, None], [None, records], [model, empty]):
        outcomes = run_outcomes(program, bad)
        assert all(outcome.error is not None for outcome in outcomes)
        assert any(isinstance(outcome.error, DataError) for outcome in outcomes)


@pytest.mark.parametrize("known", [False, True])
def test_somebody_without_data_may_take_part(known):
    """A holder who owns nothing goes through the same steps."""
    columns, groups = five(40, 2), [["a", "h"], ["b", "w"]]
    sites, shape = sites_of(columns, groups, 0, known)
    roles = Roles(("p0", "p1", "out"), ("p0", "p1"), ("p0", "out"), "dealer")
    outcomes = asyncio.run(in_memory(BayesOverColumns(shape), [*sites.values(), None], roles))
    assert [outcome.error for outcome in outcomes] == [None] * 4
    new = five(30, 3)
    records = [{n: new[n] for n in names} for names in groups]
    given_ = [(o.output, r) for o, r in zip(outcomes, [*records, {}], strict=False)]
    classes = asyncio.run(in_memory(ClassifyOverColumns(["out"]), given_, roles))
    assert [outcome.error for outcome in classes] == [None] * 4
    assert agree(classes[2].output, pooled_scores(sites, shape, records, columns["class"]))
    assert classes[0].output is None
