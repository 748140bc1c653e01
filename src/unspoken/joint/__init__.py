"""Several owners, one result: each keeps its data, all learn what was agreed and nothing else.

    from unspoken.joint import declares, reveal, run_local, share_sum

    @declares("total per month")
    async def program(party, data):
        counts = await share_sum(party, data, shape=(12,), low=0, high=10**6)
        return await reveal(party, counts, because="total per month")

    run_local(program, [north, south, east])

Layers, each testable without those above it: wire (frames, links, ledger), mpc (the party, shared
values and their operations), session (study, identity, run), tasks. `museum` holds published
protocols that are weak (vcz2006), each to be imported by name.
A study with a dealer is authenticated: a holder that does not follow the protocol ends the run. All
other modes assume semi-honest parties, who follow it and keep what they see. unspoken's own engine
has had no outside review; docs/concepts/joint.md says what that means.
"""

import importlib
from typing import TYPE_CHECKING, Any

from unspoken.joint.mpc.declared import Disclosure, declares
from unspoken.joint.mpc.multi_limb import Wide as Wide
from unspoken.joint.mpc.multi_limb import join_wide as join_wide
from unspoken.joint.mpc.multi_limb import public_wide as public_wide
from unspoken.joint.mpc.ops.argmin import argmin as argmin
from unspoken.joint.mpc.ops.choice import absolute as absolute
from unspoken.joint.mpc.ops.choice import argmax
from unspoken.joint.mpc.ops.choice import floor as floor
from unspoken.joint.mpc.ops.choice import maximum as maximum
from unspoken.joint.mpc.ops.choice import minimum as minimum
from unspoken.joint.mpc.ops.choice import select as select
from unspoken.joint.mpc.ops.choice import sign as sign
from unspoken.joint.mpc.ops.choice import sums_less as sums_less
from unspoken.joint.mpc.ops.determinant import determinant as determinant
from unspoken.joint.mpc.ops.determinant import log_determinant as log_determinant
from unspoken.joint.mpc.ops.determinant import norm as norm
from unspoken.joint.mpc.ops.division import divide as divide
from unspoken.joint.mpc.ops.division import reciprocal as reciprocal
from unspoken.joint.mpc.ops.less_than import equal, less_than
from unspoken.joint.mpc.ops.limb_products import gram as gram
from unspoken.joint.mpc.ops.limb_products import sum_product as sum_product
from unspoken.joint.mpc.ops.limb_products import wide_matmul as wide_matmul
from unspoken.joint.mpc.ops.limb_products import wide_multiply as wide_multiply
from unspoken.joint.mpc.ops.limb_sharing import lift as lift
from unspoken.joint.mpc.ops.limb_sharing import narrow as narrow
from unspoken.joint.mpc.ops.limb_sharing import rescale as rescale
from unspoken.joint.mpc.ops.limb_sharing import share_columns as share_columns
from unspoken.joint.mpc.ops.limb_sharing import share_sum_wide as share_sum_wide
from unspoken.joint.mpc.ops.limb_sharing import share_wide as share_wide
from unspoken.joint.mpc.ops.logarithm import log as log
from unspoken.joint.mpc.ops.logarithm import sqrt as sqrt
from unspoken.joint.mpc.ops.logarithm import x_log_x as x_log_x
from unspoken.joint.mpc.ops.matrix_inverse import inverse as inverse
from unspoken.joint.mpc.ops.oblivious_polynomial import evaluate as evaluate
from unspoken.joint.mpc.ops.products import dot, multiply
from unspoken.joint.mpc.ops.products import matmul as matmul
from unspoken.joint.mpc.ops.secure_sum import secure_sum
from unspoken.joint.mpc.ops.selection import keep as keep
from unspoken.joint.mpc.ops.shared_bits import to_numbers as to_numbers
from unspoken.joint.mpc.ops.sharing import reveal, share, share_sum
from unspoken.joint.mpc.ops.split_comparison import split as split
from unspoken.joint.mpc.ops.truncation import truncate as truncate
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.sets.alignment import align, align_disclosures
from unspoken.joint.mpc.sets.answer_budget import QueryBudget
from unspoken.joint.mpc.sets.encrypted_circle import SetRules
from unspoken.joint.mpc.sets.intersection import intersection_disclosures, intersection_size
from unspoken.joint.mpc.sets.union import union as union
from unspoken.joint.mpc.sets.union import union_disclosures as union_disclosures
from unspoken.joint.mpc.shared import Shared
from unspoken.joint.mpc.shared import concatenate as concatenate
from unspoken.joint.mpc.shared import public as public
from unspoken.joint.session.identity import load_identity as load_identity
from unspoken.joint.session.identity import make_identity as make_identity
from unspoken.joint.session.play import Outcome as Outcome
from unspoken.joint.session.run import run_local, run_outcomes
from unspoken.joint.session.study import Study
from unspoken.joint.wire.credentials import Identity as Identity
from unspoken.joint.wire.credentials import Member as Member
from unspoken.joint.wire.ledger import Ledger
from unspoken.joint.wire.transports import Limits

