"""SameTree: what a piecewise encoding promises, to whom (bu2007 section 4, as it really holds)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from unspoken.methods.encoding.covered_learners import judge
from unspoken.methods.encoding.draw_column import Recipe
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
           "identity is with the original in the released row order")


@dataclass(frozen=True)
class SameTree(Guarantee):
    """The decoded model equals the model of the original data."""

    name: ClassVar[str] = "same-tree"

    def covers(self, miner: Any, columns: Sequence[str] | None = None) -> Verdict:
        """Return whether that estimator object, with its parameters, finds the same model.

        `columns`: the released columns it is given, if not all.
        """
        facts = self.facts
        labelled = [str(name) for name in facts.get("categorical") or ()]
        if columns is not None:
            labelled = [name for name in labelled if name in columns]
        if labelled:
            return Verdict(False, f"Columns {labelled[:10]} are released under random labels, "
                           "which a threshold learner would order. Leave them out and ask again "
                           "with columns=.")
        known = ThresholdFacts(**{
            name: facts.get(name) is True for name in ThresholdFacts().to_json()
        })
        rows = facts.get("rows")
        return judge(miner, str(facts.get("mode")), known, rows if isinstance(rows, int) else None)


def promise(
    recipe: Recipe, facts: ThresholdFacts, categorical: Sequence[str], rows: int
) -> SameTree:
    """Return the guarantee of one release."""
    known = {"mode": recipe.mode, "rows": rows, **facts.to_json(),
             "categorical": list(categorical)}
    return SameTree(_STATEMENTS[recipe.mode], _CONDITIONS[recipe.mode] + _COMMON, known)
