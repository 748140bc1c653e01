"""Where the table on a desk comes from, and what its columns were declared to be."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.errors import InputError
from unspoken.release.original_records import ColumnDigest, mixed
from unspoken.table.formats.data_urls import Place, as_place
from unspoken.table.formats.file_sets import digest_of
from unspoken.table.read import read
from unspoken.table.table import Table


@dataclass(frozen=True)
class Source:
    """Where a table comes from and what its columns were declared to be, as plain data."""

    path: Place
    """A file or folder, or the address of a table in a database."""
    sha256: str
    table: str | None = None
    roles: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    """Columns that seem to name people and are released all the same."""

    def to_json(self) -> dict[str, Any]:
        """Return what a child process needs to read the same table."""
        return {"path": str(self.path), "sha256": self.sha256, "table": self.table,
                "roles": dict(self.roles), "kinds": dict(self.kinds), "keep": list(self.keep)}

    @property
    def name(self) -> str:
        """Return the name of the file, and of the table inside it."""
        inside = f" · {self.table}" if self.table else ""
        return f"{self.path.name}{inside}"

    def named(self, role: str) -> list[str]:
        """Return the columns of a role."""
        return [name for name, own in self.roles.items() if own == role]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Source:
        """Read it back."""
        return cls(as_place(data["path"]), data["sha256"], data["table"], data["roles"],
                   data["kinds"], tuple(data["keep"]))

    def read(self) -> Table:
        """Read the table as it was declared; what was changed since is refused."""
        if isinstance(self.path, Path) and self.path.exists():
            self._refuse_changed(digest_of(self.path))
        target = self.named("target")
        table = read(self.path, target=target[0] if target else None, table=self.table,
                     sensitive=self.named("sensitive"), quasi=self.named("quasi"),
                     identifiers=self.named("identifier"), keep=list(self.keep),
                     kinds=self.kinds, show=False)
        if not isinstance(self.path, Path):
            self._refuse_changed(rows_digest(table))
        return table

    def _refuse_changed(self, now: str) -> None:
        if now != self.sha256:
            raise InputError(f"'{self.path.name}' was changed after it was loaded. Load it again.")

    def own_budget(self, root: Path) -> Path | None:
        """Return where the budget of an address is kept; that of a file lies beside it."""
        if isinstance(self.path, Path):
            return None
        text = f"{self.path}\n{self.table or ''}"
        return root / "budgets" / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.budget"

    def known_budget(self, root: Path) -> Path | None:
        """Return the budget of an address if it was started."""
        place = self.own_budget(root)
        return place if place is not None and place.exists() else None


def rows_digest(table: Table) -> str:
    """Return a digest of all rows, whatever order a server sends them in."""
    names = sorted(table.schema.names)
    whole = np.zeros(table.rows, np.uint64)
    for name in names:
        whole += ColumnDigest(hashlib.sha256(name.encode()).digest())(
            table.arrow([name])[name].combine_chunks())
    rows = hashlib.sha256(np.sort(mixed(whole)).tobytes())
    rows.update("\0".join(names).encode())
    return rows.hexdigest()


def source_digest(path: Place, table: Table) -> str:
    """Return what tells a table from one that was changed: by its files, or by its rows."""
    return digest_of(path) if isinstance(path, Path) else rows_digest(table)
