"""The nodes of one tree as part of a document: lists for JSON, arrays for a packed file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from unspoken.models.tree import Tree

NODE_ARRAYS = ("feature", "threshold", "left", "right", "missing_left", "value", "n_samples",
               "weighted_n_samples", "impurity")


def nodes_to_json(tree: Tree) -> dict[str, Any]:
    """Return the node arrays of one tree."""
    document = {name: getattr(tree, name).tolist() for name in NODE_ARRAYS if name != "value"}
    document["threshold"] = [v if np.isfinite(v) else str(v) for v in document["threshold"]]
    document["missing_left"] = tree.missing_left.astype(int).tolist()
    return {"nodes": tree.nodes, **document, "value": tree.value.ravel().tolist()}


def nodes_to_arrays(tree: Tree) -> dict[str, Any]:
    """Return the node arrays of one tree as they are, for a packed file."""
    return {"nodes": tree.nodes, **{name: getattr(tree, name) for name in NODE_ARRAYS}}
