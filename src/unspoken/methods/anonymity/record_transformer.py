"""Anonymisers as scikit-learn transformers: arrays and frames of numbers, texts, dates and gaps.

`fit_transform` gives the records in their order, every column of X being a quasi-identifier unless
`columns` and `sensitive` name some (other columns pass as they are): numbers as the mean of their
class, everything else as its label. A record that was left out is
missing in every column. `transform` gives the same for the records that were fitted. Others are
refused where a recoding is local, because a new record could be alone in its class; a global
recoding (`OptimalRecoder`, `Generalizer`) recodes them, and one that stands in no class that was
fitted is missing in every column. The order says who is who; the fitted object stays with the
custodian.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.sparse import issparse
from sklearn.base import OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import validate_data

from unspoken.arrays import Ints
from unspoken.errors import DataError, InputError
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.memory_sources import to_arrow
from unspoken.table.read import read
from unspoken.table.table import Table

Records = npt.NDArray[Any]


def as_records(owner: str, X: Any) -> Any:
    """Return X if it is a frame, else as an array of records; what is no table is refused."""
    if issparse(X):
        raise InputError(f"{owner}: sparse input is not supported. Pass X.toarray().")
    frame = hasattr(X, "columns") or hasattr(X, "__arrow_c_stream__")
    if frame or not (isinstance(X, list | tuple) or hasattr(X, "__array__")):
        return X
    data = np.asarray(X)
    if data.ndim != 2:
        raise InputError(f"{owner}: X must be 2-dimensional. Got {data.ndim} dimensions. Reshape "
                         "your data: X.reshape(1, -1) is one record.")
    if data.dtype.kind == "c":
        raise InputError(f"{owner}: Complex data not supported. Pass the real and the imaginary "
                         "part as two columns.")
    if data.shape[1] == 0:
        raise InputError(f"{owner}: X has 0 feature(s) (shape={data.shape}) while a minimum of 1 "
                         "is required.")
    return data


def refuse_single(owner: str, columns: Any) -> None:
    """Refuse a single record: nobody hides in a class of one."""
    if columns.num_rows == 1:
        raise DataError(f"{owner}: one sample is no class of records. Got n_samples = 1. Fit all "
                        "records together.")


def columns_from(X: Any) -> Any:
    """Return X as an Arrow table; every column of an array of objects gets its own type."""
    if isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 2:
        return to_arrow({f"x{i}": [None if gap else one for one, gap in
                                   zip(X[:, i].tolist(), _gaps(X[:, i]), strict=True)]
                         for i in range(X.shape[1])})
    return to_arrow(X)


def _gaps(column: Any) -> Any:
    """Return where objects are NaN, which equals nothing, itself neither."""
    return [isinstance(one, float) and one != one for one in column]


def records_digest(columns: Any) -> str:
    """Return the hash of records, so that others of the same shape are told apart."""
    hasher = hashlib.sha256()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, columns.schema.remove_metadata()) as writer:
        writer.write_table(columns.replace_schema_metadata(None).combine_chunks())
    hasher.update(sink.getvalue())
    return hasher.hexdigest()


def records_of(rows: Any) -> Records:
    """Return columns as one array: numbers, or objects where some are none."""
    if all(is_number(rows[name].type) for name in rows.column_names):
        return np.column_stack([np.asarray(to_numbers(rows[name]), np.float64)
                                for name in rows.column_names])
    out = np.empty((rows.num_rows, rows.num_columns), object)
    for index, name in enumerate(rows.column_names):
        out[:, index] = rows[name].to_pylist()
    return out


def table_from(columns: Any, y: Any, sensitive: Sequence[str] = ()) -> Table:
    """Return records as a table of quasi-identifiers, with what is to be predicted beside them."""
    names, target = columns.column_names, None
    if y is not None:
        target = "y"
        while target in names:
            target += "_"
        columns = columns.append_column(target, pa.array(np.asarray(y).tolist()))
    kinds = {name: "numeric" for name in names if is_number(columns[name].type)}
    return read(columns, target=target, quasi=[n for n in names if n not in sensitive],
                sensitive=list(sensitive), kinds=kinds, show=False,
                keep=[] if target is None else [target])


def refuse_unknown(owner: str, names: Sequence[str], columns: Any) -> None:
    """Refuse names of columns that X has not: nothing would be done for them."""
    for name in names:
        if name not in columns.column_names:
            raise InputError(f"{owner}: 'columns' and 'sensitive' must name columns of X. It has "
                             f"no '{name}'. Pass a frame that has it, or leave the name out.")


def placed(rows: Any, where: Ints, size: int) -> Any:
    """Return released rows at their places; the places of others are missing."""
    place = np.full(size, -1, np.int64)
    place[where] = np.arange(where.size)
    return rows.take(pa.array(place, mask=place < 0))


def known_only(rows: Any, fitted: Records) -> Records:
    """Return recoded records; those that stand in no fitted class are missing in every column."""
    known = {tuple(map(_text, record)) for record in fitted.tolist()}
    there = np.array([tuple(map(_text, one)) in known for one in records_of(rows).tolist()],
                     np.bool_)
    return records_of(placed(rows.filter(pa.array(there)), np.flatnonzero(there), rows.num_rows))


def _text(value: Any) -> str:
    """Return a value as text, a number the same whether it is whole by type or by value."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return repr(float(value)) if number else str(value)


