"""The same members from all ids in one place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from unspoken.joint.mpc.sets.intersection import plain_intersection
from unspoken.joint.mpc.sets.union import plain_union


def pooled_common(sets: Sequence[Iterable[Any]], universe: Sequence[str]) -> list[str]:
    """Return the ids that all sets have, in the order of the universe."""
    common = plain_intersection(sets)
    return [item for item in universe if item in common]


def pooled_union(sets: Sequence[Iterable[Any]], universe: Sequence[str]) -> list[str]:
    """Return the ids that any set has, in the order of the universe."""
    united = plain_union(sets)
    return [item for item in universe if item in united]
