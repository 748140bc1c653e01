"""The policy of a query service, as a TOML file.

    [service]
    budget = "adult.budget"          # every answer is booked there; see `unspoken budget`
    log = "adult.queries"            # questions and answers, append-only and chained
    head = "/mnt/other/adult.head"   # where the end of the log is kept; best on another disk
    each = 0.01                      # epsilon of one answer
    smallest = 10                    # people whom a cell must hold to be answered exactly
    rate = 20                        # questions a second that one analyst may ask
    register = "register.jsonl"      # the custodian's register, which the service is entered into
    cells = ["sex", "region"]        # public columns whose combinations are answered exactly

    [columns.sex]
    public = true                    # everybody may know it of everybody
    [columns.age]
    bounds = [17, 90]                # from public knowledge, never from the data
    step = 1                         # of sums; without one, the bounds' distance over about 2**20
    [columns.work]
    values = ["private", "state"]    # the categories that answers list

    [analysts]
    alice = "2f1c..."                # the hash that `unspoken serve --new-token` prints

Paths are relative to the file. Every column is protected unless it is public. Unknown names are
refused: a misspelt limit would be no limit.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unspoken.errors import PolicyError, SchemaError, explain, reason, unknown
from unspoken.methods.queries.guard_settings import Settings
from unspoken.methods.queries.service.question import PRICES, is_price
from unspoken.release.parameters import Range, Real, Rule, Whole
from unspoken.table.atomic_files import named_path
from unspoken.table.declared_types import meaning
from unspoken.table.schema import Schema


@dataclass(frozen=True)
class _Price:
    """What one answer may cost: the same in a policy as in a question."""

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return f"a number {PRICES}"

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        return is_price(value)


_SERVICE: Mapping[str, Rule] = {"each": _Price(), "smallest": Whole(2),
                                "rate": Real(0.0, 10_000.0)}
_PATHS = ("budget", "log", "head", "register")
_COLUMN = ("public", "bounds", "step", "values")
_MOST_VALUES = 1000
_FARTHEST = 1e100
_LONGEST_NAME = 200
_HASH = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class ServicePolicy:
    """What a query service may answer, to whom, and where it is booked."""

    budget: Path
    log: Path
    head: Path | None = None
    register: Path | None = None
    each: float = 0.01
    smallest: int = 10
    rate: float = 20.0
    cells: tuple[str, ...] = ()
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    analysts: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ServicePolicy:
        """Read a policy file."""
        try:
            data = tomllib.loads(named_path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise PolicyError(f"'{path}' must be a readable policy file (TOML). "
                              f"{reason(error)}") from None
        return cls.parse(data, named_path(path).absolute().parent)

    @classmethod
    def parse(cls, data: Mapping[str, Any], folder: Path) -> ServicePolicy:
        """Check a policy and return it."""
        _known("A section of the policy", data, ("service", "columns", "analysts"))
        service = _table(data, "service")
        _known("A setting of [service]", service, (*_SERVICE, *_PATHS, "cells"))
        for name, rule in _SERVICE.items():
            if name in service and not rule.admits(service[name]):
                raise PolicyError(explain(f"'{name}' of [service]", rule.allowed(), service[name]))
        for name in ("budget", "log"):
            if name not in service:
                raise PolicyError(f"[service] has no '{name}'. Name the file, such as {name} = "
                                  f"\"people.{name}\".")
        wanted: dict[str, Any] = {name: service[name] for name in _SERVICE if name in service}
        wanted |= {name: folder / _text(name, service[name]) for name in _PATHS if name in service}
        return cls(**wanted, cells=_names(service.get("cells", [])),
                   columns=_columns(_table(data, "columns")),
                   analysts=_analysts(_table(data, "analysts")))

    def fixed(self) -> dict[str, Any]:
        """Return what must stay as it is after the first question.

        Exact answers under two policies may differ in one person. Without exact cells nothing but
        their absence is fixed: noise is drawn for what is declared when it is drawn.
        """
        columns = {name: dict(one) for name, one in sorted(self.columns.items())}
        return {"cells": list(self.cells),
                **({"smallest": self.smallest, "columns": columns} if self.cells else {})}

    def settings(self, schema: Schema) -> Settings:
        """Return the columns' declarations in the form that grids and cells read."""
        for name in self.columns:
            if schema[name].role == "identifier":
                raise SchemaError(f"Column '{name}' is an identifier. The policy must not name it: "
                                  "it is never answered about.")
        public = tuple(sorted(name for name, one in self.columns.items() if one.get("public")))
        for name in self.cells:
            if name not in public:
                raise PolicyError(f"'cells' names '{name}', which is not public. Set public = true "
                                  f"in [columns.{name}] if everybody may know it.")
        bounds = {name: tuple(one["bounds"]) for name, one in self.columns.items()
                  if "bounds" in one}
        grid = {name: one["step"] for name, one in self.columns.items() if "step" in one}
        return Settings(public=public, bounds=bounds or None, grid=grid or None,
                        cells=self.cells or None, smallest=self.smallest)


