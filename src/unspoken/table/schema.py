"""Schema: what each column is (kind) and what it means for somebody's privacy (role).

Declared once, when a table is read, and carried everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from unspoken.errors import SchemaError, explain, unknown
from unspoken.table.formats.header_names import check_names, unknown_name

KINDS = ("numeric", "ordinal", "categorical", "basket")
ROLES = ("identifier", "quasi", "sensitive", "target", "plain")


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    name : str
        Its name.
    kind : {"numeric", "ordinal", "categorical", "basket"}
        What its values are.
    role : {"identifier", "quasi", "sensitive", "target", "plain"}, default "plain"
        What it means for somebody's privacy; identifiers are never released.
    note : str, default ""
        How kind and role were guessed; for the custodian, in no manifest.
    guessed : bool, default False
        True if nobody declared the role, so that it may follow from the values.
    order : tuple of str, default ()
        The values of an ordinal text column, least first; in no manifest.
    """

    name: str
    kind: str
    role: str = "plain"
    note: str = ""
    guessed: bool = field(default=False, compare=False, repr=False)
    order: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        _one_of(f"Kind of column '{self.name}'", self.kind, KINDS)
        _one_of(f"Role of column '{self.name}'", self.role, ROLES)

    def to_json(self) -> dict[str, str]:
        """Return what a manifest says about the column: no note, which is the custodian's."""
        return {"name": self.name, "kind": self.kind, "role": self.role}


@dataclass(frozen=True)
class Schema:
    """The columns of a table, in order.

    Attributes
    ----------
    columns : tuple of Column
        At most one of them is the target; `schema["age"]` returns one by name.
    """

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        check_names(self.names)
        if len(self.with_role("target")) > 1:
            raise SchemaError(
                explain("The target", "one column", list(self.with_role("target")))
            )

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise SchemaError(unknown_name(name, self.names))

    def __str__(self) -> str:
        return self.summary()

    @property
    def names(self) -> tuple[str, ...]:
        """Return all column names in order."""
        return tuple(column.name for column in self.columns)

    @property
    def target(self) -> str | None:
        """Return the name of the target, if there is one."""
        targets = self.with_role("target")
        return targets[0] if targets else None

    @property
    def features(self) -> tuple[str, ...]:
        """Return what a miner may learn from: everything but identifiers and the target."""
        return tuple(c.name for c in self.columns if c.role not in ("identifier", "target"))

    def with_role(self, role: str) -> tuple[str, ...]:
        """Return the columns of one role."""
        return tuple(column.name for column in self.columns if column.role == role)

    def of_kind(self, *kinds: str) -> tuple[str, ...]:
        """Return the features of some kinds."""
        return tuple(name for name in self.features if self[name].kind in kinds)

    def declare(
        self, roles: Mapping[str, Sequence[str]], kinds: Mapping[str, str] | None = None
    ) -> Schema:
        """Return the schema with roles and kinds as declared by the user."""
        role_of = self._roles(roles)
        for name in kinds or {}:
            self[name]
        return Schema(tuple(_declared(c, role_of, kinds or {}) for c in self.columns))

    def _roles(self, roles: Mapping[str, Sequence[str]]) -> dict[str, str]:
        role_of: dict[str, str] = {}
        for role, names in roles.items():
            for name in names:
                self[name]
                if role_of.setdefault(name, role) != role:
                    raise SchemaError(
                        f"Column '{name}' must have one role. Got {role_of[name]} and {role}. "
                        "Name it in one list only."
                    )
        return role_of

    def summary(self) -> str:
        """Return the schema as a small table."""
        rows = [("column", "kind", "role", "note")]
        rows += [(c.name, c.kind, c.role, c.note) for c in self.columns]
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
                 for row in rows]
        return "\n".join(line.rstrip() for line in lines)

    def to_json(self) -> list[dict[str, str]]:
        """Return the columns as plain data."""
        return [column.to_json() for column in self.columns]

    @classmethod
    def from_json(cls, data: Any) -> Schema:
        """Read the columns of a manifest."""
        if not isinstance(data, list) or not all(_is_column(entry) for entry in data):
            raise SchemaError(explain("A schema", "a list of {name, kind, role}", data))
        return cls(tuple(Column(e["name"], e["kind"], e["role"]) for e in data))


def _declared(column: Column, role_of: Mapping[str, str], kinds: Mapping[str, str]) -> Column:
    role, stated = role_of.get(column.name), kinds.get(column.name) or ""
    kind, order = _with_order(column.name, stated)
    declared = [word for word, value in (("role", role), ("kind", kind)) if value]
    if not declared:
        return column
    note = f"{' and '.join(declared)} as declared"
    return replace(column, role=role or column.role, kind=kind or column.kind, note=note,
                   guessed=column.guessed and not role, order=order or column.order)


def _with_order(name: str, stated: str) -> tuple[str, tuple[str, ...]]:
    """Read a kind that may state the order of its values: ordinal:low<medium<high."""
    kind, _, listed = stated.partition(":")
    order = tuple(value.strip() for value in listed.split("<")) if listed else ()
    if listed and (kind != "ordinal" or len({*order}) < max(len(order), 2)):
        raise SchemaError(explain(f"The kind of column '{name}'", "an order like ordinal:low<high, "
                                  "of different values, where it states one", stated))
    return kind, order


def _is_column(entry: Any) -> bool:
    return isinstance(entry, dict) and all(
        isinstance(entry.get(field), str) for field in ("name", "kind", "role")
    )


def _one_of(what: str, got: str, allowed: Iterable[str]) -> None:
    if got not in tuple(allowed):
        raise SchemaError(unknown(what, got, allowed))
