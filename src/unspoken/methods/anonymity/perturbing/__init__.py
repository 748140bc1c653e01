"""Methods that replace or move values so that records no longer say who they are about."""

from __future__ import annotations

from unspoken.methods.anonymity.perturbing.anatomy import Anatomizer
from unspoken.methods.anonymity.perturbing.condensation import Condenser
from unspoken.methods.anonymity.perturbing.isolation_guard import IsolationGuard
from unspoken.methods.anonymity.perturbing.microaggregation import Microaggregator
from unspoken.methods.anonymity.perturbing.post_randomization import PostRandomizer

__all__ = ["Anatomizer", "Condenser", "IsolationGuard", "Microaggregator", "PostRandomizer"]
