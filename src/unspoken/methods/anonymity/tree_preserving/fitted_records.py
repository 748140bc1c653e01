"""The anonymiser as a scikit-learn transformer of the records that it was fitted to.

A release is made of all records together, so only these can be transformed: a new record could be
the only one of its cell. Every column of X is a predictor and a quasi-identifier; for
sensitive columns use `protect`. The transformed records stay in their order: who is who is not
hidden by it. The fitted object holds the transformed records; it stays with the custodian.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from unspoken.errors import InputError, explain
from unspoken.methods.anonymity.record_transformer import (
    Records,
    as_records,
    columns_from,
    records_digest,
    records_of,
    refuse_single,
)
from unspoken.table.read import read
from unspoken.table.table import Table


class RecordTransformer(OneToOneFeatureMixin, TransformerMixin):  # type: ignore[misc]
    """fit, transform and fit_transform of a method that releases all records together."""

    def fit(self, X: Any, y: Any = None) -> Any:
        """Anonymise the records of X so that the tree of y stays."""
        self._fit(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Records:
        """Return the anonymised records of X: numbers, or objects where there are categories."""
        return self._fit(X, y)

    def transform(self, X: Any) -> Records:
        """Return the anonymised records that were fitted; others have no cell."""
        check_is_fitted(self, "records_")
        X = as_records(type(self).__name__, X)
        validate_data(self, X, reset=False, skip_check_array=True)
        if records_digest(columns_from(X)) != self.digest_:
            raise InputError(f"{type(self).__name__} transforms only the records that were fitted: "
                             "a new record could be alone in its cell. Got other records, of "
                             f"shape {np.shape(X)}. Fit all together.")
        return self.records_.copy()

    def _fit(self, X: Any, y: Any) -> Records:
        X = as_records(type(self).__name__, X)
        validate_data(self, X, skip_check_array=True)
        columns = columns_from(X)
        refuse_single(type(self).__name__, columns)
        table = _table(type(self).__name__, columns, y)
        worker: Any = clone(self).set_params(shuffle_rows=False)
        release, _ = worker.protect(table)
        self.tree_, self.leaves_, self.reached_ = release.tree, worker.leaves_, worker.reached_
        self.verification_ = worker.verification_
        self.digest_ = records_digest(columns)
        self.records_ = records_of(release.table.arrow(columns.column_names))
        return self.records_.copy()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _table(owner: str, columns: Any, y: Any) -> Table:
    """Put the response beside the records; nothing is sensitive, so every column may be known."""
    if y is None:
        raise InputError(f"{owner} requires y to be passed, but the target y is None. A tree is "
                         "kept, and a tree needs something to predict.")
    y = np.asarray(y)
    if np.shape(y) != (columns.num_rows,):
        raise InputError(explain(f"{owner}: 'y'", "the response of every record of X",
                                 f"shape {np.shape(y)}",
                                 "A tree is kept, and a tree needs something to predict."))
    names = columns.column_names
    target = "y"
    while target in names:
        target += "_"
    rows = columns.append_column(target, pa.array(np.asarray(y).tolist()))
    table = read(rows, target=target, keep=[target], show=False)
    alone = table.schema.with_role("identifier")
    if alone:
        raise InputError(f"{owner}: column {alone[0]!r} of X is an identifier: it differs in every "
                         "row. Leave it out: a tree over it would list who is in which leaf.")
    return table
