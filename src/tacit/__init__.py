"""tacit: learning from data that nobody is allowed to see.

    table = tacit.read("records.parquet", target="outcome")
    release, key = tacit.protect.PiecewiseEncoder().protect(table)
    release.save("release"); key.save("records.key")
    model = tacit.protect.decode(mined_model, key, table)

Rooms and nouns are loaded when they are first used, so `import tacit` stays light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tacit._version import __version__
from tacit.core.registry import homes

if TYPE_CHECKING:
    from tacit import attack, joint, mine, protect, report, risk
    from tacit.core.associations import Associations
    from tacit.core.basket_files import read_baskets
    from tacit.core.baskets import Baskets
    from tacit.core.compare import verify
    from tacit.core.forest import Forest
    from tacit.core.guarantee import Guarantee
    from tacit.core.itemsets import Itemsets
    from tacit.core.key import Key
    from tacit.core.read import read
    from tacit.core.release import Release
    from tacit.core.rules import Rules
    from tacit.core.schema import Column, Schema
    from tacit.core.table import Table
    from tacit.core.tree import Tree

_ROOMS = ("protect", "mine", "joint", "attack", "risk", "report")
_NOUNS = {
    "read": "tacit.core.read",
    "Table": "tacit.core.table",
    "Schema": "tacit.core.schema",
    "Column": "tacit.core.schema",
    "Release": "tacit.core.release",
    "Key": "tacit.core.key",
    "Guarantee": "tacit.core.guarantee",
    "Tree": "tacit.core.tree",
    "Forest": "tacit.core.forest",
    "verify": "tacit.core.compare",
    "Baskets": "tacit.core.baskets",
    "read_baskets": "tacit.core.basket_files",
    "Itemsets": "tacit.core.itemsets",
    "Rules": "tacit.core.rules",
    "Associations": "tacit.core.associations",
}

__all__ = ["Associations", "Baskets", "Column", "Forest", "Guarantee", "Itemsets", "Key", "Release",
           "Rules", "Schema", "Table", "Tree", "__version__", "attack", "joint", "mine", "protect",
           "read", "read_baskets", "report", "risk", "verify"]

homes.update({
    ("guarantee", "same-tree"): "tacit.protect.piecewise",
    ("guarantee", "tree-preserved"): "tacit.protect.anonymize",
    ("decoder", "piecewise"): "tacit.protect.piecewise",
    ("guarantee", "distorted"): "tacit.protect.distorted",
    ("plot", "distribution"): "tacit.report.distributions",
    ("plot", "anonymity"): "tacit.report.anonymity",
    ("guarantee", "anonymous"): "tacit.protect.masking",
    ("guarantee", "masked"): "tacit.protect.masking",
    ("audit", "mondrian"): "tacit.risk.tables",
    ("audit", "generalize"): "tacit.risk.tables",
    ("audit", "top-bottom"): "tacit.risk.tables",
    ("audit", "suppress-cells"): "tacit.risk.tables",
    ("audit", "swap"): "tacit.risk.tables",
    ("audit", "sample"): "tacit.risk.tables",
    ("audit", "tree-preserving"): "tacit.risk.tables",
    ("adversary", "posterior"): "tacit.attack.posterior",
    ("adversary", "spectral"): "tacit.attack.spectral",
    ("adversary", "pca"): "tacit.attack.spectral",
    ("adversary", "bayes"): "tacit.attack.spectral",
    ("adversary", "serial"): "tacit.attack.spectral",
    ("adversary", "choices"): "tacit.attack.choosing",
    ("adversary", "literal"): "tacit.attack.answers",
    ("adversary", "answer"): "tacit.attack.answers",
    ("adversary", "answer-class"): "tacit.attack.answers",
    ("audit", "noise"): "tacit.risk.distorted",
    ("audit", "multiplicative"): "tacit.risk.distorted",
    ("audit", "discretize"): "tacit.risk.distorted",
    ("audit", "response"): "tacit.risk.answered",
    ("guarantee", "randomised-baskets"): "tacit.protect.baskets",
    ("adversary", "basket-posterior"): "tacit.attack.baskets",
    ("audit", "baskets"): "tacit.risk.basket_audit",
    ("guarantee", "distances-preserved"): "tacit.protect.rotation",
    ("guarantee", "distances-in-expectation"): "tacit.protect.rotation",
})


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"tacit.{name}")
    if name in _NOUNS:
        return getattr(importlib.import_module(_NOUNS[name]), name)
    raise AttributeError(f"module 'tacit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
