"""Clusters: the centres that k-means found, as a pattern (vcz2006 section 7.2.2).

A site of a vertical study has the centres' parts in its own columns; `predict` needs all columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import InputError
from unspoken.models.comparison import (
    Comparison,
    compare_arrays,
    compare_sequences,
    first_difference,
)
from unspoken.models.hostile_json import DEFAULT_LIMITS, Fields, Limits, refuse
from unspoken.models.model import Predictor
from unspoken.models.tree import check_format
from unspoken.models.tree_text import SHOWN, number

FORMAT = "unspoken-clusters"
VERSION = 1
MAX_CLUSTERS = 100_000
KMEANS = "kmeans"


@dataclass(frozen=True, eq=False)
class Clusters(Predictor):
    """Centres over named columns; `assigned` the cluster of each record, where that is known.

    A record in no cluster has -1. `scale`: what differences in each column are divided by, where
    records were compared in other units. `learner` made the clusters, and `release` is the
    fingerprint of what they were mined from, where that is known.
    `records` names these records, where their order is not that of a file.
    """

    format = FORMAT

    features: tuple[str, ...]
    centres: Floats
    assigned: Ints | None = None
    records: tuple[str, ...] | None = None
    scale: Floats | None = None
    learner: str = KMEANS
    release: str = ""

    def __post_init__(self) -> None:
        """Refuse what are no centres."""
        if self.centres.ndim != 2 or self.centres.shape[1] != len(self.features) \
                or not 0 < self.centres.shape[0] <= MAX_CLUSTERS:
            refuse("centres", f"of shape (clusters, {len(self.features)})",
                   str(self.centres.shape))
        if not np.isfinite(self.centres).all():
            refuse("centres", "finite", "others")
        if self.scale is not None and (self.scale.shape != (len(self.features),) or not (
                np.isfinite(self.scale) & (self.scale > 0)).all()):
            refuse("scale", "a number above 0 for each column", "others")
        if self.assigned is not None and self.assigned.size and not (
                -1 <= self.assigned.min() <= self.assigned.max() < self.centres.shape[0]):
            refuse("assigned", f"from -1 to {self.centres.shape[0] - 1}", "others")
        if self.records is not None and (
                self.assigned is None or len(self.records) != self.assigned.size):
            refuse("records", "one name for each assigned record", str(len(self.records)))

    def with_records(self, names: Sequence[str]) -> Clusters:
        """Return the clusters with the names of their records, if assignments are known."""
        return self if self.assigned is None else replace(self, records=tuple(names))

    def predict(self, data: Any) -> Ints:
        """Return the nearest centre of every record, the first among equals.

        Parameters
        ----------
        data : Table, frame, mapping of columns, or array
            Columns by name in any order; a bare array in the order of `features`.

        Returns
        -------
        numpy.ndarray
            The number of a centre per record; -1 for a record with a missing value.
        """
        if self.learner != KMEANS:
            raise InputError(f"Clusters by {self.learner} do not say into which of them another "
                             "record falls. `assigned` has those that were grouped.")
        rows = self._numbers(data)
        gaps = [(((rows - centre) / self._units()) ** 2).sum(axis=1) for centre in self.centres]
        nearest = np.stack(gaps, axis=1).argmin(axis=1)
        # A record with a missing value is as near to one centre as to another.
        return np.asarray(np.where(np.isnan(rows).any(axis=1), -1, nearest), np.int64)

    def sizes(self) -> Ints | None:
        """Return how many records each cluster has, where assignments are known."""
        if self.assigned is None:
            return None
        inside = self.assigned[self.assigned >= 0]
        return np.asarray(np.bincount(inside, minlength=self.centres.shape[0]), np.int64)

    def _compare(self, other: Clusters) -> Comparison:
        mine, theirs = (x.assigned if x.assigned is not None else np.zeros(0, np.int64)
                        for x in (self, other))
        return first_difference(
            lambda: compare_sequences("column", self.features, other.features),
            lambda: compare_arrays("centre", "column", self.centres, other.centres),
            lambda: compare_arrays("record", "cluster", mine, theirs),
            lambda: compare_sequences("learner", (self.learner,), (other.learner,)),
            lambda: compare_arrays("column", "scale", self._units(), other._units()))

    def _units(self) -> Floats:
        return np.ones(len(self.features)) if self.scale is None else self.scale

    def _lines(self, full: bool) -> list[str]:
        sizes = self.sizes()
        head = f"{self.centres.shape[0]} clusters over {', '.join(self.features) or 'no column'}"
        lines = ["  " + "  ".join(number(v, True) if full else f"{v:.4g}" for v in centre)
                 + ("" if sizes is None else f"  ({sizes[place]:,} records)")
                 for place, centre in enumerate(self.centres)]
        shown = lines if full else lines[:SHOWN]
        more = [f"... {len(lines) - len(shown):,} more clusters"] * (len(shown) < len(lines))
        return [head, *shown, *more]

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready object that `from_json` reads back bit for bit."""
        document = {"format": FORMAT, "version": VERSION, "features": list(self.features),
                    "clusters": int(self.centres.shape[0]),
                    "centres": self.centres.ravel().tolist()}
        if self.assigned is not None:
            document["assigned"] = self.assigned.tolist()
        if self.scale is not None:
            document["scale"] = self.scale.tolist()
        more = {name: getattr(self, name) for name, usual in (("learner", KMEANS), ("release", ""))
                if getattr(self, name) != usual}
        document |= more
        return document if self.records is None else {**document, "records": list(self.records)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> Clusters:
        """Read `to_json`'s object; anything malformed is a ModelError naming the field."""
        fields = Fields(data, limits=limits)
        check_format(fields, FORMAT)
        features = fields.texts("features", limits.max_features)
        k = fields.whole("clusters", 1, MAX_CLUSTERS)
        centres = fields.floats("centres", k * len(features)).reshape(k, len(features))
        assigned = None
        if "assigned" in data:
            assigned = fields.ints("assigned", None, -1, k - 1)
        records = fields.texts("records", limits.max_total_nodes) if "records" in data else None
        scale = fields.floats("scale", len(features)) if "scale" in data else None
        words = {name: fields.text(name) for name in ("learner", "release") if name in data}
        return cls(features, centres, assigned, records, scale, **words)
