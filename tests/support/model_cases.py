"""One small model of every kind, what to predict for, and one change that must be noticed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import xgboost
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier

import unspoken
from unspoken.joint.tasks.tree.hidden_part import HiddenPart
from unspoken.joint.tasks.tree.tree_sites import TreeShape
from unspoken.models.associations import Associations
from unspoken.models.bayes_net import BayesNet
from unspoken.models.boosted_part import BoostedPart
from unspoken.models.clusters import Clusters
from unspoken.models.distribution import Categories, Distribution, JointDistribution
from unspoken.models.forest import Forest
from unspoken.models.itemsets import Itemsets
from unspoken.models.linear_model import LinearModel
from unspoken.models.logistic_model import LogisticModel
from unspoken.models.mixed_bayes import MixedBayes, Nominal, Normal
from unspoken.models.mixture import Mixture
from unspoken.models.naive_bayes import Likelihood, NaiveBayes
from unspoken.models.outliers import Outliers
from unspoken.models.readers import as_pattern
from unspoken.models.readers.lightgbm_text import LightGBMModel
from unspoken.models.readers.xgboost_json import XGBoostModel
from unspoken.models.residuals import Residuals
from unspoken.models.rules import Rules
from unspoken.models.site_tree_part import Asked, TreePart
from unspoken.models.tree import Tree
from unspoken.models.tree_ensemble import TreeSum, TreeVote

RNG = np.random.default_rng(5)
ROWS = 60
NUMBERS = {"b": RNG.normal(size=ROWS), "c": RNG.normal(size=ROWS) * 3}
FIRST = RNG.integers(0, 9, ROWS).astype(float)
COLOURS = RNG.choice(["blue", "green", "red"], ROWS)
LABELS = np.where(FIRST + NUMBERS["b"] > 4, "yes", "no")


@dataclass(frozen=True)
class Case:
    """How to build a model whose first name is given, and how to change its JSON."""

    build: Callable[[str], Any]
    change: Callable[[dict[str, Any]], None]
    difference: str
    data: Callable[[str], dict[str, Any]] | None = None
    texts: tuple[str, ...] = ()


def numbers(name: str) -> dict[str, Any]:
    """Three columns of numbers."""
    return {name: FIRST, **NUMBERS}


def mixed(name: str) -> dict[str, Any]:
    """A column of numbers and one of categories."""
    return {name: FIRST, "colour": COLOURS}


def frame(name: str) -> pd.DataFrame:
    """The numbers as a frame."""
    return pd.DataFrame(numbers(name))


def tree(name: str) -> Tree:
    """A tree of scikit-learn's."""
    return Tree.from_sklearn(DecisionTreeClassifier(random_state=0).fit(frame(name), LABELS))


def forest(name: str) -> Forest:
    """A forest of scikit-learn's."""
    model = RandomForestClassifier(3, random_state=0, max_depth=3).fit(frame(name), LABELS)
    return Forest.from_sklearn(model)


def ensemble(kind: Any, **params: Any) -> Callable[[str], Any]:
    """A small ensemble of scikit-learn's."""
    return lambda name: as_pattern(kind(random_state=0, **params).fit(frame(name), LABELS))


def mixed_tree(name: str) -> Any:
    """A tree over numbers and categories."""
    codes = (COLOURS == "red") ^ (FIRST > 4)
    table = unspoken.read({**mixed(name), "y": np.where(codes, "yes", "no")}, target="y",
                          show=False)
    return unspoken.mine.grow(table, {"max_leaves": 6})


def summed(name: str) -> TreeSum:
    """A tree whose leaves are numbers, twice."""
    one = mixed_tree(name)
    number = replace(one, task="regression", classes=(), value=one.value[:, 1:] - 0.4)
    return TreeSum((number, number), ("no", "yes"), -0.1)


def part(name: str) -> TreePart:
    """A root asked by one site, with a question of another below it."""
    return TreePart("north", ("north", "south"), ("no", "yes"), np.array([0, 1, -1, -1, -1]),
                    np.array([1, 3, -1, -1, -1]), np.array([2, 2, 0, 0, 0]),
                    np.array([-1, -1, 1, 0, -1]), {0: Asked(name, ("high", "low"))})


def boosted_part(name: str) -> BoostedPart:
    """The class site's part of two trees, one of which nobody asks anything in."""
    leaf = np.array([-1])
    stump = TreePart("north", ("north", "south"), ("no", "yes"), np.array([0, -1, -1]),
                     np.array([1, -1, -1]), np.array([2, 0, 0]), np.array([-1, -1, -1]),
                     {0: Asked(name, (None,), alone=True)})
    root = TreePart("north", ("north", "south"), ("no", "yes"), leaf, leaf, np.array([0]), leaf, {})
    return BoostedPart((stump, root), (np.array([0.25, -0.5]), np.array([0.125])))


