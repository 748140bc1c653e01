"""What else comes from outside, how it is spoiled, and how far each file is taken.

Packed models, models over categories and of numbers, every other kind of model, sealed keys, the
data and the manifest of a release, recipes that are mined again, and ONNX files, which nothing
here reads.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import unspoken
from support.exchange_mutations import (
    PASSPHRASE,
    flipped,
    sealed,
    spoiled_manifest,
    spoiled_packed,
    spoiled_parquet,
    spoiled_sealed,
)
from support.model_cases import CASES
from support.model_mutations import Originals, spoiled, spoiled_key, written
from unspoken.mine import fit
from unspoken.models.forest import Forest
from unspoken.models.tree import Tree
from unspoken.protect import PiecewiseEncoder, decode
from unspoken.release.key import Key
from unspoken.release.release import Release


@dataclass(frozen=True)
class Kind:
    """One kind of file: as it is, how it is spoiled, and what is done with it."""

    valid: bytes
    spoil: Callable[[np.random.Generator], bytes]
    run: Callable[[bytes], None]


def kinds(originals: Originals, folder: Path) -> dict[str, Kind]:
    """Return all kinds by name."""
    return {**_packed(originals), **_labelled(originals.seen), **_numbered(originals.seen),
            **_others(), **_files(originals, folder)}


def _decoded(originals: Originals) -> Callable[[bytes], None]:
    def run(content: bytes) -> None:
        model = decode(content, originals.key, originals.data, originals.labels)
        model.predict(originals.data)
        model.summary()
    return run


def _packed(originals: Originals) -> dict[str, Kind]:
    release = originals.release
    codes, labels = release.table.numbers(), release.table.labels()
    forest = Forest.from_sklearn(RandomForestClassifier(3, random_state=0).fit(codes, labels))
    tree = Tree.from_sklearn(DecisionTreeClassifier(random_state=0).fit(codes, labels))
    return {name: Kind(model.packed(), _with(spoiled_packed, model.packed()), _decoded(originals))
            for name, model in (("packed forest", forest), ("packed tree", tree))}


def _with(spoil, valid):
    return lambda rng: spoil(valid, rng)


def _labelled(seen: set[str]) -> dict[str, Kind]:
    """Return models of a table of texts and numbers; its values are noted in `seen`."""
    rng = np.random.default_rng(8)
    source = {"size": np.round(rng.normal(size=90) * 1000, 4) + 60000.0,
              "colour": rng.choice(["purple", "crimson", "teal", "ochre"], 90).tolist(),
              "shape": rng.choice(["cuboid", "sphere"], 90).tolist(),
              "y": rng.choice(["yea", "nay"], 90).tolist()}
    seen.update(map(str, [*source["size"], *source["colour"], *source["shape"]]))
    table = unspoken.read(source, target="y", show=False)
    release, key = PiecewiseEncoder(keep_zero=True, random_state=3).protect(table)
    params = {"c45": {}, "xgboost": {"n_estimators": 2, "max_depth": 3, "n_jobs": 1},
              "lightgbm": {"n_estimators": 2, "num_leaves": 4, "min_child_samples": 5},
              "histogram": {"max_iter": 2, "min_samples_leaf": 5}, "tree": {"max_depth": 3}}
    return {f"{name} of labels": _mined(release, key, table, name, options)
            for name, options in params.items()}


def _numbered(seen: set[str]) -> dict[str, Kind]:
    """Return models of a target in secret units; its values are noted in `seen`."""
    rng = np.random.default_rng(9)
    source = {"a": np.round(rng.normal(size=90) * 1000, 4) + 60000.0, "b": rng.normal(size=90),
              "y": np.round(rng.normal(size=90) * 100, 4) + 3000.0}
    seen.update(map(str, [*source["a"], *source["y"]]))
    table = unspoken.read(source, target="y", show=False)
    release, key = PiecewiseEncoder(keep_zero=True, random_state=3).protect(table)
    params = {"gradient": {"n_estimators": 2}, "forest": {"n_estimators": 2},
              "xgboost": {"n_estimators": 2, "n_jobs": 1}, "bagging": {"n_estimators": 2},
              "lightgbm": {"n_estimators": 2, "num_leaves": 4, "min_child_samples": 5}}
    return {f"{name} of numbers": _mined(release, key, table, name, options)
            for name, options in params.items()}


def _mined(release, key, table, learner, params) -> Kind:
    content = fit(release, learner, **params).to_bytes()
    text = learner == "lightgbm"
    valid = content.decode() if text else json.loads(content)

    def run(given: bytes) -> None:
        model = decode(given, key, table)
        model.predict(table)
        model.summary()

    return Kind(content, lambda rng: spoiled(valid, "lightgbm" if text else learner, rng), run)


def _others() -> dict[str, Kind]:
    """Return every kind of model that there is, loaded and asked."""
    found = {}
    for name, case in CASES.items():
        if name == "lightgbm-text":
            continue
        model = case.build("first")
        data = None if case.data is None else case.data("first")
        found[name] = _asked(model.to_json(), data)
    valid = CASES["xgboost-json"].build("first").to_onnx()
    found["onnx"] = Kind(valid, _with(flipped, valid), lambda content: _ask(content, None))
    return found


def _asked(document, data) -> Kind:
    return Kind(written(document, ""), lambda rng: spoiled(document, "", rng),
                lambda content: _ask(content, data))


def _ask(content: bytes, data) -> None:
    model = unspoken.load_model(content)
    model.summary()
    model.to_text()
    model.same_as(unspoken.load_model(content))
    if data is not None:
        model.predict(data)


def _files(originals: Originals, folder: Path) -> dict[str, Kind]:
    """Return sealed keys, and the two files of a release."""
    key = (folder / "key").read_bytes()
    data = (folder / "release" / "data.parquet").read_bytes()
    manifest = json.loads((folder / "release" / "manifest.json").read_text())
    place = folder / "spoiled release"
    place.mkdir(exist_ok=True)
    loaded = _loaded(originals, place)

    def with_data(content: bytes) -> None:
        told = copy.deepcopy(manifest)
        told["data"]["sha256"] = hashlib.sha256(content).hexdigest()
        loaded(json.dumps(told).encode(), content)

    return {
        "sealed key": Kind(sealed(key), lambda rng: spoiled_sealed(sealed(key), rng, spoiled_key),
                           _unsealed(originals, folder)),
        "data": Kind(data, _with(spoiled_parquet, data), with_data),
        "whole manifest": Kind(json.dumps(manifest).encode(), _with(spoiled_manifest, manifest),
                               lambda content: loaded(content, data)),
    }


def _unsealed(originals: Originals, folder: Path) -> Callable[[bytes], None]:
    model = json.dumps(originals.valid["tree"]).encode()

    def run(content: bytes) -> None:
        (folder / "sealed").write_bytes(content)
        key = Key.load(folder / "sealed", PASSPHRASE)
        decode(model, key, originals.data, originals.labels).summary()
    return run


def _loaded(originals: Originals, place: Path) -> Callable[[bytes, bytes], None]:
    """Return what a miner, and then the custodian, does with a release."""
    learner = RandomForestClassifier(2, random_state=0)

    def run(manifest: bytes, data: bytes) -> None:
        (place / "manifest.json").write_bytes(manifest)
        (place / "data.parquet").write_bytes(data)
        release = Release.load(place)
        release.summary()
        release.guarantee.covers(learner)
        release.table.numbers()
        release.table.labels()
        originals.key.fits(release)
    return run
