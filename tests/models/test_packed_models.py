"""Packed model files: the same model in fewer bytes, and hostile files refused."""

from __future__ import annotations

import json
import struct
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier

import unspoken
from unspoken import load_model
from unspoken.errors import ModelError, UnspokenError
from unspoken.models.forest import Forest
from unspoken.models.hostile_json import Limits
from unspoken.models.packed_models import MAGIC, narrow, pack
from unspoken.models.readers import as_pattern, read_model

RNG = np.random.default_rng(1)
DATA = np.round(RNG.normal(size=(300, 4)), 2)
LABELS = np.where(DATA[:, 0] + DATA[:, 1] > 0, "yes", "no")
FRONT = struct.Struct("<8sIQQ")


def forest(**more):
    return Forest.from_sklearn(RandomForestClassifier(5, random_state=0, **more).fit(DATA, LABELS))


@pytest.fixture(scope="module")
def content():
    return forest(max_depth=4).packed()


def rebuilt(header, body):
    head = json.dumps(header).encode()
    return FRONT.pack(MAGIC, 1, len(head), len(body)) + head + body


def parts(content):
    _, _, head, _ = FRONT.unpack_from(content)
    return json.loads(content[FRONT.size:FRONT.size + head]), content[FRONT.size + head:]


@pytest.mark.parametrize("estimator", [
    RandomForestClassifier(4, random_state=0), RandomForestRegressor(3, random_state=0),
    DecisionTreeClassifier(), AdaBoostClassifier(n_estimators=3),
    BaggingClassifier(DecisionTreeClassifier(max_depth=3), 3),
    HistGradientBoostingClassifier(max_iter=3), GradientBoostingRegressor(n_estimators=3)],
    ids=lambda one: type(one).__name__)
def test_every_model_of_trees_comes_back_bit_for_bit(estimator, tmp_path):
    target = DATA[:, 2] if "Regressor" in type(estimator).__name__ else LABELS
    model = as_pattern(estimator.fit(DATA, target))
    model.save(tmp_path / "model.unspoken")
    model.save(tmp_path / "model.json")
    back = load_model(tmp_path / "model.unspoken")
    assert model.same_as(back)
    assert back.to_json() == load_model(tmp_path / "model.json").to_json()
    assert (tmp_path / "model.unspoken").read_bytes()[:8] == MAGIC


def test_large_forests_are_several_times_smaller():
    data = RNG.normal(size=(4000, 4))
    fitted = RandomForestClassifier(3, random_state=0).fit(data, RNG.integers(0, 2, 4000))
    model = Forest.from_sklearn(fitted)
    assert len(model.packed()) * 4 < len(json.dumps(model.to_json()))


@pytest.mark.parametrize(("values", "kind"), [
    ([1, -3], "|i1"), ([300], "<i2"), ([-70_000], "<i4"), ([1 << 40], "<i8"), ([], "|i1"),
    ([0.5, np.inf], "<f4"), ([0.1], "<f8"), ([-0.0], "<f4"), ([1e300], "<f8"),
    ([True, False], "|i1")])
def test_numbers_are_kept_exactly_in_the_narrowest_type(values, kind):
    kept = narrow(np.array(values, np.int64 if not values else None))
    assert kept.dtype.str == kind
    assert kept.tolist() == values
    assert np.array_equal(np.signbit(kept), np.signbit(np.array(values, kept.dtype)))


@pytest.mark.parametrize(("change", "word"), [
    (lambda h: h["arrays"].__setitem__(0, ["<f16", 3]), "arrays"),
    (lambda h: h["arrays"].__setitem__(0, ["|O", 3]), "arrays"),
    (lambda h: h["arrays"].__setitem__(0, ["<f8", 1 << 60]), "arrays"),
    (lambda h: h["arrays"].__setitem__(0, ["<f8", -1]), "arrays"),
    (lambda h: h["arrays"].__setitem__(0, ["<f8", 1 << 40]), "arrays"),
    (lambda h: h["document"]["trees"][0].__setitem__("left", {"$array": 10_000}), "array"),
    (lambda h: h["document"]["trees"][0].__setitem__("left", {"$array": "0"}), "array"),
    (lambda h: h["document"]["trees"][0].__setitem__("left", {"$array": True}), "array"),
    (lambda h: h["document"].__setitem__("features", {"$array": 0}), "features"),
    (lambda h: h["document"].__setitem__("trees", {"$array": 0}), "trees"),
    (lambda h: h["document"].__setitem__("task", {"$array": 0}), "task"),
    (lambda h: h["document"].__setitem__("classes", {"$array": 0}), "classes"),
    (lambda h: h["document"].__setitem__("bootstrap", {"$array": 0}), "bootstrap"),
    (lambda h: h["document"]["bootstrap"].__setitem__("class_weight", {"$array": 0}), "weight"),
    (lambda h: h["document"]["bootstrap"].__setitem__("draws", {"$array": 0}), "draws"),
    (lambda h: h["document"].__setitem__("categories", {"x": {"$array": 0}}), ""),
    (lambda h: h.__setitem__("document", {"$array": 0}), ""),
    (lambda h: h["document"]["trees"].__setitem__(0, {"$array": 0}), "trees")])
