"""Decoding XGBoost models.

hist and approx cut at values of the column: `x < value`. So the code table alone decodes them,
whatever rows each tree saw. The other cuts stand above the largest and below the smallest value
and separate present from missing. exact cuts half-way between two values of the node, in
float32, and is replayed. The JSON does not say which method was used; it is inferred from the
thresholds.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import DecodeError
from unspoken.methods.encoding.decode.boosted_leaves import Descent, Step, check_descent
from unspoken.methods.encoding.decode.code_tables import Table, key_table, unexplained
from unspoken.methods.encoding.decode.decoder_protocol import Codebook, is_category
from unspoken.methods.encoding.decode.leaf_walks import ask_xgboost, leaves_in
from unspoken.methods.encoding.decode.learner_thresholds import xgboost_midpoint
from unspoken.methods.encoding.decode.node_replay import Nodes, Replay, Sides, foreign
from unspoken.methods.encoding.decode.training_rows import Rows, check_width, original_names
from unspoken.methods.encoding.decode.tree_threads import tree_by_tree
from unspoken.models.readers.xgboost_json import XGBoostModel
from unspoken.models.readers.xgboost_objectives import start_of
from unspoken.models.readers.xgboost_tree import BoostedTree

HIST_STEP = np.float64(np.float32(1e-5))
EXACT_STEP = np.float32(1e-6)


def decode_xgboost(
    model: XGBoostModel, book: Codebook, rows: Rows | None, learner: str | None
) -> XGBoostModel:
    """Decode an XGBoost model; `learner` "hist", "approx" or "exact", or None to infer it."""
    check_width(book, model.n_features)
    names = original_names(book, model.feature_names) if model.feature_names else None
    _check_sets(model, book)
    cuts = _conditions(model, book, rows, learner)
    if rows is not None and not rows.trusted:
        _check_leaves(model, rows)
    return model.with_conditions(cuts, names)


def _check_sets(model: XGBoostModel, book: Codebook) -> None:
    """Refuse sets of codes: only the numbers of categories mean the same in the original."""
    for tree in model.trees:
        for column in np.unique(tree.feature[tree.inner & tree.categorical]).tolist():
            if not is_category(book, column):
                raise DecodeError(f"XGBoost: the model takes feature '{book.features[column]}' as "
                                  "categories, and its codes are numbers. Mine without "
                                  "enable_categorical for it.")


def _conditions(
    model: XGBoostModel, book: Codebook, rows: Rows | None, learner: str | None
) -> list[Floats]:
    if learner is None:
        return _inferred(model, book, rows)
    if learner == "exact":
        return _exact(model, _needed(rows))
    return _hist(model, book, rows, learner == "hist")


LOSSES = {"reg:squarederror": "squared", "reg:logistic": "logistic", "binary:logistic": "logistic",
          "binary:logitraw": "logistic", "multi:softmax": "softmax", "multi:softprob": "softmax"}


def _check_leaves(model: XGBoostModel, rows: Rows) -> None:
    core = model.core
    if core.objective.name not in LOSSES or rows.y is None:
        return
    rounds = np.searchsorted(core.layers, np.arange(len(core.trees)), side="right")
    drop = np.ones(len(core.trees)) if core.weight_drop is None else core.weight_drop
    steps = tuple(Step(int(core.tree_info[n]), int(rounds[n]),
                       tree.condition * drop[n] * tree.shape.leaves,
                       np.where(tree.shape.leaves, tree.hessian, 0.0))
                  for n, tree in enumerate(core.trees))
    start = np.broadcast_to(start_of(core.objective, core.base), (core.outputs,))
    loss = LOSSES[core.objective.name]
    positive = float(core.objective.parameter or 1.0) if loss == "logistic" else 1.0
    check_descent(Descent("XGBoost", loss, np.asarray(start, np.float64), steps,
                          core.weight_drop is None, False, 2.0 if loss == "softmax" else 1.0),
                  rows, leaves_in(core.trees, rows, ask_xgboost), positive)


def _needed(rows: Rows | None) -> Rows:
    if rows is None:
        raise DecodeError("XGBoost exact: the training data is needed to decode this model. Its "
                          "thresholds lie between values of single nodes, which the key alone "
                          "does not know. Pass the original training data (data=).")
    return rows


def _inferred(model: XGBoostModel, book: Codebook, rows: Rows | None) -> list[Floats]:
    """Try both readings; refuse if both fit and differ."""
    try:
        hist = _hist(model, book, rows)
    except DrawnElsewhereError:
        raise
    except DecodeError as error:
        if rows is None:
            raise
        return _exact_or(model, rows, error)
    if rows is None or model.core.categorical:
        return hist
    try:
        exact = _exact(model, rows)
    except DecodeError:
        return hist
    if all(np.array_equal(a, b) for a, b in zip(hist, exact, strict=True)):
        return hist
    raise DecodeError("XGBoost: the thresholds fit tree_method 'hist' as well as 'exact', with "
                      "different results. Pass the one that was used: learner='hist' or 'exact'.")


def _exact_or(model: XGBoostModel, rows: Rows, error: DecodeError) -> list[Floats]:
    try:
        return _exact(model, rows)
    except DecodeError as other:
        raise DecodeError(f"XGBoost: the thresholds fit neither tree_method 'hist' ({error}) "
                          f"nor 'exact' ({other})") from None


def _hist(
    model: XGBoostModel, book: Codebook, rows: Rows | None, whole: bool = False
) -> list[Floats]:
    """Return the cuts of all trees; `whole`: it is known that all rows were sketched (hist)."""
    tables = {column: _narrowed(key_table(book, column)) for column in range(model.n_features)}
    ends = {column: _ends(tables[column], rows, column) for column in tables}
    last = np.searchsorted(model.core.layers, np.arange(len(model.trees)), side="right")
    return [
        _hist_tree(tree, tables, ends, f"XGBoost tree {number}", bool(last[number] == last.max()),
                   whole)
        for number, tree in enumerate(model.trees)
    ]


def _narrowed(table: Table) -> Table:
    """Return a table with values as XGBoost sees them."""
    return replace(table, values=table.values.astype(np.float32).astype(np.float64))


def _ends(table: Table, rows: Rows | None, column: int) -> tuple[int, int]:
    """Return the positions of the smallest and largest value of rows of non-zero weight."""
    if rows is None or (rows.weight is None and not rows.part):
        return 0, table.codes.size - 1
    codes = rows.codes[rows.bag(), column]
    codes = codes[~np.isnan(codes)]
    if codes.size == 0:
        return 0, table.codes.size - 1
    low, high = np.searchsorted(table.codes, [codes.min(), codes.max()]).tolist()
    return low, high


def _hist_tree(
    tree: BoostedTree, tables: dict[int, Table], ends: dict[int, tuple[int, int]], where: str,
    last: bool, whole: bool,
) -> Floats:
    """Return the cuts of one tree; `last`: no other round was grown after it."""
    out = tree.condition.copy()
    thresholds = tree.inner & ~tree.categorical
    for column in np.unique(tree.feature[thresholds]).tolist():
        table = tables[column]
        node = np.flatnonzero(thresholds & (tree.feature == column))
        at, known = table.position(tree.condition[node])
        if table.codes.size == 0:
            raise unexplained(where, table.name, float(tree.condition[node[0]]), "XGBoost hist")
        out[node[known]] = table.values[at[known]]
        for other in node[~known].tolist():
            out[other] = _outside(float(tree.condition[other]), table, ends[column],
                                  f"{where}, node {int(tree.kept[other])}", last, whole)
    _check_finite(out, where)
    return out


def _outside(
    cut: float, table: Table, ends: tuple[int, int], where: str, last: bool, whole: bool
) -> float:
    """Return the cut above the largest, or below the smallest, of the sketched values.

    approx sketches by the hessian, and so its outermost value can be one below that of a row that
    a tree did not draw. Such rows may lie on either side of the cut, twice as far out: where they
    lie on another in the originals, the tree is the same and what it predicts for them is not, so
    that every round after it is grown from other gradients. Below every positive code stands the
    same cut, which does not tell above which value; only hist sketches the smallest for certain.
    """
    for side, end in ((1.0, ends[1]), (-1.0, ends[0])):
        same = outer_cut(table.codes, side) == cut
        if same[end] and (whole or same.sum() == 1):
            return float(outer_cut(table.values, side)[end])
    for side in (1.0, -1.0):
        cuts = np.unique(outer_cut(table.values[outer_cut(table.codes, side) == cut], side))
        if cuts.size > 1:
            raise DrawnElsewhereError(where, table.name)
        if cuts.size == 1:
            if not last and np.any((table.codes < cut) != (table.values < cuts[0])):
                raise DrawnElsewhereError(where, table.name)
            return float(cuts[0])
    raise unexplained(where, table.name, cut, "XGBoost hist")


class DrawnElsewhereError(DecodeError):
    """Rows outside a tree's draw are predicted otherwise in the original, and later trees differ.

    Its trees must then be grown on the original, for which the recipe is needed.
    """

    def __init__(self, where: str, feature: str) -> None:
        super().__init__(
            f"{where}: some rows that XGBoost (tree_method 'approx', subsample below 1) did not "
            f"draw for it lie, or may lie, beyond its outermost cut on feature '{feature}' in the "
            "original and not in the codes, or the other way round, so that the trees after it are "
            "others. Pass the recipe and the original as a table, and they are grown on it; or "
            "mine with tree_method='hist', and say so when decoding.")


def outer_cut(end: Floats, side: float) -> Floats:
    """XGBoost's cut beyond the largest (side 1) or the smallest (side -1) value of a column.

    It takes the one in float64 and the other in float32, in this order: 588210 gives -1e-05.
    """
    with np.errstate(over="ignore"):
        narrow = end.astype(np.float32)
        cut = (narrow - np.abs(narrow) - np.float32(HIST_STEP) if side < 0
               else (end + (np.abs(end) + HIST_STEP)).astype(np.float32))
    return np.asarray(cut.astype(np.float64))


def _exact(model: XGBoostModel, rows: Rows) -> list[Floats]:
    return tree_by_tree(lambda n: _exact_tree(model.trees[n], rows, f"XGBoost tree {n}"),
                        len(model.trees), rows)


def _exact_tree(tree: BoostedTree, rows: Rows, where: str) -> Floats:
    nodes = Nodes(tree.shape, tree.feature, tree.condition, where)
    for column in range(len(rows.book.features)):
        key_table(rows.book, column)
    # Rows of weight zero stay: XGBoost's exact method cuts beside their values too.
    bag = np.arange(rows.count)
    leaf = next(iter(leaves_in([tree], rows, ask_xgboost)(0, rows.count)))
    replay = Replay(nodes, rows, bag, leaf)
    out = tree.condition.copy()
    for column in np.unique(tree.feature[tree.inner]).tolist():
        if is_category(rows.book, column):
            # Categories have the same numbers on both sides, and which rows a tree drew is unknown.
            continue
        sides = replay.sides(tree.inner & (tree.feature == column))
        _check_mined(nodes, sides)
        out[sides.node] = exact_cut(sides.low, sides.high)
        _check_separates(sides, out[sides.node], where)
    _check_finite(out, where)
    return out


def exact_cut(left: Floats, right: Floats) -> Floats:
    """XGBoost exact: half-way, or a step beyond the one side that has values (NaN: none)."""
    low, high = left.astype(np.float32), right.astype(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        above = low + (np.abs(low) + EXACT_STEP)
        below = high - (np.abs(high) + EXACT_STEP)
        middle = xgboost_midpoint(left, right)
    one_sided = np.where(np.isnan(right), above, below).astype(np.float64)
    return np.where(np.isnan(left) | np.isnan(right), one_sided, middle)


def _check_mined(nodes: Nodes, sides: Sides) -> None:
    wrong = np.flatnonzero(exact_cut(sides.left_code, sides.right_code)
                           != nodes.threshold[sides.node])
    if wrong.size:
        at = int(wrong[0])
        raise foreign(nodes.where, int(sides.node[at]),
                      f"the threshold is {nodes.threshold[sides.node[at]]}, and the training "
                      f"rows beside it have codes {sides.left_code[at]} and "
                      f"{sides.right_code[at]}")


def _check_separates(sides: Sides, cut: Floats, where: str) -> None:
    """Refuse values so close that their float32 midpoint does not lie between them."""
    low = sides.low.astype(np.float32).astype(np.float64)
    high = sides.high.astype(np.float32).astype(np.float64)
    wrong = np.flatnonzero((low >= cut) | (high <= cut))
    if wrong.size:
        raise DecodeError(
            f"{where}, node {int(sides.node[wrong[0]])}: the original values beside the threshold "
            "have no float32 midpoint between them, so XGBoost's exact method "
            "goes wrong on the original. Use tree_method='hist', or rescale the column."
        )


def _check_finite(cuts: Floats, where: str) -> None:
    if not np.all(np.isfinite(cuts)):
        raise DecodeError(f"{where}: a threshold on the original values exceeds float32. "
                          "Rescale the column before protecting it.")
