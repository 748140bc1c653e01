"""Outliers: which objects lie far from most others, as a pattern (vcz2006 section 7.3.1).

An object is an outlier if at least (or more than) a fraction p of the others (or of all objects,
itself among them) lie further away than a distance. The rule travels with the answer, because the
book states it in several ways that differ at the edge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Bools
from unspoken.models.comparison import (
    Comparison,
    compare_arrays,
    compare_sequences,
    first_difference,
)
from unspoken.models.hostile_json import DEFAULT_LIMITS, Fields, Limits, refuse
from unspoken.models.model import Model
from unspoken.models.tree import check_format

FORMAT = "unspoken-outliers"
VERSION = 1


@dataclass(frozen=True, eq=False)
class Outliers(Model):
    """One flag an object, and the rule in words; names of objects that are in no file's order."""

    format = FORMAT

    flags: Bools
    rule: str
    records: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse what are no flags."""
        if self.flags.ndim != 1 or self.flags.dtype != np.bool_:
            refuse("flags", "one yes or no for each object", str(self.flags.dtype))
        if self.records is not None and len(self.records) != self.flags.size:
            refuse("records", "one name for each object", str(len(self.records)))

    def with_records(self, names: Sequence[str]) -> Outliers:
        """Return the outliers with the names of all objects."""
        return replace(self, records=tuple(names))

    @property
    def places(self) -> npt.NDArray[np.int64]:
        """Return the numbers of the objects that are outliers."""
        return np.asarray(np.flatnonzero(self.flags), np.int64)

    def _compare(self, other: Outliers) -> Comparison:
        return first_difference(
            lambda: compare_sequences("rule", [self.rule], [other.rule]),
            lambda: compare_arrays("object", "flag", self.flags, other.flags))

    def _lines(self, full: bool) -> list[str]:
        chosen = self.places if full else self.places[:10]
        shown = ", ".join(str(place) if self.records is None else self.records[place]
                          for place in chosen.tolist())
        more = ", ..." if self.places.size > chosen.size else ""
        head = f"{self.places.size:,} outliers among {self.flags.size:,} objects ({self.rule})"
        return [head + (f": {shown}{more}" if shown else "")]

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready object that `from_json` reads back."""
        document = {"format": FORMAT, "version": VERSION, "objects": int(self.flags.size),
                    "outliers": self.places.tolist(), "rule": self.rule}
        return document if self.records is None else {**document, "records": list(self.records)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> Outliers:
        """Read `to_json`'s object; anything malformed is a ModelError naming the field."""
        fields = Fields(data, limits=limits)
        check_format(fields, FORMAT)
        size = fields.whole("objects", 0, limits.max_total_nodes)
        places = fields.ints("outliers", None, 0, size - 1)
        if np.any(np.diff(places) <= 0):
            refuse("outliers", "increasing", "others")
        flags = np.zeros(size, np.bool_)
        flags[places] = True
        records = fields.texts("records", limits.max_total_nodes) if "records" in data else None
        return cls(flags, fields.text("rule"), records)
