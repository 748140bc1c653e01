"""Writing XGBoost's JSON document from the validated core, and from nothing else."""

from __future__ import annotations

from typing import Any

from unspoken.models.category_groups import Remark, remark_of
from unspoken.models.readers.xgboost_categories import written_names
from unspoken.models.readers.xgboost_core import XGBoostCore
from unspoken.models.readers.xgboost_objectives import written_objective
from unspoken.models.readers.xgboost_tree import BoostedTree


def document_of(core: XGBoostCore) -> dict[str, Any]:
    """Return the document that XGBoost loads."""
    text = remark_of(Remark(core.labels, groups=core.groups))
    remark = {"unspoken": text} if text else {}
    learner = {
        "attributes": dict(core.best) | remark, "feature_names": list(core.names),
        "feature_types": list(core.types), "gradient_booster": _booster(core),
        "learner_model_param": _model_param(core), "objective": written_objective(core.objective),
    }
    return {"learner": learner, "version": list(core.version)}


def _booster(core: XGBoostCore) -> dict[str, Any]:
    model = {
        "cats": written_names(core.groups, core.columns, core.types),
        "gbtree_model_param": {"num_parallel_tree": str(core.parallel),
                               "num_trees": str(len(core.trees))},
        "iteration_indptr": core.layers.tolist(), "tree_info": core.tree_info.tolist(),
        "trees": [_tree(number, tree, core.features) for number, tree in enumerate(core.trees)],
    }
    if core.weight_drop is None:
        return {"model": model, "name": "gbtree"}
    return {"gbtree": {"model": model, "name": "gbtree"}, "name": "dart",
            "weight_drop": core.weight_drop.tolist()}


def _model_param(core: XGBoostCore) -> dict[str, str]:
    param = {"base_score": core.base_text}
    if core.from_average is not None:
        param["boost_from_average"] = core.from_average
    return param | {"num_class": str(core.classes), "num_feature": str(core.features),
                    "num_target": str(core.targets)}


def _tree(number: int, tree: BoostedTree, features: int) -> dict[str, Any]:
    nodes = tree.all
    size = nodes.left.size
    return {
        "base_weights": nodes.base_weights.tolist(), "categories": nodes.categories.tolist(),
        "categories_nodes": nodes.categories_nodes.tolist(),
        "categories_segments": nodes.categories_segments.tolist(),
        "categories_sizes": nodes.categories_sizes.tolist(),
        "default_left": nodes.default_left.astype(int).tolist(), "id": number,
        "left_children": nodes.left.tolist(), "loss_changes": nodes.loss_changes.tolist(),
        "parents": nodes.parents.tolist(), "right_children": nodes.right.tolist(),
        "split_conditions": nodes.condition.tolist(), "split_indices": nodes.feature.tolist(),
        "split_type": nodes.split_type.tolist(), "sum_hessian": nodes.sum_hessian.tolist(),
        "tree_param": {"num_deleted": str(size - tree.kept.size), "num_feature": str(features),
                       "num_nodes": str(size), "size_leaf_vector": "1"},
    }
