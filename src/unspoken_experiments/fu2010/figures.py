"""Figures 5 to 16 and Table I of fu2010 as Markdown tables."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from unspoken.arrays import Floats
from unspoken.models.tree_growth_rule import Growth
from unspoken.protect import TreePreservingAnonymizer
from unspoken_experiments.fu2010.data import Study
from unspoken_experiments.fu2010.folds import FOLDS, METHODS, WAYS, k_for, made
from unspoken_experiments.fu2010.learners import (
    Learner,
    linear,
    naive_bayes,
    scores,
    support_vectors,
    tree,
)
from unspoken_experiments.fu2010.releases import (
    RULES,
    kept,
    leaves_of,
    measured,
    merged,
    same_leaves,
)

SIZES = (2, 3, 4, 5, 6, 8)
LEARNERS: dict[str, tuple[Learner, ...]] = {
    "gini": (tree, naive_bayes, support_vectors), "variance": (tree, linear)}
TITLES = {"tree": "Trees", "naive_bayes": "Naive Bayes", "support_vectors": "Linear SVM",
          "linear": "Linear regression"}
_T95 = 2.262


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield "| " + " | ".join(head) + " |"
    yield "|" + " --- |" * len(head)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def anonymity(study: Study, sizes: Sequence[int] = SIZES) -> Iterator[str]:
    """Yield K and strong L by tree size for the three rules, and for cuts by gain."""
    rows = []
    for leaves in sizes:
        cells = [str(leaves)]
        for rule in RULES[:2]:
            found = measured(study, kept(study, leaves, rule).table)
            cells.append(f"{found.k}, {found.l:.2f}")
        release, moved = merged(study, leaves, found.k)
        assert leaves_of(release) == leaves
        found = measured(study, release.table)
        cells.append(f"{found.k}, {found.l:.2f} ({moved})")
        for method in ("gain", "gain, few"):
            k = k_for(study, method, leaves)
            found = measured(study, made(study, method, leaves, k).table)
            cells.append(f"{found.k}, {found.l:.2f} ({found.classes})")
        rows.append(cells)
    yield from table(("leaves", *RULES[:2], "leaf-merge (rows moved)", "gain, same K (classes)",
                      "gain, few (classes)"), rows)


def preserved(study: Study, sizes: Sequence[int] = SIZES) -> Iterator[str]:
    """Yield how often a tree grown from the release divides the records as the original's."""
    rows = []
    for method in METHODS[1:]:
        same = [same_leaves(study, made(study, method, n, k_for(study, method, n)), n)
                for n in sizes]
        rows.append((method, f"{sum(same)} of {len(same)}"))
    yield from table(("release", f"{study.name}: the same leaves"), rows)


def shown(found: Floats) -> str:
    """Return the mean of the folds and half a 95% interval, in per cent."""
    half = _T95 * found.std(ddof=1) / np.sqrt(found.size)
    return f"{100 * found.mean():.1f} ± {100 * half:.1f}"


def quality(study: Study, sizes: Sequence[int] = SIZES, ways: Sequence[str] = tuple(WAYS),
            methods: Sequence[str] = METHODS) -> Iterator[str]:
    """Yield accuracy or R square of every learner by tree size, both ways."""
    learners = LEARNERS[study.criterion]
    for way in ways:
        cells: dict[str, list[list[str]]] = {one.__name__: [] for one in learners}
        known: dict[tuple[str, int], list[str]] = {}
        for leaves in sizes:
            for one in learners:
                cells[one.__name__].append([str(leaves)])
            for method in methods:
                for name, cell in _scored(study, way, method, leaves, known).items():
                    cells[name][-1].append(cell)
        for name, rows in cells.items():
            yield f"{TITLES[name]}, {way} ({study.name}, {FOLDS} folds):"
            yield ""
            yield from table(("leaves", *methods), rows)


def _scored(study: Study, way: str, method: str, leaves: int,
            known: dict[tuple[str, int], list[str]]) -> dict[str, str]:
    """Score one release; learners that know no size are not run again on the same table."""
    learners = LEARNERS[study.criterion]
    k = 0 if method == "original" else k_for(study, method, leaves)
    key = (method, leaves if method == "tree-preserving" else k)
    pairs = WAYS[way](study, method, leaves)
    out = {"tree": shown(scores(study, pairs, tree, leaves))}
    if key not in known:
        known[key] = [shown(scores(study, pairs, one, leaves)) for one in learners[1:]]
    return out | {one.__name__: cell
                  for one, cell in zip(learners[1:], known[key], strict=True)}


def several(study: Study, leaves: int = 6) -> Iterator[str]:
    """Yield K when trees of two criteria are kept, alone and together (section 3.4)."""
    pair = [Growth(criterion=c, max_leaves=leaves) for c in ("gini", "entropy")]
    rows = []
    for name, trees in (("gini", pair[:1]), ("entropy", pair[1:]), ("both", pair)):
        release, _ = TreePreservingAnonymizer(k=1, tree=trees, rule="min-block", refine=False,
                                              diversity="strong").protect(study.table)
        found = measured(study, release.table)
        sizes = ", ".join(str(one.leaves) for one in release.trees)
        rows.append((name, sizes, str(found.k), f"{found.l:.2f}"))
    yield from table(("kept", "leaves", "K", "L"), rows)


def seconds(study: Study, shares: Sequence[float] = (0.0625, 0.125, 0.25, 0.5, 1.0),
            repeats: int = 5) -> Iterator[str]:
    """Yield the run time by the share of rows and by the number of attributes."""
    rng = np.random.default_rng(15)
    order = rng.permutation(study.table.rows)
    parts = [study.some(np.sort(order[:round(share * order.size)])) for share in shares]
    yield from table(("records", "seconds"), [(f"{part.table.rows:,}", f"{_took(part, repeats)}")
                                              for part in parts])
    names = [n for n in study.table.schema.names
             if n not in (study.table.target, study.sensitive)]
    fewer = [study.some(columns=[*names[:count - 1], study.sensitive, study.table.target])
             for count in range(3, len(names) + 2)]
    yield from table(("attributes", "seconds"),
                     [(str(len(part.table.schema.names) - 1), _took(part, repeats))
                      for part in fewer])


def _took(study: Study, repeats: int) -> str:
    """Return the median time of a release that keeps a tree of five leaves."""
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        TreePreservingAnonymizer(k=5, tree=study.growth(5), rule="min-block", refine=False,
                                 diversity="strong").protect(study.table)
        found.append(time.perf_counter() - start)
    return f"{np.median(found):.3f} ({min(found):.3f} to {max(found):.3f})"
