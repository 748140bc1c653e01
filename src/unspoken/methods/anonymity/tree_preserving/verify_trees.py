"""Learning the kept trees twice, from the original and from the release, and comparing them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unspoken.errors import ReleaseError
from unspoken.methods.anonymity.measures.diversity_rules import Secret
from unspoken.methods.anonymity.measures.equivalence_classes import classes
from unspoken.methods.anonymity.named_values import rare_names
from unspoken.methods.anonymity.tree_preserving.privacy_targets import Needs
from unspoken.methods.anonymity.tree_preserving.public_names import like_published
from unspoken.models.comparison import Comparison
from unspoken.models.relearn_tree import groups_of, relearn
from unspoken.release.release import Release
from unspoken.table.integer_columns import code_column
from unspoken.table.table import Table

if TYPE_CHECKING:
    from unspoken.methods.anonymity.tree_preserving.guarantee import TreePreserved


@dataclass(frozen=True)
class Verification:
    """True if every tree is found again and K, L and t hold; `difference` says what does not."""

    trees: tuple[str, ...]
    reached: Mapping[str, Any]
    difference: str | None = None

    def __bool__(self) -> bool:
        return self.difference is None

    def __str__(self) -> str:
        return "identical" if self.difference is None else f"different: {self.difference}"

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {"identical": bool(self), "difference": self.difference,
                "trees": list(self.trees), "reached": dict(self.reached)}


def verify_trees(table: Table, release: Release, guarantee: TreePreserved) -> Verification:
    """Compare every published tree with the original's and with the release's."""
    words, (reached, missed) = [], _requirements(release, guarantee)
    published = release.trees
    if len(published) != len(guarantee.rules):
        raise ReleaseError("The manifest lacks a tree for some of its stopping rules.")
    for index, (rule, tree) in enumerate(zip(guarantee.rules, published, strict=True)):
        comparison = _compare(table, release, guarantee, rule, tree).inside(f"tree {index}")
        if digest(tree.to_json()) != (guarantee.facts.get("tree_sha256") or [""])[index]:
            comparison = Comparison(f"tree {index}: the manifest's tree was changed")
        words.append(str(comparison))
        missed = missed or comparison.difference
    return Verification(tuple(words), reached, next(rare_names(table, release), missed))


def _compare(table: Table, release: Release, guarantee: TreePreserved, rule: Mapping[str, Any],
             published: Any) -> Comparison:
    names = [str(n) for n in guarantee.facts.get("predictors") or ()]
    groups = groups_of(release.mechanism)
    original = like_published(relearn(table, rule, names, {}), published)
    again = relearn(release.table, rule, names, groups)
    first: Comparison = published.same_as(original).inside("published and original")
    second: Comparison = published.same_as(again).inside("published and release")
    return first and second


def _requirements(release: Release, guarantee: TreePreserved
                  ) -> tuple[dict[str, Any], str | None]:
    """Measure K, L and t on the release itself."""
    asked = guarantee.facts
    table = release.table
    codes = {name: code_column(table.schema[name], table.arrow([name])[name], "two-way").codes
             for name in asked["quasi"]}
    shown = asked["released_sensitive"]
    orders = asked.get("orders") or {}
    secrets = {name: Secret.of(name, table.arrow([name])[name], table.schema[name].kind,
                               order=orders.get(name) or ()) for name in shown}
    needs = Needs(int(asked["k"]), {n: v for n, v in asked["l"].items() if n in shown},
                  {n: v for n, v in asked["t"].items() if n in shown}, str(asked["diversity"]),
                  secrets)
    owner = classes([codes[name] for name in asked["quasi"]]) if asked["quasi"] else np.zeros(
        table.rows, np.int64)
    reached = needs.measure(owner)
    return reached.to_json(), None if reached.met else f"the release reaches only {reached}"


def digest(tree: Mapping[str, Any]) -> str:
    """Return the hash of a published tree."""
    text = json.dumps(tree, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
