"""The settings of a guard: its limits, checked, and the first line of its log."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from unspoken.errors import InputError, QueryLogError, SchemaError, explain
from unspoken.release.distorted import of_column
from unspoken.release.parameters import (
    Names,
    OneOf,
    OrNone,
    PerColumn,
    Range,
    Real,
    Rule,
    Whole,
    check,
    check_columns,
)
from unspoken.table.identify.named_roles import named_roles
from unspoken.table.schema import Schema

NOISE, EXACT, LINEAR, SIZES = AUDITS = ("noise", "exact", "linear", "sizes")
_SHARE = Real(0.0, 1.0 + 1e-12)
_RULES: Mapping[str, tuple[Rule, str]] = {
    "public": (Names(), "Name the columns that everybody may know of everybody."),
    "audit": (OneOf(AUDITS), "Use 'noise'."),
    "epsilon": (Real(0.0, 100.0), "Use 1: it is spent by all answers together."),
    "each": (Real(0.0, 100.0), "Use 0.1: it is spent by one answer."),
    "bounds": (PerColumn(Range(), none=True, single=False), "Declare them; never take the data's."),
    "grid": (PerColumn(Real(0.0), none=True, single=False), "Leave it out for whole numbers."),
    "cells": (Names(), "Name public columns; their combinations are answered exactly."),
    "smallest": (Whole(1), "Use 10."),
    "largest": (OrNone(Whole(1), _SHARE), "Leave it out for all but 'smallest' records."),
    "overlap": (OrNone(Whole(0)), "Leave it out: the audit sees what overlaps disclose."),
    "overlapping": (Whole(0), "Use 3."),
    "width": (Real(0.0, 1.0), "Use 0.05 for a twentieth of the range."),
    "decoys": (Real(0.0, 1.0), "Use 0.1."),
    "group": (Whole(2), "2 protects single records, 3 pairs as well."),
    "noise": (PerColumn(Real(0.0), none=True), "It is a standard deviation."),
    "count_noise": (OrNone(Real(0.0)), "It is a standard deviation, in records."),
    "least_error": (PerColumn(Real(0.0), none=True), "Leave it out for the noise's deviation."),
    "blur": (Real(0.0), "Use 1."),
    "sample": (OrNone(Real(0.5, 1.0)), "Use 0.9, or leave it out."),
    "few": (Whole(2), "Use 10."),
}
_GAUSSIAN = ("noise", "count_noise", "least_error", "blur", "sample")
_BELONGS: Mapping[str, tuple[str, ...]] = {
    "epsilon": (NOISE,), "each": (NOISE,), "cells": (NOISE,),
    "overlapping": (EXACT,), "width": (EXACT,), "decoys": (EXACT,),
    "group": (EXACT, LINEAR), "overlap": (EXACT, LINEAR, SIZES), "few": (LINEAR, SIZES),
    "largest": (EXACT, LINEAR, SIZES),
    **dict.fromkeys(_GAUSSIAN, (LINEAR, SIZES)),
}
"""Which audits a setting means something to."""


@dataclass(frozen=True)
class Settings:
    """The limits of a guard; `QueryGuard` says what each means."""

    public: tuple[str, ...] = ()
    audit: str = NOISE
    epsilon: float = 1.0
    each: float = 0.1
    bounds: Any = None
    grid: Any = None
    cells: tuple[str, ...] | None = None
    smallest: int = 10
    largest: int | float | None = None
    overlap: int | None = None
    overlapping: int = 3
    width: float = 0.05
    decoys: float = 0.1
    group: int = 2
    noise: Any = None
    count_noise: float | None = None
    least_error: Any = None
    blur: float = 1.0
    sample: float | None = None
    few: int = 10

    def __post_init__(self) -> None:
        declared = {name: getattr(self, name) for name in _RULES}
        check("QueryGuard", _RULES, declared | {"public": self.public or None})
        for field in fields(self):
            meant = _BELONGS.get(field.name, AUDITS)
            if self.audit not in meant and getattr(self, field.name) != field.default:
                raise InputError(f"QueryGuard: '{field.name}' applies to "
                                 f"audit={' or '.join(meant)} only. This guard has "
                                 f"audit='{self.audit}'. Leave it out, or choose that audit.")
        if self.count_noise is not None and self.count_noise < self.blur:
            raise InputError(explain(
                "QueryGuard: 'count_noise'", f"at least 'blur' ({self.blur:g})", self.count_noise,
                "Less noise would never let a yes or no be counted."))
        if self.each > self.epsilon:
            raise InputError(explain("QueryGuard: 'each'", f"at most 'epsilon' ({self.epsilon:g})",
                                     self.each))

    @property
    def budget(self) -> Fraction:
        """Return the epsilon of all answers together, as it is written."""
        return exactly(self.epsilon)

    def most(self, records: int) -> int:
        """Return the size of the largest query set."""
        if self.largest is None:
            return records - self.smallest
        whole = isinstance(self.largest, numbers.Integral)
        return int(self.largest if whole else self.largest * records)

    def noise_of(self, column: str) -> float | None:
        """Return the deviation of the noise on sums of a column."""
        deviation = of_column(self.noise, column)
        return None if deviation is None else float(deviation)

    def least_of(self, column: str, noise: float) -> float:
        """Return the error that estimates of a column's values must keep."""
        least = of_column(self.least_error, column)
        return noise if least is None else float(least)

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain data."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}


