"""Each person withholds, reports or distorts each attribute (as2000 section 1).

The choices stand in a column of their own and are released with the values, so that the miner can
use every report as what it is. Who learns what: the collector learns who reported, who withheld and
who distorted; where people choose by their value, the choice itself says something about it. What
a method promises holds for those who chose to distort and for nobody else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unspoken.errors import DataError, InputError
from unspoken.release.distorted import CHOICES, DISTORT, TRUTH, WITHHOLD, Change, Distorted
from unspoken.table.schema import Schema


@dataclass(frozen=True)
class Choosing:
    """A change of one column that is made only for those who chose to distort."""

    name: str
    change: Change
    marker: str

    def __call__(self, batch: Any, start: int) -> Any:
        """Change one batch; what is missing stays missing, whatever was chosen."""
        chosen = said_of(self.marker, batch.column(self.marker))
        changed = self.change(batch, start)
        true = pc.if_else(changed.is_valid(), batch.column(self.name).cast(changed.type),
                          pa.scalar(None, changed.type))
        mixed = pc.if_else(pa.array(chosen == TRUTH), true, changed)
        return pc.if_else(pa.array(chosen == WITHHOLD), pa.scalar(None, changed.type), mixed)


def said_of(name: str, column: Any) -> Any:
    """Return everybody's choice; anything else is refused by name."""
    chosen = np.asarray(column.to_pylist(), dtype=object)
    strange = [one for one in set(chosen.tolist()) if one not in CHOICES]
    if strange:
        raise DataError(f"Column '{name}' of choices holds {str(strange[0])[:200]!r}. Allowed: "
                        f"{', '.join(CHOICES)}.")
    return chosen


def markers_of(owner: str, schema: Schema, names: Sequence[str],
               choices: Mapping[str, str] | None) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the columns that are distorted, and the column of choices of some of them."""
    markers = dict(choices or {})
    for column, marker in markers.items():
        if column not in names:
            raise InputError(f"{owner}: 'choices' names '{column}', which is not distorted. "
                             f"Distorted: {', '.join(list(names)[:10])}.")
        _ = schema[marker]
    return tuple(name for name in names if name not in markers.values()), markers


def chosen_changes(changes: Mapping[str, Change], markers: Mapping[str, str]) -> dict[str, Change]:
    """Return the changes, each made only for those who chose it where there is a choice."""
    return {name: Choosing(name, change, markers[name]) if name in markers else change
            for name, change in changes.items()}


def limited(promise: Distorted, markers: Mapping[str, str]) -> Distorted:
    """Return the promise, with its condition where people could choose."""
    if not markers:
        return promise
    line = ("it holds for those who chose to distort: others reported their value, and a choice "
            "may say something about the value")
    return replace(promise, statement=f"Of those who chose to distort: {promise.statement}",
                   conditions=(*promise.conditions, line),
                   facts={**promise.facts, "by_choice": sorted(markers)})


def check_choices(choices: Mapping[str, str] | None, names: Iterable[str]) -> None:
    """Refuse a choice that is none, or that is about an attribute without a law."""
    known = list(names)
    for name, choice in (choices or {}).items():
        if name not in known or choice not in CHOICES:
            raise InputError(f"The choice {str(choice)[:200]!r} for '{name}' cannot be used. "
                             f"Choose {', '.join(CHOICES)}, for one of {', '.join(known[:10])}.")


def sent(record: Mapping[str, Any], distorted: Mapping[str, Any],
         choices: Mapping[str, str] | None) -> dict[str, Any]:
    """Return what a device sends: each attribute as the person chose, and the choices."""
    check_choices(choices, distorted)
    if choices is None:
        return dict(distorted)
    out: dict[str, Any] = {}
    for name, value in distorted.items():
        choice = choices.get(name, DISTORT)
        missing = value is None or choice == WITHHOLD
        out[name] = None if missing else record[name] if choice == TRUTH else value
        out[f"{name}_choice"] = choice
    return out
