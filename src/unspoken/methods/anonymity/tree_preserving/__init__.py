"""K-anonymity and L-diversity that keep one or several trees exactly (fu2010)."""

from __future__ import annotations

from unspoken.methods.anonymity.tree_preserving.anonymizer import TreePreservingAnonymizer
from unspoken.methods.anonymity.tree_preserving.guarantee import TreePreserved
from unspoken.models.tree_growth_rule import Growth

__all__ = ["Growth", "TreePreserved", "TreePreservingAnonymizer"]
