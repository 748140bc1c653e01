"""Measures of disclosure, the audit that runs every adversary, policies and the register."""

from __future__ import annotations

from unspoken.audit.added_disclosure import Added
from unspoken.audit.published_classifier import Disclosure, bayes_error, indirect, mixture_error
from unspoken.audit.redraw_until_policy import Redrawn, redraw
from unspoken.audit.release_overlap import attack_together, what_it_adds
from unspoken.audit.run_audit import audit
from unspoken.audit.safe_harbor import SafeHarbor, safe_harbor
from unspoken.disclosure.audit_result import Audit
from unspoken.disclosure.audit_rows import Judgement, Row, Suggestion
from unspoken.disclosure.ground_truth import Truth, Truths, truths_of
from unspoken.disclosure.measures import Estimate, domain, estimate, is_recovered, records
from unspoken.disclosure.policy import Policy
from unspoken.methods.anonymity import measures as anonymity
from unspoken.methods.anonymity import utility
from unspoken.methods.anonymity.audit import audit_tables, intersection
from unspoken.methods.baskets.audit import audit_baskets
from unspoken.methods.baskets.basket_privacy import (
    Design,
    ItemBreaches,
    amplification_of,
    design_operator,
    item_breaches,
    mask_privacy,
)
from unspoken.methods.baskets.rule_disclosure import (
    Exposed,
    RuleRisks,
    people_exposed,
    rule_risks,
)
from unspoken.methods.encoding.audit.fresh_keys import (
    FreshTrials,
    fresh_trials,
    piecewise_codes,
)
from unspoken.methods.encoding.audit.subspaces import subspace_disclosure
from unspoken.methods.encoding.audit.tree_path_disclosure import PathDisclosure, path_disclosure
from unspoken.methods.encoding.results.result_options import ResultOption, result_options
from unspoken.methods.encoding.results.result_policy import ResultPolicy
from unspoken.methods.rotation.audit import audit_rotated
from unspoken.methods.rotation.breach_probability import (
    Exposure,
    breach_probability,
    exposure,
    paper_breach,
)
from unspoken.release.budget import Budget
from unspoken.release.budget_costs import Cost
from unspoken.release.register import Entry, Register, digest

__all__ = [
    "Added",
    "Audit",
    "Budget",
    "Cost",
    "Design",
    "Disclosure",
    "Entry",
    "Estimate",
    "Exposed",
    "Exposure",
    "FreshTrials",
    "ItemBreaches",
    "Judgement",
    "PathDisclosure",
    "Policy",
    "Redrawn",
    "Register",
    "ResultOption",
    "ResultPolicy",
    "Row",
    "RuleRisks",
    "SafeHarbor",
    "Suggestion",
    "Truth",
    "Truths",
    "amplification_of",
    "anonymity",
    "attack_together",
    "audit",
    "audit_baskets",
    "audit_rotated",
    "audit_tables",
    "bayes_error",
    "breach_probability",
    "design_operator",
    "digest",
    "domain",
    "estimate",
    "exposure",
    "fresh_trials",
    "indirect",
    "intersection",
    "is_recovered",
    "item_breaches",
    "mask_privacy",
    "mixture_error",
    "paper_breach",
    "path_disclosure",
    "people_exposed",
    "piecewise_codes",
    "records",
    "redraw",
    "result_options",
    "rule_risks",
    "safe_harbor",
    "subspace_disclosure",
    "truths_of",
    "utility",
    "what_it_adds",
]
