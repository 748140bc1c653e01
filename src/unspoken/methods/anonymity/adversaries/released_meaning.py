"""What each released value of a table may stand for, read from the public description.

An interval, a set of values, a limit, or the value itself; how far a known value is from that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.methods.anonymity.hierarchy import ALL
from unspoken.methods.anonymity.label_forms import date_ends
from unspoken.methods.anonymity.method import TREE_PRESERVING
from unspoken.methods.anonymity.named_values import NAMED_FROM
from unspoken.release.method import name_in
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.category_codes import Coded, coded

_INTERVAL = re.compile(r"^\[(.+), (.+)[\])]$")
_CLOCK = re.compile(r"(?:(-?\d+) days?,? )?(\d{1,2}):(\d\d):(\d\d(?:\.\d+)?)")
"""A time of day, or a duration: as `spelled` writes it, or with Python's comma."""
_NANOSECONDS = re.compile(r"\.\d{9}")
_CLOCKS = re.compile(rf"^\[({_CLOCK.pattern}), ({_CLOCK.pattern})[\])]$")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_TRUTHS = {"False": 0.0, "True": 1.0}


def number_of(text: str) -> float:
    """Read a number; truths are 0 and 1, dates count in days and times in seconds, as elsewhere.

    Times of day count from midnight, and moments of a zone are those of UTC.
    """
    if text in _TRUTHS:
        return _TRUTHS[text]
    if clock := _CLOCK.fullmatch(text):
        days, hours, minutes = (int(part or 0) for part in clock.groups()[:3])
        return float(86400 * days + 3600 * hours + 60 * minutes + Decimal(clock[4]))
    try:
        return float(text)
    except ValueError:
        if ":" not in text:
            return float(np.datetime64(text, "D").astype(np.int64))
        return _moment(text)


def _moment(text: str) -> float:
    """Return a moment in seconds of 1970; one without a zone is taken as it stands."""
    if _NANOSECONDS.search(text):
        return float(np.datetime64(text, "ns").astype(np.int64)) / 1e9
    moment = datetime.fromisoformat(text)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(microseconds=1) / 1e6


def _two_ends(label: str) -> tuple[str, str]:
    """Return the ends of a band, or one value twice; durations may hold a comma themselves."""
    if clocks := _CLOCKS.match(label):
        return clocks[1], clocks[6]
    match = _INTERVAL.match(label)
    return (match[1], match[2]) if match else (label, label)


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
    unnamed: frozenset[str] = frozenset()
    """Labels that hold values which the description does not name."""

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
        held = [(self.groups or {}).get(str(label), frozenset([str(label)]))
                for label in self.found.values()]
        everything: frozenset[str] = frozenset().union(*held)
        # Hierarchies are read without blanks at the ends of their texts.
        texts = [text if (text := str(value)) in everything else text.strip()
                 for value in own.values()]
        for at, inside in enumerate(held):
            label = str(self.found.values()[at])
            out[:-1, at] = [text not in inside and not (
                label in self.unnamed and text not in everything and _could_hold(label, text))
                for text in texts]
        out[:, -1], out[-1, :] = 0.0, 0.0
        return out


def _could_hold(label: str, text: str) -> bool:
    """Return whether a label could hold a text; one with hidden characters says what it shows."""
    if ALL not in label or label == ALL:
        return True
    return len(label) == len(text) and all(a in (ALL, b)
                                           for a, b in zip(label, text, strict=True))


def _unnamed(about: Mapping[str, Any]) -> frozenset[str]:
    """Return the labels that may hold more than is named."""
    return frozenset([*about.get("groups", ()), ALL] if NAMED_FROM in about else ())


def _groups(column: Coded, about: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    """Return the values that each label holds: listed, or joined in the label itself."""
    if "groups" in about:
        return {str(label): frozenset(map(str, held)) for label, held in about["groups"].items()}
    values, mark = frozenset(about.get("values", ())), str(about.get("separator") or "|")
    return {label: values if label == ALL and ALL not in values else frozenset(label.split(mark))
            for label in map(str, column.values())}


def _floats(known: Any) -> Floats:
    if not is_number(known.type):
        return np.full(len(known), np.nan)
    return np.asarray(to_numbers(known), np.float64)


def meaning(column: Any, about: Mapping[str, Any], spread: float | None = None) -> Meaning:
    """Read what the values of a released column stand for from its public description."""
    values, form = coded(column), about.get("form")
    if form == "set" or (form == "suppressed" and "groups" in about):
        return Meaning(values, groups=_groups(values, about), unnamed=_unnamed(about))
    ends = _date_ends(values, about) if form == "dates" else _ends(values, about)
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
        ends = _two_ends(str(label))
        try:
            pairs.append((-np.inf, np.inf) if label == ALL else
                         (number_of(ends[0]), number_of(ends[1])))
        except ValueError:
            return None
    both = np.array([*pairs, (-np.inf, np.inf)], np.float64)
    return both[:, 0], both[:, 1]


def _date_ends(column: Coded, about: Mapping[str, Any]) -> tuple[Floats, Floats]:
    """Return the ends of days, months, years and decades; missing could be any."""
    pairs = [date_ends(str(label), str(about.get("unit"))) for label in column.values()]
    both = np.array([*pairs, (-np.inf, np.inf)], np.float64)
    return both[:, 0], both[:, 1]


def _block_ends(values: Floats, blocks: Sequence[Sequence[float]]) -> tuple[Floats, Floats]:
    """Return the ends of the block that is released as each value; missing could be any."""
    known = {float(shown): (-np.inf if low is None else low, np.inf if high is None else high)
             for shown, low, high in blocks}
    both = [known.get(float(value), (-np.inf, np.inf)) for value in values]
    table = np.array([*both, (-np.inf, np.inf)], np.float64)
    return table[:, 0], table[:, 1]


def described(mechanism: Mapping[str, Any],
              members: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return what a mechanism says in public about its columns, in one form for all.

    `members`: what the labels hold in full, for a custodian who has the key.
    """
    if name_in(mechanism) != TREE_PRESERVING.name:
        return {name: {"form": about["form"], "groups": members[name]}
                if members and name in members else about
                for name, about in mechanism.get("columns", {}).items()}
    groups, gone = mechanism.get("groups", {}), mechanism.get("suppressed", ())
    out: dict[str, Any] = {}
    for name in mechanism.get("quasi", ()):
        if name in groups:
            out[name] = {"form": "set", "groups": {label: held for label, held in groups[name]},
                         NAMED_FROM: mechanism.get("k")}
        else:
            out[name] = {"form": "suppressed"} if name in gone else \
                {"form": "blocks", "blocks": mechanism.get("blocks", {}).get(name, [])}
    return out
