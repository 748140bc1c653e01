"""What hiding rules did to everything else: rules lost, rules that appeared, cells changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unspoken.methods.baskets.hiding.thresholds import Thresholds, among, keys
from unspoken.methods.baskets.rule_counts import Pair, counted_sets, least_count, shown_rules
from unspoken.numerics.frequent_sets import TooManySetsError, frequent
from unspoken.table.baskets import Baskets
from unspoken.table.baskets_with_unknowns import Bounds, PartlyKnown
from unspoken.table.rule_text import Sides, write_rule

MOST_SETS, MOST_PARTS = 100_000, 4_000_000
"""Most frequent sets over which side effects are counted, and most left sides tried for rules."""
STEP = 1.3
"""By how much the support from which effects are counted rises while there are too many."""


@dataclass(frozen=True)
class Target:
    """A rule that was to be hidden: support and confidence (the least possible) around it."""

    rule: str
    support: tuple[float, float]
    confidence: tuple[float, float]
    hidden: bool
    was_shown: bool

    def line(self) -> str:
        """Return the rule and its numbers in one line."""
        word = "hidden" if self.hidden else "STILL SHOWN"
        return (f"{self.rule}: {word if self.was_shown else 'was not shown'}; support "
                f"{self.support[0]:.3%} to {self.support[1]:.3%}, confidence "
                f"{self.confidence[0]:.1%} to {self.confidence[1]:.1%}")


@dataclass(frozen=True)
class Effects:
    """Side effects, over all rules that reach the thresholds before or after.

    lost : rules that should have stayed and are gone; ghosts : rules that were not there before.
    forced : those of the lost that contain a target whose support had to fall: no data set can
    show them while that support stays so low.
    counted_from : the support from which on rules are compared; above the threshold where there
    are more rules than can be listed.
    zeros_unknown : of the unknown cells, how many stand where there was nothing; an adversary who
    takes every unknown cell for a one is wrong there.
    The report names what was hidden: it is the custodian's, never part of a release.
    """

    by: str
    targets: tuple[Target, ...]
    before: int
    after: int
    lost: tuple[str, ...]
    forced: tuple[str, ...]
    ghosts: tuple[str, ...]
    removed: int
    inserted: int
    unknown: int
    zeros_unknown: int
    unknown_before: int
    cells: int
    counted_from: float

    @property
    def changed(self) -> int:
        """Return how many cells changed."""
        return self.removed + self.inserted + self.unknown

    @property
    def accidents(self) -> tuple[str, ...]:
        """Return the rules that were lost without need."""
        return tuple(rule for rule in self.lost if rule not in set(self.forced))

    def summary(self, most: int = 5) -> str:
        """Return what was hidden and what it cost, in plain words."""
        lines = [one.line() for one in self.targets]
        lines.append(f"{self.changed:,} of {self.cells:,} cells changed: {self.removed:,} removed, "
                     f"{self.inserted:,} inserted, {self.unknown:,} made unknown")
        lines.append(f"{self.before:,} rules of support {self.counted_from:.3%} or more before, "
                     f"{self.after:,} after; {len(self.forced):,} had to go with a hidden set")
        lines += _listed("lost by accident", self.accidents, most)
        lines += _listed("ghosts", self.ghosts, most)
        if self.unknown and self.unknown_before == 0:
            lines.append("Nothing was unknown before: an unknown cell therefore shows that a "
                         "rule was hidden there.")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain data."""
        plain = {name: list(v) if isinstance(v, tuple) else v for name, v in vars(self).items()}
        return plain | {"targets": [vars(one) for one in self.targets], "changed": self.changed,
                        "accidents": list(self.accidents)}


def _listed(word: str, rules: Sequence[str], most: int) -> list[str]:
    more = f" and {len(rules) - most:,} more" if len(rules) > most else ""
    shown = ": " + "; ".join(rules[:most]) + more if rules else ""
    return [f"{len(rules):,} {word}{shown}"]


