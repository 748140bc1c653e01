"""Where later rooms announce their classes, so that earlier rooms can find them by name.

`homes` says which module to import for a name that is not there yet; the top package fills it,
because only the top package may know every room.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, TypeVar

_known: dict[tuple[str, str], Any] = {}
homes: dict[tuple[str, str], str] = {}
T = TypeVar("T")


def register(kind: str, name: str) -> Callable[[T], T]:
    """Announce a class or function under a name."""

    def keep(thing: T) -> T:
        _known[kind, name] = thing
        return thing

    return keep


def find(kind: str, name: str) -> Any | None:
    """Return what was announced under a name, importing its home if it is known."""
    if (kind, name) not in _known and (kind, name) in homes:
        importlib.import_module(homes[kind, name])
    return _known.get((kind, name))


def names(kind: str) -> tuple[str, ...]:
    """Return every name of a kind, announced or only known by its home."""
    return tuple(sorted({n for k, n in [*_known, *homes] if k == kind}))
