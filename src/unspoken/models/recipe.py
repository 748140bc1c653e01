"""Recipe: how a model was mined, so that the custodian can mine the original in the same way.

The miner sends it beside the model. Whoever reads it treats it as hostile input: names and plain
values only, nothing is run because of it but a learner of a known name.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from unspoken.models.hostile_json import Fields, parse_json, read_bytes, refuse
from unspoken.models.tree import check_format
from unspoken.table.atomic_files import named_path, write_file

FORMAT = "unspoken-recipe"
VERSION = 1
MAX_ROWS = 2**31
_SCALARS = (str, int, float, bool, type(None))


@dataclass(frozen=True)
class Recipe:
    """How one model was mined, so that it can be mined again.

    Attributes
    ----------
    learner : str
        The learner.
    task : {"classification", "regression"}
        What is predicted.
    params : mapping
        The parameters of the learner.
    columns : tuple of str
        The features it learned from.
    left_out : tuple of str
        Columns that are not numeric and were skipped.
    release : str or None
        The fingerprint of the release.
    versions : mapping of str to str
        The versions of the libraries.
    rows : tuple of int or None
        The released rows that it learned from, in its order; None: all of them.
    search : mapping
        How the parameters were searched for, if they were: folds, seed, candidates and score; for
        early stopping patience, rounds and the most rounds that it was allowed.
    watched : tuple of int or None
        The released rows that early stopping scored; None: it had none.
    """

    learner: str
    task: str
    params: Mapping[str, Any]
    columns: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    release: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    rows: tuple[int, ...] | None = None
    search: Mapping[str, Any] = field(default_factory=dict)
    watched: tuple[int, ...] | None = None

    def summary(self) -> str:
        """Return the recipe in a few lines."""
        params = ", ".join(f"{name}={value!r}" for name, value in self.params.items())
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        lines = [f"{self.learner} for {self.task} on {len(self.columns)} columns ({params})"]
        if self.left_out:
            lines.append(f"left out, not numeric: {', '.join(self.left_out)}")
        if self.rows is not None:
            lines.append(f"learned from {len(self.rows):,} of the rows")
        if self.watched is not None:
            lines.append(f"stopped early by the score of {len(self.watched):,} other rows")
        if self.search:
            told = ", ".join(f"{name} {value}" for name, value in self.search.items())
            lines.append(f"parameters searched for: {told}")
        return "\n".join(lines + ([f"mined with {versions}"] if versions else []))

    def to_json(self) -> dict[str, Any]:
        """Return the recipe as plain data (a field "learner" would make it look like XGBoost's)."""
        return {
            "format": FORMAT, "version": VERSION, "mined": self.learner, "task": self.task,
            "params": dict(self.params), "columns": list(self.columns),
            "left_out": list(self.left_out), "release": self.release,
            "versions": dict(self.versions),
            "rows": None if self.rows is None else list(self.rows), "search": dict(self.search),
            "watched": None if self.watched is None else list(self.watched),
        }

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write a JSON file at once or not at all."""
        text = json.dumps(self.to_json(), indent=2, allow_nan=False)
        write_file(named_path(path), text.encode(), overwrite=overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Recipe:
        """Read a recipe file; anything malformed is a ModelError naming the field."""
        return cls.from_json(parse_json(read_bytes(named_path(path))))

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Recipe:
        """Read `to_json`'s object."""
        fields = Fields(data)
        check_format(fields, FORMAT)
        limit = fields.limits.max_features
        release = fields.raw("release")
        if release is not None and not isinstance(release, str):
            refuse("release", "a text or null", release)
        return cls(fields.text("mined"), fields.text("task"), _scalars(fields, "params"),
                   fields.texts("columns", limit), fields.texts("left_out", limit), release,
                   _versions(fields), _rows(fields, "rows"), _scalars(fields, "search"),
                   _rows(fields, "watched"))


def _rows(fields: Fields, key: str) -> tuple[int, ...] | None:
    if fields.data.get(key) is None:
        return None
    places = fields.ints(key, len(fields.items(key, MAX_ROWS)), 0, MAX_ROWS)
    return tuple(places.tolist())


def _scalars(fields: Fields, key: str) -> dict[str, Any]:
    if key not in fields.data:
        return {}
    values = dict(fields.fields(key).data)
    for name, value in values.items():
        if not isinstance(value, _SCALARS):
            refuse(f"{key}.{name}", "a text, a number, true, false or null", value)
    return values


def _versions(fields: Fields) -> dict[str, str]:
    return {str(name): str(text)[:40] for name, text in fields.fields("versions").data.items()}
