"""Learners that know how the data was protected."""

from __future__ import annotations

from tacit.mine.association import rules
from tacit.mine.frequent_sets import itemsets, supports
from tacit.mine.growing import grow
from tacit.mine.mixtures import GlobalMixture, global_mixture
from tacit.mine.naive_bayes import ReconstructingNaiveBayes, noisy_naive_bayes
from tacit.mine.noisy_trees import ReconstructingTreeClassifier, noisy_tree
from tacit.mine.recipe import Recipe
from tacit.mine.reconstructing import reconstruct
from tacit.mine.trees import LEARNERS, Mined, fit, forest, tree
from tacit.stats.noise import Noise

__all__ = ["LEARNERS", "GlobalMixture", "Mined", "Noise", "Recipe", "ReconstructingNaiveBayes",
           "ReconstructingTreeClassifier", "fit", "forest", "global_mixture", "grow", "itemsets",
           "noisy_naive_bayes", "noisy_tree", "reconstruct", "rules", "supports", "tree"]
