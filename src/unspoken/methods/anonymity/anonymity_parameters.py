"""Rules of parameters that only these methods have: hierarchies, tables, trees, secrets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unspoken.release.parameters import Rule


@dataclass(frozen=True)
class HierarchyRule:
    """A hierarchy, or the path of its file."""

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return "a Hierarchy or the path of its file"

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        from unspoken.methods.anonymity.hierarchy import Hierarchy

        return isinstance(value, Hierarchy | str) or hasattr(value, "__fspath__")


@dataclass(frozen=True)
class TableRule:
    """A table, or the path of its file."""

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return "None, a Table or the path of its file"

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        from unspoken.table.table import Table

        return value is None or isinstance(value, Table | str) or hasattr(value, "__fspath__")


@dataclass(frozen=True)
class ForSensitive:
    """A number, or a mapping from sensitive columns to numbers."""

    rule: Rule
    none: bool = False

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return ("None, " * self.none + f"{self.rule.allowed()}, or a mapping from sensitive "
                "columns to such numbers")

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        if isinstance(value, Mapping):
            return all(isinstance(n, str) and self.rule.admits(v) for n, v in value.items())
        return (value is None and self.none) or self.rule.admits(value)

    def columns_in(self, value: Any) -> tuple[str, ...]:
        """Return the columns that a value names."""
        return tuple(value) if isinstance(value, Mapping) else ()


@dataclass(frozen=True)
class Trees:
    """A growth, or several."""

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return "None, a Growth, a mapping of its fields, or a list of them"

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        from unspoken.models.tree_growth_rule import Growth

        if isinstance(value, Sequence) and not isinstance(value, str):
            return len(value) > 0 and all(isinstance(v, Growth | Mapping) for v in value)
        return value is None or isinstance(value, Growth | Mapping)
