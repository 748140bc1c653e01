"""ONNX files of fitted estimators, through the converters that the ONNX project keeps."""

from __future__ import annotations

from typing import Any

import numpy as np

from unspoken.errors import MissingExtraError, ModelError


def onnx_bytes(estimator: Any, features: int) -> bytes:
    """Return a fitted estimator as the content of an ONNX file with one input, X, of float32."""
    _refuse_sets(estimator)
    room = type(estimator).__module__.partition(".")[0]
    try:
        convert = {"xgboost": _boosted, "lightgbm": _boosted}.get(room, _plain)
        return bytes(convert(estimator, features).SerializeToString())
    except ImportError as error:
        raise MissingExtraError("ONNX files need the converters. Install them: pip install "
                                f"'unspoken[onnx]'. Missing: {error.name}.") from None
    except ModelError:
        raise
    except Exception as error:  # Each converter has errors of its own.
        raise ModelError(f"The ONNX converters cannot write {type(estimator).__name__}: "
                         f"{str(error)[:200]}. Save it as JSON, or hand on its predictions."
                         ) from error


def _plain(estimator: Any, features: int) -> Any:
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import FloatTensorType

    options = {id(estimator): {"zipmap": False}} if hasattr(estimator, "classes_") else None
    graph = convert_sklearn(estimator, initial_types=[("X", FloatTensorType([None, features]))],
                            options=options)
    return _with_missing(graph, _trees(estimator), type(estimator).__name__)


def _trees(estimator: Any) -> list[Any]:
    if hasattr(estimator, "tree_"):
        return [estimator.tree_]
    inside = np.asarray(getattr(estimator, "estimators_", ()), dtype=object).ravel()
    return [each.tree_ for each in inside]


def _with_missing(graph: Any, trees: list[Any], name: str) -> Any:
    """Say where missing values go: the converter leaves that out for trees and forests."""
    if not any(bool(np.any(tree.missing_go_to_left)) for tree in trees):
        return graph
    parts = [node for node in graph.graph.node if node.op_type.startswith("TreeEnsemble")]
    held = [trees] if len(parts) == 1 else [[tree] for tree in trees]
    if len(parts) != len(held) or not all(map(_fits, parts, held)):
        raise ModelError(f"{name} sends missing values to the left in some trees, which its ONNX "
                         "converter cannot say. Mine with learner='forest' instead.")
    for part, inside in zip(parts, held, strict=True):
        _set_missing(part, inside)
    return graph


def _lists(part: Any) -> dict[str, Any]:
    return {attribute.name: attribute for attribute in part.attribute}


def _places(lists: dict[str, Any]) -> list[tuple[int, int]]:
    return list(zip(lists["nodes_treeids"].ints, lists["nodes_nodeids"].ints, strict=True))


def _fits(part: Any, trees: list[Any]) -> bool:
    """Return True if a part of the graph holds just these trees: as many nodes, same columns."""
    lists = _lists(part)
    asked = list(zip(_places(lists), lists["nodes_featureids"].ints, lists["nodes_modes"].strings,
                     strict=True))
    return len(asked) == sum(int(tree.node_count) for tree in trees) and all(
        mode == b"LEAF" or int(trees[tree].feature[node]) == feature
        for (tree, node), feature, mode in asked)


def _set_missing(part: Any, trees: list[Any]) -> None:
    lists = _lists(part)
    sides = [int(trees[tree].missing_go_to_left[node]) for tree, node in _places(lists)]
    del lists["nodes_missing_value_tracks_true"].ints[:]
    lists["nodes_missing_value_tracks_true"].ints.extend(sides)


def _boosted(estimator: Any, features: int) -> Any:
    import onnxmltools
    from onnxmltools.convert.common.data_types import FloatTensorType

    shape = [("X", FloatTensorType([None, features]))]
    if type(estimator).__module__.startswith("xgboost"):
        return onnxmltools.convert_xgboost(estimator, initial_types=shape)
    return onnxmltools.convert_lightgbm(estimator, initial_types=shape, zipmap=False)


def _refuse_sets(estimator: Any) -> None:
    """Refuse splits on sets of categories, which the converters do not know."""
    if _has_sets(estimator):
        raise ModelError(f"{type(estimator).__name__} splits on sets of categories, and the ONNX "
                         "converters know thresholds only. Mine with categories by number, such "
                         "as learner='forest' does.")


def _has_sets(estimator: Any) -> bool:
    for stage in getattr(estimator, "_predictors", ()):
        if any(bool(np.any(part.nodes["is_categorical"])) for part in stage):
            return True
    if type(estimator).__name__.startswith("XGB"):
        return "c" in (estimator.get_booster().feature_types or [])
    if type(estimator).__name__.startswith("LGBM"):
        return "==" in set(estimator.booster_.trees_to_dataframe()["decision_type"].dropna())
    return False
