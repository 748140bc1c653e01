"""Hiding chosen association rules before baskets are released (vcz2006 section 6.3)."""

from __future__ import annotations

from tacit.protect.hiding.effects import Effects, Target
from tacit.protect.hiding.hider import Hidden, RuleHider

__all__ = ["Effects", "Hidden", "RuleHider", "Target"]
