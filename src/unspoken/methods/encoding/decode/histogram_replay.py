"""Decoding scikit-learn's HistGradientBoosting.

It bins every column first and then works on bin numbers only. A strict encoding gives the same
bins, so only the bin edges have to be replaced. Edges are placed by scikit-learn's own binning,
run here once on the codes (it must give the mined edges) and once on the originals. Above
200,000 rows edges come from a part of the rows, and a value of another row may fall on the other
side of an edge half-way between two values; then the model is refused. With early stopping edges
come from the rows that were not held out; those held out decide only where training stopped, which
is replayed (`early_stopping`).
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.errors import DecodeError
from unspoken.methods.encoding.decode.code_tables import (
    Table,
    check_float64,
    data_table,
    key_table,
    unexplained,
)
from unspoken.methods.encoding.decode.decoder_protocol import Codebook, is_category
from unspoken.methods.encoding.decode.early_stopping import stop_where_the_original_stops
from unspoken.methods.encoding.decode.sklearn_replay import restore_names
from unspoken.methods.encoding.decode.training_rows import Rows, check_width

Edges = list[Floats]


def decode_histogram(model: Any, book: Codebook, rows: Rows | None) -> Any:
    """Decode a HistGradientBoosting estimator, with the training rows or the key alone."""
    check_width(book, int(model.n_features_in_))
    _check_sets(model, book)
    mined = model._bin_mapper.bin_thresholds_
    edges, left = ((_key_edges(mined, book, model), None) if rows is None
                   else _data_edges(model, rows))
    decoded = restore_categories(restore_names(copy.deepcopy(model), book), book)
    if hasattr(decoded, "_label_encoder") and hasattr(decoded, "classes_"):
        decoded._label_encoder.classes_ = decoded.classes_
    decoded._bin_mapper.bin_thresholds_ = [edge.copy() for edge in edges]
    for number, predictor in enumerate(p for stage in decoded._predictors for p in stage):
        _replace(predictor.nodes, mined, edges, f"tree {number}")
    if rows is not None and left is not None and left.size:
        stop_where_the_original_stops(decoded, model, rows, left, training_weights(model, rows))
    return decoded


def _check_sets(model: Any, book: Codebook) -> None:
    """Refuse sets of codes: only the numbers of categories mean the same in the original."""
    for column in np.flatnonzero(_flags(model)).tolist():
        if not is_category(book, column):
            raise DecodeError("HistGradientBoosting: the model takes feature "
                              f"'{book.features[column]}' as categories, and its codes are "
                              "numbers. Mine without 'categorical_features' for it.")


def _flags(model: Any) -> npt.NDArray[np.bool_]:
    """Return which features the model takes as categories."""
    if model.is_categorical_ is None:
        return np.zeros(int(model.n_features_in_), np.bool_)
    return np.asarray(model.is_categorical_, np.bool_)


def binned_order(model: Any) -> Ints:
    """Return the feature of each binned column: scikit-learn puts categories first."""
    flags = _flags(model)
    if getattr(model, "_preprocessor", None) is None:
        return np.arange(flags.size)
    return np.asarray(np.r_[np.flatnonzero(flags), np.flatnonzero(~flags)])


def _sets(model: Any) -> npt.NDArray[np.bool_]:
    return _flags(model)[binned_order(model)]


def restore_categories(model: Any, book: Codebook) -> Any:
    """Put original names and categories into the encoder that a model keeps of its own."""
    inside = getattr(model, "_preprocessor", None)
    if inside is None or not hasattr(model, "feature_names_in_"):
        return model
    names, flags = model.feature_names_in_, _flags(model)
    inside.feature_names_in_ = names
    for part, chosen in (("encoder", flags), ("numerical", ~flags)):
        if hasattr(inside.named_transformers_[part], "feature_names_in_"):
            inside.named_transformers_[part].feature_names_in_ = names[chosen]
    encoder = inside.named_transformers_["encoder"]
    parts = [getattr(book, "parts", ())[place] for place in np.flatnonzero(flags).tolist()]
    encoder.categories_ = [_categories(values, part.groups) for values, part in
                           zip(encoder.categories_, parts, strict=True)]
    return model


def _categories(labels: npt.NDArray[Any], groups: tuple[tuple[str, ...], ...]) -> Any:
    """Return the original category of each label; numbers and merged labels stay as they are."""
    plain = all(isinstance(v, str) or v is None or v != v for v in labels.tolist())
    if not plain or any(len(group) != 1 for group in groups):
        return labels
    names = [group[0] for group in groups]
    return np.array(names + labels.tolist()[len(names):], dtype=object)


def _replace(nodes: npt.NDArray[Any], mined: Edges, edges: Edges, where: str) -> None:
    """Replace the threshold of every inner node by the edge of the same bin."""
    inner = ((nodes["is_leaf"] == 0) & (nodes["is_categorical"] == 0)
             & np.isfinite(nodes["num_threshold"]))
    for at in np.flatnonzero(inner).tolist():
        column, number = int(nodes["feature_idx"][at]), int(nodes["bin_threshold"][at])
        if number >= mined[column].size or mined[column][number] != nodes["num_threshold"][at]:
            raise DecodeError(f"{where}, node {at}: its threshold is not the edge of its bin. "
                              "The estimator was changed after it was fitted.")
        nodes["num_threshold"][at] = edges[column][number]


def _data_edges(model: Any, rows: Rows) -> tuple[Edges, Ints]:
    """Return the edges of the originals and the rows that were held out.

    Every row that was trained on must keep its bin; those that were held out may not, and decide
    only where training stopped.
    """
    order = binned_order(model)
    rows = rows.columns(order)
    sets = _sets(model)
    part, left = _parts(model, rows)
    tables = {place: data_table(rows, place, part, rows.book.features[order[place]])
              for place in range(order.size) if not sets[place]}
    again = _binner(model, rows, rows.codes, part)
    if not _same_edges(again.bin_thresholds_, model._bin_mapper.bin_thresholds_):
        raise DecodeError(
            "HistGradientBoosting: binning these rows gives other bins than the model has. It was "
            "not mined from exactly these rows of this release. Pass the training data, weights "
            "and labels the miner's learner used, or decode with the right key.")
    original = _binner(model, rows, rows.values, part)
    _check_bins(tables, again, original)
    return list(original.bin_thresholds_), left


def _parts(model: Any, rows: Rows) -> tuple[Ints, Ints]:
    """Return the rows that were binned, and those that were held out.

    Held-out rows stand in the order in which they are scored. The root of a tree counts the rows
    that it was grown from: all of them, if other rows were passed to be scored.
    """
    everything = np.arange(rows.count)
    fraction = model.validation_fraction
    if not model.do_early_stopping_ or (fraction is None and not _apart(model)):
        return everything, np.zeros(0, np.int64)
    if _apart(model) or _grown_from(model) == rows.count:
        raise DecodeError(
            "HistGradientBoosting: rows that were passed to its fit apart (X_val) decided where "
            "training stopped, and nothing says which they were. Mine with early_stopping=True "
            "alone, which draws them by the seed.")
    from sklearn.model_selection import train_test_split

    stratify = None
    if hasattr(model, "classes_"):
        stratify = rows.labels("early stopping held out a stratified part")
    kept, left = train_test_split(everything, test_size=fraction, stratify=stratify,
                                  random_state=model._random_seed)
    return kept, left


def _apart(model: Any) -> bool:
    """Return True if scored rows were passed although none were to be drawn."""
    return bool(model.validation_fraction is None
                and getattr(model, "_use_validation_data", False))


def _binner(model: Any, rows: Rows, data: Floats, part: Ints) -> Any:
    """Fit scikit-learn's own bin mapper on some rows; the one use of its private binning."""
    from sklearn.base import clone

    weight = training_weights(model, rows)
    binner = clone(model._bin_mapper)
    chosen = None if weight is None else weight[part]
    binner.fit(np.asfortranarray(data[part]), sample_weight=chosen)
    return binner