def published(baskets: Baskets | PartlyKnown, limits: Thresholds) -> dict[Pair, tuple[int, int]]:
    """Return every rule that reaches the thresholds, whatever unknown cells hold."""
    whole = baskets if isinstance(baskets, Baskets) else baskets.sure
    sets = counted_sets(whole.offsets, whole.codes, len(whole.items),
                        least_count(limits.min_support, len(whole)))
    shown = shown_rules(sets, limits.min_confidence)
    if isinstance(baskets, Baskets) or baskets.unknown.codes.size == 0:
        return shown
    bounds = Bounds(baskets)
    return {rule: (counts[0], left) for rule, counts in shown.items()
            if counts[0] / (left := bounds.against(rule)) >= limits.min_confidence}


def countable(baskets: PartlyKnown, limits: Thresholds) -> Thresholds:
    """Return the thresholds, with a support that is high enough for all rules to be listed.

    Dense baskets have more frequent sets at low supports than any memory holds.
    """
    whole, support = baskets.sure, limits.min_support
    while support < 1 and not _few(whole, least_count(support, len(whole))):
        support = min(1.0, support * STEP)
    return Thresholds(support, limits.min_confidence)


def _few(baskets: Baskets, least: int) -> bool:
    try:
        levels = frequent(baskets.offsets, baskets.codes, len(baskets.items), least,
                          len(baskets.items) + 1, MOST_SETS)
    except TooManySetsError:
        return False
    return bool(sum(counts.size << sets.shape[1] for sets, counts in levels) <= MOST_PARTS)


def compare(by: str, before: PartlyKnown, after: PartlyKnown, targets: Sequence[Sides],
            limits: Thresholds, old: Mapping[Pair, tuple[int, int]] | None = None,
            counted: Thresholds | None = None) -> Effects:
    """Return what changed between two versions of the same baskets."""
    items = before.sure.items
    counted = countable(before, limits) if counted is None else counted
    old = published(before, counted) if old is None else old
    new = published(after, counted)
    ours = set(targets)
    lost = [rule for rule in old if rule not in new and rule not in ours]
    fallen = [set(left + right) for left, right in targets
              if _rare(after, left + right, limits) and not _rare(before, left + right, limits)]
    forced = [rule for rule in lost if any(one <= set(rule[0] + rule[1]) for one in fallen)]
    ghosts = [rule for rule in new if rule not in old and rule not in ours]
    lost_, forced_, ghosts_ = (tuple(write_rule(rule, items) for rule in some)
                               for some in (lost, forced, ghosts))
    return Effects(by, tuple(_target(one, before, after, limits, items) for one in targets),
                   len(old), len(new), lost_, forced_, ghosts_, *_cells(before, after),
                   before.unknown.codes.size, len(before) * len(items), counted.min_support)


def _rare(baskets: PartlyKnown, codes: Iterable[int], limits: Thresholds) -> bool:
    sure = Bounds(baskets).count(tuple(sorted(codes)))[0]
    return sure < least_count(limits.min_support, len(baskets))


def _target(rule: Sides, before: PartlyKnown, after: PartlyKnown, limits: Thresholds,
            items: Sequence[str]) -> Target:
    numbers, shown = [], []
    for baskets in (before, after):
        bounds = Bounds(baskets)
        both, left = bounds.count(tuple(sorted(rule[0] + rule[1])))[0], bounds.against(rule)
        numbers.append((both / max(len(baskets), 1), both / max(left, 1)))
        shown.append(limits.shows(both, left, len(baskets)))
    (s0, c0), (s1, c1) = numbers
    return Target(write_rule(rule, items), (s0, s1), (c0, c1), not shown[1], shown[0])


def _cells(before: PartlyKnown, after: PartlyKnown) -> tuple[int, int, int, int]:
    """Return the cells removed, inserted, made unknown, and of the last those that were zeros."""
    was, was_open, now, now_open = (keys(part) for part in (
        before.sure, before.unknown, after.sure, after.unknown))
    fresh = now_open[~among(now_open, was_open)]
    gone = ~among(was, now) & ~among(was, now_open)
    come = ~among(now, was)
    return int(gone.sum()), int(come.sum()), fresh.size, int((~among(fresh, was)).sum())
