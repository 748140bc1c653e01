"""Hiding chosen association rules before baskets are released (vcz2006 section 6.3)."""

from __future__ import annotations

from unspoken.methods.baskets.hiding.hider import Hidden, RuleHider
from unspoken.methods.baskets.hiding.side_effects import Effects, Target

__all__ = ["Effects", "Hidden", "RuleHider", "Target"]
