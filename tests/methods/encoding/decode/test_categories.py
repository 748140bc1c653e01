"""Categories: random labels in, sets of categories out, and the same model on unseen records."""

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import unspoken
from unspoken.errors import DataError, DecodeError, InputError
from unspoken.methods.encoding.code_book import PiecewiseBook
from unspoken.mine import fit
from unspoken.protect import PiecewiseEncoder, decode

COLOURS = ["amber", "blue", "coral", "denim", "ecru", "fawn", "gold", "indigo"]


def people(seed, rows=400, missing=True):
    rng = np.random.default_rng(seed)
    colour = rng.choice(COLOURS[: int(rng.integers(2, 9))], rows).astype(object)
    town = rng.choice([f"town {i}" for i in range(int(rng.integers(2, 40)))], rows).astype(object)
    if missing:
        town[rng.random(rows) < 0.05] = None
    frame = pd.DataFrame({"age": rng.integers(18, 90, rows), "colour": colour,
                          "pay day": rng.normal(size=rows).round(2), "town": town})
    score = np.isin(colour, COLOURS[::3]) + (frame.age > 50) + rng.random(rows)
    return frame.assign(y=np.where(score > np.median(score), "yes", "no"))


def released(frame, **options):
    table = unspoken.read(frame, target="y", show=False)
    release, key = PiecewiseEncoder(**options).protect(table)
    return table, release, key


def framed(table, names, lists=None):
    """Return the features as a frame with categories, in the order of the lists if there are."""
    frame = table.arrow(list(names)).to_pandas()
    for name in names:
        if frame[name].dtype.kind not in "iuf":
            known = (lists or {}).get(name)
            there = frame[name] if known is None else frame[name].where(frame[name].isin(known))
            frame[name] = pd.Categorical(there, categories=known)
    return frame


LEARNERS = {
    "lightgbm": lgb.LGBMClassifier(n_estimators=8, min_child_samples=5, verbose=-1, n_jobs=1,
                                   deterministic=True, force_row_wise=True, cat_smooth=1.0,
                                   min_data_per_group=1),
    "xgboost": xgb.XGBClassifier(n_estimators=6, enable_categorical=True, n_jobs=1,
                                 max_cat_to_onehot=3),
    "hist": HistGradientBoostingClassifier(max_iter=6, random_state=0, min_samples_leaf=5),
}


@pytest.mark.slow
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("neutral", [False, True])
def test_a_miners_own_script_with_a_data_frame(learner, neutral):
    for seed in range(6):
        frame = people(seed)
        table, release, key = released(frame, neutral_names=neutral,
                                       keep_zero=learner == "lightgbm")
        book = PiecewiseBook.from_key(key)
        order = book.order(len(frame))
        target = release.schema.target
        codes = framed(release.table, [n for n in release.schema.names if n != target])
        labels = release.table.labels().astype(str)
        numbers = labels if learner == "hist" else np.unique(labels, return_inverse=True)[1]
        model = clone(LEARNERS[learner])
        assert release.guarantee.covers(model)
        mined = clone(model).fit(codes, numbers)
        lists = {name: [g[0] for g in book.groups(name).values()] for name in book.categories}
        values = framed(table, book.everything, lists).iloc[order].reset_index(drop=True)
        moved = frame["y"].to_numpy()[order] if learner == "hist" else numbers
        original = clone(model).fit(values, moved)
        decoded = decode(mined, key, table)
        unseen = framed(unspoken.read(people(seed + 100), target="y", show=False),
                        book.everything, lists)
        wanted = original.predict_proba(unseen)
        assert np.allclose(decoded.predict_proba(unseen), wanted, rtol=1e-6, atol=1e-7)
        if learner != "hist":
            assert unspoken.verify(original, decoded)
            live = decoded.booster()
            data = xgb.DMatrix(unseen, enable_categorical=True) if learner == "xgboost" else unseen
            assert np.allclose(live.predict(data), wanted[:, 1], rtol=1e-6)
            assert set(decoded.predict(unseen)) <= {"yes", "no"}
        else:
            assert np.array_equal(decoded.predict_proba(unseen), wanted)


PARAMS = {"tree": {}, "forest": {"n_estimators": 4}, "xgboost": {"n_estimators": 4},
          "lightgbm": {"n_estimators": 4, "min_data_per_group": 5}}