def hidden(name: str) -> HiddenPart:
    """One party's part of a hidden tree of depth 1, with a share."""
    shape = TreeShape(("no", "yes"), "south", 1, 2, "play", False)
    empty = HiddenPart(shape, 1, ("north", "south"), "north", (Asked(name, ("high", "low")),),
                       b"run", (), np.zeros(0, np.uint64))
    return replace(empty, holders=("north",), share=np.arange(empty.words, dtype=np.uint64) + 77)


def naive_bayes(name: str) -> NaiveBayes:
    """Intervals of a number, and categories."""
    first = Likelihood(name, np.array([0.0, 4.0, 9.0]), np.array([[0.7, 0.3], [0.2, 0.8]]))
    second = Likelihood("colour", np.arange(4) - 0.5, np.array([[0.2, 0.3, 0.5], [0.5, 0.3, 0.2]]),
                        ("blue", "green", "red"))
    return NaiveBayes(("no", "yes"), np.array([0.4, 0.6]), (first, second), ROWS)


def mixed_bayes(name: str) -> MixedBayes:
    """A normal column, and categories."""
    second = Nominal("colour", ("blue", "green", None), np.array([[0.2, 0.3, 0.5],
                                                                 [0.5, 0.3, 0.2]]))
    first = Normal(name, np.array([2.0, 6.0]), np.array([1.0, 2.0]))
    return MixedBayes("y", ("no", "yes"), np.array([0.4, 0.6]), (first, second), ROWS)


def linear(name: str) -> LinearModel:
    """A linear model with a product."""
    return LinearModel("y", (name, f"{name}*b"), 0.5, np.array([1.0, -2.0]), ROWS,
                       np.array([0.1, 0.2, 0.3]), 3.0, 9.0)


def logistic(name: str) -> LogisticModel:
    """A logistic model."""
    return LogisticModel("y", (name, "b"), -2.0, np.array([0.5, 1.0]), ROWS,
                         np.array([0.1, 0.2, 0.3]), -20.0)


def xgboosted(name: str) -> XGBoostModel:
    """Two small trees of XGBoost's; the name is put in later, since XGBoost refuses some."""
    matrix = xgboost.DMatrix(frame("a").to_numpy(), LABELS == "yes", feature_names=["a", "b", "c"])
    booster = xgboost.train({"objective": "binary:logistic", "max_depth": 2, "nthread": 1,
                             "seed": 0}, matrix, 2)
    document = json.loads(bytes(booster.save_raw("json")))
    document["learner"]["feature_names"][0] = name
    return XGBoostModel.from_json(document)


def lightgbmed(name: str) -> LightGBMModel:
    """Two small trees of LightGBM's, named likewise."""
    data = lightgbm.Dataset(frame("a").to_numpy(), LABELS == "yes",
                            feature_name=["first_name", "b", "c"])
    booster = lightgbm.train({"objective": "binary", "num_leaves": 4, "verbose": -1,
                              "num_threads": 1, "seed": 0, "min_data_in_leaf": 5}, data, 2)
    return LightGBMModel(booster.model_to_string().replace("first_name", name))


def put(*path: Any) -> Callable[[dict[str, Any]], None]:
    """Return a change that sets the last of `path` at the place the others name."""
    *keys, last, value = path

    def change(data: dict[str, Any]) -> None:
        place: Any = data
        for key in keys:
            place = place[key]
        place[last] = value

    return change


def other_text(data: dict[str, Any]) -> None:
    """Change the first threshold of LightGBM's text."""
    data["text"] = re.sub(r"(?m)^threshold=\S+", "threshold=1.25", data["text"], count=1)


