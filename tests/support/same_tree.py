"""Two different tables that give one tree."""

from __future__ import annotations

import numpy as np

from unspoken.joint.tasks.tree.params import Attribute, TreeLayout, TreeParams

LAYOUT = TreeLayout((Attribute("a", ("x", "y")), Attribute("b", ("u", "v")),
                 Attribute("n", cuts=(2.0, 4.0))), ("n", "p"))
RULES = TreeParams(max_depth=2, min_records=4, most=4096)


def table(times_x, times_y):
    """A tree with one question, a; the leaf y is pure, or too small to be split."""
    rows = [("x", "u", 1, "n"), ("x", "v", 3, "n")] * times_x + [("x", "u", 5, "n")]
    rows += [("y", "u", 1, "p")] * times_y[0] + [("y", "v", 5, "n")] * times_y[1]
    data = np.array(rows, object)
    return {name: data[:, i] for i, name in enumerate(("a", "b", "n", "class"))}


# The same tree for different reasons: many records and a pure leaf, few and a small one.
SAME_TREE = [table(300, (50, 0)), table(5, (2, 1))]
