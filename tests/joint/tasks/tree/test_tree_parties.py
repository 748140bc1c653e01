"""Trees of any parties: equal to those of pooled data, by an independent ID3; and bad input."""

from __future__ import annotations

import asyncio
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from support.near_ties import near
from support.tree_data import LAYOUT, WEATHER, parts_of, tables
from unspoken.errors import DataError
from unspoken.joint import SetRules, run_local, run_outcomes
from unspoken.joint.joint_errors import PartyError, RefusedError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.session.play import in_memory
from unspoken.joint.tasks.boosted_trees import split_gains as boosted_scores
from unspoken.joint.tasks.boosted_trees.pooled import _pooled_tree
from unspoken.joint.tasks.boosted_trees.program_rows import (
    Boost,
    BoostOverRows,
    gradients,
    mine_boost_rows,
)
from unspoken.joint.tasks.classify.program_columns import (
    PREDICTED,
    ROWS,
    ClassifyTogether,
    ClassifyWalking,
    classify_in_parts,
)
from unspoken.joint.tasks.common.record_order import InOneOrder
from unspoken.joint.tasks.forest.pooled import pooled_forest
from unspoken.joint.tasks.forest.program_rows import ForestOverRows
from unspoken.joint.tasks.tree.cut_points import CUTS, Span, agree_cuts, plain_cuts
from unspoken.joint.tasks.tree.level_growth import Rows, Sapling
from unspoken.joint.tasks.tree.params import Attribute, TreeParams
from unspoken.joint.tasks.tree.pooled import pooled
from unspoken.joint.tasks.tree.program_columns import TreeOverColumns, mine_tree_columns
from unspoken.joint.tasks.tree.program_rows import Given, TreeOverRows, code_rows
from unspoken.joint.tasks.tree.tree_sites import TreeShape, TreeSite
from unspoken.joint.wire.endpoint import Roles
from unspoken.models.site_tree_part import join_parts

pytestmark = pytest.mark.slow

SMALL = TreeParams(max_depth=3, most=64)


# Pooled data: ID3 once more, by recursion over lists of records.

def entropy(labels):
    shares = np.array(list(Counter(labels).values())) / max(1, len(labels))
    return -(shares * np.log(shares)).sum()


def questions_of(layout):
    """Return every question as a function from a record to its answer, with the answers."""
    found = []
    for a in layout.attributes:
        if a.cuts:
            found += [(lambda r, n=a.name, c=cut: int(r[n] > c), (0, 1)) for cut in a.cuts]
        else:
            found.append((lambda r, n=a.name: r[n], a.categories))
    return found


def by_recursion(records, layout, rules, above=(), depth=0):
    """Return a function from a record to its class."""
    labels = [r["class"] for r in records]
    order = [Counter(labels), Counter(above)]
    label = max(layout.classes, key=lambda c: tuple(o[c] for o in order))
    if depth == rules.max_depth or len(records) < rules.min_records:
        return lambda r: label
    best, least = None, entropy(labels) - 1e-9
    for ask, answers in questions_of(layout):
        groups = {v: [r for r in records if ask(r) == v] for v in answers}
        left = sum(len(g) * entropy([r["class"] for r in g]) for g in groups.values())
        if records and left / len(records) < least:
            best, least = (ask, groups), left / len(records) - 1e-9
    if best is None:
        return lambda r: label
    ask, groups = best
    below = {v: by_recursion(g, layout, rules, labels, depth + 1) for v, g in groups.items()}
    return lambda r: below[ask(r)](r)


@settings(max_examples=60)
@given(tables(), st.integers(0, 3), st.integers(1, 6))
def test_pooled_rows_give_the_tree_of_another_program(table, depth, least):
    layout, columns, _, _ = table
    rules = TreeParams(max_depth=depth, min_records=least, most=64)
    assume(not near(layout, columns, rules))
    records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    decide = by_recursion(records, layout, rules)
    assert pooled(layout, columns, rules).predict(columns).tolist() == [
        decide(r) for r in records]


# Boosting, tree by tree: each is the one of pooled rows, given those before it.

def too_close(layout, given_, rules, boost, numbers):
    """Say whether two questions differ by less than fixed point can tell, but are not equal."""
    tree, rows = Sapling(layout, rules), Rows(layout, given_.codes, given_.labels)
    while nodes := tree.tested():
        allowed = tree.allowed(nodes)
        place, sums = boosted_scores.plain_best_worth(layout, rows.sums(nodes, numbers), rules,
                                                      boost.penalty, allowed)
        worth = boosted_scores.plain_ratio(sums, boost.penalty) * sums[..., 0] / 2**12
        scores = boosted_scores.joined(layout.first_branch, worth)
        scores[:, 1:][~allowed] = -np.inf
        gap = scores.max(axis=1, keepdims=True) - scores
        bound = sums[:, -1:, 2] * 5 * 2.0**-20 * (scores.shape[1] + 1)
        if ((gap > 1e-9) & (gap < bound)).any():
            return True
        tree.split(nodes, place)
        rows.move(tree)
    return False