def _columns(data: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    for name, one in data.items():
        if not isinstance(one, dict):
            raise PolicyError(f"[columns.{name}] must be a section.")
        _known(f"A setting of [columns.{name}]", one, _COLUMN)
        _check_grid(name, one)
        if not isinstance(one.get("public", False), bool):
            raise PolicyError(explain(f"'public' of [columns.{name}]", "true or false",
                                      one["public"]))
        if "values" in one:
            _check_values(name, one["values"])
    return dict(data)


def _check_grid(name: str, one: Mapping[str, Any]) -> None:
    """Refuse ends and steps whose squares no number holds: an answer could not be written down."""
    for key, rule in (("bounds", Range()), ("step", Real(1 / _FARTHEST, _FARTHEST))):
        if key in one and not rule.admits(one[key]):
            raise PolicyError(explain(f"'{key}' of [columns.{name}]", rule.allowed(), one[key]))
    low, high = one.get("bounds", (0, 1))
    if max(abs(low), abs(high)) > _FARTHEST or high - low < 1 / _FARTHEST:
        raise PolicyError(f"'bounds' of [columns.{name}] must lie within {_FARTHEST:g} of 0, and "
                          f"{1 / _FARTHEST:g} apart: variances have no numbers beyond.")


def _check_values(name: str, values: Any) -> None:
    plain = isinstance(values, list) and all(isinstance(v, str | int | float) for v in values)
    if not plain or not 1 <= len(values) <= _MOST_VALUES \
            or len({meaning(str(value)) for value in values}) != len(values):
        raise PolicyError(f"'values' of [columns.{name}] must be a list of 1 to {_MOST_VALUES} "
                          "different texts or numbers.")


def _analysts(data: Mapping[str, Any]) -> dict[str, str]:
    """Check names, which the budget books, and hashes, each of which must be of one analyst."""
    for name, hashed in data.items():
        if not 1 <= len(name) <= _LONGEST_NAME or not name.isprintable():
            raise PolicyError(f"A name of [analysts] must have 1 to {_LONGEST_NAME} printable "
                              f"characters. {name[:30]!r} has {len(name)}. Use a shorter or "
                              "plainer one.")
        if not isinstance(hashed, str) or not _HASH.fullmatch(hashed):
            raise PolicyError(f"'{name}' of [analysts] must be the hash of a token, 64 digits of "
                              "0-9 and a-f. Type 'unspoken serve --new-token' to draw a token; its "
                              "hash goes here.")
    _check_own_tokens(data)
    return dict(data)


def _check_own_tokens(analysts: Mapping[str, str]) -> None:
    """Refuse a token that two analysts share: one would spend what the other may get."""
    owners: dict[str, str] = {}
    for name, hashed in analysts.items():
        if hashed in owners:
            raise PolicyError(f"'{owners[hashed]}' and '{name}' of [analysts] have the same token. "
                              "Nobody could tell who asks, and one would spend the limit of the "
                              "other. Type 'unspoken serve --new-token' to draw one for each.")
        owners[hashed] = name


def _table(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = data.get(name, {})
    if not isinstance(found, dict):
        raise PolicyError(f"[{name}] must be a section of the policy.")
    return found


def _known(what: str, data: Mapping[str, Any], names: tuple[str, ...]) -> None:
    for name in data:
        if name not in names:
            raise PolicyError(unknown(what, name, names))


def _names(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise PolicyError(explain("'cells' of [service]", "a list of names", value))
    return tuple(value)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise PolicyError(explain(f"'{name}' of [service]", "a path", value))
    return value
