"""A release beside its original, at a glance: every column before and after, and what is left.

Quick enough to follow a slider: nobody is attacked here. `people_audit` measures the risks.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.audit.people.comparable import Labels, Numbers, Scale
from unspoken.audit.people.kept_use import kept_use
from unspoken.audit.people.own_release import released_table
from unspoken.audit.people.read_columns import Reading, read_tables
from unspoken.audit.turned_values import TurnedColumns
from unspoken.release.key import Key
from unspoken.release.release import Release
from unspoken.table.table import Table

BINS, MOST_LABELS = 12, 8
OTHER = "(other)"


@dataclass(frozen=True)
class Beside:
    """One column: shares of the records by band or by category, before and after.

    `bands` are the edges of a column of numbers, empty for categories, which `labels` names. `how`
    says how the released values were read.
    """

    column: str
    labels: tuple[str, ...]
    bands: tuple[float, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    how: str

    @property
    def kept(self) -> float:
        """Return one less the distance of the two distributions."""
        return 1.0 - sum(abs(b - a) for b, a in zip(self.before, self.after, strict=True)) / 2

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


@dataclass(frozen=True)
class SideBySide:
    """All columns that went out, those that did not, and what is left of the table's use."""

    columns: tuple[Beside, ...]
    missing: tuple[str, ...]
    use: dict[str, float]

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


def side_by_side(table: Table, release: Release, key: Key | None,
                 turned: TurnedColumns | None = None) -> SideBySide:
    """Put a release beside its original; adversaries see neither the original nor the key.

    `turned` says which columns hold others in another form, where that is known already: no method
    of one's own writes values otherwise than its guarantee says.
    """
    reading = read_tables(table, released_table(release, key), None, turned)
    columns = tuple(_beside(name, reading) for name in reading.names)
    missing = tuple(name for name in table.schema.names if name not in reading.names)
    return SideBySide(columns, missing, kept_use(reading))


def _beside(name: str, reading: Reading) -> Beside:
    before, after = reading.original.columns[name], reading.release.columns[name]
    how = reading.how[name]
    if isinstance(before, Numbers) and isinstance(after, Numbers):
        edges = _edges(before.middle)
        return Beside(name, (), tuple(edges.tolist()), _banded(before.middle, edges),
                      _banded(after.middle, edges), how)
    assert isinstance(before, Labels)
    assert isinstance(after, Labels)
    often = np.argsort(-np.bincount(before.codes[before.codes >= 0],
                                    minlength=len(before.names)), kind="stable")[:MOST_LABELS]
    names = tuple(before.names[at] for at in often.tolist())
    return Beside(name, (*names, OTHER), (), _listed(_counts(before), before.names, names),
                  _listed(_read(after, reading.scales[name]), before.names, names), how)


def _edges(values: Floats) -> Floats:
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    return np.linspace(low, high if high > low else low + 1.0, BINS + 1)


def _banded(values: Floats, edges: Floats) -> tuple[float, ...]:
    """Return the share of the known values in every band; what lies beyond counts at the end."""
    known = np.clip(values[np.isfinite(values)], edges[0], edges[-1])
    counts = np.histogram(known, edges)[0]
    return tuple((counts / max(known.size, 1)).tolist())


def _counts(column: Labels) -> Floats:
    """Return the share of the known values that have each label."""
    known = column.codes[(column.codes >= 0) & (column.codes < len(column.names))]
    return np.asarray(np.bincount(known, minlength=len(column.names)) / max(known.size, 1))


def _read(column: Labels, scale: Scale) -> Floats:
    """Return the shares of the original's categories that released labels are taken for.

    A label that may stand for several categories counts for each of them alike.
    """
    shares = _counts(column)
    if scale.agree is None:
        return shares
    weights = scale.agree.astype(np.float64)
    if scale.reads is not None:
        weights = np.zeros_like(weights)
        weights[scale.reads, np.arange(scale.reads.size)] = 1.0
    return np.asarray((weights / np.maximum(weights.sum(axis=0), 1.0)) @ shares)


def _listed(shares: Floats, known: tuple[str, ...], names: tuple[str, ...]) -> tuple[float, ...]:
    """Return the share of every category that is shown, and of all others together."""
    by_name = dict(zip(known, shares.tolist(), strict=False))
    chosen = tuple(by_name.get(name, 0.0) for name in names)
    return (*chosen, max(0.0, 1.0 - sum(chosen)))
