"""Learners that know how the data was protected."""

from __future__ import annotations

from tacit.mine.recipe import Recipe
from tacit.mine.trees import LEARNERS, Mined, fit, forest, tree

__all__ = ["LEARNERS", "Mined", "Recipe", "fit", "forest", "tree"]
