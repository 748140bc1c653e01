"""Sites with columns for trees that nobody sees."""

from __future__ import annotations

import numpy as np

from unspoken.joint.tasks.tree.params import Attribute, TreeParams
from unspoken.joint.tasks.tree.tree_sites import TreeShape, TreeSite

NAMES = ["p0", "p1", "p2"]
SHAPE = TreeShape(("n", "p"), "p1", 2, 2)
RULES = TreeParams(max_depth=2, min_records=2)


def sites_of(kind):
    """Return sites of 32 records: no question at all, or two levels of questions by two sites."""
    a, b, c = (np.arange(32) // size % 2 for size in (1, 2, 4))
    label = np.zeros(32, int) if kind == "pure" else (a & b) | (a & c & (np.arange(32) > 3))
    coded = {name: np.array(["x", "y"], object)[values] for name, values in
             zip("abc", (a, b, c), strict=True)}
    cuts = (4.5,) if kind == "pure" else (4.5, 20.5)
    numbers = {"n": np.arange(32.0)}
    return [TreeSite((Attribute("a", ("x", "y")), *([Attribute("n", cuts=cuts[:1])]
                                                if kind != "pure" else [])), coded | numbers),
            TreeSite((Attribute("b", ("x", "y")),), coded, np.array(["n", "p"], object)[label]),
            TreeSite((Attribute("c", ("x", "y")),), coded)]


def three_sites(rows, branches=2):
    random = np.random.default_rng(2)
    columns = {n: random.integers(0, branches, rows).astype(str).astype(object) for n in "abcdef"}
    part = sum(w * (columns[n] == "1") for w, n in zip((0.4, 0.3, 0.2), "abc", strict=True))
    columns["class"] = np.where(random.random(rows) < part, "p", "n").astype(object)
    kinds = tuple(str(i) for i in range(branches))
    return {n: TreeSite((Attribute(n, kinds), Attribute(m, kinds)), columns,
                    columns["class"] if n == "a" else None)
            for n, m in zip("abc", "def", strict=True)}, columns
