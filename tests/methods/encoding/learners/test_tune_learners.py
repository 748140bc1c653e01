"""Searching and splitting on a release: what comes out decodes to the original's model."""

import numpy as np
import pytest

import unspoken
from unspoken.cli.verify_verb import compare_with_original
from unspoken.errors import InputError
from unspoken.methods.encoding.learners.mine_trees import fit_part
from unspoken.methods.encoding.learners.tune_learners import Search, held_out
from unspoken.mine import Recipe, fit
from unspoken.protect import PiecewiseEncoder


@pytest.fixture(scope="module")
def protected():
    rng = np.random.default_rng(0)
    town = rng.choice(["a", "b", "c", "d"], 300)
    x = rng.normal(size=300).round(2)
    label = np.where((x > 0) ^ np.isin(town, ["b", "d"]), "yes", "no")
    table = unspoken.read({"x": x, "town": town, "y": label}, target="y", show=False)
    return table, *PiecewiseEncoder(keep_zero=True).protect(table)


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["tree", "forest", "xgboost", "lightgbm"])
def test_a_model_of_a_part_decodes_to_the_original_of_that_part(protected, learner):
    table, release, key = protected
    small = {} if learner == "tree" else {"n_estimators": 20}
    small |= {"min_data_per_group": 5} if learner == "lightgbm" else {}
    mined, score = fit_part(release, learner, 0.25, **small)
    assert len(mined.recipe.rows) == 225
    assert 0.5 < score <= 1.0
    assert Recipe.from_json(mined.recipe.to_json()) == mined.recipe
    assert compare_with_original(unspoken.load_model(mined.to_bytes()), mined.recipe, key, table)


def test_the_best_of_a_search_is_fitted_on_all_rows(protected):
    table, release, key = protected
    mined = fit(release, "tree", tune={"max_depth": [1, 4], "min_samples_leaf": [1, 5]})
    assert mined.recipe.params["max_depth"] == 4
    assert mined.recipe.search["candidates"] == 4
    assert mined.recipe.rows is None
    assert "searched" in mined.summary()
    assert compare_with_original(mined.model, mined.recipe, key, table)
    again = fit(release, "tree", tune={"max_depth": [1, 4], "min_samples_leaf": [1, 5]})
    assert again.recipe == mined.recipe


def test_bad_searches_and_rows_are_refused(protected):
    _, release, _ = protected
    for grid in ({}, {"max_depth": []}, {"max_depth": list(range(1, 1002))}):
        with pytest.raises(InputError, match="search"):
            fit(release, "tree", tune=Search(grid))
    with pytest.raises(InputError, match="folds"):
        fit(release, "tree", tune=Search({"max_depth": [2]}, folds=1))
    for rows in ([], [300], [-1], [0.5], [True]):
        with pytest.raises(InputError, match="'rows'"):
            fit(release, "tree", rows=rows)
    with pytest.raises(InputError, match="share"):
        held_out(10, 1.0, 0)
