"""The one contract of all models: what `unspoken.models.model` promises, for every kind."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import inspect
import json
import pkgutil
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import unspoken
from support.model_cases import CASES
from unspoken.errors import DataError, ModelError
from unspoken.models import MODELS
from unspoken.models.json_files import JsonFile
from unspoken.models.load_model import model_class
from unspoken.models.model import Ensemble, Model, Predictor, TreeLike

HOSTILE = "<script>alert(1)</script>"
every = pytest.mark.parametrize("kind", sorted(MODELS))
predicting = pytest.mark.parametrize(
    "kind", sorted(kind for kind, case in CASES.items() if case.data is not None))


@pytest.fixture(scope="module")
def models():
    """One model of each kind, built once."""
    return {kind: case.build("a") for kind, case in CASES.items()}


def class_of(kind):
    module, name = MODELS[kind]
    return getattr(importlib.import_module(module), name)


def concrete(base):
    """Return every class below this one that can have instances."""
    below = base.__subclasses__()
    return {one for one in below if not inspect.isabstract(one)
            and dataclasses.is_dataclass(one)} | {two for one in below for two in concrete(one)}


def test_no_kind_of_model_is_left_out():
    for module in pkgutil.walk_packages(unspoken.__path__, "unspoken."):
        if not module.name.endswith("__main__"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                importlib.import_module(module.name)
    ours = {one for one in concrete(JsonFile) if one.__module__.startswith("unspoken.")}
    listed = {class_of(kind) for kind in MODELS}
    # A class that others build on, and that no file holds.
    assert {one.__name__ for one in ours - listed} <= {"Coefficients"}
    assert listed <= ours
    assert set(CASES) == set(MODELS)


@pytest.mark.slow
@every
def test_a_kind_has_its_name_and_its_format(kind, models):
    model = models[kind]
    assert isinstance(model, Model)
    assert type(model) is class_of(kind)
    assert model.kind == MODELS[kind][1]
    assert model.format == kind
    if kind.startswith("unspoken-"):
        assert model.to_json()["format"] == kind
        assert model_class(kind) is type(model)


@every
def test_models_are_frozen(kind, models):
    first = dataclasses.fields(models[kind])[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(models[kind], first, None)


@every
def test_json_comes_back(kind, models):
    model = models[kind]
    text = json.dumps(model.to_json(), allow_nan=False)
    again = type(model).from_json(json.loads(text))
    assert again.same_as(model)
    assert again.to_json() == model.to_json()
    assert again.to_text() == model.to_text()


@every
def test_files_come_back_by_their_format(kind, models, tmp_path):
    model = models[kind]
    model.save(tmp_path / "model")
    for again in (type(model).load(tmp_path / "model"),
                  unspoken.load_model(tmp_path / "model"),
                  unspoken.load_model((tmp_path / "model").read_bytes())):
        assert type(again) is type(model)
        assert again.same_as(model)


@every
def test_the_first_difference_is_named(kind, models):
    model = models[kind]
    assert model.same_as(model)
    assert str(model.same_as(model)) == "identical"
    data = copy.deepcopy(model.to_json())
    CASES[kind].change(data)
    found = model.same_as(type(model).from_json(data))
    assert not found
    assert CASES[kind].difference in found.difference
    assert model.same_as(3).difference == f"kind: {model.kind} and int"


@pytest.mark.slow
@every
def test_summary_and_text_say_something(kind, models):
    model = models[kind]
    for text in (model.summary(), model.to_text()):
        assert text.strip()
        assert not re.search(r"\bnan\b|array\(|object at 0x", text)
        assert all(line.isprintable() for line in text.split("\n"))
    assert model.summary().splitlines()[0] == model.to_text().splitlines()[0]
    assert CASES[kind].build("a").to_text() == model.to_text()


@pytest.mark.slow
@every
def test_a_model_is_shown_on_one_screen(kind, models):
    lines = repr(models[kind]).splitlines()
    assert 0 < len(lines) <= 21
    assert max(map(len, lines)) <= 163


@every
def test_names_are_text_never_markup_nor_commands(kind):
    page = CASES[kind].build(HOSTILE)._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page or "script" not in page
    if kind == "xgboost-json":
        with pytest.raises(ModelError, match="control characters"):
            CASES[kind].build("a\x1b[2Jb\nc")
    elif kind != "lightgbm-text":
        text = CASES[kind].build("a\x1b[2Jb\nc").to_text()
        assert all(line.isprintable() for line in text.split("\n"))
        assert "\\x1b[2Jb\\nc" in text


def test_most_kinds_show_the_names_they_hold():
    shown = [kind for kind, case in CASES.items() if "script" in case.build(HOSTILE).summary()]
    assert set(CASES) - set(shown) <= {"lightgbm-text", "xgboost-json"}


@every
def test_trees_can_be_counted(kind, models):
    model = models[kind]
    assert isinstance(model, TreeLike) == (("tree" in kind or "forest" in kind)
                                           or not kind.startswith("unspoken-"))
    if isinstance(model, TreeLike):
        counts = model.nodes, model.leaves, model.depth
        assert all(type(count) is int for count in counts)
        assert model.nodes > model.leaves > model.depth > 0
    if isinstance(model, Ensemble):
        assert model.nodes == sum(tree.nodes for tree in model.trees)
        assert model.leaves == sum(tree.leaves for tree in model.trees)
        assert model.depth == max(tree.depth for tree in model.trees)


def test_those_that_predict_are_predictors(models):
    for kind, model in models.items():
        assert isinstance(model, Predictor) == (CASES[kind].data is not None), kind
        assert isinstance(model, Predictor) == hasattr(model, "predict")


def needed(kind, model):
    """Return the columns that a model cannot do without."""
    return dict.fromkeys(name for term in model.features for name in term.split("*"))


@pytest.mark.slow
@predicting
def test_columns_are_found_by_name(kind, models):
    model, data = models[kind], CASES[kind].data("a")
    wanted = model.predict(data)
    assert len(set(wanted.tolist())) > 1
    backwards = dict(reversed(data.items()))
    others = {"zz": ["x"] * len(data["a"]), **backwards, "yy": np.zeros(len(data["a"]))}
    for same in (backwards, others, pd.DataFrame(others), pa.table(others), pl.DataFrame(others),
                 pl.DataFrame(others).lazy(), pa.RecordBatch.from_pydict(others),
                 unspoken.read(pd.DataFrame(others), show=False)):
        assert model.predict(same).tolist() == wanted.tolist(), type(same)


@predicting
def test_a_bare_array_has_the_columns_in_order(kind, models):
    model, data = models[kind], CASES[kind].data("a")
    if kind == "unspoken-naive-bayes":
        codes = {name: place for place, name in enumerate(("blue", "green", "red"))}
        data = {**data, "colour": [codes[value] for value in data["colour"]]}
    terms = [np.prod([data[one] for one in name.split("*")], axis=0) if "*" in name
             else data[name] for name in model.features]
    rows = np.array([list(row) for row in zip(*terms, strict=True)],
                    object if CASES[kind].texts else float)
    assert model.predict(rows).tolist() == model.predict(CASES[kind].data("a")).tolist()
    for wrong in (rows[:, :-1], np.hstack([rows, rows[:, :1]]), rows[0]):
        with pytest.raises(DataError, match="of shape"):
            model.predict(wrong)


@pytest.mark.slow
@predicting
def test_a_missing_column_is_refused_by_name(kind, models):
    model, data = models[kind], CASES[kind].data("a")
    for name in needed(kind, model):
        fewer = {other: values for other, values in data.items() if other != name}
        for without in (fewer, pd.DataFrame(fewer), pa.table(fewer),
                        unspoken.read(pd.DataFrame(fewer), show=False)):
            with pytest.raises(DataError, match=f"a column '{re.escape(name)}'"):
                model.predict(without)


@predicting
def test_texts_are_no_numbers_even_if_they_spell_some(kind, models):
    model, data = models[kind], CASES[kind].data("a")
    spelled = {**data, "a": [str(value) for value in data["a"]]}
    for texts in (spelled, pd.DataFrame(spelled), pa.table(spelled)):
        with pytest.raises(DataError, match="The column 'a' must be numbers"):
            model.predict(texts)
    with pytest.raises(DataError, match="numbers"):
        model.predict({**data, "a": [1.0, "x", *data["a"][2:]]})
    with pytest.raises(DataError, match="numbers"):
        model.predict(np.array([["1"] * len(model.features)]))


@predicting
def test_columns_of_several_lengths_or_names_given_twice_are_refused(kind, models):
    model, data = models[kind], CASES[kind].data("a")
    with pytest.raises(DataError, match="of one length"):
        model.predict({**data, "a": data["a"][:-1]})
    twice = pd.DataFrame(data)
    twice = pd.concat([twice, twice[["a"]]], axis=1)
    with pytest.raises(DataError, match="two columns 'a'"):
        model.predict(twice)


@pytest.mark.parametrize("kind", ["unspoken-shrub", "xgboost-json", "lightgbm-text", None, 3, []])
def test_a_format_that_is_not_known_is_refused(kind):
    with pytest.raises(ModelError, match="format"):
        unspoken.load_model(json.dumps({"format": kind, "version": 1}))


@pytest.mark.parametrize("kind", sorted(kind for kind in MODELS if kind.startswith("unspoken-")))
def test_a_newer_version_is_refused(kind, models):
    with pytest.raises(ModelError, match="version"):
        unspoken.load_model(json.dumps({**models[kind].to_json(), "version": 99}))


@pytest.mark.parametrize("content", [b"\x80\x04\x95", b"", b"[1]", b"{", b'{"a": NaN}'])
def test_what_is_no_model_is_refused(content):
    with pytest.raises(ModelError):
        unspoken.load_model(content)


def test_a_share_is_never_shown(models):
    hidden = models["unspoken-hidden-tree-part"]
    other = dataclasses.replace(hidden, share=hidden.share + np.uint64(1))
    assert hidden.same_as(other).difference == "share: other words"
    words = hidden.share.astype("<u8").tobytes().hex()
    for text in (hidden.summary(), hidden.to_text(), hidden._repr_html_(), repr(hidden)):
        assert words[:16] not in text
        assert not re.search(r"\b(77|78|79|80)\b", text)
