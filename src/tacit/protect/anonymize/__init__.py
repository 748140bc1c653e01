"""K-anonymity and L-diversity that keep one or several trees exactly (fu2010)."""

from __future__ import annotations

from tacit.core.growth import Growth
from tacit.protect.anonymize.anonymizer import TreePreservingAnonymizer
from tacit.protect.anonymize.guarantee import TreePreserved

__all__ = ["Growth", "TreePreserved", "TreePreservingAnonymizer"]
