"""TreePreserved: the published trees are those of the original, and K, L and t hold (fu2010).

Theorem 1 of the paper, as it really holds: for a learner that looks at counts only, breaks ties by
a published order and stops by a published rule. C4.5's filter by the average gain, pruning, and a
depth limit on a best-first tree look at what a release has no longer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from unspoken.methods.anonymity.tree_preserving.verify_trees import (
    Verification,
    digest,
    verify_trees,
)
from unspoken.models.tree_growth_rule import SKLEARN, Growth
from unspoken.release.guarantee import Guarantee, Verdict

if TYPE_CHECKING:
    from unspoken.release.release import Release
    from unspoken.table.table import Table

_STATEMENT = ("A covered learner grows from the release exactly the published trees, which are "
              "those of the original data, node by node and bit by bit.")
_CONDITIONS = (
    "the learner, criterion, order of growth, tie rule and number of steps of the stopping rule; "
    "another leaf count, a depth limit or pruning may give another tree",
    "the released columns in their order, sensitive columns left out; groups of categories in "
    "the order of the manifest",
    "nothing is promised for other learners, nor for C4.5's filter by the average gain",
)


@dataclass(frozen=True)
class TreePreserved(Guarantee):
    """The trees of the original can be grown from the release."""

    name: ClassVar[str] = "tree-preserved"

    @property
    def rules(self) -> tuple[Mapping[str, Any], ...]:
        """Return the stopping rule of every tree that is kept."""
        return tuple(self.facts.get("stopping_rules") or ())

    def covers(self, miner: Any, columns: Sequence[str] | None = None) -> Verdict:
        """Return whether a Growth, or a scikit-learn estimator as it is, finds a published tree."""
        if isinstance(miner, Growth):
            return self._covers_growth(miner)
        if _is_sklearn_tree(miner):
            return self._covers_estimator(miner, columns)
        return Verdict(False, f"{type(miner).__name__} is not known to grow a published tree. "
                       "Use mine.grow(release), which follows the stopping rule.")

    def _covers_growth(self, growth: Growth) -> Verdict:
        for rule in self.rules:
            if all(rule.get(name) == value for name, value in asdict(growth).items()
                   if name != "max_leaves"):
                return Verdict(True, f"It grows the published tree of {rule['leaves']} leaves in "
                               f"{rule['steps']} steps.")
        return Verdict(False, "No published tree is grown like that. Use the growth of the "
                       "manifest's stopping rule.")

    def _covers_estimator(self, miner: Any, columns: Sequence[str] | None) -> Verdict:
        from unspoken.models.relearn_tree import estimator_for

        rules = [rule for rule in self.rules if rule.get("learner") == SKLEARN]
        if not rules:
            return Verdict(False, "The trees of this release were grown by unspoken's own learner. "
                           "scikit-learn breaks ties by chance and knows no categories: use "
                           "mine.grow(release).")
        if columns is not None and list(columns) != list(self.facts.get("numeric") or ()):
            return Verdict(False, f"The miner must get the columns {self.facts.get('numeric')} in "
                           "that order: sensitive columns are no predictors.")
        for rule in rules:
            growth, _ = Growth.of_rule(rule)
            wanted = estimator_for(growth, int(rule["leaves"]), int(self.facts["rows"]))
            if type(wanted) is type(miner) and wanted.get_params() == miner.get_params():
                return Verdict(True, "It is the estimator that the published tree was verified "
                               "with.")
        return Verdict(False, "Its parameters are not those of the stopping rule: max_leaf_nodes, "
                       "min_samples_leaf, criterion and random_state as published, all others as "
                       "scikit-learn sets them.")

    def verify(self, table: Table, release: Release, key: Any = None) -> Verification:
        """Learn the trees from the original and from the release, and compare bit by bit."""
        return verify_trees(table, release, self)


def promise(rules: Sequence[Mapping[str, Any]], trees: Sequence[Mapping[str, Any]],
            facts: Mapping[str, Any]) -> TreePreserved:
    """Return the guarantee of one release."""
    known = {"stopping_rules": [dict(rule) for rule in rules],
             "tree_sha256": [digest(tree) for tree in trees], **facts}
    covered = tuple(_covered(rule) for rule in rules)
    return TreePreserved(_STATEMENT, covered + _CONDITIONS, known)


def _covered(rule: Mapping[str, Any]) -> str:
    who = "mine.grow" if rule["learner"] != SKLEARN else "scikit-learn's DecisionTree"
    return (f"covered: {who} for '{rule['target']}' by {rule['criterion']}, {rule['order']}, "
            f"{rule['steps']} steps ({rule['leaves']} leaves)")


def _is_sklearn_tree(miner: Any) -> bool:
    kind = type(miner)
    return kind.__module__.startswith("sklearn.tree") and kind.__name__.startswith("DecisionTree")
