"""Hiding chosen rules and itemsets in baskets, in one of three ways (vcz2006 section 6.3).

What it is not: privacy of the people in the baskets. It keeps chosen rules out of what is mined
at stated thresholds. Somebody who mines at lower thresholds finds the rule right below them
(`margin` moves it away), somebody with other data of the same kind finds it there, and the number
of rules that pile up just below a threshold may show that something was hidden. Which rules were
hidden is a secret: it is in the report, never in the baskets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator

from unspoken.errors import InputError, explain
from unspoken.methods.baskets.hiding.blanking import Blanking
from unspoken.methods.baskets.hiding.insertion import Insertion
from unspoken.methods.baskets.hiding.removal import Removal
from unspoken.methods.baskets.hiding.side_effects import Effects, compare, countable, published
from unspoken.methods.baskets.hiding.thresholds import Thresholds
from unspoken.numerics.random import seed_from
from unspoken.release.parameters import OneOf, Real, Rule, check
from unspoken.table.baskets import Baskets
from unspoken.table.baskets_with_unknowns import PartlyKnown
from unspoken.table.rule_text import Sides, set_or_rule

WAYS = ("removal", "insertion", "unknown")
_RULES: Mapping[str, tuple[Rule, str]] = {
    "by": (OneOf(WAYS), "removal changes fewest cells, unknown says nothing false."),
    "min_support": (Real(0.0, 1.0), "It is a share of the baskets, such as 0.01."),
    "min_confidence": (Real(0.0, 1.0 + 1e-12), "It is a share, such as 0.5."),
    "margin": (Real(-1e-12, 1.0), "0.2 keeps hidden rules a fifth below the threshold."),
    "lower": (OneOf(("either", "support", "confidence")), "either takes the cheaper."),
    "decoys": (Real(-1e-12), "1 makes a zero unknown for every one."),
}


@dataclass(frozen=True)
class Hidden:
    """Baskets in which rules are hidden, and what that cost."""

    baskets: Baskets | PartlyKnown
    effects: Effects


class RuleHider(BaseEstimator):  # type: ignore[misc]
    """Change baskets so that chosen rules are no longer among those mined (vcz2006 section 6.3).

    This does not protect people. A rule can still be found at lower thresholds (see `margin`) or in
    other data of the same kind, and rules piled up below a threshold may show that some are hidden.

    Parameters
    ----------
    rules : list of str or of pairs of lists
        The rules to hide, as text `a, b -> c` or as pairs of lists of names; a text without an
        arrow is an itemset, whose support must fall.
    by : "removal", "insertion" or "unknown", default "removal"
        "removal" takes items out, "insertion" adds items of the left side, "unknown" marks items as
        unknown (the result is PartlyKnown).
    min_support : float, default 0.01
        Support from which on a rule is shown, if it also reaches `min_confidence`.
    min_confidence : float, default 0.5
        Confidence from which on a rule is shown.
    margin : float, default 0.0
        Hidden rules must stay this share below the thresholds.
    lower : "either", "support" or "confidence", default "either"
        With "removal", which measure must fall; "either" takes the one that needs fewer changes.
    decoys : float, default 1.0
        With "unknown", how many zeros become unknown for every one that does.
    random_state : int or Generator, optional
        Draws the decoys; leave it out except in tests.

    Examples
    --------
    >>> hider = RuleHider(["bread -> pills"], min_support=0.01)
    >>> hider.hide(baskets).effects.summary()  # doctest: +SKIP
    """

    def __init__(self, rules: Sequence[Any] = (), by: str = "removal", min_support: float = 0.01,
                 min_confidence: float = 0.5, margin: float = 0.0, lower: str = "either",
                 decoys: float = 1.0, random_state: Any = None) -> None:
        self.rules = rules
        self.by = by
        self.min_support = min_support
        self.min_confidence = min_confidence
        self.margin = margin
        self.lower = lower
        self.decoys = decoys
        self.random_state = random_state

    def hide(self, baskets: Baskets | PartlyKnown) -> Hidden:
        """Return changed baskets and the side effects; the original stays as it is."""
        before, targets = self._checked(baskets)
        limits = Thresholds(self.min_support, self.min_confidence)
        counted = countable(before, limits)
        old = published(before, counted)
        keep = [rule for rule in old if rule not in set(targets)]
        after = self._change(before, targets, keep, limits)
        effects = compare(self.by, before, after, targets, limits, old, counted)
        return Hidden(after if self.by == "unknown" else after.sure, effects)

    def fit_transform(self, X: Baskets | PartlyKnown, y: Any = None) -> Baskets | PartlyKnown:
        """Return the changed baskets alone."""
        return self.hide(X).baskets

    def _checked(self, baskets: Any) -> tuple[PartlyKnown, list[Sides]]:
        check(type(self).__name__, _RULES, self.get_params())
        if isinstance(baskets, Baskets):
            baskets = PartlyKnown.of(baskets)
        if not isinstance(baskets, PartlyKnown) or len(baskets) == 0:
            raise InputError(f"RuleHider needs Baskets, at least one. Got {repr(baskets)[:200]}.")
        if baskets.unknown.codes.size and self.by != "unknown":
            raise InputError("Rules in baskets with unknown items can only be hidden with "
                             f"by='unknown'. Got '{self.by}'.")
        if self.lower != "either" and self.by != "removal":
            raise InputError(f"'lower' applies to by='removal' only. Got lower='{self.lower}' "
                             f"with by='{self.by}'.")
        if isinstance(self.rules, str) or not len(self.rules):
            raise InputError(explain("'rules'", "a list with at least one rule", self.rules))
        targets = list(dict.fromkeys(set_or_rule(one, baskets.sure) for one in self.rules))
        if self.by == "insertion" and not all(right for _, right in targets):
            raise InputError("An itemset cannot be hidden by putting items in. Use by='removal' or "
                             "by='unknown'.")
        return baskets, targets

    def _change(self, before: PartlyKnown, targets: list[Sides], keep: list[Sides],
                limits: Thresholds) -> PartlyKnown:
        lower = limits.less(self.margin)
        if self.by == "unknown":
            return Blanking(targets, keep, lower, limits, self.decoys,
                            seed_from(self.random_state))(before)
        if self.by == "insertion":
            return PartlyKnown.of(Insertion(targets, keep, lower, limits)(before.sure))
        return PartlyKnown.of(Removal(targets, keep, lower, limits, self.lower)(before.sure))
