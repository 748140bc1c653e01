"""unspoken: learning from data that nobody is allowed to see.

    table = unspoken.read("records.parquet", target="outcome")
    release, key = unspoken.protect.PiecewiseEncoder().protect(table)
    release.save("release"); key.save("records.key")
    model = unspoken.protect.decode(mined_model, key, table)

Rooms and nouns are loaded when they are first used, so `import unspoken` stays light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from unspoken._version import __version__

if TYPE_CHECKING:
    from unspoken import attack, joint, mine, protect, report, risk
    from unspoken.models.associations import Associations
    from unspoken.models.forest import Forest
    from unspoken.models.itemsets import Itemsets
    from unspoken.models.load_model import load_model
    from unspoken.models.rules import Rules
    from unspoken.models.tree import Tree
    from unspoken.models.verify import verify
    from unspoken.release.guarantee import Guarantee
    from unspoken.release.key import Key
    from unspoken.release.release import Release
    from unspoken.table.basket_files import read_baskets
    from unspoken.table.baskets import Baskets
    from unspoken.table.read import read
    from unspoken.table.schema import Column, Schema
    from unspoken.table.table import Table

_ROOMS = ("protect", "mine", "joint", "attack", "risk", "report")
_NOUNS = {
    "read": "unspoken.table.read",
    "Table": "unspoken.table.table",
    "Schema": "unspoken.table.schema",
    "Column": "unspoken.table.schema",
    "Release": "unspoken.release.release",
    "Key": "unspoken.release.key",
    "Guarantee": "unspoken.release.guarantee",
    "Tree": "unspoken.models.tree",
    "Forest": "unspoken.models.forest",
    "verify": "unspoken.models.verify",
    "load_model": "unspoken.models.load_model",
    "Baskets": "unspoken.table.baskets",
    "read_baskets": "unspoken.table.basket_files",
    "Itemsets": "unspoken.models.itemsets",
    "Rules": "unspoken.models.rules",
    "Associations": "unspoken.models.associations",
}

__all__ = ["Associations", "Baskets", "Column", "Forest", "Guarantee", "Itemsets", "Key", "Release",
           "Rules", "Schema", "Table", "Tree", "__version__", "attack", "joint", "load_model",
           "mine", "protect", "read", "read_baskets", "report", "risk", "verify"]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"unspoken.{name}")
    if name in _NOUNS:
        return getattr(importlib.import_module(_NOUNS[name]), name)
    raise AttributeError(f"module 'unspoken' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
