"""Hierarchies as parameters: given as objects or as paths of files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unspoken.errors import SchemaError
from unspoken.methods.anonymity.hierarchy import Hierarchy


def hierarchies_of(parameter: Mapping[str, Any] | None) -> dict[str, Hierarchy]:
    """Return the hierarchies of the columns that have one, read from the paths of files."""
    return {name: one if isinstance(one, Hierarchy) else Hierarchy.from_csv(one)
            for name, one in (parameter or {}).items()}


def refuse_strange(trees: Mapping[str, Hierarchy], quasi: Sequence[str],
                   sensitive: Sequence[str]) -> None:
    """Refuse hierarchies for columns that are neither made coarser nor measured."""
    for name in trees:
        if name not in quasi and name not in sensitive:
            raise SchemaError(f"'hierarchies' names '{name}', which is neither a quasi-identifier "
                              f"nor sensitive. Quasi-identifiers: {', '.join(quasi)}.")
