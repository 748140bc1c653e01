"""Reading what the other side sends: sizes first, then types, then values.

A model file is hostile input. Nothing here recurses, trusts a length that came with it, or lets a
number through that is not finite; every refusal names the field.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.errors import ModelError, explain
from unspoken.table.atomic_files import named_path
from unspoken.table.formats.text_files import read_at_most

Source = str | bytes | os.PathLike[str]


@dataclass(frozen=True)
class Limits:
    """How large a model from outside may be before it is refused."""

    max_bytes: int = 256 * 1024 * 1024
    max_nodes: int = 1_000_000
    max_total_nodes: int = 20_000_000
    max_trees: int = 100_000
    max_depth: int = 4096
    max_features: int = 1_000_000
    max_classes: int = 100_000
    max_text: int = 10_000
    max_containers: int = 5_000_000

    def check(self, field: str, size: int, limit: int) -> None:
        """Refuse a size above its limit."""
        if size > limit:
            raise ModelError(
                explain(f"model field '{field}'", f"at most {limit} long", f"{size}",
                        "Pass larger Limits if you trust the sender.")
            )


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, eq=False)
class Packed:
    """Numbers of a packed model file: taken where a list of numbers may stand, and nowhere else."""

    numbers: npt.NDArray[Any]


def refuse(field: str, allowed: str, got: object) -> NoReturn:
    """Raise the one error for a malformed model, naming the field."""
    raise ModelError(explain(f"model field '{field}'", allowed, got))


def read_bytes(source: Source, limits: Limits = DEFAULT_LIMITS) -> bytes:
    """Return the content of a path, a text or bytes, never more than the limit.

    A str is taken as a path unless it looks like model text (it starts with `{` or holds a
    line break).
    """
    if isinstance(source, bytes):
        limits.check("file", len(source), limits.max_bytes)
        return source
    if isinstance(source, str) and _is_text(source):
        limits.check("file", len(source), limits.max_bytes)
        return source.encode("utf-8", "surrogatepass")
    with named_path(source).open("rb") as file:
        content = read_at_most(file, limits.max_bytes + 1)
    limits.check("file", len(content), limits.max_bytes)
    return content


def _is_text(source: str) -> bool:
    return source.lstrip()[:1] == "{" or "\n" in source


def as_text(content: bytes) -> str:
    """Decode UTF-8, or refuse."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ModelError(
            explain("a model file", "UTF-8 text", f"a bad byte at {error.start}")
        ) from None


def parse_json(content: bytes, limits: Limits = DEFAULT_LIMITS) -> dict[str, Any]:
    """Parse a JSON object; duplicate keys, NaN, Infinity and deep nesting are refused."""
    # An empty list is two bytes of text and more than fifty in memory.
    containers = content.count(b"[") + content.count(b"{")
    limits.check("lists and objects", containers, limits.max_containers)
    try:
        parsed = json.loads(
            as_text(content), object_pairs_hook=_unique, parse_constant=_no_constant
        )
    except RecursionError:
        raise ModelError("The model file is nested too deeply.") from None
    except ValueError as error:
        raise ModelError(explain("a model file", "valid JSON", str(error))) from None
    if not isinstance(parsed, dict):
        refuse("file", "a JSON object", type(parsed).__name__)
    return parsed


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        refuse(twice[:40], "given once", "twice")
    return members


def _no_constant(name: str) -> NoReturn:
    raise ModelError(explain("every number of a model file", "finite", name))


