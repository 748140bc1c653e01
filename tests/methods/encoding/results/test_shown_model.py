"""After the model is shown: equations at every node, and what they give away."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from support.shown_people import shown_people
from unspoken.disclosure.adversary import View
from unspoken.errors import InputError
from unspoken.methods.encoding.adversaries.shown_model import ShownModel, rank_of
from unspoken.methods.encoding.audit.encoded_truths import piecewise_truths
from unspoken.methods.encoding.results.model_equations import equations
from unspoken.methods.encoding.results.shown_disclosure import shown_columns
from unspoken.mine import fit
from unspoken.protect import PiecewiseEncoder, decode
from unspoken.risk import audit


def shown_of(table, release, key, mined, shown):
    view = View.of(release)
    truths = piecewise_truths(table, view, key)
    return {one.column: one for one in shown_columns(mined, shown, key, view, truths, 0.02)}


def test_both_trees_send_every_record_the_same_way():
    table = shown_people(200)
    release, key = PiecewiseEncoder(categorical="drop", shuffle_rows=False).protect(table)
    mined = fit(release, "tree").model
    shown = decode(mined, key, table)
    assert np.array_equal(mined.apply(release.table), shown.apply(table))


ENSEMBLES = {"gradient": {"n_estimators": 4}, "histogram": {"max_iter": 4},
             "adaboost": {"n_estimators": 4, "estimator__max_depth": 2},
             "bagging": {"n_estimators": 4, "max_features": 0.7}}


@pytest.mark.parametrize("learner", ["gradient", "adaboost", "bagging"])
def test_equations_of_ensembles_are_about_the_columns_that_they_name(learner):
    """Thresholds here lie between values of a node: they are within the range of their column."""
    table = shown_people(200)
    release, key = PiecewiseEncoder(keep_zero=True, shuffle_rows=False).protect(table)
    mined = fit(release, learner, **ENSEMBLES[learner]).model
    pairs_of = {mined.features[place]: pairs
                for place, pairs in equations(mined, decode(mined, key, table)).items()}
    assert {"age", "wage"} <= set(pairs_of)
    for column, name in enumerate(["age", "wage"]):
        for source, numbers in ((release.table, pairs_of[name].codes),
                                (table, pairs_of[name].values)):
            ends = source.numbers()[:, column]
            assert np.all((ends.min() <= numbers) & (numbers <= ends.max()))


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["xgboost", "lightgbm", "histogram"])
def test_every_equation_is_true(learner):
    """Independently of any replay: a threshold parts codes and values at the same records."""
    table = shown_people(200)
    release, key = PiecewiseEncoder(keep_zero=True, shuffle_rows=False).protect(table)
    mined = fit(release, learner, **ENSEMBLES.get(learner, {"n_estimators": 4})).model
    shown = decode(mined, key, table)
    codes, values = release.table.numbers(), table.numbers()
    pairs_of = equations(mined, shown)
    assert {"age", "wage"} <= {mined.features[place] for place in pairs_of}
    for place, pairs in pairs_of.items():
        if mined.features[place] == "sex":
            continue
        column = ["age", "wage"].index(mined.features[place])
        for code, value in zip(pairs.codes, pairs.values, strict=True):
            below = int((codes[:, column] < code).sum()), int((values[:, column] < value).sum())
            assert abs(below[0] - below[1]) <= (codes[:, column] == code).sum()


@pytest.mark.slow
def test_the_edges_of_histogram_boosting_are_equations_too():
    table = shown_people(200)
    release, key = PiecewiseEncoder(keep_zero=True, random_state=3).protect(table)
    mined = fit(release, "histogram", max_iter=1, max_leaf_nodes=2).model
    shown = decode(mined, key, table)
    pairs = equations(mined, shown)[mined.features.index("age")]
    assert set(shown.bins.edges[mined.features.index("age")].tolist()) <= set(pairs.values.tolist())
    assert shown_of(table, release, key, mined, shown)["age"].exact > 0.9


@pytest.mark.slow
def test_a_full_tree_gives_nearly_everybody_away_and_predictions_nobody():
    table = shown_people(2000)
    release, key = PiecewiseEncoder(random_state=3).protect(table)
    mined = fit(release, "tree").model
    full = shown_of(table, release, key, mined, decode(mined, key, table))
    assert full["age"].records > 0.97
    assert full["age"].exact > 0.9
    assert full["wage"].records > 0.97
    assert full["sex"].records == 1.0, "the decoded model lists the categories of the column"
    nothing = shown_of(table, release, key, mined, None)
    assert nothing["age"].records == nothing["age"].guess < 0.1
    assert nothing["age"].exact == 0.0
    assert "sex" not in nothing


def test_the_audit_has_the_adversary_and_needs_the_key():
    table = shown_people(200)
    release, key = PiecewiseEncoder(breakpoints=20, random_state=3).protect(table)
    mined = fit(release, "tree").model
    audited = audit(table, release, key, trials=3, random_state=0, shown=mined,
                    adversaries=["shown-model"])
    rows = {(row.column, row.measure): row for row in audited.select(adversary="shown-model")}
    assert rows["age", "records"].value > 0.9 > 0.1 > rows["age", "records"].baseline
    assert rows["age", "exact records"].value > 0.8
    with pytest.raises(InputError, match="'shown' needs the key"):
        audit(table, release, shown=mined)
    bare = audit(table, release, key, trials=3, random_state=0, adversaries=["shown-model"])
    assert not bare.select(adversary="shown-model")


def test_a_model_of_other_nodes_is_refused():
    table = shown_people(100)
    release, key = PiecewiseEncoder(random_state=3).protect(table)
    one, two = fit(release, "tree", max_depth=2).model, fit(release, "tree", max_depth=4).model
    with pytest.raises(InputError, match="does not have the nodes"):
        equations(one, decode(two, key, table))


def test_names_of_classes_undo_new_names_in_every_form():
    table = shown_people(100)
    release, key = PiecewiseEncoder(neutral_names=True).protect(table)
    mined = fit(release, "tree", max_depth=1).model
    assert set(mined.classes) == {"k0", "k1"}
    for shown in (decode(mined, key, table), None):
        sick = shown_of(table, release, key, mined, shown)["sick"]
        assert (sick.records, sick.exact, sick.guess) == (1.0, 1.0, 0.5)
    kept, other = PiecewiseEncoder().protect(table)
    assert "sick" not in shown_of(table, kept, other, fit(kept, "tree", max_depth=1).model, None)


def test_a_shown_regression_undoes_the_secret_units_of_its_target():
    rng = np.random.default_rng(0)
    frame = pa.table({"age": rng.integers(18, 90, 200).astype(float),
                      "wage": rng.lognormal(8, 1, 200).round(2)})
    table = unspoken.read(frame, target="wage", show=False)
    release, key = PiecewiseEncoder(random_state=3).protect(table)
    mined = fit(release, "tree", max_depth=2).model
    assert shown_of(table, release, key, mined, decode(mined, key, table))["wage"].records == 1.0


def carried(table, first, key, second, by_rank):
    """Return the share of people read in a second release with the equations of the first."""
    mined = fit(first, "tree").model
    pairs = equations(mined, decode(mined, key, table))
    before, after = View.of(first)["age"], View.of(second[0])["age"]
    truth = piecewise_truths(table, View.of(second[0]), second[1]).columns["age"]
    known = pairs[mined.features.index("age")]
    places = known.codes
    if by_rank:
        rank = rank_of(before, known.codes)
        places = np.interp(rank, after.rank, after.codes)
    read = ShownModel().read(after, places, known.values)[truth.where]
    near = np.abs(read - truth.truth) <= 0.02 * truth.width
    return float(near @ truth.record_share)


@pytest.mark.slow
def test_a_fresh_key_makes_old_equations_worthless_as_codes_but_not_as_ranks():
    """Codes of another key say nothing; ranks of the same people stay what they were."""
    table = shown_people(600)
    first, key = PiecewiseEncoder(random_state=1).protect(table)
    same = carried(table, first, key, (first, key), by_rank=False)
    fresh = [carried(table, first, key, PiecewiseEncoder(random_state=seed).protect(table), False)
             for seed in range(2, 12)]
    by_rank = carried(table, first, key, PiecewiseEncoder(random_state=2).protect(table), True)
    assert same > 0.97
    assert np.median(fresh) < 0.25 < same
    assert by_rank > 0.9
