"""The book of a guard: which rules decide about the next query, and how answers are computed."""

from __future__ import annotations

from unspoken.methods.queries.exact_audit import ExactAudit
from unspoken.methods.queries.guard_settings import EXACT, NOISE, Settings
from unspoken.methods.queries.guarded_records import Rows
from unspoken.methods.queries.noise_budget import NoiseBudget
from unspoken.methods.queries.refusal_rules import Answered
from unspoken.numerics.random import derive

Book = NoiseBudget | Answered


def new_book(rows: Rows, settings: Settings, secret: bytes) -> Book:
    """Return the empty book of a log with these settings and this secret."""
    if settings.audit == NOISE:
        return NoiseBudget(rows, settings)
    if settings.audit == EXACT:
        return ExactAudit(rows, settings, derive(secret, "decoys"))
    return Answered(rows, settings)
