"""Releases of one study: trees kept by the three rules, and Mondrian at the same K."""

from __future__ import annotations

from dataclasses import dataclass

from unspoken.errors import UnspokenError
from unspoken.methods.anonymity.measures import equivalence_classes as anonymity
from unspoken.models.tree_from_growth import learn
from unspoken.models.tree_growth_rule import predictors
from unspoken.protect import MondrianAnonymizer, TreePreservingAnonymizer
from unspoken.release.release import Release
from unspoken.table.category_codes import coded
from unspoken.table.table import Table
from unspoken_experiments.fu2010.data import Study

RULES = ("safe", "min-block", "leaf-merge")


@dataclass(frozen=True)
class Reached:
    """K, strong L and the number of classes of a released table."""

    k: int
    l: float  # noqa: E741
    classes: int


def measured(study: Study, table: Table) -> Reached:
    """Count the classes of a released table over all predictors."""
    rows = table.arrow()
    names = predictors(study.table, [study.table.target])
    owner = anonymity.classes([coded(rows[name]).codes for name in names])
    secret = anonymity.spread(owner, coded(rows[study.sensitive]).codes)
    return Reached(anonymity.k_of(owner), float(anonymity.strong(secret).min()),
                   int(owner.max()) + 1)


def kept(study: Study, leaves: int, rule: str = "min-block", k: int = 1) -> Release:
    """Release a table that keeps the tree of `leaves` leaves; the rows stay in their order."""
    found, _ = TreePreservingAnonymizer(
        k=k, tree=study.growth(leaves), rule=rule, diversity="strong", refine=False,
        shuffle_rows=False, random_state=0).protect(study.table)
    return found


def cut(study: Study, k: int, cuts: str, publish: str = "mean") -> Release:
    """Release the classes of Mondrian: numbers as means or intervals, categories as sets."""
    names = list(predictors(study.table, [study.table.target]))
    return MondrianAnonymizer(k=k, cuts=cuts, publish=publish, columns=names,
                              others="keep", shuffle_rows=False).protect(study.table)[0]


def few(study: Study, classes: int) -> int:
    """Return the least k found at which cuts by gain leave at most a given number of classes."""
    low, high = 1, study.table.rows
    while high - low > max(1, low // 100):
        middle = (low + high) // 2
        found = measured(study, cut(study, middle, "gain").table).classes
        low, high = (middle, high) if found > classes else (low, middle)
    return high


def leaves_of(release: Release) -> int:
    """Return the leaves of the published tree."""
    return int(release.tree.leaves)


def merged(study: Study, leaves: int, from_k: int) -> tuple[Release, int]:
    """Return the leaf-merge release of the largest K found by bisection, and the rows moved."""
    tree = kept(study, leaves).tree
    low, high = max(from_k, 1), int(tree.n_samples[tree.feature < 0].min()) + 1
    best = kept(study, leaves, "leaf-merge", low)
    while high - low > max(1, low // 50):
        middle = (low + high) // 2
        found = _tried(study, leaves, middle)
        if found is None:
            high = middle
        else:
            low, best = middle, found
    return best, int(best.manifest["changed"]["moved_rows"])


def _tried(study: Study, leaves: int, k: int) -> Release | None:
    try:
        found = kept(study, leaves, "leaf-merge", k)
    except UnspokenError:
        return None
    return found if leaves_of(found) == leaves else None


def same_leaves(study: Study, release: Release, leaves: int) -> bool:
    """Say whether the tree grown from a release divides the records as the original's does."""
    names = predictors(study.table, [study.table.target])
    owners = []
    for table in (study.table, release.table):
        rows = table.arrow()
        grown = learn(table, study.growth(leaves), names=names)
        owners.append(grown.apply({n: rows[n].to_numpy(zero_copy_only=False) for n in names}))
    together = anonymity.classes(owners)
    return len({int(one.max()) for one in map(anonymity.dense, (*owners, together))}) == 1
