"""SameTree: what a piecewise encoding promises, to whom (bu2007 section 4, as it really holds)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from unspoken.methods.encoding.covered_learners import judge
from unspoken.methods.encoding.draw_column import Recipe
from unspoken.methods.encoding.learner_rules import Known
from unspoken.methods.encoding.target_units import KINDS
from unspoken.methods.encoding.threshold_facts import ThresholdFacts
from unspoken.release.guarantee import Guarantee, Verdict

_STATEMENTS = {
    "strict": "A covered learner grows on the codes exactly the model that it would grow on the "
              "original values; decoding by replay returns it bit for bit.",
    "max-mono": "A covered classification tree or forest grows on the codes exactly the tree that "
                "it would grow on the original values; decoding by replay returns it bit for bit.",
    "anti": "At every node the split is one of the best on the records there. Ties are broken the "
            "other way, so the tree may be another one that is equally good, split by split.",
}
_CONDITIONS = {
    "strict": ("any leaf minimum, depth, max_features, class or sample weight and pruning",),
    "max-mono": ("no minimum of records or weight in a leaf", "whole-numbered (or dyadic) weights",
                 "class labels, not a numeric response"),
    "anti": ("no promise of identity for any learner",),
}
_COMMON = ("the same seed, column order and label order", "thresholds on single columns",
           "categories numbered in the sorted order of their released labels",
           "identity is with the original in the released row order")

_UNITS = ("the target is in secret units: identity is with the original's target in the same "
          "units; decoding turns leaf values back. In other units splits of equal gain may be "
          "resolved otherwise")


@dataclass(frozen=True)
class SameTree(Guarantee):
    """The decoded model equals the model of the original data."""

    name: ClassVar[str] = "same-tree"

    def covers(self, miner: Any, columns: Sequence[str] | None = None) -> Verdict:
        """Return whether that estimator object, with its parameters, finds the same model.

        `columns`: the released columns it is given, if not all.
        """
        facts = self.facts
        rows, least = facts.get("rows"), facts.get("least_rows")
        lists = [facts.get(name) or [] for name in ("columns", "categorical")]
        if not all(isinstance(each, list | tuple) for each in lists):
            return Verdict(False, "The release does not list its columns, so that nothing is known "
                           "of them.")
        names = tuple(map(str, lists[0] if columns is None else columns))
        labelled = frozenset(map(str, lists[1])) & frozenset(names)
        known = ThresholdFacts(**{
            name: facts.get(name) is True for name in ThresholdFacts().to_json()
        })
        if names and labelled == set(names):
            # Numbers of categories are the same on both sides, whatever other columns hold.
            known = ThresholdFacts()
        return judge(miner, str(facts.get("mode")),
                     Known(known, rows if isinstance(rows, int) else math.inf, names, labelled,
                           least if isinstance(least, int) else 1,
                           str(facts.get("target") or "")))


def promise(
    recipe: Recipe, facts: ThresholdFacts, names: Sequence[str], categorical: Sequence[str],
    counts: Mapping[str, Any],
) -> SameTree:
    """Return the guarantee of one release with these columns, some of them categories.

    `counts`: its rows, how many of them share the rarest value, which columns were rounded, and
    how a numeric target was encoded.
    """
    known = {"mode": recipe.mode, **counts, **facts.to_json(),
             "columns": list(names), "categorical": list(categorical)}
    rounded = counts["rounded"]
    note: tuple[str, ...] = ()
    if rounded:
        note = (f"columns {', '.join(rounded)} were rounded, as little as common learners need: "
                "identity is with the original rounded in the same way",)
    if counts.get("target") in KINDS:
        note += (_UNITS,)
    return SameTree(_STATEMENTS[recipe.mode], _CONDITIONS[recipe.mode] + _COMMON + note, known)
