"""Trees whose children follow one another: are they one tree, and how deep is it?"""

from __future__ import annotations

import numpy as np

from unspoken.arrays import Ints
from unspoken.models.hostile_json import refuse


def check_spans(first_child: Ints, children: Ints) -> None:
    """Refuse children that stand before their parent, or are not each node but the root once."""
    parents = np.flatnonzero(first_child >= 0)
    first = first_child[parents]
    order = np.argsort(first)
    ends = first[order] + children[parents[order]]
    tiled = np.array_equal(np.append(1, ends), np.append(first[order], first_child.size))
    if not tiled or np.any(first <= parents):
        refuse("first_child", "children after their parent, each node once", "others")
    if np.any(children[first_child < 0] != 0):
        refuse("children", "0 at leaves", "another number")


def deepest(first_child: Ints, children: Ints) -> int:
    """Return the depth of the deepest node."""
    depth = np.zeros(first_child.size, np.int64)
    # Children stand after their parent, so one pass in order is enough.
    for node in np.flatnonzero(first_child >= 0).tolist():
        start = int(first_child[node])
        depth[start:start + int(children[node])] = depth[node] + 1
    return int(depth.max())
