"""Learners that know how the data was protected."""

from __future__ import annotations

from unspoken.methods.anonymity.grow_published_tree import grow
from unspoken.methods.baskets.learners.association_rules import rules
from unspoken.methods.baskets.learners.frequent_itemsets import itemsets, supports
from unspoken.methods.distortion.learners.reconstructing_bayes import (
    ReconstructingNaiveBayes,
    noisy_naive_bayes,
)
from unspoken.methods.distortion.learners.reconstructing_trees import (
    ReconstructingTreeClassifier,
    noisy_tree,
)
from unspoken.methods.distortion.noise_laws import Noise
from unspoken.methods.distortion.reconstruct.reconstruct import reconstruct
from unspoken.methods.encoding.learners.mine_trees import (
    LEARNERS,
    Mined,
    Stopping,
    fit,
    forest,
    tree,
)
from unspoken.methods.mixtures.combine_mixtures import GlobalMixture, global_mixture
from unspoken.methods.queries.service.query_client import QueryClient
from unspoken.models.recipe import Recipe

__all__ = ["LEARNERS", "GlobalMixture", "Mined", "Noise", "QueryClient", "Recipe",
           "ReconstructingNaiveBayes", "ReconstructingTreeClassifier", "Stopping", "fit",
           "forest", "global_mixture", "grow", "itemsets", "noisy_naive_bayes", "noisy_tree",
           "reconstruct", "rules", "supports", "tree"]
