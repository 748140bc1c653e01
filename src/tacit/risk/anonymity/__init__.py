"""Measures of anonymity: classes, uniqueness, isolation, contingency tables and what is lost."""

from __future__ import annotations

from tacit.risk.anonymity.contingency import Bounds, Suppression, bounds, small_cells, suppress
from tacit.risk.anonymity.isolation import Indistinct, indistinguishability, isolation
from tacit.risk.anonymity.measure import class_codes, columns_of, measure
from tacit.risk.anonymity.result import Anonymity, Diversity, Reidentification, Uniqueness
from tacit.risk.anonymity.utility import Utility, utility

__all__ = ["Anonymity", "Bounds", "Diversity", "Indistinct", "Reidentification", "Suppression",
           "Uniqueness", "Utility", "bounds", "class_codes", "columns_of",
           "indistinguishability", "isolation", "measure", "small_cells", "suppress", "utility"]