def test_headers_that_lie_are_refused_by_name(content, change, word):
    header, body = parts(content)
    change(header)
    with pytest.raises(ModelError, match=word):
        load_model(rebuilt(header, body))


def test_arrays_pass_the_same_checks_as_lists():
    document = forest(max_depth=3)._with_arrays()
    tree = document["trees"][0]
    spoiled = {"threshold": np.nan, "value": np.inf, "left": 10_000, "feature": 99,
               "missing_left": 2, "n_samples": -1, "impurity": np.nan}
    for name, value in spoiled.items():
        kept = tree[name]
        tree[name] = np.array(kept, np.int64 if kept.dtype.kind in "bi" else np.float64)
        tree[name].reshape(-1)[0] = value
        with pytest.raises(ModelError, match=name):
            load_model(pack(document))
        tree[name] = kept
    tree["left"] = tree["left"].astype(np.float64)
    with pytest.raises(ModelError, match="left"):
        load_model(pack(document))


def test_arrays_that_would_fill_the_memory_are_refused_before_they_are_unpacked(content):
    header, _ = parts(content)
    header["arrays"] = [["<f8", 1 << 27]] * 4
    bomb = rebuilt(header, pa.compress(bytes(1 << 20), codec="zstd", asbytes=True))
    with pytest.raises(ModelError, match="arrays"):
        load_model(bomb)
    with pytest.raises(ModelError, match="arrays"):
        load_model(rebuilt({**header, "arrays": [["<f8", 10_000]]}, b""), Limits(max_bytes=15_000))


def test_a_column_with_the_name_of_a_place_is_saved_as_json_only():
    with pytest.raises(ModelError, match=r"\.json"):
        pack({"categories": {"$array": ["a", "b"]}})


@pytest.mark.slow
@settings(max_examples=150)
@given(st.data())
def test_spoiled_files_are_refused_or_are_models(content, data):
    """Cuts, flips and repeats: an error of ours or a model, never anything else."""
    places = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=3)))
    pieces = [content[a:b] for a, b in pairwise([0, *places, len(content)])]
    chosen = data.draw(st.lists(st.sampled_from(pieces), min_size=1, max_size=5))
    spoiled = bytearray(b"".join(chosen))
    for _ in range(data.draw(st.integers(0, 4))):
        if spoiled:
            spoiled[data.draw(st.integers(0, len(spoiled) - 1))] = data.draw(st.integers(0, 255))
    try:
        assert load_model(bytes(spoiled)).nodes >= 1
    except UnspokenError:
        return


@pytest.mark.slow
@settings(max_examples=150)
@given(st.data())
def test_spoiled_headers_are_refused_or_are_models(content, data):
    header, body = parts(content)
    text = json.dumps(header)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text) - 1))
        end = min(len(text), at + data.draw(st.integers(0, 6)))
        text = text[:at] + data.draw(st.text("0123456789[]{},:\"-eE.afn$ry", max_size=4)) \
            + text[end:]
    head = text.encode()
    try:
        load_model(FRONT.pack(MAGIC, 1, len(head), len(body)) + head + body)
    except UnspokenError:
        return


def test_a_packed_model_is_decoded_and_verified_like_json(tmp_path):
    table = unspoken.read({"a": DATA[:, 0], "b": DATA[:, 1], "y": LABELS}, target="y", show=False)
    release, key = unspoken.protect.PiecewiseEncoder(random_state=0).protect(table)
    mined = Forest.from_sklearn(RandomForestClassifier(2, random_state=0).fit(
        release.table.numbers(), release.table.labels()))
    for name in ("mined.json", "mined.unspoken"):
        mined.save(tmp_path / name)
    decoded = [unspoken.protect.decode(tmp_path / name, key, table)
               for name in ("mined.json", "mined.unspoken")]
    assert decoded[0].same_as(decoded[1])
    assert unspoken.verify(read_model(tmp_path / "mined.json"),
                           read_model(tmp_path / "mined.unspoken"))