CASES: dict[str, Case] = {
    "unspoken-tree": Case(tree, put("threshold", 0, 1.25), "node 0: threshold", numbers),
    "unspoken-forest": Case(forest, put("trees", 1, "threshold", 0, 1.25),
                            "tree 1, node 0: threshold", numbers),
    "unspoken-gradient-trees": Case(ensemble(GradientBoostingClassifier, n_estimators=2),
                                    put("start", [0.5, 0.5]), "output 0: start", numbers),
    "unspoken-histogram-trees": Case(ensemble(HistGradientBoostingClassifier, max_iter=2),
                                     put("trees", 1, "value", 1, 0.25), "tree 1, node 1: value",
                                     numbers),
    "unspoken-weighted-trees": Case(ensemble(AdaBoostClassifier, n_estimators=2),
                                    put("weights", 1, 0.25), "output 1: weight", numbers),
    "unspoken-bagged-trees": Case(ensemble(BaggingClassifier, n_estimators=2, max_features=2),
                                  put("trees", 1, "threshold", 0, 1.25),
                                  "tree 1, node 0: threshold", numbers),
    "unspoken-mixed-tree": Case(mixed_tree, put("impurity", 0, 0.01), "node 0: impurity", mixed,
                                ("colour",)),
    "unspoken-tree-vote": Case(
        lambda name: TreeVote((mixed_tree(name), mixed_tree(name))),
        put("trees", 1, "impurity", 0, 0.01), "tree 1, node 0: impurity", mixed, ("colour",)),
    "unspoken-tree-sum": Case(summed, put("start", 0.5), "start: -0.1 and 0.5", mixed,
                              ("colour",)),
    "unspoken-tree-part": Case(part, put("leaf_class", 2, 0), "node 2: leaf_class 1 and 0"),
    "unspoken-boosted-trees-part": Case(boosted_part, put("numbers", 0, 1, 0.5),
                                        "tree 0, leaf 1: number -0.5 and 0.5"),
    "unspoken-hidden-tree-part": Case(hidden, put("target", "other"), "target: 'play'"),
    "unspoken-naive-bayes": Case(naive_bayes, put("prior", [0.5, 0.5]), "class 0: prior", mixed,
                                 ("colour",)),
    "unspoken-mixed-bayes": Case(mixed_bayes, put("target", "z"), "target: 'y' and 'z'", mixed,
                                 ("colour",)),
    "unspoken-bayes-net": Case(lambda name: BayesNet((name, "b"), ((), (name,))),
                               put("parents", 1, []), "parent of b"),
    "unspoken-clusters": Case(
        lambda name: Clusters((name, "b"), np.array([[1.0, 0.0], [7.0, 0.0]])),
        put("centres", 3, 0.5), "centre 1", numbers),
    "unspoken-mixture": Case(
        lambda name: Mixture((name, "b"), np.array([0.4, 0.6]), np.array([[1.0, 0], [7.0, 0]]),
                             np.array([np.eye(2), np.eye(2)]), ROWS),
        put("means", 1, 0, 6.5), "component 1: means[0]", numbers),
    "unspoken-linear-model": Case(linear, put("parameters", 1, 1.5), "parameter 1: value",
                                  numbers),
    "unspoken-logistic-model": Case(logistic, put("records", 61), "records: 60 and 61", numbers),
    "unspoken-residuals": Case(
        lambda name: Residuals((name,), (np.array([[1.0, 0.5, 0.1], [2.0, -0.5, 0.2]]),)),
        put("points", 0, 4, 0.0), "point 1"),
    "unspoken-outliers": Case(lambda name: Outliers(np.array([True, False, True]), name),
                              put("outliers", [0]), "object 2: flag True and False"),
    "unspoken-itemsets": Case(
        lambda name: Itemsets((name, "b"), ((0,), (1,), (0, 1)), np.array([0.2, 0.5, 0.1]), 100),
        put("supports", 2, 0.15), "set 2: support 0.1 and 0.15"),
    "unspoken-rules": Case(
        lambda name: Rules((name, "b"), ((0,),), ((1,),), np.array([0.1]), np.array([0.2]),
                           np.array([0.5]), 100),
        put("support", 0, 0.15), "rule 0: support 0.1 and 0.15"),
    "unspoken-associations": Case(
        lambda name: Associations((name, "b"), ((0,), (1,), (0, 1)), ((0,),), ((1,),), 0.1, 0.4,
                                  np.array([20, 50, 10]), 100),
        put("counts", 2, 11), "set 2: count 10 and 11"),
    "unspoken-distribution": Case(
        lambda name: Distribution(np.array([0.0, 1.0, 3.0]), np.array([0.25, 0.75]), name, ROWS),
        put("probabilities", [0.5, 0.5]), "interval 0: probability 0.25 and 0.5"),
    "unspoken-joint-distribution": Case(
        lambda name: JointDistribution((name, "b"), (np.arange(3.0), np.arange(2.0)),
                                       np.array([[0.25], [0.75]]), ROWS),
        put("probabilities", [0.5, 0.5]), "interval 0: probability[0] 0.25 and 0.5"),
    "unspoken-categories": Case(
        lambda name: Categories((name, "red", None), np.array([0.2, 0.5, 0.3]),
                                np.array([0.1, 0.55, 0.35]), np.array([0.1, 0.1, 0.1]), "x", ROWS),
        put("unbiased", 0, 0.0), "category 0: unbiased 0.1 and 0.0"),
    "xgboost-json": Case(xgboosted, put("learner", "objective", "name", "reg:logistic"),
                         "objective", numbers),
    "lightgbm-text": Case(lightgbmed, other_text, "tree 0, node 0: threshold", numbers),
}
"""Every kind by its format, as `unspoken.models.MODELS` lists them."""