class Fields:
    """Typed access to one JSON object; a wrong field is refused by its full name."""

    def __init__(self, data: object, name: str = "", limits: Limits = DEFAULT_LIMITS) -> None:
        if not isinstance(data, Mapping):
            refuse(name or "file", "an object", type(data).__name__)
        self.data = data
        self.name = name
        self.limits = limits

    def at(self, key: str) -> str:
        """Return the full name of a field."""
        return f"{self.name}.{key}" if self.name else key

    def raw(self, key: str) -> Any:
        """Return a field of any type; a missing one is refused."""
        if key not in self.data:
            refuse(self.at(key), "present", "nothing")
        return self.data[key]

    def fields(self, key: str) -> Fields:
        """Return a nested object."""
        return Fields(self.raw(key), self.at(key), self.limits)

    def items(self, key: str, limit: int) -> list[Any]:
        """Return a list of at most `limit` items."""
        value = self.raw(key)
        if not isinstance(value, list):
            refuse(self.at(key), "a list", type(value).__name__)
        self.limits.check(self.at(key), len(value), limit)
        return value

    def text(self, key: str) -> str:
        """Return a text of bounded length."""
        value = self.raw(key)
        if not isinstance(value, str):
            refuse(self.at(key), "a text", type(value).__name__)
        self.limits.check(self.at(key), len(value), self.limits.max_text)
        return value

    def texts(self, key: str, limit: int) -> tuple[str, ...]:
        """Return a list of texts."""
        values = self.items(key, limit)
        if set(map(type, values)) - {str}:
            refuse(self.at(key), "a list of texts", _other(values, {str}))
        return tuple(values)

    def whole(self, key: str, low: int, high: int) -> int:
        """Return a whole number in a range."""
        value = self.raw(key)
        if type(value) is not int or not low <= value <= high:
            refuse(self.at(key), f"a whole number from {low} to {high}", value)
        return value

    def ints(self, key: str, size: int | None, low: int, high: int) -> Ints:
        """Return an array of whole numbers in a range."""
        if (packed := self._packed(key, size)) is not None:
            return self._packed_ints(key, packed, low, high)
        values = self._sized(key, size)
        if set(map(type, values)) - {int}:
            refuse(self.at(key), "a list of whole numbers", _other(values, {int}))
        return self._between(key, values, low, high)

    def _between(self, key: str, values: list[int], low: int, high: int) -> Ints:
        if values and (min(values) < low or max(values) > high):
            bad = next(v for v in values if not low <= v <= high)
            refuse(self.at(key), f"a list of whole numbers from {low} to {high}", str(bad)[:40])
        return np.array(values, np.int64)

    def flags(self, key: str, size: int | None) -> npt.NDArray[np.bool_]:
        """Return an array of flags: booleans, or 0 and 1."""
        if (packed := self._packed(key, size)) is not None:
            return self._packed_ints(key, packed, 0, 1).astype(np.bool_)
        values = self._sized(key, size)
        if set(map(type, values)) - {int, bool} or set(values) - {0, 1}:
            refuse(self.at(key), "a list of 0 and 1", _other(values, {bool}))
        return np.array(values, np.bool_)

    def floats(self, key: str, size: int | None, infinite: bool = False) -> Floats:
        """Return an array of finite numbers; `infinite` allows the texts "inf" and "-inf"."""
        if (packed := self._packed(key, size)) is not None:
            return self._packed_floats(key, packed, infinite)
        values = self._sized(key, size)
        allowed: set[type] = {int, float, str} if infinite else {int, float}
        kinds = set(map(type, values))
        if kinds - allowed:
            refuse(self.at(key), "a list of numbers", _other(values, allowed))
        return self._finite(key, values, str in kinds)

    def _finite(self, key: str, values: list[Any], texts: bool) -> Floats:
        """Return numbers, and texts of infinity where there are any."""
        for value in {v for v in values if isinstance(v, str)} if texts else ():
            if value not in ("inf", "-inf"):
                refuse(self.at(key), 'numbers, "inf" or "-inf"', value)
        try:
            numbers = np.array([float(v) for v in values] if texts else values, np.float64)
        except OverflowError:
            refuse(self.at(key), "a list of finite numbers", "a larger one")
        finite = np.isfinite(numbers)
        if texts:
            finite |= np.fromiter((isinstance(v, str) for v in values), np.bool_, len(values))
        if not finite.all():
            refuse(self.at(key), "a list of finite numbers", "an infinite one")
        return numbers

    def _packed(self, key: str, size: int | None) -> npt.NDArray[Any] | None:
        """Return the numbers of a packed file, None where there is a list of JSON."""
        value = self.raw(key)
        if not isinstance(value, Packed):
            return None
        if size is None:
            self.limits.check(self.at(key), value.numbers.size, self.limits.max_nodes)
        elif value.numbers.size != size:
            refuse(self.at(key), f"a list of {size}", f"{value.numbers.size}")
        return value.numbers

    def _packed_ints(self, key: str, numbers: npt.NDArray[Any], low: int, high: int) -> Ints:
        if numbers.dtype.kind != "i":
            refuse(self.at(key), "a list of whole numbers", str(numbers.dtype))
        if numbers.size and (int(numbers.min()) < low or int(numbers.max()) > high):
            refuse(self.at(key), f"a list of whole numbers from {low} to {high}", "others")
        return numbers.astype(np.int64)

    def _packed_floats(self, key: str, numbers: npt.NDArray[Any], infinite: bool) -> Floats:
        wide = numbers.astype(np.float64)
        if np.isnan(wide).any() or not (infinite or np.isfinite(wide).all()):
            refuse(self.at(key), "a list of finite numbers", "another one")
        return wide

    def _sized(self, key: str, size: int | None) -> list[Any]:
        values = self.items(key, self.limits.max_bytes if size is not None
                            else self.limits.max_nodes)
        if size is not None and len(values) != size:
            refuse(self.at(key), f"a list of {size}", f"{len(values)}")
        return values


def _other(values: Sequence[Any], allowed: set[type]) -> str:
    return next((repr(v)[:40] for v in values if type(v) not in allowed), "something else")
