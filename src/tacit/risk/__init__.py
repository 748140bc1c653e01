"""Measures of disclosure, the audit that runs every adversary, policies and the register."""

from __future__ import annotations

from tacit.risk.adding import Added, attack_together, what_it_adds
from tacit.risk.audit import audit
from tacit.risk.breach import Exposure, breach_probability, exposure, paper_breach
from tacit.risk.measures import Estimate, cracks, domain, estimate, records
from tacit.risk.paths import PathDisclosure, path_disclosure
from tacit.risk.policy import Judgement, Policy
from tacit.risk.redraw import Redrawn, redraw
from tacit.risk.register import Entry, Register, digest
from tacit.risk.result import Audit, Row, Suggestion
from tacit.risk.subspaces import subspace_disclosure
from tacit.risk.trials import FreshTrials, fresh_trials, piecewise_codes
from tacit.risk.truth import Truth, Truths, truths_of
from tacit.risk.turned import audit_turned

__all__ = [
    "Added", "Audit", "Entry", "Estimate", "Exposure", "FreshTrials", "Judgement", "PathDisclosure",
    "Policy", "Redrawn", "Register", "Row", "Suggestion", "Truth", "Truths", "attack_together",
    "audit", "audit_turned", "breach_probability", "cracks", "digest", "domain", "estimate",
    "exposure", "fresh_trials", "paper_breach", "path_disclosure", "piecewise_codes", "records",
    "redraw", "subspace_disclosure", "truths_of", "what_it_adds",
]
