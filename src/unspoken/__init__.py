"""unspoken: learning from data that nobody is allowed to see.

    table = unspoken.read("records.parquet", target="outcome")
    release, key = unspoken.protect.PiecewiseEncoder().protect(table)
    release.save("release"); key.save("records.key")
    model = unspoken.release.decoding(mined_model, key, table)

Rooms and nouns are loaded when they are first used, so `import unspoken` stays light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from unspoken._version import __version__
from unspoken.release.registry import homes

if TYPE_CHECKING:
    from unspoken import attack, joint, mine, protect, report, risk
    from unspoken.models.associations import Associations
    from unspoken.models.forest import Forest
    from unspoken.models.itemsets import Itemsets
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
    "Baskets": "unspoken.table.baskets",
    "read_baskets": "unspoken.table.basket_files",
    "Itemsets": "unspoken.models.itemsets",
    "Rules": "unspoken.models.rules",
    "Associations": "unspoken.models.associations",
}

__all__ = ["Associations", "Baskets", "Column", "Forest", "Guarantee", "Itemsets", "Key", "Release",
           "Rules", "Schema", "Table", "Tree", "__version__", "attack", "joint", "mine", "protect",
           "read", "read_baskets", "report", "risk", "verify"]

homes.update({
    ("guarantee", "same-tree"): "unspoken.methods.encoding",
    ("guarantee", "tree-preserved"): "unspoken.methods.anonymity.tree_preserving",
    ("decoder", "piecewise"): "unspoken.methods.encoding",
    ("guarantee", "distorted"): "unspoken.release.distorted",
    ("plot", "distribution"): "unspoken.report.distribution_figure",
    ("plot", "anonymity"): "unspoken.report.anonymity_figure",
    ("guarantee", "anonymous"): "unspoken.methods.anonymity.masking",
    ("guarantee", "masked"): "unspoken.methods.anonymity.masking",
    ("audit", "mondrian"): "unspoken.methods.anonymity.audit",
    ("audit", "generalize"): "unspoken.methods.anonymity.audit",
    ("audit", "top-bottom"): "unspoken.methods.anonymity.audit",
    ("audit", "suppress-cells"): "unspoken.methods.anonymity.audit",
    ("audit", "swap"): "unspoken.methods.anonymity.audit",
    ("audit", "sample"): "unspoken.methods.anonymity.audit",
    ("audit", "tree-preserving"): "unspoken.methods.anonymity.audit",
    ("truth", "piecewise"): "unspoken.methods.encoding.audit.encoded_truths",
    ("truth", "noise"): "unspoken.methods.distortion.audit",
    ("truth", "multiplicative"): "unspoken.methods.distortion.audit",
    ("truth", "discretize"): "unspoken.methods.distortion.audit",
    ("adversary", "alignment"): "unspoken.methods.encoding.adversaries.monotone_alignment",
    ("adversary",
     "category-frequencies"): "unspoken.methods.encoding.adversaries.category_frequencies",
    ("adversary", "category-records"): "unspoken.methods.encoding.adversaries.category_frequencies",
    ("adversary", "label-order"): "unspoken.methods.encoding.adversaries.category_frequencies",
    ("adversary", "row-order"): "unspoken.methods.encoding.adversaries.record_singling_out",
    ("adversary", "missing-pattern"): "unspoken.methods.encoding.adversaries.record_singling_out",
    ("adversary", "category-pairs"): "unspoken.methods.encoding.adversaries.category_pairs",
    ("adversary", "singling-out"): "unspoken.methods.encoding.adversaries.record_singling_out",
    ("adversary", "unchanged"): "unspoken.methods.encoding.adversaries.unchanged_values",
    ("adversary", "answer"): "unspoken.methods.distortion.adversaries.response_answers",
    ("adversary", "answer-class"): "unspoken.methods.distortion.adversaries.response_answers",
    ("adversary", "background"): "unspoken.methods.anonymity.adversaries.record_linking",
    ("adversary", "basket-posterior"): "unspoken.methods.baskets.adversaries.item_posterior",
    ("adversary", "bayes"): "unspoken.methods.distortion.adversaries.spectral_filtering",
    ("adversary", "choices"): "unspoken.methods.distortion.adversaries.known_choices",
    ("adversary", "combination"): "unspoken.methods.encoding.adversaries.curve_combination",
    ("adversary", "difference-directions"): "unspoken.methods.rotation.adversaries.axis_directions",
    ("adversary", "family"): "unspoken.methods.encoding.adversaries.distribution_matching",
    ("adversary", "frequency"): "unspoken.methods.encoding.adversaries.frequency_matching",
    ("adversary", "homogeneity"): "unspoken.methods.anonymity.adversaries.record_linking",
    ("adversary", "ignorant"): "unspoken.methods.encoding.adversaries.ignorant",
    ("adversary",
     "independent-components"): "unspoken.methods.rotation.adversaries.axis_directions",
    ("adversary",
     "informed-microdata"): "unspoken.methods.anonymity.adversaries.informed_microdata",
    ("adversary", "known-order"): "unspoken.methods.anonymity.adversaries.informed_microdata",
    ("adversary", "known-pairs"): "unspoken.methods.rotation.adversaries.known_pairs",
    ("adversary", "known-sample"): "unspoken.methods.rotation.adversaries.known_sample",
    ("adversary", "line"): "unspoken.methods.encoding.adversaries.curve_fitting",
    ("adversary", "literal"): "unspoken.methods.distortion.adversaries.response_answers",
    ("adversary", "noisy-linking"): "unspoken.methods.anonymity.adversaries.record_linking",
    ("adversary", "norm-linking"): "unspoken.methods.rotation.adversaries.find_known_records",
    ("adversary", "pairs-and-sample"): "unspoken.methods.rotation.adversaries.known_sample",
    ("adversary", "pca"): "unspoken.methods.distortion.adversaries.spectral_filtering",
    ("adversary", "polyline"): "unspoken.methods.encoding.adversaries.curve_fitting",
    ("adversary", "posterior"): "unspoken.methods.distortion.adversaries.report_posterior",
    ("adversary", "published"): "unspoken.methods.encoding.adversaries.published_statistics",
    ("adversary", "quantile"): "unspoken.methods.encoding.adversaries.quantile_matching",
    ("adversary", "range"): "unspoken.methods.encoding.adversaries.sorting_attack",
    ("adversary", "rank"): "unspoken.methods.encoding.adversaries.sorting_attack",
    ("adversary", "ranks"): "unspoken.methods.encoding.adversaries.known_ranks",
    ("adversary", "record-linking"): "unspoken.methods.anonymity.adversaries.record_linking",
    ("adversary", "records"): "unspoken.methods.encoding.adversaries.known_records",
    ("adversary", "serial"): "unspoken.methods.distortion.adversaries.spectral_filtering",
    ("adversary", "spectral"): "unspoken.methods.distortion.adversaries.spectral_filtering",
    ("adversary", "spline"): "unspoken.methods.encoding.adversaries.curve_fitting",
    ("adversary", "trilateration"): "unspoken.methods.rotation.adversaries.trilateration",
    ("audit", "rotation"): "unspoken.methods.rotation.audit",
    ("audit", "pairwise-rotation"): "unspoken.methods.rotation.audit",
    ("audit", "random-projection"): "unspoken.methods.rotation.audit",
    ("audit", "similarity-outsourcing"): "unspoken.methods.rotation.audit",
    ("audit", "noise"): "unspoken.methods.distortion.audit",
    ("audit", "multiplicative"): "unspoken.methods.distortion.audit",
    ("audit", "discretize"): "unspoken.methods.distortion.audit",
    ("audit", "response"): "unspoken.methods.distortion.response_audit",
    ("guarantee", "randomised-baskets"): "unspoken.methods.baskets",
    ("audit", "baskets"): "unspoken.methods.baskets.audit",
    ("guarantee", "distances-preserved"): "unspoken.methods.rotation",
    ("guarantee", "distances-in-expectation"): "unspoken.methods.rotation",
})


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"unspoken.{name}")
    if name in _NOUNS:
        return getattr(importlib.import_module(_NOUNS[name]), name)
    raise AttributeError(f"module 'unspoken' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
