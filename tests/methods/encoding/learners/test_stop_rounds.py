"""Early stopping of XGBoost and LightGBM: the recipe names the rows, decoding looks again."""

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

import unspoken
from support.encoding_walk import table_of
from unspoken.cli.main import main
from unspoken.cli.verify_verb import compare_with_original
from unspoken.errors import DecodeError, InputError, ModelError
from unspoken.methods.encoding.decode import from_key, replayed_stopping
from unspoken.mine import Recipe, Stopping, fit
from unspoken.protect import PiecewiseEncoder, decode

SMALL = {"xgboost": {"n_estimators": 25, "max_depth": 3, "learning_rate": 0.5},
         "lightgbm": {"n_estimators": 25, "num_leaves": 6, "min_child_samples": 4,
                      "learning_rate": 0.5}}


def protected(seed, whole=False, rows=160):
    """Return a table whose codes and values have other middles, its release and its key."""
    rng = np.random.default_rng(seed)
    data = rng.integers(0, 6, (rows, 2)).astype(float) if whole else \
        np.exp(rng.normal(size=(rows, 2)) * 3).round(3)
    noise = np.exp(rng.normal(size=rows) * 2)
    table = table_of(data, np.where(data[:, 0] * noise > 1 + whole, "b", "a"))
    return table, *PiecewiseEncoder(keep_zero=True, random_state=seed).protect(table)


def native(release, learner, mined):
    """Return the library's own model, stopped by the same rows, without anything of ours."""
    codes, labels = release.table.numbers(), (release.table.labels() == "b").astype(int)
    learned, watched = list(mined.recipe.rows), list(mined.recipe.watched)
    params = {**mined.recipe.params, "n_estimators": 25}
    if learner == "xgboost":
        model = xgb.XGBClassifier(**params, early_stopping_rounds=2)
        return model.fit(codes[learned], labels[learned], verbose=False,
                         eval_set=[(codes[watched], labels[watched])])
    return lgb.LGBMClassifier(**params).fit(
        codes[learned], labels[learned], eval_X=codes[watched], eval_y=labels[watched],
        callbacks=[lgb.early_stopping(2, verbose=False)])


@pytest.mark.parametrize("learner", SMALL)
def test_the_rounds_are_those_at_which_the_library_stops(learner):
    _, release, _ = protected(1)
    mined = fit(release, learner, stop=Stopping(2, 0.3, 7), **SMALL[learner])
    recipe = mined.recipe
    assert not set(recipe.rows) & set(recipe.watched)
    assert sorted(recipe.rows + recipe.watched) == list(range(160))
    assert len(recipe.watched) == 48
    theirs = native(release, learner, mined)
    best = theirs.best_iteration + 1 if learner == "xgboost" else theirs.best_iteration_
    assert 1 <= recipe.params["n_estimators"] == best < 25
    codes = release.table.numbers()
    assert np.array_equal(mined.estimator.predict_proba(codes), theirs.predict_proba(codes))
    assert mined.verdict
    assert "held out" in mined.verdict.reason
    assert Recipe.from_json(recipe.to_json()) == recipe
    assert "stopped early by the score of 48 other rows" in mined.summary()


@pytest.mark.slow
@pytest.mark.parametrize("learner", SMALL)
@pytest.mark.parametrize("seed", range(6))
def test_decoding_with_the_recipe_gives_what_the_original_gives(learner, seed):
    table, release, key = protected(seed)
    mined = fit(release, learner, stop=Stopping(1, 0.3, seed), **SMALL[learner])
    assert compare_with_original(unspoken.load_model(mined.to_bytes()), mined.recipe, key, table)


def elsewhere():
    """Return a case in which the original stops after another number of rounds."""
    table, release, key = protected(ELSEWHERE)
    mined = fit(release, "lightgbm", stop=Stopping(1, 0.3, ELSEWHERE), **SMALL["lightgbm"])
    return table, key, mined


ELSEWHERE = 39


def test_the_original_may_stop_elsewhere_and_that_is_returned(monkeypatch):
    table, key, mined = elsewhere()
    plain = decode(mined.to_bytes(), key, table, rows=mined.recipe.rows)
    replayed = decode(mined.to_bytes(), key, table, recipe=mined.recipe)
    assert len(plain.trees) == mined.recipe.params["n_estimators"]
    assert len(replayed.trees) != len(plain.trees)
    assert replayed.features == plain.features
    assert tuple(replayed.classes) == ("a", "b")
    # Without the look at the original the comparison fails: this is what it is there for.
    monkeypatch.setattr(from_key, "as_the_original_stops", lambda decoded, *_: decoded)
    assert not compare_with_original(mined.model, mined.recipe, key, table)


