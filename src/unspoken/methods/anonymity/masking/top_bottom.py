"""TopBottomCoder: values beyond a top or a bottom become that limit (vcz2006 section 2.1).

Who learns what. Of the extremes only that they are extreme: everybody in between keeps the exact
value and can be found by it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from unspoken.arrays import Floats
from unspoken.errors import InputError
from unspoken.methods.anonymity.exact_numbers import refuse_large
from unspoken.methods.anonymity.masking.masking_method import Masked, made, roles_of
from unspoken.methods.anonymity.masking.refuse_unchanged import refuse_same_rows
from unspoken.methods.anonymity.method import TOP_BOTTOM
from unspoken.models.sklearn_fields import feature_names
from unspoken.numerics.random import fresh_seed
from unspoken.release.distorted import chosen_columns, finite, of_column
from unspoken.release.key import Key
from unspoken.release.record_key import keyed
from unspoken.release.release import Release
from unspoken.table.any_table import from_any_table
from unspoken.table.table import Table


class TopBottomCoder(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Replace what lies above a top or below a bottom by that limit.

    Parameters
    ----------
    top, bottom : limits; one for all, or a mapping by column.
    share : without limits, the share of records beyond each of them. A limit is then the value
        of a record; rounded limits of your own disclose less.
    columns, others, shuffle_rows : as for NoiseAdder.

    Attributes
    ----------
    limits_ : (bottom, top) of every column.
    """

    def __init__(self, top: Any = None, bottom: Any = None, *, share: Any = 0.02,
                 columns: Any = None, others: str = "refuse", shuffle_rows: bool = True) -> None:
        self.top = top
        self.bottom = bottom
        self.share = share
        self.columns = columns
        self.others = others
        self.shuffle_rows = shuffle_rows

    def _limits(self, name: str, values: Floats) -> tuple[float, float]:
        low, high = of_column(self.bottom, name), of_column(self.top, name)
        known = values[~np.isnan(values)]
        if self.share is not None and known.size:
            ends = np.quantile(known, [self.share, 1 - self.share], method="nearest")
            low = ends[0] if low is None else low
            high = ends[1] if high is None else high
        limits = (-np.inf if low is None else float(low), np.inf if high is None else float(high))
        if limits[0] > limits[1]:
            raise InputError(f"TopBottomCoder: 'bottom' of '{name}' must not exceed its top. "
                             f"Got bottom {limits[0]:g} and top {limits[1]:g}.")
        return limits

    def fit(self, X: Any, y: Any = None) -> TopBottomCoder:
        """Find the limits of every column of X."""
        TOP_BOTTOM.check(self)
        data = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        TOP_BOTTOM.check_columns(self, feature_names(self))
        self.limits_ = {name: self._limits(name, data[:, i])
                        for i, name in enumerate(feature_names(self))}
        return self

    def transform(self, X: Any) -> Any:
        """Return X with its extremes cut off."""
        check_is_fitted(self)
        data = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        ends = np.array(list(self.limits_.values()), np.float64)
        return np.clip(data, ends[:, 0], ends[:, 1])

    @from_any_table
    def protect(self, table: Table) -> tuple[Release, Key]:
        """Return the release of a table, and the key that says which record is which."""
        TOP_BOTTOM.check(self, table)
        names = chosen_columns("TopBottomCoder", table.schema, ("numeric", "ordinal"),
                               self.columns)
        secret = [name for name in table.schema.with_role("sensitive") if name not in names]
        roles = roles_of("TopBottomCoder", table, names, secret, self.others)
        rows = table.arrow(names)
        for name in names:
            refuse_large("TopBottomCoder", name, rows[name])
        self.limits_ = {name: self._limits(name, finite(name, rows[name])[0]) for name in names}
        changed = {name: _coded_column(rows[name], self.limits_[name]) for name in names}
        about = {name: {"form": "coded", **_ends(limits)} for name, limits in self.limits_.items()}
        promise = Masked("Values beyond a top or a bottom were replaced by it.",
                         ("everybody in between keeps the exact value",), {"columns": about})
        seed = fresh_seed()
        release = made(table, roles, changed, None, {"name": TOP_BOTTOM.name, "columns": about},
                       promise, seed, False)
        refuse_same_rows("TopBottomCoder", table, release, "Use a lower 'top', a higher 'bottom' "
                         "or a larger 'share'.")
        return keyed(release, table, seed, self.shuffle_rows)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _ends(limits: tuple[float, float]) -> dict[str, float]:
    return {side: value for side, value in zip(("low", "high"), limits, strict=True)
            if np.isfinite(value)}


def _coded_column(column: Any, limits: tuple[float, float]) -> Any:
    values, missing = finite("", column)
    cut = np.clip(values, *limits)
    whole = pa.types.is_integer(column.type) and bool(np.all(cut[~missing] == np.rint(
        cut[~missing])))
    kind = column.type if whole else pa.float64()
    return pa.array(np.where(missing, 0.0, cut), mask=missing).cast(kind)
