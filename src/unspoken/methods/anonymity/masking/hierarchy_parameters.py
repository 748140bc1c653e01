"""Hierarchies as parameters: given as objects or as paths of CSV files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unspoken.errors import SchemaError
from unspoken.methods.anonymity.hierarchy import Hierarchy
from unspoken.methods.anonymity.masking.masking_method import Roles


def hierarchies_of(declared: Mapping[str, Any] | None) -> dict[str, Hierarchy]:
    """Return the hierarchies of the columns that have one, read where paths were given."""
    return {name: one if isinstance(one, Hierarchy) else Hierarchy.from_csv(one)
            for name, one in (declared or {}).items()}


def refuse_strange(trees: Mapping[str, Hierarchy], roles: Roles) -> None:
    """Refuse hierarchies for columns that are not made coarser."""
    for name in trees:
        if name not in roles.quasi:
            raise SchemaError(f"'hierarchies' names '{name}', which is not a quasi-identifier. "
                              f"Quasi-identifiers: {', '.join(roles.quasi)}.")