def training_weights(model: Any, rows: Rows) -> Floats | None:
    """Return sample weights times class weights, as scikit-learn bins with them."""
    wanted = getattr(model, "class_weight", None)
    if wanted is None:
        return rows.weight
    from sklearn.utils.class_weight import compute_sample_weight

    # By number: scikit-learn numbers the classes before it looks up their weights.
    y = rows.numbers_of(tuple(model.classes_.tolist()))
    weights: Floats = compute_sample_weight(class_weight=wanted, y=y)
    return weights if rows.weight is None else rows.weight * weights


def _same_edges(first: Edges, second: Edges) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def _check_bins(tables: Mapping[int, Table], mined: Any, original: Any) -> None:
    for column, table in tables.items():
        mine, theirs = mined.bin_thresholds_[column], original.bin_thresholds_[column]
        before = np.searchsorted(mine, table.codes)
        after = np.searchsorted(theirs, table.values)
        if mine.size != theirs.size or np.any(before != after):
            raise DecodeError(
                f"HistGradientBoosting: feature '{table.name}' has values that fall into another "
                "bin in codes than in originals, because bins were placed by a part of the rows. "
                "Mine with early_stopping=False, at most 200,000 rows and no zero weights."
            )


def _partly(model: Any) -> bool:
    """Return True if some rows may have had no part in placing the bins."""
    weighted = getattr(model, "_fitted_with_sw", False) or (
        getattr(model, "class_weight", None) is not None)
    held_out = model.do_early_stopping_ and model.validation_fraction is not None
    return bool(weighted or held_out or _grown_from(model) > model._bin_mapper.subsample)


