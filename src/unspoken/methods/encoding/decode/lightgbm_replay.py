"""Decoding LightGBM models.

LightGBM bins each column by the values of at most `bin_construct_sample_cnt` rows. Edges lie one
double above the midpoint of two neighbouring sampled values, never across zero: zero has a bin
of its own between -1e-35 and 1e-35. So sign and zero must be kept by the codes, and the code
table decodes every threshold when all rows were sampled.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import DecodeError, explain
from unspoken.methods.encoding.decode.code_tables import (
    Table,
    check_float64,
    data_table,
    key_table,
    unexplained,
)
from unspoken.methods.encoding.decode.decoder_protocol import Codebook
from unspoken.methods.encoding.decode.learner_thresholds import lightgbm_midpoint
from unspoken.methods.encoding.decode.lightgbm_leaves import check_lightgbm_leaves
from unspoken.methods.encoding.decode.lightgbm_sample import sample_rows
from unspoken.methods.encoding.decode.training_rows import Rows, check_width, original_names
from unspoken.models.readers.lightgbm_text import LightGBMModel

ZERO = float(np.float32(1e-35))
"""LightGBM takes values up to this far from zero as zero."""


def decode_lightgbm(model: LightGBMModel, book: Codebook, rows: Rows | None) -> LightGBMModel:
    """Decode a LightGBM model, with the training rows or the key alone."""
    _check_supported(model)
    check_width(book, len(model.feature_names))
    names = _names(book, model.feature_names)
    if rows is None:
        check_float64(book, "LightGBM")
        _check_unsampled_rows(model)
    sample = None if rows is None else _sampled(model, rows.count)
    tables = [_table(book, rows, sample, c) for c in range(len(names))]
    if rows is not None and sample is not None:
        for column, table in enumerate(tables):
            _check_unsampled(table, data_table(rows, column))
    thresholds = [
        _decoded(tree.feature, tree.threshold, tables, f"LightGBM tree {number}")
        for number, tree in enumerate(model.trees)
    ]
    if rows is not None and not rows.trusted:
        check_lightgbm_leaves(model, rows)
    infos = [_range(info, table) for info, table in zip(model.feature_infos, tables, strict=True)]
    return model.with_thresholds(thresholds, infos, names)


def _names(book: Codebook, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return original names as LightGBM writes them: blanks would end a name in its text."""
    if names == tuple(map(_written, book.released_features)):
        return tuple(map(_written, book.features))
    return tuple(map(_written, original_names(book, names)))


def _written(name: str) -> str:
    return re.sub(r"\s", "_", name)


def _check_supported(model: LightGBMModel) -> None:
    if any(tree.categorical for tree in model.trees):
        raise DecodeError("LightGBM: the model splits on categories, whose codes have no order. "
                          "Mine without categorical_feature.")
    if any(tree.linear for tree in model.trees):
        raise DecodeError("LightGBM: linear trees compute with the codes themselves. Mine with "
                          "linear_tree=False.")
    for name in ("forcedsplits_filename", "forcedbins_filename"):
        if model.parameters.get(name):
            raise DecodeError(f"LightGBM: '{name}' names thresholds of the codes. Mine without it.")


def _number_of(model: LightGBMModel, name: str, default: str) -> float:
    value = model.parameters.get(name, default)
    try:
        return float(value)
    except ValueError:
        raise DecodeError(explain(f"LightGBM: parameter '{name}'", "a number", value)) from None


def _sampled(model: LightGBMModel, rows: int) -> Ints | None:
    """Return the rows that placed the bins; None if all did."""
    count = int(_number_of(model, "bin_construct_sample_cnt", "200000"))
    seed = int(_number_of(model, "data_random_seed", "1"))
    return None if rows <= count else sample_rows(rows, count, seed)


