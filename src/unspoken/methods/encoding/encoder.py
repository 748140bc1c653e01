"""PiecewiseEncoder: release codes in place of values, keep the exact tree (bu2007).

Who learns what. The miner sees codes, class labels, missing values, the number of rows and the
order of values in every column (in max-mono mode not inside monochromatic pieces). Order alone is
much: with a 1% sample of similar data nearly every value can be guessed within 2% of its range,
and nothing in this family of encodings stops that. Zero is recognisable where `keep_zero` holds.
The key undoes everything: the key and the release together are the table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from unspoken.errors import DataError, InputError
from unspoken.methods.encoding.draw_column import Recipe
from unspoken.methods.encoding.encoding_settings import PiecewiseSettings
from unspoken.models.sklearn_fields import feature_names
from unspoken.numerics.random import seed_from
from unspoken.numerics.tally import tally


class PiecewiseEncoder(
    OneToOneFeatureMixin, TransformerMixin, BaseEstimator,  # type: ignore[misc]
    PiecewiseSettings,
):
    """Encode numeric columns piecewise so that a miner grows exactly the same tree.

    Parameters
    ----------
    mode : "strict" (codes increase throughout; the guarantee covers every deterministic threshold
        learner), "max-mono" (codes are permuted inside monochromatic pieces; more privacy, covers
        classification trees and forests without leaf minima) or "anti" (codes decrease; promises
        an equally good tree only).
    breakpoints : least number of pieces a column is cut into; None draws one for every column,
        from 20 to 60, which nobody is told.
    functions : codes by a function of your own, column by column: a formula such as "0.9*x + 10",
        or a function of an array. It must increase; who guesses its form needs few known values.
    looks : a range (low, high) for the codes of a column, so that they look like real values.
    pieces : "random" (ChooseBP) or "max-mono" (ChooseMaxMP); None follows the mode.
    min_width : distinct values that a monochromatic piece must have.
    families : what mixed pieces are drawn from.
    monochromatic : inside monochromatic pieces of mode "max-mono", a random "permutation" of the
        codes or a random code per "record".
    keep_zero : codes keep sign and zero. Only LightGBM needs it, where a column has zeros or
        negative values, and it gives every zero away: ask for it only for that learner. "auto" and
        False do not keep them.
    categorical : "relabel" categorical features with random labels, whose splits decode to sets of
        categories, "drop" them, or "refuse" a table that has any.
    rare : categories of fewer records than this share one label.
    even_labels : put the categories of every column under this many labels of about the same
        frequency, so that frequencies do not name them; models cannot tell those of one label
        apart.
    target : "affine" releases a numeric target in a secret unit with a secret zero, "scaled" in a
        secret unit, "classes" takes its values for labels; "auto" is "affine" for a quantity
        (fractions, more than 20 different values, or with neutral names more than 2) and
        "classes" for everything else.
    clear_target : the name of a numeric target that is to be released as it is.
    neutral_names : replace column and class names; the key holds the map.
    shuffle_rows : release the rows in a random order; the key can restore it.
    unseen : what `transform` does with a value that was not there at `fit`.
    tail : tail index of the Pareto law of output widths.
    conditioning : "auto" rounds columns, as little as it takes, so that common learners cannot see
        more than the order: values closer than 1e-7, and above 200,000 rows rare ones. The promise
        is then about the rounded columns. "none" leaves all values as they are.
    random_state : for tests and experiments only; a release made with it says so.

    Attributes
    ----------
    book_ : the code book; key_ : the same as a Key without a release; facts_ : what the guarantee
    depends on; n_features_in_, feature_names_in_ as everywhere in scikit-learn.
    """

    def fit(self, X: Any, y: Any = None) -> PiecewiseEncoder:
        """Draw a code for every value of every column of X; y is needed for max-mono."""
        recipe = self.recipe()
        data = validate_data(self, X, dtype="numeric", ensure_all_finite=False)
        labels, classes = _labels(y, data.shape[0], recipe)
        counted = [_count(data[:, i], labels, classes) for i in range(data.shape[1])]
        self._draw(recipe, feature_names(self), counted, seed_from(self.random_state))
        self.key_ = self.book_.to_key("")
        return self

    def transform(self, X: Any) -> Any:
        """Return the codes of X as float32, which holds them exactly; NaN stays NaN."""
        check_is_fitted(self)
        data = validate_data(self, X, dtype="numeric", ensure_all_finite=False, reset=False)
        out = np.empty(data.shape, np.float32, order="F")
        for index, column in enumerate(self.book_.columns):
            codes, missing = column.encode(data[:, index], unseen=self.unseen)
            out[:, index] = codes
            if missing is not None:
                out[missing, index] = np.nan
        return out

    def inverse_transform(self, Z: Any) -> Any:
        """Return original values of codes (where float32 distinguishes them, one code each)."""
        check_is_fitted(self)
        codes = np.asarray(Z, np.float64)
        out = np.empty(codes.shape, np.float64)
        for index, column in enumerate(self.book_.columns):
            out[:, index] = column.decode(codes[:, index])
        return out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = self.mode == "max-mono" or self.pieces == "max-mono"
        tags.transformer_tags.preserves_dtype = []
        return tags


def _labels(y: Any, rows: int, recipe: Recipe) -> tuple[Any, int]:
    if not recipe.needs_classes:
        return None, 1
    if y is None:
        raise InputError(
            f"PiecewiseEncoder: mode '{recipe.mode}' with pieces '{recipe.pieces}' needs the class "
            "of every record: it requires y to be passed, but the target y is None. "
            "Pass y, or use mode='strict' with pieces='random'."
        )
    labels = np.asarray(y)
    if labels.shape != (rows,):
        raise DataError(f"y must hold one label per row ({rows}). Got an array of {labels.shape}.")
    refuse_regression(labels)
    classes, where = np.unique(labels, return_inverse=True)
    return where.reshape(-1), classes.size


def refuse_regression(labels: Any) -> None:
    """Refuse real-valued targets: permuted pieces do not keep regression trees."""
    if labels.dtype.kind == "f" and not np.all(labels == np.rint(labels)):
        raise DataError(
            "Monochromatic pieces need classes. Got a target with fractions or missing values. "
            "Use mode='strict' for regression."
        )


def _count(column: Any, labels: Any, classes: int) -> tuple[Any, Any]:
    if column.dtype.kind == "f":
        known = ~np.isnan(column)
        if not known.all():
            column, labels = column[known], labels[known] if labels is not None else None
    return tally(column, labels, classes)
