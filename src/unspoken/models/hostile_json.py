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
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.errors import ModelError, explain

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
    with Path(source).open("rb") as file:
        content = file.read(limits.max_bytes + 1)
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
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        refuse(twice[:40], "given once", "twice")
    return found


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
        found = self.raw(key)
        if not isinstance(found, list):
            refuse(self.at(key), "a list", type(found).__name__)
        self.limits.check(self.at(key), len(found), limit)
        return found

    def text(self, key: str) -> str:
        """Return a text of bounded length."""
        found = self.raw(key)
        if not isinstance(found, str):
            refuse(self.at(key), "a text", type(found).__name__)
        self.limits.check(self.at(key), len(found), self.limits.max_text)
        return found

    def texts(self, key: str, limit: int) -> tuple[str, ...]:
        """Return a list of texts."""
        found = self.items(key, limit)
        if set(map(type, found)) - {str}:
            refuse(self.at(key), "a list of texts", _other(found, {str}))
        return tuple(found)

    def whole(self, key: str, low: int, high: int) -> int:
        """Return a whole number in a range."""
        found = self.raw(key)
        if type(found) is not int or not low <= found <= high:
            refuse(self.at(key), f"a whole number from {low} to {high}", found)
        return found

    def ints(self, key: str, size: int | None, low: int, high: int) -> Ints:
        """Return an array of whole numbers in a range."""
        found = self._sized(key, size)
        if set(map(type, found)) - {int}:
            refuse(self.at(key), "a list of whole numbers", _other(found, {int}))
        return self._between(key, found, low, high)

    def _between(self, key: str, found: list[int], low: int, high: int) -> Ints:
        if found and (min(found) < low or max(found) > high):
            bad = next(v for v in found if not low <= v <= high)
            refuse(self.at(key), f"a list of whole numbers from {low} to {high}", str(bad)[:40])
        return np.array(found, np.int64)

    def flags(self, key: str, size: int | None) -> npt.NDArray[np.bool_]:
        """Return an array of flags: booleans, or 0 and 1."""
        found = self._sized(key, size)
        if set(map(type, found)) - {int, bool} or set(found) - {0, 1}:
            refuse(self.at(key), "a list of 0 and 1", _other(found, {bool}))
        return np.array(found, np.bool_)

    def floats(self, key: str, size: int | None, infinite: bool = False) -> Floats:
        """Return an array of finite numbers; `infinite` allows the texts "inf" and "-inf"."""
        found = self._sized(key, size)
        allowed: set[type] = {int, float, str} if infinite else {int, float}
        if set(map(type, found)) - allowed:
            refuse(self.at(key), "a list of numbers", _other(found, allowed))
        return self._finite(key, found)

    def _finite(self, key: str, found: list[Any]) -> Floats:
        for value in {v for v in found if isinstance(v, str)}:
            if value not in ("inf", "-inf"):
                refuse(self.at(key), 'numbers, "inf" or "-inf"', value)
        try:
            numbers = np.array([float(v) for v in found], np.float64)
        except OverflowError:
            refuse(self.at(key), "a list of finite numbers", "a larger one")
        spelled = np.fromiter((isinstance(v, str) for v in found), np.bool_, len(found))
        if not np.all(np.isfinite(numbers) | spelled):
            refuse(self.at(key), "a list of finite numbers", "an infinite one")
        return numbers

    def _sized(self, key: str, size: int | None) -> list[Any]:
        found = self.items(key, self.limits.max_bytes if size is not None
                           else self.limits.max_nodes)
        if size is not None and len(found) != size:
            refuse(self.at(key), f"a list of {size}", f"{len(found)}")
        return found


def _other(found: Sequence[Any], allowed: set[type]) -> str:
    return next((repr(v)[:40] for v in found if type(v) not in allowed), "something else")
