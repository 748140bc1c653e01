"""Statistics on request: query restriction and output perturbation (as2000 section 1)."""

from __future__ import annotations

from unspoken.methods.queries.answers import Answer
from unspoken.methods.queries.guard import QueryGuard
from unspoken.methods.queries.guard_settings import Settings
from unspoken.methods.queries.parse_conditions import parse
from unspoken.methods.queries.predicates import Predicate, column

__all__ = ["Answer", "Predicate", "QueryGuard", "Settings", "column", "parse"]