def _grown_from(model: Any) -> int:
    """Return how many rows the first tree was grown from."""
    return int(model._predictors[0][0].nodes["count"][0]) if model._predictors else 0


def _key_edges(mined: Edges, book: Codebook, model: Any) -> Edges:
    """Return the edges from the key; only where the whole column placed them."""
    check_float64(book, "HistGradientBoosting")
    few = model._bin_mapper.n_bins - 1
    if _partly(model):
        raise DecodeError("HistGradientBoosting: early stopping, weights, or more than 200,000 "
                          "rows: bins were placed by a part of the rows, which the key alone "
                          "does not know. Pass the training data.")
    order, sets = binned_order(model), _sets(model)
    return [edge if sets[place] else _key_column(edge, key_table(book, int(order[place])), few)
            for place, edge in enumerate(mined)]


def _key_column(mined: Floats, table: Table, few: int) -> Floats:
    """Return original edges: a value, or half-way between two neighbours.

    With few values there is one edge between each two of them, and nothing else.
    """
    if table.codes.size <= few and mined.size != max(table.codes.size - 1, 0):
        raise DecodeError(f"HistGradientBoosting: feature '{table.name}' has {mined.size + 1} "
                          f"bins for {table.codes.size} values. Rows were left out; pass the "
                          "training data and weights.")
    at, known = table.position(mined)
    known &= table.codes.size > few
    values = table.values
    out = np.where(known, values[at] if values.size else 0.0, 0.0)
    for place in np.flatnonzero(~known).tolist():
        out[place] = _half_way(float(mined[place]), int(at[place]), table, few)
    return out


def _half_way(edge: float, at: int, table: Table, few: int) -> float:
    where = "HistGradientBoosting"
    if at == 0 or edge != (table.codes[at - 1] + table.codes[at]) / 2:
        raise unexplained(where, table.name, edge, where)
    low, high = table.values[at - 1], table.values[at]
    # The mean of two neighbours, or numpy's percentile between them: other last bits.
    return float(high - (high - low) * 0.5 if table.codes.size > few else (low + high) / 2)
