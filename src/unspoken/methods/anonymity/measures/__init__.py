"""Measures of anonymity: classes, uniqueness, isolation, contingency tables and what is lost."""

from __future__ import annotations

from unspoken.methods.anonymity.measures.anonymity_result import (
    Anonymity,
    Diversity,
    Reidentification,
    Uniqueness,
)
from unspoken.methods.anonymity.measures.contingency import (
    Bounds,
    Suppression,
    bounds,
    small_cells,
    suppress,
)
from unspoken.methods.anonymity.measures.isolation import (
    Indistinct,
    indistinguishability,
    isolation,
)
from unspoken.methods.anonymity.measures.measure import class_codes, columns_of, measure
from unspoken.methods.anonymity.measures.perturbed_counts import (
    PerturbedCounts,
    merge_categories,
    perturb_counts,
)
from unspoken.methods.anonymity.measures.presence import Presence, presence, weighted_risk
from unspoken.methods.anonymity.measures.special_uniques import SpecialUniques, special_uniques
from unspoken.methods.anonymity.measures.utility_loss import Utility, utility

__all__ = ["Anonymity", "Bounds", "Diversity", "Indistinct", "PerturbedCounts", "Presence",
           "Reidentification", "SpecialUniques", "Suppression", "Uniqueness", "Utility", "bounds",
           "class_codes", "columns_of", "indistinguishability", "isolation", "measure",
           "merge_categories", "perturb_counts", "presence", "small_cells", "special_uniques",
           "suppress", "utility", "weighted_risk"]
