"""What a guard was told: its limits, checked, and what stands in the first line of its log."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from unspoken.errors import InputError, QueryLogError, SchemaError, explain
from unspoken.release.distorted import of_column
from unspoken.release.parameters import OneOf, OrNone, PerColumn, Real, Rule, Whole, check
from unspoken.table.schema import Schema

_SHARE = Real(0.0, 1.0 + 1e-12)
_RULES: Mapping[str, tuple[Rule, str]] = {
    "smallest": (Whole(1), "Use 10."),
    "largest": (OrNone(Whole(1), _SHARE), "Leave it out for all but 'smallest' records."),
    "overlap": (OrNone(Whole(0)), "Leave it out: the audit sees what overlaps give away."),
    "group": (Whole(2), "2 protects single records, 3 pairs as well."),
    "noise": (PerColumn(Real(0.0), none=True), "It is a standard deviation."),
    "count_noise": (OrNone(Real(0.0)), "It is a standard deviation, in records."),
    "least_error": (PerColumn(Real(0.0), none=True), "Leave it out for the noise's deviation."),
    "blur": (Real(0.0), "Use 1."),
    "sample": (OrNone(Real(0.5, 1.0)), "Use 0.9, or leave it out."),
    "few": (Whole(2), "Use 10."),
    "audit": (OneOf((True, False)), ""),
}


@dataclass(frozen=True)
class Settings:
    """The limits of a guard; `QueryGuard` says what each means."""

    smallest: int = 10
    largest: int | float | None = None
    overlap: int | None = None
    group: int = 2
    noise: Any = None
    count_noise: float | None = None
    least_error: Any = None
    blur: float = 1.0
    sample: float | None = None
    few: int = 10
    audit: bool = True
    protected: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check("QueryGuard", _RULES, {name: getattr(self, name) for name in _RULES})
        if self.count_noise is not None and self.count_noise < self.blur:
            raise InputError(explain(
                "QueryGuard: 'count_noise'", f"at least 'blur' ({self.blur:g})", self.count_noise,
                "Less noise would never let a yes or no be counted."))

    def most(self, records: int) -> int:
        """Return the size of the largest query set."""
        if self.largest is None:
            return records - self.smallest
        whole = isinstance(self.largest, numbers.Integral)
        return int(self.largest if whole else self.largest * records)

    def noise_of(self, column: str) -> float | None:
        """Return the deviation of the noise on sums of a column."""
        found = of_column(self.noise, column)
        return None if found is None else float(found)

    def least_of(self, column: str, noise: float) -> float:
        """Return the error that estimates of a column's values must keep."""
        found = of_column(self.least_error, column)
        return noise if found is None else float(found)

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain data."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}


def _plain(value: Any) -> Any:
    """Return numbers of any library as Python's own."""
    if isinstance(value, Mapping):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, numbers.Real):
        return int(value) if isinstance(value, numbers.Integral) else float(value)
    return list(value)


def new_settings(schema: Schema, given: Mapping[str, Any]) -> Settings:
    """Return the settings of a new log."""
    protected = protected_of(schema)
    if not protected:
        raise SchemaError(
            "A guarded table must have a column that is sensitive. It has none. Name the columns "
            "that nobody should learn about a person when reading: "
            "unspoken.read(source, sensitive=[...]).")
    return Settings(**_known(given), protected=protected)


def kept_settings(data: Any, schema: Schema, given: Mapping[str, Any]) -> Settings:
    """Return the settings of an existing log; what is given again must be the same."""
    if not isinstance(data, dict) or set(data) != {field.name for field in fields(Settings)}:
        raise QueryLogError("The query log's settings cannot be read. Restore an intact copy.")
    kept = Settings(**data | {"protected": tuple(data["protected"])})
    said = dict(_known(given))
    if protected_of(schema):
        said["protected"] = protected_of(schema)
    for name, value in said.items():
        if getattr(kept, name) != value:
            raise InputError(explain(
                f"QueryGuard: '{name}'", f"{getattr(kept, name)!r}, as when the log was started",
                value, "Limits cannot change while a log is in use: earlier answers stay known."))
    return kept


def protected_of(schema: Schema) -> tuple[str, ...]:
    """Return the columns whose values nobody may learn."""
    return tuple(sorted({*schema.with_role("sensitive"), *schema.with_role("target")}))


def _known(given: Mapping[str, Any]) -> Mapping[str, Any]:
    for name in given:
        if name not in _RULES:
            raise InputError(explain("Settings of QueryGuard", ", ".join(_RULES), name))
    return given
