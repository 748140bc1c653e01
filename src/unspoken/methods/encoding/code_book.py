"""The code book of a piecewise encoding: everything the custodian keeps, and how it is applied.

A column is its distinct values in increasing order and the code of each. Values are
looked up as float32 because that is what threshold learners see: 2^24 and 2^24 + 1 are one value
to them and must be one code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.errors import DamagedKeyError, DataError, UnseenValueError
from unspoken.methods.encoding.method import PIECEWISE
from unspoken.methods.encoding.target_units import TargetUnits
from unspoken.numerics import shuffle
from unspoken.numerics.label_runs import Pieces
from unspoken.numerics.random import words
from unspoken.numerics.value_lookup import Lookup
from unspoken.numerics.whole_levels import WholeLevels
from unspoken.release.key import Key
from unspoken.release.release import Release


@dataclass(frozen=True, repr=False)
class ColumnCode:
    """One encoded column; its repr shows no secret, because tracebacks show reprs."""

    name: str
    released: str
    values: Floats
    codes: Ints
    pieces: Pieces
    record: npt.NDArray[np.bool_]
    low: Ints
    high: Ints
    seed: bytes
    merged: bool = False
    """Whether values were merged that differ only beyond float32."""
    floor: Floats = field(default_factory=lambda: np.zeros(0))
    """The smallest value that is rounded to each value; empty if none is (`conditioning`)."""

    def __repr__(self) -> str:
        return f"ColumnCode({self.name!r}, {self.values.size} values, secrets hidden)"

    @cached_property
    def _lookup(self) -> Lookup:
        """Codes by value; positions by value where records of one value differ in code."""
        if self.record.any():
            return Lookup(self.values, np.arange(self.values.size, dtype=np.int32))
        return Lookup(self.values, self.codes.astype(np.int32))

    @cached_property
    def _levels(self) -> WholeLevels | None:
        """What belongs to the level of every whole number, where these are not too many."""
        return WholeLevels.over(self.floor.astype(np.float32), self._lookup.payload)

    def encode(self, data: npt.NDArray[Any], start: int = 0, unseen: str = "error") -> Any:
        """Return int32 codes and the mask of missing values (None if nothing is missing)."""
        if self.floor.size:
            whole = None if self._levels is None else self._levels.find(data)
            if whole is not None:
                return (self._record_codes(whole, start) if self.record.any() else whole), None
            data = self.rounded(np.asarray(data, np.float64))
        codes, missing, strange = self._lookup.find(data, nearest=unseen == "nearest")
        if strange is not None:
            raise UnseenValueError(
                f"Column '{self.name}' has a value that was not there when the encoder was fitted. "
                "To predict for new records, decode the model and use it on original values; to "
                "encode them all the same, use unseen='nearest'."
            )
        return (self._record_codes(codes, start) if self.record.any() else codes), missing

    def rounded(self, data: Floats) -> Floats:
        """Return values as they were encoded: rounded to float32 and to levels, if they were."""
        if self.merged or self.floor.size:
            data = data.astype(np.float32).astype(np.float64)
        if not self.floor.size:
            return data
        place = np.searchsorted(self.floor.astype(np.float32).astype(np.float64), data, "right")
        return np.where(np.isnan(data), np.nan, self.values[np.maximum(place - 1, 0)])

    def decode(self, codes: Floats) -> Floats:
        """Return the values of codes; a code that was never given out is refused."""
        out = np.full(codes.shape, np.nan)
        known = ~np.isnan(codes)
        if self.record.any() or not np.all(np.isin(codes[known], self.codes)):
            raise UnseenValueError(
                f"Column '{self.name}': only codes of this key can be decoded, and only where "
                "every value has one code (monochromatic='permutation')."
            )
        order = np.argsort(self.codes)
        where = order[np.searchsorted(self.codes[order], codes[known])]
        out[known] = self.values[where]
        return out

    def _record_codes(self, where: npt.NDArray[np.int32], start: int) -> npt.NDArray[np.int32]:
        """Draw the codes of records in monochromatic pieces; record i always draws the same."""
        raw = words(self.seed, start, where.size) >> np.uint64(32)
        piece = self.pieces.owner()[where] if self.values.size else where
        width = (self.high - self.low + 1)[piece].astype(np.uint64)
        drawn = self.low[piece] + (raw % width).astype(np.int64)
        return np.where(self.record[piece], drawn, self.codes[where]).astype(np.int32)


@dataclass(frozen=True, repr=False)
class PiecewiseBook:
    """All encoded columns, the order of rows, and the names that were replaced."""

    columns: tuple[ColumnCode, ...]
    mode: str
    order_seed: bytes | None = None
    classes_: Mapping[Any, Any] | None = None
    categories: Mapping[str, Mapping[str, Any]] | None = None
    target: tuple[str, str] | None = None
    names: tuple[str, ...] = ()
    """Original names of all released features, numbers and categories, in the released order."""
    units: TargetUnits | None = None
    """The secret units of a numeric target."""

    def __repr__(self) -> str:
        return f"PiecewiseBook({len(self.columns)} columns, mode {self.mode!r}, secrets hidden)"

    @property
    def features(self) -> tuple[str, ...]:
        """Return the original names of the encoded columns."""
        return tuple(column.name for column in self.columns)

    @property
    def released_features(self) -> tuple[str, ...]:
        """Return their released names."""
        return tuple(column.released for column in self.columns)

    @property
    def classes(self) -> Mapping[Any, Any] | None:
        """Return released label to original label, or None if labels were kept."""
        return self.classes_

    @property
    def increasing(self) -> bool:
        """Return True if larger originals have larger codes."""
        return self.mode != "anti"

    @property
    def float64_values(self) -> bool:
        """Return True: what was merged was rounded, and identity is with the rounded column."""
        return True

    @property
    def everything(self) -> tuple[str, ...]:
        """Return the original names of all released features in their order."""
        return self.names or (*self.features, *(self.categories or {}))

    def groups(self, name: str) -> dict[str, tuple[str, ...]]:
        """Return the categories behind each released label of a column, labels sorted."""
        labels: Mapping[str, str] = (self.categories or {})[name]["labels"]
        members: dict[str, list[str]] = {label: [] for label in sorted(set(labels.values()))}
        for value, label in labels.items():
            members[label].append(value)
        return {label: tuple(sorted(values)) for label, values in members.items()}

    def column(self, index: int) -> tuple[Floats, Ints]:
        """Return distinct values and codes of one column."""
        return self.columns[index].values, self.columns[index].codes

    def encode(self, data: Floats) -> Floats:
        """Return the codes of training records in their original order."""
        if data.shape[1] != len(self.columns):
            raise DataError(
                f"The data must have the {len(self.columns)} encoded columns. "
                f"Got {data.shape[1]} columns."
            )
        out = np.empty(data.shape, np.float64, order="F")
        for index, column in enumerate(self.columns):
            codes, missing = column.encode(data[:, index])
            out[:, index] = codes
            if missing is not None:
                out[missing, index] = np.nan
        return out

    def order(self, rows: int) -> Ints | None:
        """Return the original row of each released row."""
        return None if self.order_seed is None else shuffle.permutation(self.order_seed, rows)

    def to_key(self, fingerprint: str) -> Key:
        """Put the book into a key."""
        classes = None if self.classes_ is None else [list(pair) for pair in self.classes_.items()]
        secrets = {
            "mode": self.mode, "classes": classes, "categories": self.categories,
            "target": self.target, "names": list(self.names),
            "units": None if self.units is None else self.units.to_json(),
            "order_seed": self.order_seed.hex() if self.order_seed else None,
            "columns": [[c.name, c.released, c.seed.hex(), c.merged] for c in self.columns],
        }
        arrays: dict[str, npt.NDArray[Any]] = {}
        for index, column in enumerate(self.columns):
            arrays |= {f"{index}.{part}": array for part, array in _parts(column).items()}
        return Key(PIECEWISE.name, fingerprint, secrets, arrays)

    @classmethod
    def from_key(cls, key: Key) -> PiecewiseBook:
        """Take the book out of a key."""
        if key.mechanism != PIECEWISE.name:
            raise DamagedKeyError(f"The key must be of the mechanism '{PIECEWISE.name}'. "
                                  f"Got '{key.mechanism}'.")
        try:
            return _read_book(key.secrets, key.arrays)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError):
            raise DamagedKeyError("The key lacks parts of a piecewise encoding.") from None


def released_names(key: Key, release: Release) -> dict[str, str]:
    """Return the released name of every original column that went out."""
    book = PiecewiseBook.from_key(key)
    names = dict(zip(book.features, book.released_features, strict=True))
    names |= {name: str(entry["released"]) for name, entry in (book.categories or {}).items()}
    return names | ({book.target[0]: book.target[1]} if book.target else {})


def _parts(column: ColumnCode) -> dict[str, npt.NDArray[Any]]:
    return {
        "values": column.values, "codes": column.codes, "starts": column.pieces.starts,
        "mono": column.pieces.mono.astype(np.uint8), "record": column.record.astype(np.uint8),
        "low": column.low, "high": column.high, "floor": column.floor,
    }


def _read_book(secrets: Mapping[str, Any], arrays: Mapping[str, Any]) -> PiecewiseBook:
    columns = tuple(
        _read_column(index, tuple(entry), arrays) for index, entry in enumerate(secrets["columns"])
    )
    seed, classes, target = secrets["order_seed"], secrets["classes"], secrets["target"]
    names = tuple(secrets.get("names") or ())
    _check_categories(secrets["categories"], names, {column.name for column in columns})
    return PiecewiseBook(
        columns, secrets["mode"], bytes.fromhex(seed) if seed else None,
        None if classes is None else {released: original for released, original in classes},
        secrets["categories"], None if target is None else (target[0], target[1]),
        names, TargetUnits.from_json(secrets.get("units")),
    )


def _check_categories(categories: Any, names: tuple[Any, ...], numeric: set[str]) -> None:
    """Raise ValueError unless labels are texts and the names are those of all features."""
    for entry in (categories or {}).values():
        labels = entry["labels"]
        if not isinstance(entry["released"], str) or not isinstance(labels, Mapping):
            raise ValueError("categories")
        if not all(isinstance(text, str) for pair in labels.items() for text in pair):
            raise ValueError("labels")
    if names and (len(set(names)) != len(names) or set(names) != numeric | set(categories or {})):
        raise ValueError("names")


_NAMES = ("values", "codes", "starts", "mono", "record", "low", "high")


def _check_parts(parts: Mapping[str, Any]) -> None:
    """Raise ValueError unless the arrays of a column fit together."""
    size, pieces = parts["values"].size, parts["starts"].size
    for name, array in parts.items():
        if array.shape != ((size,) if name in ("values", "codes") else (pieces,)):
            raise ValueError(name)
        if not np.all(np.isfinite(array)):
            raise ValueError(name)
    starts = parts["starts"]
    rises = np.all(np.diff(starts) > 0) and np.all(np.diff(parts["values"]) > 0)
    if not rises or (pieces and (starts[0] != 0 or starts[-1] >= size)) or (size and not pieces):
        raise ValueError("starts")
    if np.any(parts["low"] > parts["high"]) or np.abs(parts["codes"]).max(initial=0) >= 2**31:
        raise ValueError("codes")


def _read_column(index: int, entry: tuple[Any, ...], arrays: Any) -> ColumnCode:
    name, released, seed, merged = entry

    def part(what: str) -> Any:
        return arrays[f"{index}.{what}"]

    _check_parts({name: part(name) for name in _NAMES})
    floor = arrays.get(f"{index}.floor", np.zeros(0))
    if floor.shape not in ((0,), part("values").shape) or not np.all(np.isfinite(floor)) or (
            np.any(np.diff(floor) <= 0)):
        raise ValueError("floor")
    pieces = Pieces(part("starts"), part("mono").astype(bool), part("values").size)
    return ColumnCode(name, released, part("values"), part("codes"), pieces,
                      part("record").astype(bool), part("low"), part("high"), bytes.fromhex(seed),
                      bool(merged), floor)
