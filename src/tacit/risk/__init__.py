"""Measures of disclosure, the audit that runs every adversary, policies and the register."""

from __future__ import annotations

from tacit.risk import anonymity
from tacit.risk.adding import Added, attack_together, what_it_adds
from tacit.risk.audit import audit
from tacit.risk.basket_audit import audit_baskets
from tacit.risk.baskets import (
    Design,
    ItemBreaches,
    amplification_of,
    design_operator,
    item_breaches,
    mask_privacy,
)
from tacit.risk.breach import Exposure, breach_probability, exposure, paper_breach
from tacit.risk.indirect import Disclosure, bayes_error, indirect, mixture_error
from tacit.risk.measures import Estimate, cracks, domain, estimate, records
from tacit.risk.paths import PathDisclosure, path_disclosure
from tacit.risk.policy import Judgement, Policy
from tacit.risk.redraw import Redrawn, redraw
from tacit.risk.register import Entry, Register, digest
from tacit.risk.result import Audit, Row, Suggestion
from tacit.risk.rules import Exposed, RuleRisks, people_exposed, rule_risks
from tacit.risk.subspaces import subspace_disclosure
from tacit.risk.tables import audit_tables, intersection
from tacit.risk.trials import FreshTrials, fresh_trials, piecewise_codes
from tacit.risk.truth import Truth, Truths, truths_of
from tacit.risk.turned import audit_turned

__all__ = [
    "Added", "Audit", "Design", "Disclosure", "Entry", "Estimate", "Exposed", "Exposure",
    "FreshTrials",
    "ItemBreaches", "Judgement", "PathDisclosure", "Policy", "Redrawn", "Register", "Row",
    "RuleRisks",
    "Suggestion", "Truth", "Truths", "amplification_of", "anonymity", "attack_together", "audit",
    "audit_baskets", "audit_tables", "audit_turned", "bayes_error", "breach_probability", "cracks",
    "design_operator", "digest", "domain", "estimate", "exposure", "fresh_trials", "indirect",
    "intersection", "item_breaches", "mask_privacy", "mixture_error", "paper_breach",
    "path_disclosure", "people_exposed", "piecewise_codes", "records", "redraw", "rule_risks",
    "subspace_disclosure", "truths_of",
    "what_it_adds",
]
