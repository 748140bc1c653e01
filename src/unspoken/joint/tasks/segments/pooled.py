"""The same counts and means from all rows in one place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unspoken.joint.tasks.segments.params import SegmentParams


def pooled(parts: Sequence[Mapping[str, Any]], params: SegmentParams) -> dict[str, Any]:
    """Return counts and means of the segments that are shown, from every owner's table."""
    own = [params.own(part, len(parts)) for part in parts]
    counts = np.array([one.counts for one in own])
    rest = counts.sum(axis=0) - counts
    shown = (counts.sum(axis=0) >= params.least) & (rest >= params.others).all(axis=0)
    whole = np.column_stack([counts.sum(axis=0), np.sum([one.sums for one in own], axis=0)])
    return params.shown(whole * shown[:, None])
