"""Measures of disclosure, the audit that runs every adversary, policies and the register."""

from __future__ import annotations

from tacit.risk.audit import audit
from tacit.risk.measures import Estimate, cracks, domain, estimate, records
from tacit.risk.paths import PathDisclosure, path_disclosure
from tacit.risk.policy import Judgement, Policy
from tacit.risk.result import Audit, Row, Suggestion
from tacit.risk.subspaces import subspace_disclosure
from tacit.risk.truth import Truth, Truths, truths_of

__all__ = [
    "Audit", "Estimate", "Judgement", "PathDisclosure", "Policy", "Row", "Suggestion", "Truth",
    "Truths", "audit", "cracks", "domain", "estimate", "path_disclosure", "records",
    "subspace_disclosure", "truths_of",
]
