"""Randomised baskets (vcz2006 section 6.1): the operators, their guarantee, the release."""

from __future__ import annotations

from unspoken.methods.baskets.basket_method import BasketOperator
from unspoken.methods.baskets.guarantee import RandomisedBaskets
from unspoken.methods.baskets.guided import Guidance, GuidedPerturbation
from unspoken.methods.baskets.operators import CutAndPaste, Mask, SelectASize, UniformOperator

OPERATORS = {kind.name: kind for kind in (SelectASize, CutAndPaste, UniformOperator, Mask,
                                          GuidedPerturbation)}
"""The operators by the names that releases and the command line give them."""

__all__ = ["OPERATORS", "BasketOperator", "CutAndPaste", "Guidance", "GuidedPerturbation", "Mask",
           "RandomisedBaskets", "SelectASize", "UniformOperator"]
