"""What a release must reach: K over the quasi-identifiers, L and t over the sensitive columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Bools
from unspoken.methods.anonymity.measures.diversity_rules import (
    Secret,
    close,
    diverse,
    reached,
)
from unspoken.methods.anonymity.measures.equivalence_classes import sizes

Codes = npt.NDArray[np.integer]


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
    """The numbers asked for; `sensitive` holds every sensitive column."""

    k: int
    l: Mapping[str, float]  # noqa: E741
    t: Mapping[str, float]
    form: str
    sensitive: Mapping[str, Secret]

    @property
    def ordered(self) -> frozenset[str]:
        """Return the sensitive columns whose values lie apart by their order."""
        return frozenset(name for name, one in self.sensitive.items() if one.ordered)

    def measure(self, owner: Codes) -> Reached:
        """Measure a table whose records are numbered by equivalence class, without gaps."""
        people = sizes(owner)
        ok = np.asarray(people >= self.k)
        ls: dict[str, float] = {}
        ts: dict[str, float] = {}
        for name, secret in self.sensitive.items():
            counted = secret.spread(owner)
            ls[name] = float(reached(counted, self.form).min())
            if name in self.l:
                ok &= diverse(counted, self.l[name], self.form)
            if name in self.t:
                ts[name] = float(secret.apart(counted).max())
                ok &= close(secret, counted, self.t[name])
        return Reached(int(people.min()), ls, ts, ok)