def exactly(number: float) -> Fraction:
    """Return the decimal number that was typed: ten times 0.1 is 1."""
    return Fraction(repr(float(number)))


def _plain(value: Any) -> Any:
    """Return numbers of any library as Python's own."""
    if isinstance(value, Mapping):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, numbers.Real):
        return int(value) if isinstance(value, numbers.Integral) else float(value)
    return [_plain(entry) for entry in value]


def new_settings(schema: Schema, options: Mapping[str, Any]) -> Settings:
    """Return the settings of a new log."""
    settings = Settings(**_known(options))
    check_columns("QueryGuard", {name: rule for name, (rule, _) in _RULES.items()},
                  vars(settings), schema.names)
    _check_public(schema, settings)
    for name in settings.cells or ():
        if name not in settings.public:
            raise SchemaError(f"QueryGuard: 'cells' names '{name}', which is not public. Add "
                              "it to 'public' if everybody may know it.")
    return settings


def guarded_schema(schema: Schema, settings: Settings) -> Schema:
    """Return the roles that a guard goes by: with an epsilon, none that follow from the values."""
    if settings.audit != NOISE:
        return schema
    return named_roles(schema, {*settings.public, *(settings.bounds or {})})


def _check_public(schema: Schema, settings: Settings) -> None:
    public = settings.public
    for name in public:
        if schema[name].role in ("sensitive", "target", "identifier"):
            raise SchemaError(f"QueryGuard: 'public' names '{name}', which is "
                              f"{schema[name].role}. Only columns that everybody may know can "
                              "be public.")
    hidden = guarded_schema(schema, settings).with_role("identifier")
    if not set(schema.names) - set(public) - set(hidden):
        raise SchemaError("A guarded table must have a column that is not public. It has none: "
                          "there is nothing to guard.")


def kept_settings(data: Any, settings: Mapping[str, Any]) -> Settings:
    """Return the settings of an existing log; what is given again must be the same."""
    if not isinstance(data, dict) or set(data) != {field.name for field in fields(Settings)}:
        raise QueryLogError("The query log's settings cannot be read. Restore an intact copy.")
    kept = Settings(**_known(data))
    for name, value in _known(settings).items():
        if _plain(getattr(kept, name)) != _plain(value):
            raise InputError(f"QueryGuard: '{name}' was {getattr(kept, name)!r} when the log "
                             f"was started. Got {value!r}. Limits cannot change while a log is "
                             "in use: earlier answers stay known.")
    return kept


def _known(settings: Mapping[str, Any]) -> dict[str, Any]:
    for name in settings:
        if name not in _RULES:
            raise InputError(f"QueryGuard has no setting '{name}'. Settings: "
                             f"{', '.join(_RULES)}.")
    listed = {name: tuple(settings[name]) for name in ("public", "cells")
              if isinstance(settings.get(name), list | tuple)}
    if "public" in listed:
        listed["public"] = tuple(sorted(listed["public"]))
    return {**settings, **listed}