def _check_unsampled_rows(model: LightGBMModel) -> None:
    """Refuse key-only decoding if the bins may have been placed by a sample of the rows."""
    names = ("bagging_fraction", "pos_bagging_fraction", "neg_bagging_fraction")
    share = min(_number_of(model, name, "1") for name in names)
    seen = max((tree.rows for tree in model.trees), default=0)
    if share <= 0 or seen / share >= _number_of(model, "bin_construct_sample_cnt", "200000"):
        raise DecodeError("LightGBM: with more rows than bin_construct_sample_cnt it places its "
                          "bins by a sample of them, which the key alone does not know. Pass the "
                          "training data.")


def _table(book: Codebook, rows: Rows | None, sample: Ints | None, column: int) -> Table:
    table = key_table(book, column) if rows is None else data_table(rows, column, sample)
    codes, values = (np.where(np.abs(side) <= ZERO, 0.0, side)
                     for side in (table.codes, table.values))
    if np.any(np.sign(codes) != np.sign(values)):
        raise DecodeError(
            f"feature '{table.name}': its codes do not keep sign and zero, and LightGBM treats "
            "zero apart. Protect with an encoding that keeps them."
        )
    _check_apart(table.name, values)
    return Table(table.name, codes, values)


def _check_apart(name: str, values: Floats) -> None:
    """Refuse neighbouring doubles, which LightGBM takes as one value."""
    if np.any(values[1:] <= np.nextafter(values[:-1], np.inf)):
        raise DecodeError(f"feature '{name}' has values that are neighbouring doubles or lie "
                          f"within {ZERO} of zero; LightGBM takes them as equal. Round the "
                          "column before protecting it.")


def _check_unsampled(sampled: Table, full: Table) -> None:
    """Refuse values outside the sample that lie on another side of a possible bin edge."""
    if sampled.codes.size < 2:
        return
    edges = [lightgbm_midpoint(side[:-1], side[1:]) for side in (sampled.codes, sampled.values)]
    same = np.searchsorted(edges[0], full.codes) == np.searchsorted(edges[1], full.values)
    if not np.all(same):
        raise DecodeError(
            f"LightGBM: it placed its bins by a sample of the rows, and feature '{full.name}' "
            "has values outside the sample that may fall into other bins in codes than in "
            "originals. Mine with bin_construct_sample_cnt of at least the number of rows."
        )


def _decoded(feature: Ints, threshold: Floats, tables: Sequence[Table], where: str) -> Floats:
    out = threshold.copy()
    for column in np.unique(feature).tolist():
        node = np.flatnonzero((feature == column) & (np.abs(threshold) > ZERO)
                              & np.isfinite(threshold))
        out[node] = _between(threshold[node], tables[column], where)
    return out


def _between(threshold: Floats, table: Table, where: str) -> Floats:
    """Return the edge between the same two neighbours among the original values."""
    if threshold.size == 0:
        return threshold
    at, _ = table.position(threshold)
    low = np.maximum(at - 1, 0)
    expected = lightgbm_midpoint(table.codes[low], table.codes[at])
    wrong = np.flatnonzero((at == 0) | (expected != threshold))
    if wrong.size:
        raise unexplained(where, table.name, float(threshold[wrong[0]]), "LightGBM")
    return lightgbm_midpoint(table.values[low], table.values[at])


def _range(info: str, table: Table) -> str:
    """Return the range of a feature as LightGBM writes it."""
    if not (info.startswith("[") and info.endswith("]")):
        return info
    low, _, high = info[1:-1].partition(":")
    return f"[{_number(low, table)}:{_number(high, table)}]"


def _number(text: str, table: Table) -> str:
    try:
        wanted = float(text)
    except ValueError:
        wanted = math.nan
    at, known = table.position(np.array([wanted]))
    if not known[0]:
        if wanted == 0.0:
            return text
        raise unexplained("LightGBM, feature_infos", table.name, wanted, "LightGBM")
    return format(float(table.values[at[0]]), ".17g")