class UnfittedError(InputError, NotFittedError):  # type: ignore[misc]
    """A transformer was used before it was fitted."""


class ClassTransformer(OneToOneFeatureMixin, TransformerMixin):  # type: ignore[misc]
    """fit, transform and fit_transform of a method that releases classes of records."""

    transformer_parameters: ClassVar[dict[str, Any]] = {}
    protect: Callable[[Table], Any]
    columns: Any

    def _released(self, table: Table) -> Any:
        """Return release and key of records that stay here: they may be as they came."""
        return self.protect(table)

    def fit(self, X: Any, y: Any = None) -> Any:
        """Put the records of X into classes; y is what a method may be asked to predict."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Records:
        """Return the records of X as their classes are published."""
        X = as_records(type(self).__name__, X)
        validate_data(self, X, skip_check_array=True)
        columns, secret = columns_from(X), [*(getattr(self, "sensitive", None) or ())]
        refuse_single(type(self).__name__, columns)
        refuse_unknown(type(self).__name__, [*(self.columns or ()), *secret], columns)
        worker: Any = clone(self).set_params(others="keep", shuffle_rows=False,
                                             **self.transformer_parameters)
        release, _ = worker._released(table_from(columns, y, secret))
        self.fitted_method_ = worker
        self.owner_ = worker.owner_
        where = np.flatnonzero(worker.owner_ >= 0)
        shown = release.table.arrow(columns.column_names)
        self.fitted_digest_ = records_digest(columns)
        self.records_ = records_of(placed(shown, where, columns.num_rows))
        return self.records_.copy()

    def transform(self, X: Any) -> Records:
        """Return the records that were fitted as they are published; others as far as it goes."""
        if not hasattr(self, "records_"):
            raise UnfittedError(f"{type(self).__name__} transforms only the records that were "
                                "fitted, and is not fitted yet. Call 'fit' first.")
        X = as_records(type(self).__name__, X)
        validate_data(self, X, reset=False, skip_check_array=True)
        columns = columns_from(X)
        return self._transformed(columns)

    def _transformed(self, columns: Any) -> Records:
        if records_digest(columns) == self.fitted_digest_:
            return self.records_.copy()
        # A column that passes as it is would single a new record out.
        if self.columns is not None or getattr(self, "sensitive", None) is not None:
            return ClassTransformer._others(self, columns)
        return self._others(columns)

    def _others(self, columns: Any) -> Records:
        raise InputError(f"{type(self).__name__} transforms only the records that were fitted: a "
                         "new record could be alone in its class. Got X of shape "
                         f"({columns.num_rows}, {columns.num_columns}). Fit all together.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        # Means of whole numbers are none, and a label is a text.
        tags.transformer_tags.preserves_dtype = []
        return tags
