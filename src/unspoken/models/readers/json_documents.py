"""Comparing two parsed JSON documents without recursion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unspoken.models.comparison import SAME, Comparison, compare_scalars


def compare_documents(first: Any, second: Any) -> Comparison:
    """Compare two parsed JSON documents and name the first path that differs."""
    waiting: list[tuple[str, Any, Any]] = [("", first, second)]
    while waiting:
        path, a, b = waiting.pop()
        comparison, deeper = _compare_one(path or "document", a, b)
        if not comparison:
            return comparison
        waiting.extend(reversed(deeper))
    return SAME


def _compare_one(path: str, a: Any, b: Any) -> tuple[Comparison, list[tuple[str, Any, Any]]]:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        missing = sorted(set(a) ^ set(b), key=str)
        if missing:
            return Comparison(f"{path}: only one of them has '{missing[0]}'"), []
        return SAME, [(f"{path}.{key}", a[key], b[key]) for key in a]
    if isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            return Comparison(f"{path}: {len(a)} and {len(b)} long"), []
        return SAME, [(f"{path}[{i}]", x, y) for i, (x, y) in enumerate(zip(a, b, strict=True))
                      if x is not y and x != y]
    return compare_scalars(path, a, b), []
