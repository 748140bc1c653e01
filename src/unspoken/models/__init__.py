"""What mining yields: trees, forests, rules, regressions, mixtures, networks, and their files."""

from __future__ import annotations

MODELS: dict[str, tuple[str, str]] = {
    "unspoken-tree": ("unspoken.models.tree", "Tree"),
    "unspoken-forest": ("unspoken.models.forest", "Forest"),
    "unspoken-gradient-trees": ("unspoken.models.gradient_trees", "GradientTrees"),
    "unspoken-histogram-trees": ("unspoken.models.histogram_trees", "HistogramTrees"),
    "unspoken-weighted-trees": ("unspoken.models.weighted_trees", "WeightedTrees"),
    "unspoken-bagged-trees": ("unspoken.models.bagged_trees", "BaggedTrees"),
    "unspoken-mixed-tree": ("unspoken.models.categorical_tree", "CategoricalTree"),
    "unspoken-tree-vote": ("unspoken.models.tree_ensemble", "TreeVote"),
    "unspoken-tree-sum": ("unspoken.models.tree_ensemble", "TreeSum"),
    "unspoken-tree-part": ("unspoken.models.site_tree_part", "TreePart"),
    "unspoken-boosted-trees-part": ("unspoken.models.boosted_part", "BoostedPart"),
    "unspoken-hidden-tree-part": ("unspoken.joint.tasks.tree.hidden_part", "HiddenPart"),
    "unspoken-naive-bayes": ("unspoken.models.naive_bayes", "NaiveBayes"),
    "unspoken-mixed-bayes": ("unspoken.models.mixed_bayes", "MixedBayes"),
    "unspoken-bayes-net": ("unspoken.models.bayes_net", "BayesNet"),
    "unspoken-clusters": ("unspoken.models.clusters", "Clusters"),
    "unspoken-mixture": ("unspoken.models.mixture", "Mixture"),
    "unspoken-linear-model": ("unspoken.models.linear_model", "LinearModel"),
    "unspoken-logistic-model": ("unspoken.models.logistic_model", "LogisticModel"),
    "unspoken-residuals": ("unspoken.models.residuals", "Residuals"),
    "unspoken-outliers": ("unspoken.models.outliers", "Outliers"),
    "unspoken-itemsets": ("unspoken.models.itemsets", "Itemsets"),
    "unspoken-rules": ("unspoken.models.rules", "Rules"),
    "unspoken-associations": ("unspoken.models.associations", "Associations"),
    "unspoken-distribution": ("unspoken.models.distribution", "Distribution"),
    "unspoken-joint-distribution": ("unspoken.models.distribution", "JointDistribution"),
    "unspoken-categories": ("unspoken.models.distribution", "Categories"),
    "xgboost-json": ("unspoken.models.readers.xgboost_json", "XGBoostModel"),
    "lightgbm-text": ("unspoken.models.readers.lightgbm_text", "LightGBMModel"),
}
"""Every kind of model by the format of its file: where its class is. Loaded when it is needed."""
