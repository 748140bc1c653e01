"""Names of things that are imported when they are first asked for: "module:name".

So a light module can speak of a heavy one, and a package of what stands right of it.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType
from typing import Any


def at(module: str, *names: str) -> tuple[str, ...]:
    """Return the places of several names in one module."""
    return tuple(f"{module}:{name}" for name in names)


def resolve(place: str) -> Any:
    """Import what stands at "module:name"."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


def modules_in(package: str) -> tuple[ModuleType, ...]:
    """Import every module of a folder, in the order of their names."""
    folder = importlib.import_module(package)
    names = sorted(one.name for one in pkgutil.iter_modules(folder.__path__))
    return tuple(importlib.import_module(f"{package}.{name}") for name in names)