@settings(max_examples=8, deadline=None)
@given(tables(), st.integers(1, 2), st.sampled_from([0.5, 1.0, 3.0]), st.integers(1, 4))
def test_joint_boosting_is_boosting_of_pooled_rows_tree_by_tree(table, rounds, penalty, least):
    layout, columns, assignment, owners = table
    assume(len(layout.classes) == 2)
    rules = TreeParams(max_depth=2, min_records=least, most=64)
    boost = Boost(rounds, 0.5, penalty, two_may_learn=True)
    models, _ = mine_boost_rows(parts_of(columns, assignment, owners), layout, rules, boost)
    everything, scores = code_rows(layout, columns, {}), np.zeros(len(columns["class"]))
    for place, tree in enumerate(models[0].trees):
        numbers = gradients(scores, everything.labels)
        assume(not too_close(layout, everything, rules, boost, numbers))
        wanted, values = _pooled_tree(layout, everything, rules, boost, numbers)
        expected = wanted.regression(values.tolist())
        for model in models:
            assert np.array_equal(model.trees[place].feature, expected.feature)
            assert np.array_equal(model.trees[place].threshold, expected.threshold)
            assert model.trees[place].value == pytest.approx(expected.value, abs=2**-18)
        if scores.size:
            scores = scores + tree.value[tree.apply(columns), 0]


# Columns: any attributes at any of two to five sites, and records that walk.

@st.composite
def spread_columns(draw):
    """Sites with one attribute or more each, and who has the class."""
    layout, columns, _, _ = draw(tables())
    size = len(layout.attributes)
    sites = draw(st.integers(2, size))
    ends = sorted(draw(st.sets(st.integers(1, size - 1), min_size=sites - 1, max_size=sites - 1)))
    groups = np.split(np.arange(size), ends)
    return layout, columns, groups, draw(st.integers(0, sites - 1))


@settings(max_examples=12, deadline=None)
@given(spread_columns(), st.integers(1, 3))
def test_trees_in_parts_classify_as_the_tree_of_pooled_columns(spread, depth):
    layout, columns, groups, at = spread
    assume(len(columns["class"]) > 0)
    names = [f"p{i}" for i in range(len(groups))]
    sites = {name: TreeSite(tuple(layout.attributes[i] for i in group), columns,
                        columns["class"] if place == at else None)
             for place, (name, group) in enumerate(zip(names, groups, strict=True))}
    shape = TreeShape(
        layout.classes, names[at], max(1, *(len(s.questions) for s in sites.values())), 4
    )
    rules = TreeParams(max_depth=depth, most=64)
    assume(not near(layout, columns, rules, len(names) * shape.slots))
    parts, _ = mine_tree_columns(sites, shape, rules)
    expected = pooled(layout, columns, rules)
    assert join_parts(list(parts.values()), [a.name for a in layout.attributes]).same_as(expected)
    records = {name: {a.name: columns[a.name] for a in sites[name].attributes} for name in names}
    wanted = expected.predict(columns).tolist()
    found, _ = classify_in_parts(parts, records, names[at])
    assert all(found[name].tolist() == wanted for name in names)
    walked, _ = classify_in_parts(parts, records, names[at], "sums", walking=True)
    assert walked.pop(names[at]).tolist() == wanted
    assert set(walked.values()) == {None}


# Bad input, and input that looks bad: on all sides, for every miner over rows.

def programs():
    return {"tree": TreeOverRows(LAYOUT, SMALL), "forest": ForestOverRows(LAYOUT, SMALL, 2),
            "boosting": BoostOverRows(LAYOUT, SMALL, Boost(1))}


def rows_of(assignment):
    return [code_rows(LAYOUT, part, {}) for part in parts_of(WEATHER, assignment, 3)]


BAD_ROWS = {
    "fewer columns": lambda g: Given(g.codes[:2], g.labels),
    "more records than agreed": lambda g: Given(np.repeat(g.codes, 20, 1), np.repeat(g.labels, 20)),
}


