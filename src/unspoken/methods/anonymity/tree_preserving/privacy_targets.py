"""What a release must reach: K over the quasi-identifiers, L and t over the sensitive columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Bools
from unspoken.methods.anonymity.measures.equivalence_classes import (
    closeness,
    distinct,
    entropy,
    spread,
    strong,
)
from unspoken.methods.anonymity.method import DISTINCT, ENTROPY, STRONG

Codes = npt.NDArray[np.integer]

_MEASURE = {DISTINCT: distinct, ENTROPY: entropy, STRONG: strong}
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Reached:
    """K, and the worst L and t of each sensitive column; `ok` says which classes will do."""

    k: int
    l: dict[str, float]  # noqa: E741
    t: dict[str, float]
    ok: Bools = field(compare=False)

    @property
    def met(self) -> bool:
        """Return whether every class will do."""
        return bool(self.ok.all())

    def to_json(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        return {"k": self.k, "l": self.l, "t": self.t}

    def __str__(self) -> str:
        parts = [f"K = {self.k}", *(f"L of '{n}' = {v:.4g}" for n, v in self.l.items()),
                 *(f"t of '{n}' = {v:.4g}" for n, v in self.t.items())]
        return ", ".join(parts)


@dataclass(frozen=True)
class Needs:
    """The numbers asked for; `sensitive` holds the codes of each column, and which are ordered."""

    k: int
    l: Mapping[str, float]  # noqa: E741
    t: Mapping[str, float]
    form: str
    sensitive: Mapping[str, Codes]
    ordered: frozenset[str] = frozenset()

    def measure(self, owner: Codes) -> Reached:
        """Measure a table whose records are numbered by equivalence class, without gaps."""
        spreads = {name: spread(owner, codes) for name, codes in self.sensitive.items()}
        # Where values were counted by class, records need not be counted once more.
        sizes = next(iter(spreads.values())).sizes if spreads else np.bincount(owner)
        ok = sizes >= self.k
        ls: dict[str, float] = {}
        ts: dict[str, float] = {}
        for name, counted in spreads.items():
            levels = np.asarray(_MEASURE[self.form](counted), np.float64)
            ls[name] = float(levels.min())
            ok &= levels >= self.l.get(name, 1.0) * (1 - _ROUNDING)
            if name in self.t:
                apart = closeness(counted, name in self.ordered)
                ts[name] = float(apart.max())
                ok &= apart <= self.t[name] + _ROUNDING
        return Reached(int(sizes.min()), ls, ts, ok)