@pytest.mark.slow
@pytest.mark.parametrize("learner", PARAMS)
@pytest.mark.parametrize("rare", [1, 25])
def test_mine_and_decode_by_name(learner, rare):
    frame = people(3)
    table, release, key = released(frame, rare=rare, neutral_names=rare > 1,
                                   keep_zero=learner == "lightgbm")
    mined = fit(release, learner, **PARAMS[learner])
    assert mined.verdict
    decoded = decode(mined.to_bytes(), key, table)
    text = decoded.to_text()
    assert "colour in {" in text
    assert "c0" not in text
    guesses = decoded.predict(frame.drop(columns="y"))
    assert (guesses == frame["y"]).mean() > 0.7
    assert decoded.predict_proba(frame[::-1]).shape == (400, 2)
    again = unspoken.load_model(decoded.text if learner == "lightgbm" else mined.to_bytes())
    assert again.summary()


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["tree", "forest", "xgboost", "lightgbm"])
def test_saved_models_keep_categories_and_classes(learner, tmp_path):
    table, release, key = released(people(4), keep_zero=learner == "lightgbm")
    mined = fit(release, learner, **({} if learner == "tree" else {"n_estimators": 3}))
    decoded = decode(mined.to_bytes(), key, table)
    decoded.save(tmp_path / "model.json")
    again = unspoken.load_model(tmp_path / "model.json")
    assert again.same_as(decoded)
    assert again.categories == decoded.categories
    assert tuple(again.classes) == ("no", "yes")
    frame = people(5)
    assert np.array_equal(again.predict_proba(frame), decoded.predict_proba(frame))


@pytest.mark.parametrize("learner", [
    DecisionTreeClassifier(random_state=0), RandomForestClassifier(5, random_state=0)])
def test_some_of_the_columns_in_another_order(learner):
    frame = people(6)
    table, release, key = released(frame)
    names = ["pay day", "age"]
    codes = release.table.arrow(names).to_pandas()
    mined = clone(learner).fit(codes, release.table.labels())
    order = PiecewiseBook.from_key(key).order(len(frame))
    moved = frame.iloc[order].reset_index(drop=True)
    original = clone(learner).fit(moved[names], moved["y"])
    assert unspoken.verify(original, decode(mined, key, table))


@pytest.mark.slow
def test_numbers_taken_as_categories_are_refused():
    table, release, key = released(people(7))
    codes = release.table.arrow(["age", "pay day"]).to_pandas().astype("category")
    labels = np.unique(release.table.labels(), return_inverse=True)[1]
    for model in LEARNERS.values():
        mined = clone(model).fit(codes, labels)
        with pytest.raises(DecodeError, match="codes are numbers"):
            decode(mined, key, table)


def test_labels_of_another_release_are_refused():
    frame = people(8)
    table, release, key = released(frame)
    mined = fit(release, "xgboost", n_estimators=2)
    text = mined.to_bytes().replace(b'c0\\"', b'zz\\"')
    with pytest.raises(DecodeError, match="label 'zz"):
        decode(text, key, table)
    with pytest.raises(InputError, match="names"):
        decode(mined.to_bytes(), key, np.zeros((400, 4)), frame["y"].to_numpy())


def test_numbers_in_place_of_categories_are_refused():
    table, release, key = released(people(9))
    decoded = decode(fit(release, "tree").to_bytes(), key, table)
    with pytest.raises(DataError, match="categories themselves"):
        decoded.predict({"age": [30], "colour": [3], "pay day": [0.5], "town": ["town 1"]})
    unknown = decoded.predict({"age": [30], "colour": ["puce"], "pay day": [0.5], "town": [None]})
    assert unknown[0] in ("yes", "no")


def test_rare_categories_share_a_label():
    frame = people(10)
    frame.loc[:2, "colour"] = ["mauve", "puce", "mauve"]
    _, release, key = released(frame, rare=10)
    labels = PiecewiseBook.from_key(key).categories["colour"]["labels"]
    assert labels["mauve"] == labels["puce"]
    assert sum(label == labels["mauve"] for label in labels.values()) == 3
    counts = release.table.arrow(["colour"])["colour"].value_counts().to_pylist()
    assert min(entry["counts"] for entry in counts) >= 10


def test_a_table_of_categories_alone():
    frame = people(11)[["colour", "town", "y"]]
    table, release, key = released(frame)
    decoded = decode(fit(release, "forest", n_estimators=3).to_bytes(), key, table)
    assert decoded.predict(frame).shape == (400,)
