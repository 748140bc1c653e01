"""One small study of every task, for the tests that walk all of them."""

from __future__ import annotations

from unspoken.joint.session.study import Study
from unspoken.joint.tasks.task_list import task_of
from unspoken.joint.wire.credentials import Member

NAMES = ("north", "south", "east")
TREE = {"target": "class", "classes": ["no", "yes"]}
ROWS_TREE = {**TREE, "attributes": ["age", "sex"], "cuts.age": [0.0, 0.5],
             "categories.sex": ["f", "m"], "max_depth": 2, "most": 4096}
COLUMNS_TREE = {**TREE, "class_site": "north", "slots": 2, "branches": 2, "max_depth": 2}
BAYES = {**TREE, "columns": ["age", "sex"], "range.age": [-1, 1], "categories.sex": ["f", "m"]}
MODEL = {"response": "cost", "columns": ["age"], "condition": 16.0}
SPREAD = {"response": "cost", "held": "east", "columns": ["north:age", "south:stay"],
          "condition": 16.0}
CLUSTERS = ["north:age", "south:stay", "east:visits"]

CASES = {
    "sum": ({"columns": ["a", "b"]}, 40),
    "schema": ({"columns": ["town", "age"], "numbers": ["age"], "most": 4}, 30),
    "summary": ({"columns": ["age", "stay"], "range.age": [0, 120], "range.stay": [0, 60]}, 40),
    "quantiles": ({"columns": ["age"], "range.age": [0, 128], "at": [0.25, 0.5], "bits": 4}, 40),
    "bins": ({**TREE, "columns": ["age", "sex", "stay"], "range.age": [0, 128], "bins": 3,
              "bits": 4, "categories.sex": ["f", "m"], "cuts.stay": [0.0, 0.5]}, 60),
    "intersection": ({"column": "id"}, 30),
    "bayes": (BAYES, 60),
    "bayes-columns": ({**TREE, "class_site": "north", "north": [3, "number"], "south": ["number"],
                       "east": [2]}, 60),
    "classify": ({**BAYES, "model": "north", "asks": "south"}, 40),
    "classify-columns": ({"class_site": "north", "depth": 2}, 40),
    "network": ({"order": ["a", "b", "c"], "site.a": "north", "site.b": "south",
                 "site.c": "east", "values.a": 2, "values.b": 3, "values.c": 2}, 40),
    "mixture": ({"columns": ["x", "y"], "range.x": [-1, 1], "range.y": [-1, 1], "components": 2,
                 "seed": 3, "max_iter": 3, "least": 3, "moved": 3, "small": "stop"}, 90),
    "kmeans": ({"columns": ["x", "y"], "k": 2, "iterations": 2, "tolerance": 0.001}, 60),
    "kmeans-columns": ({"columns": CLUSTERS, "k": 2, "iterations": 2}, 40),
    "logistic": (MODEL, 150),
    "logistic-columns": ({**SPREAD, "condition": 64.0, "ridge": 1.0}, 100),
    "neighbours": ({**TREE, "columns": ["x", "y"], "k": 3, "asks": "north"}, 30),
    "outliers": ({"columns": ["x", "y"], "p": 0.9, "distance": 3.0}, 30),
    "outliers-columns": ({"columns": CLUSTERS, "p": 0.9, "distance": 3.0}, 30),
    "regression": ({**MODEL, "select": "forward"}, 90),
    "regression-columns": (SPREAD, 60),
    "residuals": ({**MODEL, "synthetic": 10, "group": 5}, 90),
    "residuals-columns": ({**SPREAD, "groups": 2, "group": 5}, 100),
    "robust": (MODEL, 500),
    "influence": (MODEL, 90),
    "rules": ({"items": 5, "support": 0.1}, 60),
    "rules-columns": ({"items_north": ["a", "b"], "items_south": ["c", "d"], "items_east": ["e"],
                       "support": 0.2}, 60),
    "boosted-trees": ({**ROWS_TREE, "rounds": 2}, 60),
    "boosted-trees-columns": ({**TREE, "class_site": "north", "slots": 2, "max_depth": 2,
                               "rounds": 2}, 60),
    "forest": ({**ROWS_TREE, "trees": 2}, 60),
    "forest-columns": ({**COLUMNS_TREE, "trees": 2}, 60),
    "tree": (ROWS_TREE, 60),
    "tree-columns": (COLUMNS_TREE, 60),
    "percentile": ({"columns": ["wage", "days"], "most": 1000.0}, 3),
    "segments": ({"segment": "town", "labels": ["a", "b"], "columns": ["rent"], "others": 2}, 60),
    "forecast": ({"columns": ["orders"], "periods": 8, "ahead": 2, "most": 1000.0}, 8),
    "intersection-members": ({"column": "id", "universe": ["a", "b", "c"]}, 3),
    "union": ({"column": "id", "universe": ["a", "b", "c"]}, 3),
    "vote": ({**BAYES, "asks": "north"}, 40),
}
MODES = {"sums": ((), ()), "dealer": (NAMES[:2], ("dora",)),
         "authenticated": (NAMES[:2], ("dora",)), "two-party": (NAMES[:2], ()),
         "three-party": (NAMES[:2], ("east",)), "spu": (NAMES, ()),
         "three-party-verified": (NAMES[:2], ("east",))}


def study_case(task: str, mode: str, **more):
    """Return a small study of a task in a mode, its task, and for how many records it is."""
    parameters, records = CASES[task]
    parameters = {**parameters, **more}
    if (task.endswith("-columns") or task == "network") and "ids" not in parameters:
        parameters["same_order"] = True
    holders, dealers = MODES[mode]
    all_learn = ("tree-columns", "boosted-trees", "boosted-trees-columns", "network", "quantiles")
    receivers = NAMES if task in all_learn else ("north",)
    members = []
    for name in (*NAMES, *(n for n in dealers if n not in NAMES)):
        roles = [role for role, names in (("owner", NAMES), ("holder", holders),
                                          ("dealer", dealers), ("receiver", receivers))
                 if name in names]
        members.append(Member(name, f"{name}.example:7700", tuple(roles), "", b""))
    draft = Study("trial", task, mode, tuple(members), parameters)
    found = task_of(draft)
    return Study("trial", task, mode, tuple(members), parameters,
                 disclosures=found.disclosures(draft)), found, records


def modes_of(task: str) -> tuple[str, ...]:
    """Return the modes in which a case runs."""
    if task == "intersection":
        return ("sums",)
    with_shares = ("dealer", "authenticated", "two-party", "three-party", "spu")
    return ("sums", *with_shares) if task == "sum" else with_shares
