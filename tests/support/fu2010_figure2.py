"""fu2010 Figure 2 as it is printed, for numeric columns: what must not be copied."""

from __future__ import annotations

import itertools

import numpy as np


def sanitise(values, nodes):
    """Return a column after step 3, given (v1, v2) of every node that asks about it."""
    values = np.asarray(values, float)
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    ends = {int(np.searchsorted(ordered, v1, side="right")) for v1, _ in nodes}
    starts = {int(np.searchsorted(ordered, v2, side="left")) for _, v2 in nodes}
    edges = sorted({0, len(ordered), *ends, *starts})
    pieces = []
    for low, high in itertools.pairwise(edges):
        middle = (low + high) // 2
        # Step 3c: an interval between two boundaries is halved by the count of its records.
        halved = low in starts and high in ends and high - low > 1
        pieces += [(low, middle), (middle, high)] if halved else [(low, high)]
    out = ordered.copy()
    for v1, v2 in nodes:
        left = next(p for p in pieces if p[1] == np.searchsorted(ordered, v1, side="right"))
        right = next(p for p in pieces if p[0] == np.searchsorted(ordered, v2, side="left"))
        means = [ordered[slice(*piece)].mean() for piece in (left, right)]
        # Step 3d: a later node overwrites what an earlier one has set.
        d = min(v1 - means[0], means[1] - v2)
        out[slice(*left)] = v1 - d
        out[slice(*right)] = v2 + d
    back = np.empty_like(out)
    back[order] = out
    return back
