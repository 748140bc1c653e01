"""The bins and parameters of HistGradientBoosting as checked data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import ModelError
from unspoken.models.estimator_params import Rule, taken_params
from unspoken.models.hostile_json import Fields, refuse


@dataclass(frozen=True, eq=False)
class Bins:
    """The edges between the bins of each column; for categories none, but how many there are."""

    edges: tuple[Floats, ...]
    sizes: Ints

    def mapper(self, max_bins: int, seed: int | None) -> Any:
        """Return scikit-learn's own bin mapper with these edges."""
        from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper

        sets = self.sizes > 0
        known = [np.arange(size, dtype=np.float64) if size else None
                 for size in self.sizes.tolist()]
        mapper = _BinMapper(n_bins=max_bins + 1, is_categorical=sets if sets.any() else None,
                            known_categories=known if sets.any() else None, random_state=seed)
        edges = [edge if numbers is None else numbers
                 for edge, numbers in zip(self.edges, known, strict=True)]
        mapper.bin_thresholds_ = [edge.copy() for edge in edges]
        mapper.is_categorical_ = sets.astype(np.uint8)
        mapper.missing_values_bin_idx_ = max_bins
        mapper.n_bins_non_missing_ = np.array(
            [edge.size + (not size) for edge, size in zip(edges, self.sizes, strict=True)],
            np.uint32)
        return mapper

    def to_json(self) -> dict[str, Any]:
        """Return the fields "edges" and "categories_known"."""
        return {"edges": [edge.tolist() for edge in self.edges],
                "categories_known": self.sizes.tolist()}


def read_bins(fields: Fields, features: int, max_bins: int) -> Bins:
    """Read `Bins.to_json`'s fields."""
    sizes = fields.ints("categories_known", features, 0, max_bins)
    listed = fields.items("edges", features)
    if len(listed) != features:
        refuse(fields.at("edges"), f"a list of {features}", str(len(listed)))
    inside = Fields({str(place): each for place, each in enumerate(listed)}, fields.at("edges"),
                    fields.limits)
    edges = tuple(inside.floats(str(place), None) for place in range(features))
    for place, edge in enumerate(edges):
        if edge.size >= max_bins or np.any(np.diff(edge) <= 0) or (edge.size and sizes[place]):
            refuse(inside.at(str(place)), f"fewer than {max_bins} edges, rising, none for "
                   "categories", "others")
    return Bins(edges, sizes)


def taken_bins(estimator: Any) -> tuple[Bins, list[int], list[list[Any]]]:
    """Return the bins, the feature behind each column, and the categories of the first columns."""
    mapper, flags = estimator._bin_mapper, estimator.is_categorical_
    width = int(estimator.n_features_in_)
    sets = np.zeros(width, np.bool_) if flags is None else np.asarray(flags, np.bool_)
    encoder = getattr(estimator, "_preprocessor", None)
    order, inside = list(range(width)), []
    if encoder is not None:
        order = [*np.flatnonzero(sets).tolist(), *np.flatnonzero(~sets).tolist()]
        inside = [_present(each) for each in encoder.named_transformers_["encoder"].categories_]
    sets = sets[order]
    edges = tuple(np.zeros(0) if flag else np.asarray(edge, np.float64)
                  for edge, flag in zip(mapper.bin_thresholds_, sets, strict=True))
    sizes = [len(edge) if flag else 0
             for edge, flag in zip(mapper.bin_thresholds_, sets, strict=True)]
    return Bins(edges, np.array(sizes, np.int64)), order, inside


def _present(values: Any) -> list[Any]:
    return [value for value in values.tolist() if value is not None and value == value]


def taken_histogram_params(estimator: Any, rules: Mapping[str, Rule]) -> dict[str, Any]:
    """Return the parameters of a fitted estimator, and what it drew, as plain values."""
    shown = SimpleNamespace(**estimator.get_params(deep=False))
    if shown.validation_fraction is None and getattr(estimator, "_use_validation_data", False):
        raise ModelError("HistGradientBoosting: its file does not say by which rows it was "
                         "stopped, if they were passed to its fit apart (X_val). Leave them out.")
    shown.seed = int(estimator._random_seed)
    shown.stopped_early = bool(estimator.do_early_stopping_)
    shown.weighted = bool(getattr(estimator, "_fitted_with_sw", False))
    shown.constrained = (estimator.monotonic_cst is not None
                         or estimator.interaction_cst is not None
                         or getattr(estimator, "_constrained", False))
    shown.scoring = "loss" if estimator.scoring == "loss" else None
    return taken_params(shown, rules)
