"""XGBoost approx with subsample: rows outside a draw beyond the outermost cut of their tree.

Its sketch can end below the largest value if no row with it was drawn. The cut then stands at twice
the last sketched value, and rows beyond it go another way than rows below it; codes of a skewed
column lie closer together than its values, so that the two do not agree.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import xgboost as xgb

import unspoken
from unspoken.errors import DecodeError
from unspoken.methods.encoding.code_book import PiecewiseBook
from unspoken.methods.encoding.decode.mined_again import decoded_and_mined_again
from unspoken.methods.encoding.decode.xgboost_replay import DrawnElsewhereError
from unspoken.mine import Stopping, fit
from unspoken.protect import PiecewiseEncoder, decode

APPROX = {"tree_method": "approx", "subsample": 0.5, "max_depth": 3, "max_bin": 8,
          "min_child_weight": 0}
SEEDS = (174, 183, 196)


def skewed(seed):
    rng = np.random.default_rng(seed)
    size = np.exp(rng.normal(size=150) * 8)
    size[rng.random(150) < 0.2] = np.nan
    reply = np.where(np.isnan(size), 3.0, 0.0) + rng.normal(size=150).round(2)
    table = unspoken.read({"size": size, "y": reply}, target="y", show=False)
    return table, *PiecewiseEncoder(keep_zero=True, random_state=seed).protect(table)


@pytest.mark.parametrize("seed", SEEDS)
def test_trees_after_it_are_those_of_the_original(seed):
    table, release, key = skewed(seed)
    mined = fit(release, "xgboost", n_estimators=3, **APPROX)
    assert mined.verdict
    assert "Send the recipe" in mined.verdict.reason
    with pytest.raises(DrawnElsewhereError, match="feature 'size'") as caught:
        decode(mined.to_bytes(), key, table)
    values = table.numbers()[:, 0]
    assert not any(str(value) in str(caught.value) for value in values[~np.isnan(values)])
    decoded, original = decoded_and_mined_again(mined.to_bytes(), mined.recipe, key, table)
    same = unspoken.verify(original.to_bytes(), decoded)
    assert same, same.difference


@pytest.mark.parametrize("seed", SEEDS)
def test_in_the_last_round_its_cut_is_decoded_without_a_recipe(seed):
    table, release, key = skewed(seed)
    mined = fit(release, "xgboost", n_estimators=1, **APPROX)
    decoded = decode(mined.to_bytes(), key, table, units="released")
    book = PiecewiseBook.from_key(key)
    order = book.order(150)
    values = book.columns[0].rounded(table.numbers()[:, 0])[order][:, None]
    target = book.units.encode(table.labels())[order]
    original = xgb.XGBRegressor(n_estimators=1, random_state=mined.recipe.params["random_state"],
                                n_jobs=1, **APPROX).fit(values, target)
    unseen = np.geomspace(1e-12, 1e12, 400)[:, None]
    assert np.array_equal(original.predict(unseen), decoded.predict(unseen))


def test_the_recipe_of_another_model_is_refused():
    table, release, key = skewed(SEEDS[0])
    mined = fit(release, "xgboost", n_estimators=3, **APPROX)
    other = replace(mined.recipe, params={**mined.recipe.params, "max_depth": 1})
    with pytest.raises(DecodeError, match="not the one that its recipe gives"):
        decode(mined.to_bytes(), key, table, recipe=other)


@pytest.mark.parametrize("seed", SEEDS)
def test_early_stopping_of_it_is_that_of_the_original(seed):
    table, release, key = skewed(seed)
    mined = fit(release, "xgboost", stop=Stopping(2, 0.2), n_estimators=8, **APPROX)
    decoded, original = decoded_and_mined_again(mined.to_bytes(), mined.recipe, key, table)
    same = unspoken.verify(original.to_bytes(), decoded)
    assert same, same.difference