@pytest.mark.slow
@pytest.mark.parametrize("learner", SMALL)
def test_values_that_were_all_learned_from_need_no_second_look(learner, monkeypatch):
    table, release, key = protected(2, whole=True)
    mined = fit(release, learner, stop=Stopping(1, 0.3), **SMALL[learner])
    assert compare_with_original(mined.model, mined.recipe, key, table)
    monkeypatch.setattr(replayed_stopping, "fit", None)
    assert decode(mined.model, key, table, recipe=mined.recipe).trees
    exact = fit(release, "xgboost", stop=Stopping(1, 0.3), tree_method="exact",
                **SMALL["xgboost"])
    with pytest.raises(TypeError):
        decode(exact.model, key, table, recipe=exact.recipe)


@pytest.mark.slow
def test_numbers_in_secret_units_and_categories_stop_too():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"town": rng.choice(list("pqrst"), 200),
                          "pay": np.exp(rng.normal(size=200) * 2).round(2)})
    frame["wage"] = (frame.pay.rank() + 40 * (frame.town == "q")
                     + rng.normal(size=200) * 30).round(2)
    table = unspoken.read(frame, target="wage", show=False)
    release, key = PiecewiseEncoder(keep_zero=True, random_state=5).protect(table)
    for learner, params in SMALL.items():
        mined = fit(release, learner, stop=1, **params)
        assert compare_with_original(mined.model, mined.recipe, key, table)
        decoded = decode(mined.model, key, table, recipe=mined.recipe)
        assert np.corrcoef(decoded.predict(frame), frame.wage)[0, 1] > 0.5


def test_what_cannot_be_stopped_is_refused():
    table, release, key = protected(0)
    for learner in ("tree", "histogram", "gradient"):
        with pytest.raises(InputError, match="not stopped by held-out rows"):
            fit(release, learner, stop=3)
    for patience in (0, 2001, 1.5, True, "3"):
        with pytest.raises(InputError, match="'patience' must be a whole number from 1 to 2,000"):
            fit(release, "xgboost", stop=Stopping(patience))
    with pytest.raises(InputError, match="'n_estimators' must be a whole number from 1"):
        fit(release, "xgboost", stop=3, n_estimators=5000)
    with pytest.raises(InputError, match="left to learn from"):
        fit(release, "xgboost", stop=Stopping(rows=np.arange(160)))
    only = np.flatnonzero(release.table.labels() == "a")
    with pytest.raises(InputError, match="Every class of the rows that are held out"):
        fit(release, "xgboost", rows=only, stop=Stopping(rows=np.setdiff1d(np.arange(160), only)))
    mined = fit(release, "xgboost", stop=1, **SMALL["xgboost"])
    with pytest.raises(DecodeError, match="as a table"):
        decode(mined.model, key, table.numbers(), table.labels(), recipe=mined.recipe)


@pytest.mark.parametrize(("change", "match"), [
    ({"search": {"patience": 1, "rounds_at_most": 10**9}}, "rounds_at_most"),
    ({"search": {"patience": -1, "rounds_at_most": 9}}, "patience"),
    ({"search": {}}, "rounds_at_most"), ({"params": {"stop": 3}}, "Got stop"),
    ({"params": {"task": "x", "rows": 1}}, "Got rows, task"),
], ids=str)
def test_a_hostile_recipe_is_refused_by_name(change, match):
    table, release, key = protected(0)
    mined = fit(release, "xgboost", stop=1, **SMALL["xgboost"])
    recipe = Recipe.from_json({**mined.recipe.to_json(), **change})
    with pytest.raises(InputError, match=match):
        decode(mined.model, key, table, recipe=recipe)
    with pytest.raises(ModelError, match="watched"):
        Recipe.from_json({**mined.recipe.to_json(), "watched": [-1]})


@pytest.mark.slow
def test_stopping_on_the_command_line(tmp_path):
    rng = np.random.default_rng(0)
    pay = np.exp(rng.normal(size=200) * 2).round(2)
    frame = pd.DataFrame({"pay": pay, "ill": np.where(pay * rng.random(200) > 0.4, "y", "n")})
    frame.to_csv(tmp_path / "people.csv", index=False)
    place = {name: str(tmp_path / name) for name in ("people.csv", "r", "k", "m.json", "d.json")}
    assert main(["protect", place["people.csv"], "--target", "ill", "--out", place["r"], "--key",
                 place["k"]]) == 0
    assert main(["mine", place["r"], "--learner", "xgboost", "--stop-after", "2", "--stop-share",
                 "0.25", "--param", "n_estimators=30", "--out", place["m.json"]]) == 0
    assert len(Recipe.load(tmp_path / "m.json.recipe").watched) == 50
    assert main(["decode", place["m.json"], "--key", place["k"], "--data", place["people.csv"],
                 "--out", place["d.json"]]) == 0
    assert main(["verify", place["m.json"], "--release", place["r"], "--key", place["k"], "--data",
                 place["people.csv"]]) == 0
