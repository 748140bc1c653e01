"""Statistics on request: query restriction and output perturbation (as2000 section 1)."""

from __future__ import annotations

from tacit.protect.queries.answering import Answer
from tacit.protect.queries.guard import QueryGuard
from tacit.protect.queries.parsing import parse
from tacit.protect.queries.predicates import Predicate, column
from tacit.protect.queries.settings import Settings

__all__ = ["Answer", "Predicate", "QueryGuard", "Settings", "column", "parse"]
