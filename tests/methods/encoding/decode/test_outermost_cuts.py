"""XGBoost's cut below the smallest value parts what is missing from all that is there.

It stands at -1e-05 below every positive value, and at twice the smallest negative one; constraints
that send missing values to the left bring it about.
"""

from __future__ import annotations

import numpy as np
import pytest
import xgboost as xgb

import unspoken
from unspoken.methods.encoding.code_book import PiecewiseBook
from unspoken.methods.encoding.decode.mined_again import decoded_and_mined_again
from unspoken.methods.encoding.decode.xgboost_replay import DrawnElsewhereError, outer_cut
from unspoken.mine import fit
from unspoken.protect import PiecewiseEncoder, decode

PARAMS = {"n_estimators": 3, "max_depth": 2, "min_child_weight": 0, "random_state": 0, "n_jobs": 1}


def gappy(seed, sign, rows=150):
    """Return a table whose reply is 3 where the one column is missing, and noise elsewhere."""
    rng = np.random.default_rng(seed)
    size = sign * np.exp(rng.normal(size=rows) * 3).astype(np.float32).astype(float)
    size[rng.random(rows) < 0.2] = np.nan
    reply = np.where(np.isnan(size), 3.0, 0.0) + rng.normal(size=rows).round(2)
    table = unspoken.read({"size": size, "y": reply}, target="y", show=False)
    release, key = PiecewiseEncoder(random_state=seed).protect(table)
    order = PiecewiseBook.from_key(key).order(rows)
    target = PiecewiseBook.from_key(key).units.encode(reply)[order]
    return table, release, key, size[order][:, None], target


def mined(release, **params):
    target = release.table.arrow([release.table.schema.target])
    return xgb.XGBRegressor(**PARAMS, **params).fit(
        release.table.numbers(), target[release.table.schema.target].to_numpy())


def unseen(values):
    known = values[~np.isnan(values)]
    return np.r_[known, known * 0.5, known * 2, known * 2.5, -known, 0.0, np.nan][:, None]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("method", ["hist", "approx"])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_missing_goes_left_of_everything(seed, sign, method):
    table, release, key, values, target = gappy(seed, sign)
    params = {"tree_method": method, "monotone_constraints": (-1,)}
    estimator = mined(release, **params)
    assert release.guarantee.covers(estimator)
    decoded = decode(unspoken.load_model(bytes(estimator.get_booster().save_raw("json"))), key,
                     table, units="released", learner="hist")
    original = xgb.XGBRegressor(**PARAMS, **params).fit(values, target)
    lowest = outer_cut(np.array([np.nanmin(values)]), -1.0)[0]
    assert any(lowest in tree.condition[tree.inner] for tree in decoded.trees)
    asked = unseen(values)
    assert np.array_equal(decoded.predict(asked), original.predict(asked))


@pytest.mark.parametrize("seed", range(3))
def test_draws_that_lack_the_smallest_value_are_not_guessed(seed):
    table, release, key, _, _ = gappy(seed, -1)
    found = fit(release, "xgboost", tree_method="approx", subsample=0.5,
                monotone_constraints=(-1,), n_estimators=3, max_depth=2, min_child_weight=0)
    assert found.verdict
    with pytest.raises(DrawnElsewhereError, match="feature 'size'"):
        decode(found.to_bytes(), key, table)
    decoded, original = decoded_and_mined_again(found.to_bytes(), found.recipe, key, table)
    same = unspoken.verify(original.to_bytes(), decoded)
    assert same, same.difference
