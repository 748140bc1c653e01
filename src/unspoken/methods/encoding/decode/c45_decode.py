"""Decoding trees of C4.5: cuts are codes of the column, so the key alone gives their values.

bu2007 section 5.4 promises decoding with little more than the functions; here it is exact, because
a cut is the lower one of two values and not between them. With the training rows at hand the counts
of every node are compared as well, so that a tree of other rows is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from unspoken.arrays import Ints
from unspoken.errors import DecodeError
from unspoken.methods.encoding.code_book import ColumnCode
from unspoken.methods.encoding.decode.feature_design import Design
from unspoken.methods.encoding.decode.training_rows import Rows, original_label
from unspoken.models.categorical_tree import CategoricalTree


def decode_c45(model: CategoricalTree, design: Design, rows: Rows | None) -> CategoricalTree:
    """Return the tree of the original data; refuse one that is not C4.5's on these codes."""
    if model.task != "classification" or not design.increasing:
        raise DecodeError("Only classification trees of C4.5 on codes that keep the order are "
                          "decoded. Protect with mode='strict'.")
    _check_kinds(model, design)
    if rows is not None:
        _check_rows(model, rows)
    names = dict(zip(model.features, design.features, strict=True))
    classes = tuple(original_label(design, label) for label in model.classes)
    decoded = replace(
        model, features=tuple(design.features), classes=classes, single=True,
        categories={names[name]: model.categories[name] for name in _asked(model)},
        threshold=np.array([_value(model, design, node) for node in range(model.nodes)]))
    return decoded.with_members({names[name]: _members(model.categories[name],
                                                       design.book.groups(names[name]))
                                 for name in _asked(model)})


def _members(labels: Sequence[str | None], groups: Mapping[str, tuple[str, ...]]
             ) -> list[tuple[str | None, Sequence[str | None]]]:
    """Return the original categories behind each label that the tree knows; None is missing."""
    return [(label, (None,) if label is None else groups[label]) for label in labels]


def _asked(model: CategoricalTree) -> list[str]:
    return [name for name in model.features if name in model.categories]


def _check_kinds(model: CategoricalTree, design: Design) -> None:
    """Refuse cuts of categories, and categories where the release has numbers."""
    for place in {int(feature) for feature in model.feature if feature >= 0}:
        if (model.features[place] in model.categories) != design.categorical[place]:
            raise DecodeError(f"The model's column '{model.features[place][:60]}' is of another "
                              "kind than the release's. Is this the key of another release?")


def _value(model: CategoricalTree, design: Design, node: int) -> float:
    place = int(model.feature[node])
    if place < 0 or model.route[node]:
        return 0.0
    column = design.book.columns[design.parts[place].place]
    return _lower_value(column, float(model.threshold[node]), node)


def _lower_value(column: ColumnCode, code: float, node: int) -> float:
    """Return the value of a code, as float32 sees it; no larger one may have a smaller code."""
    here = np.flatnonzero(column.codes == code)
    if here.size != 1 or column.record.any():
        raise DecodeError(f"Node {node}: the cut of column '{column.name}' is not at one of its "
                          "codes. C4.5 cuts there; is this a tree of another learner?")
    if not np.array_equal(column.codes <= code, column.values <= column.values[here[0]]):
        raise DecodeError(f"Node {node}: the cut lies inside a piece whose codes were permuted, "
                          "where no cut of the original values exists. Protect with "
                          "mode='strict'.")
    return float(np.float32(column.values[here[0]])) + 0.0


def _check_rows(model: CategoricalTree, rows: Rows) -> None:
    """Refuse a tree whose nodes count other records than the training rows."""
    labels = None if rows.y is None or rows.trusted else rows.numbers_of(model.classes)
    waiting = [(0, np.arange(rows.count))]
    while waiting:
        node, here = waiting.pop()
        _check_counts(model, node, here, labels)
        if model.feature[node] >= 0:
            side = _side(model, node, rows.codes[here, int(model.feature[node])])
            waiting += [(int(model.first_child[node]) + child, here[side == child])
                        for child in range(int(model.children[node]))]


def _check_counts(model: CategoricalTree, node: int, here: Ints, labels: Ints | None) -> None:
    same = here.size == model.n_samples[node]
    if same and labels is not None and here.size:
        counts = np.bincount(labels[here], minlength=len(model.classes))
        same = counts.size == len(model.classes) and np.array_equal(
            counts / here.size, model.value[node])
    if not same:
        raise DecodeError(f"Node {node} counts other records than the training rows give it. The "
                          "model was not mined from these rows, or was changed.")


def _side(model: CategoricalTree, node: int, codes: np.ndarray) -> Ints:
    if not model.route[node]:
        return np.asarray(codes > model.threshold[node], np.int64)
    known = model.categories[model.features[int(model.feature[node])]]
    missing = known.index(None) if None in known else -1
    numbers = np.where(np.isnan(codes), missing, np.nan_to_num(codes)).astype(np.int64)
    return np.asarray(np.array(model.route[node], np.int64)[numbers])