@pytest.mark.parametrize("miner", ["tree", "forest", "boosting"])
@pytest.mark.parametrize("name", BAD_ROWS)
def test_bad_rows_end_the_run_on_all_sides(miner, name):
    given_ = rows_of(np.arange(14) % 3)
    given_[1] = BAD_ROWS[name](given_[1])
    outcomes = run_outcomes(programs()[miner], given_)
    assert isinstance(outcomes[1].error, DataError | RefusedError)
    assert {row.label for row in outcomes[1].ledger.rows
            if row.direction == "sent"} == {"agree", "abort"}
    for place in (0, 2, 3):
        assert isinstance(outcomes[place].error, PartyError)
        assert "'p1'" in str(outcomes[place].error)


@pytest.mark.parametrize("assignment", [np.zeros(14), WEATHER["play"] == "yes"])
def test_forests_of_an_empty_owner_and_of_a_class_that_one_has_alone(assignment):
    given_ = [Given(g.codes, g.labels, weights=np.ones((2, g.labels.size), np.int64))
              for g in rows_of(assignment)]
    whole = Given(LAYOUT.codes(WEATHER), LAYOUT.labels(WEATHER["play"]),
                  weights=np.ones((2, 14), np.int64))
    for forest, _ in run_local(ForestOverRows(LAYOUT, SMALL, 2, attributes=2), given_):
        assert forest.same_as(pooled_forest(LAYOUT, whole, SMALL, 2, attributes=2))


@pytest.mark.parametrize("assignment", [np.zeros(14), WEATHER["play"] == "yes"])
def test_boosting_of_an_empty_owner_and_of_a_class_that_one_has_alone(assignment):
    [(one, _), *_] = run_local(programs()["boosting"], rows_of(assignment))
    [(other, _), *_] = run_local(programs()["boosting"], rows_of(np.arange(14) % 3))
    assert np.array_equal(one.trees[0].feature, other.trees[0].feature)
    assert one.trees[0].value == pytest.approx(other.trees[0].value, abs=2**-17)


# Records that only some sites have.

A, B = Attribute("a", ("x", "y")), Attribute("b", ("x", "y"))
TWO = TreeShape(("x", "y"), "p1", 1, 2)


def two_sites(first, second):
    """Return two sites with these ids; a record's values follow from its number."""
    value = [np.array(["xy"[int(i[1:]) % 3 == 0] for i in ids], object) for ids in (first, second)]
    return [TreeSite((A,), {"a": value[0]}, None, first),
            TreeSite((B,), {"b": value[1]}, value[1], second)]


def named(numbers):
    return [f"r{i}" for i in numbers]


BAD_IDS = {
    "no record in common": (named(range(20)), named(range(20, 40)), "same records"),
    "ids that stand twice": (named(range(20)), [*named(range(19)), "r3"], "stand twice"),
    "ids that are missing": (named(range(20)), [*named(range(19)), None], "An id"),
    "fewer ids than agreed": (named(range(20)), named(range(3)), "at least 5"),
}


@pytest.mark.parametrize("name", BAD_IDS)
def test_ids_that_align_nothing_end_the_run_on_all_sides(name):
    pytest.importorskip("rbcl")
    first, second, words = BAD_IDS[name]
    rows = [i for i in second if i is not None]
    sites = two_sites(first, rows)
    sites[1] = TreeSite((B,), {"b": np.array(["x"] * len(second), object)},
                    np.array(["x"] * len(second), object), second)
    program = InOneOrder(TreeOverColumns(TWO, TreeParams(), ["p0", "p1"]), ["p0", "p1"],
                         SetRules(least=5))
    outcomes = run_outcomes(program, sites)
    assert all(outcome.error is not None for outcome in outcomes)
    assert any(words in str(outcome.error) for outcome in outcomes)
    assert not [o for outcome in outcomes for o in outcome.ledger.openings if o.step > 4]


# Cut points: quantiles of all rows, whoever has them, also where values lie beyond the range.

class CutPoints:
    """The search alone."""

    def __init__(self, spans):
        self.spans, self.disclosures = spans, (Disclosure(CUTS),)

    async def __call__(self, party, values):
        return await agree_cuts(party, self.spans, values, 64)