if TYPE_CHECKING:
    from unspoken.joint.node.front_door import mine
    from unspoken.joint.tasks.boosted_trees.program_rows import mine_boost_rows
    from unspoken.joint.tasks.forest.program_rows import mine_forest_rows
    from unspoken.joint.tasks.kmeans.params import KMeansParams
    from unspoken.joint.tasks.kmeans.program_columns import kmeans_columns
    from unspoken.joint.tasks.kmeans.program_rows import kmeans_rows
    from unspoken.joint.tasks.logistic.program_columns import mine_logistic_columns
    from unspoken.joint.tasks.logistic.program_rows import mine_logistic_rows
    from unspoken.joint.tasks.mixture.params import MixtureParams
    from unspoken.joint.tasks.mixture.program_rows import mine_mixture_rows
    from unspoken.joint.tasks.naive_bayes.params import BayesLayout, BayesParams
    from unspoken.joint.tasks.naive_bayes.program_columns import mine_bayes_columns
    from unspoken.joint.tasks.naive_bayes.program_rows import mine_bayes_rows
    from unspoken.joint.tasks.network.params import NetworkParams
    from unspoken.joint.tasks.network.program_columns import mine_network_columns
    from unspoken.joint.tasks.outliers.params import OutlierParams
    from unspoken.joint.tasks.outliers.program_columns import outliers_columns
    from unspoken.joint.tasks.outliers.program_rows import outliers_rows
    from unspoken.joint.tasks.prepared_table import prepare
    from unspoken.joint.tasks.regression.params import RegressionParams, RegressionTerms
    from unspoken.joint.tasks.regression.program_columns import mine_regression_columns
    from unspoken.joint.tasks.regression.program_rows import mine_regression_rows
    from unspoken.joint.tasks.rules.params import RuleParams
    from unspoken.joint.tasks.rules.program_columns import mine_rules_columns
    from unspoken.joint.tasks.rules.program_rows import mine_rules_rows
    from unspoken.joint.tasks.tree.hidden_program import classify_hidden, mine_tree_hidden
    from unspoken.joint.tasks.tree.params import Attribute, TreeLayout, TreeParams
    from unspoken.joint.tasks.tree.program_columns import mine_tree_columns
    from unspoken.joint.tasks.tree.program_rows import mine_tree_rows
    from unspoken.joint.tasks.tree.tree_sites import TreeShape, TreeSite

# Miners and their parameters, each loaded when it is asked for.
_MINERS = {
    "mine": "unspoken.joint.node.front_door",
    "mine_boost_rows": "boosted_trees.program_rows",
    "mine_forest_rows": "forest.program_rows",
    "KMeansParams": "kmeans.params",
    "kmeans_columns": "kmeans.program_columns",
    "kmeans_rows": "kmeans.program_rows",
    "mine_logistic_columns": "logistic.program_columns",
    "mine_logistic_rows": "logistic.program_rows",
    "MixtureParams": "mixture.params",
    "mine_mixture_rows": "mixture.program_rows",
    "BayesLayout": "naive_bayes.params",
    "BayesParams": "naive_bayes.params",
    "mine_bayes_columns": "naive_bayes.program_columns",
    "mine_bayes_rows": "naive_bayes.program_rows",
    "NetworkParams": "network.params",
    "mine_network_columns": "network.program_columns",
    "OutlierParams": "outliers.params",
    "outliers_columns": "outliers.program_columns",
    "outliers_rows": "outliers.program_rows",
    "prepare": "prepared_table",
    "RegressionParams": "regression.params",
    "RegressionTerms": "regression.params",
    "mine_regression_columns": "regression.program_columns",
    "mine_regression_rows": "regression.program_rows",
    "RuleParams": "rules.params",
    "mine_rules_columns": "rules.program_columns",
    "mine_rules_rows": "rules.program_rows",
    "classify_hidden": "tree.hidden_program",
    "mine_tree_hidden": "tree.hidden_program",
    "TreeParams": "tree.level_growth",
    "Attribute": "tree.params",
    "TreeLayout": "tree.params",
    "mine_tree_columns": "tree.program_columns",
    "mine_tree_rows": "tree.program_rows",
    "TreeShape": "tree.tree_sites",
    "TreeSite": "tree.tree_sites",
}

__all__ = [
    "Attribute", "BayesLayout", "BayesParams", "Disclosure", "KMeansParams", "Ledger", "Limits",
    "MixtureParams", "NetworkParams", "OutlierParams", "Party",
    "QueryBudget", "RegressionParams", "RegressionTerms", "RuleParams", "SetRules", "Shared",
    "Study", "TreeLayout", "TreeParams", "TreeShape", "TreeSite", "align", "align_disclosures",
    "argmax", "classify_hidden", "declares", "dot", "equal", "intersection_disclosures",
    "intersection_size", "kmeans_columns", "kmeans_rows", "less_than", "mine", "mine_bayes_columns",
    "mine_bayes_rows", "mine_boost_rows", "mine_forest_rows",
    "mine_logistic_columns", "mine_logistic_rows", "mine_mixture_rows", "mine_network_columns",
    "mine_regression_columns", "mine_regression_rows", "mine_rules_columns", "mine_rules_rows",
    "mine_tree_columns", "mine_tree_hidden", "mine_tree_rows", "multiply", "outliers_columns",
    "outliers_rows", "prepare", "reveal", "run_local", "run_outcomes", "secure_sum", "share",
    "share_sum",
]


def __getattr__(name: str) -> Any:
    if name not in _MINERS:
        raise AttributeError(f"module 'unspoken.joint' has no attribute '{name}'")
    home = _MINERS[name]
    full = home if home.startswith("unspoken.") else f"unspoken.joint.tasks.{home}"
    return getattr(importlib.import_module(full), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MINERS})
