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
from unspoken.methods.anonymity.measures.utility_loss import Utility, utility

__all__ = ["Anonymity", "Bounds", "Diversity", "Indistinct", "Reidentification", "Suppression",
           "Uniqueness", "Utility", "bounds", "class_codes", "columns_of",
           "indistinguishability", "isolation", "measure", "small_cells", "suppress", "utility"]
