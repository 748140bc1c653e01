"""What each released value of a table may stand for, read from the public description.

An interval, a set of values, a limit, or the value itself; how far a known value is from that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.methods.anonymity.hierarchy import ALL
from unspoken.methods.anonymity.method import TREE_PRESERVING
from unspoken.release.method import name_in
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.category_codes import Coded, coded

_INTERVAL = re.compile(r"^\[(.+), (.+)[\])]$")


def _number(text: str) -> float:
    """Read a number; a date counts in days and a time in seconds, as they do elsewhere."""
    try:
        return float(text)
    except ValueError:
        if ":" not in text:
            return float(np.datetime64(text, "D").astype(np.int64))
        return float(np.datetime64(text, "us").astype(np.int64)) / 1e6


@dataclass(frozen=True)
class Meaning:
    """What the released values of one column stand for, and how far a known value is from each.

    Numbers: the ends of an interval. Categories: which original values a label holds. A missing
    value agrees with everything.
    """

    found: Coded
    low: Floats | None = None
    high: Floats | None = None
    groups: Mapping[str, frozenset[str]] | None = None
    scale: float = 1.0

    def distance(self, known: Any, places: Ints) -> Floats:
        """Return (known values, labels): 0 where they agree, up to 1 where they do not."""
        own = coded(known)
        if self.low is not None and self.high is not None:
            values = np.r_[_floats(own.labels), np.nan][:, None]
            away = np.maximum(self.low[places] - values, values - self.high[places])
            near = np.nan_to_num(np.clip(away / self.scale, 0.0, 1.0))
        else:
            near = self._apart(own)[:, places]
        return np.asarray(near[own.codes])

    def _apart(self, own: Coded) -> Floats:
        """Return (known values, labels) of a category: 0 where the label holds the value."""
        out = np.ones((own.missing + 1, self.found.missing + 1))
        for at, label in enumerate(self.found.values()):
            held = (self.groups or {}).get(str(label), frozenset([str(label)]))
            out[:-1, at] = [str(value) not in held for value in own.values()]
        out[:, -1], out[-1, :] = 0.0, 0.0
        return out


def _groups(column: Coded, about: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    """Return the values that each label holds: listed, or joined in the label itself."""
    if "groups" in about:
        return {str(label): frozenset(map(str, held)) for label, held in about["groups"].items()}
    values, mark = frozenset(about.get("values", ())), str(about.get("separator", "|"))
    return {label: values if label == ALL and ALL not in values else frozenset(label.split(mark))
            for label in map(str, column.values())}


def _floats(known: Any) -> Floats:
    if not is_number(known.type):
        return np.full(len(known), np.nan)
    return np.asarray(to_numbers(known), np.float64)


def meaning(column: Any, about: Mapping[str, Any], spread: float | None = None) -> Meaning:
    """Read what the values of a released column stand for from its public description."""
    values, form = coded(column), about.get("form")
    if form == "set":
        return Meaning(values, groups=_groups(values, about))
    ends = _ends(values, about)
    if ends is None:
        return Meaning(values)
    low, high = ends
    wide = float(np.nanmax(high[np.isfinite(high)], initial=-np.inf)
                 - np.nanmin(low[np.isfinite(low)], initial=np.inf))
    return Meaning(values, low, high, scale=spread or (wide if np.isfinite(wide) and wide else 1.0))


def _ends(column: Coded, about: Mapping[str, Any]) -> tuple[Floats, Floats] | None:
    """Return the ends of what each label stands for; None for categories."""
    form, size = about.get("form"), column.missing + 1
    if form == "suppressed":
        return np.full(size, -np.inf), np.full(size, np.inf)
    if form == "blocks" and is_number(column.labels.type):
        return _block_ends(np.asarray(to_numbers(column.labels), np.float64), about["blocks"])
    if is_number(column.labels.type):
        values = np.asarray(to_numbers(column.labels), np.float64)
        low = np.where(values <= about.get("low", -np.inf), -np.inf, values)
        high = np.where(values >= about.get("high", np.inf), np.inf, values)
        return np.r_[low, -np.inf], np.r_[high, np.inf]
    if form != "interval":
        return None
    pairs = []
    for label in column.values():
        match = _INTERVAL.match(str(label))
        try:
            ends = match.groups() if match else (str(label), str(label))
            pairs.append((_number(ends[0]), _number(ends[1])))
        except ValueError:
            return None
    both = np.array([*pairs, (-np.inf, np.inf)], np.float64)
    return both[:, 0], both[:, 1]


def _block_ends(values: Floats, blocks: Sequence[Sequence[float]]) -> tuple[Floats, Floats]:
    """Return the ends of the block that is released as each value; missing could be any."""
    known = {float(shown): (low, high) for shown, low, high in blocks}
    both = [known.get(float(value), (-np.inf, np.inf)) for value in values]
    table = np.array([*both, (-np.inf, np.inf)], np.float64)
    return table[:, 0], table[:, 1]


def described(mechanism: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a mechanism says in public about its columns, in one form for all."""
    if name_in(mechanism) != TREE_PRESERVING.name:
        return dict(mechanism.get("columns", {}))
    groups, gone = mechanism.get("groups", {}), mechanism.get("suppressed", ())
    out: dict[str, Any] = {}
    for name in mechanism.get("quasi", ()):
        if name in groups:
            out[name] = {"form": "set", "groups": {label: held for label, held in groups[name]}}
        else:
            out[name] = {"form": "suppressed"} if name in gone else \
                {"form": "blocks", "blocks": mechanism.get("blocks", {}).get(name, [])}
    return out
