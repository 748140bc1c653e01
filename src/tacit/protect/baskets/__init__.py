"""Randomised baskets (vcz2006 section 6.1): the operators, their guarantee, the release."""

from __future__ import annotations

from tacit.protect.baskets.family import BasketOperator
from tacit.protect.baskets.guarantee import RandomisedBaskets
from tacit.protect.baskets.guided import Guidance, GuidedPerturbation
from tacit.protect.baskets.operators import CutAndPaste, Mask, SelectASize, UniformOperator

OPERATORS = {kind.name: kind for kind in (SelectASize, CutAndPaste, UniformOperator, Mask,
                                          GuidedPerturbation)}
"""The operators by the names that releases and the command line give them."""

__all__ = ["OPERATORS", "BasketOperator", "CutAndPaste", "Guidance", "GuidedPerturbation", "Mask",
           "RandomisedBaskets", "SelectASize", "UniformOperator"]
