"""What a mined model says of its inputs: names, number, and the labels behind its categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unspoken.methods.encoding.code_book import PiecewiseBook
from unspoken.methods.encoding.decode.feature_design import Design, design_of
from unspoken.models.readers import LightGBMModel, XGBoostModel
from unspoken.models.readers.lightgbm_core import frame_lists


def design_for(book: PiecewiseBook, model: Any) -> Design:
    """Return the features of a model in memory, as `as_model` returns it."""
    names, width = names_of(model)
    lists = {name: _flat(groups)
             for name, groups in (getattr(model, "categories", None) or {}).items()}
    design = design_of(book, names, width, lists)
    more = _histogram_lists(model, design) or _frame_lists(model, design)
    if not more:
        return design
    return design_of(book, names or design.released_features, width, more)


def _flat(groups: Sequence[Any]) -> list[str]:
    """Return labels in their order; trees of C4.5 list them bare, and None for missing ones."""
    listed = [[each] if isinstance(each, str) else each or () for each in groups]
    return [label for group in listed for label in group]


def names_of(model: Any) -> tuple[tuple[str, ...] | None, int]:
    """Return the names of a model's features, None where it has none, and their number."""
    if isinstance(model, XGBoostModel):
        return model.feature_names or None, model.n_features
    if hasattr(model, "n_features_in_"):
        names = getattr(model, "feature_names_in_", None)
        return (None if names is None else tuple(map(str, names))), int(model.n_features_in_)
    return tuple(model.features), len(model.features)


def _frame_lists(model: Any, design: Design) -> dict[str, Sequence[str]]:
    """Return the labels of a data frame that LightGBM saw, by column, where they are all there."""
    if not isinstance(model, LightGBMModel) or model.categories:
        return {}
    listed = frame_lists(model.core)
    columns = [name for name, known in zip(model.features, design.categorical, strict=True)
               if known]
    return dict(zip(columns, listed, strict=True)) if len(columns) == len(listed) else {}


def _histogram_lists(model: Any, design: Design) -> dict[str, Sequence[str]]:
    """Return the labels that HistGradientBoosting's own encoder numbered, by column."""
    encoder = histogram_encoder(model)
    if encoder is None:
        return {}
    places = np.flatnonzero(model.is_categorical_).tolist()
    names = names_of(model)[0] or design.released_features
    return {names[place]: _labels(values, design, place)
            for place, values in zip(places, encoder.categories_, strict=True)
            if design.categorical[place]}


def histogram_encoder(model: Any) -> Any:
    """Return the encoder of categories inside a HistGradientBoosting, None if it has none."""
    inside = getattr(model, "_preprocessor", None)
    return None if inside is None else inside.named_transformers_["encoder"]


def _labels(values: Any, design: Design, place: int) -> list[str]:
    """Return labels; an array of numbers holds their places among all labels of the column."""
    known = [v for v in values.tolist() if v is not None and v == v]
    if all(isinstance(value, str) for value in known):
        return known
    labels = list(design.book.groups(design.features[place]))
    return [labels[int(value)] for value in known if 0 <= int(value) < len(labels)]
