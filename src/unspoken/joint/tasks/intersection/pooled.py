"""The same number, and the same members, from all ids in one place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unspoken.joint.mpc.sets.encrypted_circle import encoded
from unspoken.joint.mpc.sets.intersection import plain_intersection


def pooled(tables: Mapping[str, Any]) -> int:
    """Return how many ids all owners have in common, from every owner's ids."""
    return len(pooled_members(tables))


def pooled_members(tables: Mapping[str, Any]) -> list[bytes]:
    """Return the ids that all owners have in common, in their order."""
    return sorted(plain_intersection([encoded(ids) for ids in tables.values()]))
