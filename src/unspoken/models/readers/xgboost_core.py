"""The validated core of an XGBoost model: every field that was understood, and nothing else.

XGBoost's own loader trusts its files: a parent of -1 or a tree_info of -2147483649 ends the
process. So a document from outside is taken apart here, each part checked, and only this core goes
on. Nodes that pruning deleted stay in the arrays, marked by split index 2147483647 and without
children; what counts is what can be reached from node 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.models.hostile_json import Fields, refuse
from unspoken.models.readers.xgboost_objectives import Objective, check_start, read_objective
from unspoken.models.readers.xgboost_tree import BoostedTree, narrow, read_tree
from unspoken.models.written_numbers import check_name, number_list, whole_text

FEATURE_TYPES = ("q", "int", "float", "i", "c")
VERSIONS = (2, 3)
MAX_OUTPUTS = 100_000
HALF = 2**31 - 1

__all__ = ["BoostedTree", "XGBoostCore", "read_core"]


@dataclass(frozen=True, eq=False)
class XGBoostCore:
    """Everything that is known of an XGBoost model of threshold trees."""

    version: tuple[int, int, int]
    booster: str
    objective: Objective
    features: int
    names: tuple[str, ...]
    types: tuple[str, ...]
    base_text: str
    base: Floats
    from_average: str | None
    classes: int
    targets: int
    trees: tuple[BoostedTree, ...]
    tree_info: Ints
    layers: Ints
    parallel: int
    weight_drop: Floats | None
    best: Mapping[str, str]

    @property
    def outputs(self) -> int:
        """Return how many numbers the model gives a row."""
        return max(self.classes, self.targets, 1)

    @property
    def categorical(self) -> bool:
        """Return True if a node splits on categories."""
        return any(bool(tree.categorical[tree.inner].any()) for tree in self.trees)


def read_core(top: Fields) -> XGBoostCore:
    """Check a parsed XGBoost document, field by field."""
    learner = top.fields("learner")
    model, drop = _booster(learner)
    param = learner.fields("learner_model_param")
    features = whole_text(param, "num_feature", 0, top.limits.max_features)
    classes = whole_text(param, "num_class", 0, min(MAX_OUTPUTS, top.limits.max_classes))
    targets = whole_text(param, "num_target", 1, MAX_OUTPUTS) if "num_target" in param.data else 1
    trees = _trees(model, features)
    info, layers = _layout(model, len(trees), max(classes, targets, 1))
    text, base = _base_score(param, max(classes, targets, 1))
    objective = read_objective(learner.fields("objective"), classes)
    check_start(objective, base)
    return XGBoostCore(
        _version(top), learner.fields("gradient_booster").text("name"),
        objective, features,
        _names(learner, features), _types(learner, features), text, base, _average(param),
        classes, targets, trees, info, layers,
        whole_text(model.fields("gbtree_model_param"), "num_parallel_tree", 1, HALF),
        None if drop is None else narrow(drop, "weight_drop", len(trees)), _best(learner),
    )


def _booster(learner: Fields) -> tuple[Fields, Fields | None]:
    booster = learner.fields("gradient_booster")
    name = booster.text("name")
    if name not in ("gbtree", "dart"):
        refuse(booster.at("name"), "gbtree or dart", name[:40])
    if name == "gbtree":
        return booster.fields("model"), None
    return booster.fields("gbtree").fields("model"), booster


def _version(top: Fields) -> tuple[int, int, int]:
    version = top.ints("version", 3, 0, 10_000).tolist()
    if version[0] not in VERSIONS:
        refuse("version", "of XGBoost 2 or 3", str(version[0]))
    return version[0], version[1], version[2]


def _trees(model: Fields, features: int) -> tuple[BoostedTree, ...]:
    items = model.items("trees", model.limits.max_trees)
    trees, total = [], 0
    for number, item in enumerate(items):
        fields = Fields(item, f"trees[{number}]", model.limits)
        total += len(fields.items("left_children", model.limits.max_nodes))
        model.limits.check("trees", total, model.limits.max_total_nodes)
        trees.append(read_tree(fields, number, features))
    stated = whole_text(model.fields("gbtree_model_param"), "num_trees", 0, HALF)
    if stated != len(trees):
        refuse(model.at("gbtree_model_param.num_trees"), f"{len(trees)}, as many as there are",
               str(stated))
    return tuple(trees)


def _layout(model: Fields, trees: int, outputs: int) -> tuple[Ints, Ints]:
    info = model.ints("tree_info", trees, 0, outputs - 1)
    layers = model.ints("iteration_indptr", None, 0, trees)
    if layers.size == 0 or layers[0] != 0 or layers[-1] != trees or np.any(np.diff(layers) < 0):
        refuse(model.at("iteration_indptr"), f"numbers that rise from 0 to {trees}", "others")
    if layers.size > trees + 1:
        refuse(model.at("iteration_indptr"), f"at most {trees + 1} long", str(layers.size))
    return info, layers


def _base_score(param: Fields, outputs: int) -> tuple[str, Floats]:
    text = param.raw("base_score")
    param.limits.check(param.at("base_score"), len(str(text)), 64 * (outputs + 1))
    values = number_list(text) if isinstance(text, str) else None
    if values is None or values.size not in (1, outputs):
        refuse(param.at("base_score"), f"1 or {outputs} finite numbers, as text", str(text)[:40])
    with np.errstate(over="ignore"):
        if not np.all(np.isfinite(values.astype(np.float32))):
            refuse(param.at("base_score"), "finite in float32", text[:40])
    return text, values


def _average(param: Fields) -> str | None:
    if "boost_from_average" not in param.data:
        return None
    return str(whole_text(param, "boost_from_average", 0, 1))


def _names(learner: Fields, features: int) -> tuple[str, ...]:
    names = _texts(learner, "feature_names", features)
    for name in names:
        check_name(learner.at("feature_names"), name, learner.limits)
    if len(set(names)) != len(names):
        refuse(learner.at("feature_names"), "all different", "one twice")
    return names


def _types(learner: Fields, features: int) -> tuple[str, ...]:
    types = _texts(learner, "feature_types", features)
    if set(types) - set(FEATURE_TYPES):
        refuse(learner.at("feature_types"), "out of " + ", ".join(FEATURE_TYPES), "others")
    return types


def _texts(learner: Fields, key: str, features: int) -> tuple[str, ...]:
    if key not in learner.data:
        return ()
    texts = learner.texts(key, learner.limits.max_features)
    if texts and len(texts) != features:
        refuse(learner.at(key), f"{features} long, or empty", str(len(texts)))
    return texts


def _best(learner: Fields) -> dict[str, str]:
    """Return what early stopping left; every other attribute is dropped."""
    if "attributes" not in learner.data:
        return {}
    attributes, best = learner.fields("attributes"), {}
    if "best_iteration" in attributes.data:
        best["best_iteration"] = str(whole_text(attributes, "best_iteration", 0, HALF))
    if "best_score" in attributes.data:
        values = number_list(attributes.text("best_score"))
        if values is None or values.size != 1:
            refuse(attributes.at("best_score"), "a finite number", "something else")
        best["best_score"] = attributes.text("best_score")
    return best