@settings(max_examples=10, deadline=None)
@given(st.integers(2, 5), st.lists(st.integers(-3, 20), min_size=1, max_size=40),
       st.integers(1, 5), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_cut_points_are_quantiles_whoever_has_the_rows(owners, numbers, count, bits, seed):
    spans = {"x": Span(0, 16, count, bits), "y": Span(-4, 4, 2, 3)}
    columns = {"x": np.array(numbers, float), "y": np.array(numbers[::-1], float) / 2}
    owner = np.random.default_rng(seed).integers(0, owners, len(numbers))
    outputs = run_local(CutPoints(spans), parts_of(columns, owner, owners))
    for found, _ in outputs:
        assert found == {name: plain_cuts(columns[name], span) for name, span in spans.items()}


# Classifying with parts: what is not there is named, before anything is sent.

def weather_parts():
    sites = {"p0": TreeSite(LAYOUT.attributes[:2], WEATHER),
             "p1": TreeSite(LAYOUT.attributes[2:], WEATHER, WEATHER["play"])}
    parts, _ = mine_tree_columns(sites, TreeShape(("no", "yes"), "p1", 2, 3))
    return [(parts[name], WEATHER) for name in sites]


@pytest.mark.parametrize("program", [ClassifyTogether, ClassifyWalking])
def test_only_the_site_that_knows_classes_gives_them(program):
    given_ = weather_parts()
    for name in ("p0", "p7"):
        outcomes = run_outcomes(program(name), given_, "dealer")
        assert all(outcome.error is not None for outcome in outcomes)
        own = [o.error for o in outcomes if not isinstance(o.error, PartyError)]
        assert own
        assert all(isinstance(e, DataError) and f"'{name}' does not" in str(e) for e in own)


def test_a_column_that_new_records_lack_is_named():
    first, (part, columns) = weather_parts()
    given_ = [first, (part, {n: c for n, c in columns.items() if n != "windy"})]
    outcomes = run_outcomes(ClassifyTogether("p1"), given_)
    assert isinstance(outcomes[1].error, DataError)
    assert "no column 'windy'" in str(outcomes[1].error)
    assert isinstance(outcomes[0].error, PartyError)


@pytest.mark.parametrize(("known", "holders"), [(False, ("p0", "out")), (True, ("p0", "p1"))])
def test_somebody_without_data_may_take_part(known, holders):
    """Who owns nothing goes through the same steps, over columns and over rows."""
    outcomes = with_one_without_data(known, holders)
    assert [outcome.error for outcome in outcomes] == [None] * 4
    parts = [outcome.output for outcome in outcomes[:2]]
    names = [a.name for a in LAYOUT.attributes]
    assert join_parts(parts, names).same_as(pooled(LAYOUT, WEATHER, SMALL))
    rows = [code_rows(LAYOUT, part, {}) for part in parts_of(WEATHER, np.arange(14) % 2, 2)]
    outcomes = asyncio.run(in_memory(TreeOverRows(LAYOUT, SMALL, ["out"]), [*rows, None],
                                     Roles(("p0", "p1", "out"), ("p0", "p1"), holders, "dealer")))
    assert outcomes[2].output.same_as(pooled(LAYOUT, WEATHER, SMALL))
    assert outcomes[0].output.classes[0] == "leaf 1"


def with_one_without_data(known, holders):
    roles = Roles(("p0", "p1", "out"), ("p0", "p1"), holders, "dealer")
    sites = [TreeSite(LAYOUT.attributes[:2], WEATHER, WEATHER["play"] if known else None),
             TreeSite(LAYOUT.attributes[2:], WEATHER, WEATHER["play"])]
    shape = TreeShape(("no", "yes"), "p1", 2, 3, class_known=known)
    program = TreeOverColumns(shape, SMALL, ["p0", "p1"])
    return asyncio.run(in_memory(program, [*sites, None], roles))


def test_a_holder_that_does_not_know_the_class_is_refused():
    outcomes = with_one_without_data(True, ("p0", "out"))
    assert all(outcome.error is not None for outcome in outcomes)
    assert any(isinstance(outcome.error, RefusedError) for outcome in outcomes)


@pytest.mark.parametrize(("mode", "groups"), [("two-party", (2, 2)), ("three-party", (1, 2, 1))])
def test_parts_classify_in_every_mode(mode, groups):
    if mode == "two-party":
        pytest.importorskip("rbcl")
    ends, names = np.cumsum([0, *groups]), [f"p{i}" for i in range(len(groups))]
    sites = {name: TreeSite(LAYOUT.attributes[ends[i]:ends[i + 1]], WEATHER,
                        WEATHER["play"] if name == "p1" else None)
             for i, name in enumerate(names)}
    parts, _ = mine_tree_columns(sites, TreeShape(("no", "yes"), "p1", 2, 3), SMALL)
    records = {name: {a.name: WEATHER[a.name] for a in site.attributes}
               for name, site in sites.items()}
    found, ledgers = classify_in_parts(parts, records, "p1", mode, receivers=["p0"])
    assert found["p0"].tolist() == WEATHER["play"].tolist()
    assert found["p1"] is None
    assert {o.because for o in ledgers["p0"].openings} == {PREDICTED, ROWS}
