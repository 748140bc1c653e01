"""The records behind the guard: which meet a condition, what a column holds, which table it is."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unspoken.arrays import Bools
from unspoken.errors import DataError, InputError, explain
from unspoken.methods.queries.guarded_columns import SIGNS, compared
from unspoken.methods.queries.predicates import (
    All,
    Among,
    Compare,
    Constant,
    Missing,
    Not,
    Predicate,
    Some,
)
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.declared_types import present_in
from unspoken.table.table import Table

_WORDS, _NEITHER = {"true": 1, "false": 0}, 2


class Rows:
    """A table in memory, its columns as arrays once they are asked for.

    `frame` are its columns where they are not taken as they were read; those in `by_cell` are
    compared cell by cell, whatever type they were read as.
    """

    def __init__(self, table: Table, frame: Any = None, by_cell: frozenset[str] = frozenset(),
                 declared_texts: frozenset[str] = frozenset()) -> None:
        self.schema = table.schema
        self._by_cell, self._declared_texts = by_cell, declared_texts
        self._guessed = table.guessed
        # Read once: a file that changes later must not mix two tables.
        self._table = table.arrow() if frame is None else frame
        self.count = int(self._table.num_rows)
        self._read: dict[str, tuple[Any, npt.NDArray[Any], Bools]] = {}
        self._texts: dict[str, dict[Any, int]] = {}

    def _column(self, name: str) -> tuple[Any, npt.NDArray[Any], Bools]:
        """Return a column's Arrow type, its numbers or codes, and where it has values."""
        if name not in self._read:
            self.schema[name]
            column = self._table[name]
            self._read[name] = self._numbers(column) if is_number(column.type) \
                else self._codes(name, column)
        return self._read[name]

    def _numbers(self, column: Any) -> tuple[Any, npt.NDArray[Any], Bools]:
        if pa.types.is_integer(column.type):
            # As whole numbers, whether one is missing or not: float64 would round large ones.
            present = np.asarray(pc.is_valid(column).to_numpy(), np.bool_)
            return column.type, to_numbers(pc.fill_null(column, 0)), present
        values = to_numbers(column)
        present = ~np.isnan(values) if values.dtype.kind == "f" else np.ones(values.size, np.bool_)
        return column.type, values, present

    def _codes(self, name: str, column: Any) -> tuple[Any, npt.NDArray[Any], Bools]:
        encoded = pc.dictionary_encode(column.combine_chunks())
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.combine_chunks()
        codes = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)
        self._texts[name] = {text: i for i, text in enumerate(encoded.dictionary.to_pylist())}
        return column.type, codes, codes >= 0

    def is_boolean(self, name: str) -> bool:
        """Return True if a column has the type of yes and no, whatever its values are.

        In a text file it has that type as long as no other word is there.
        """
        self.schema[name]
        return name not in self._guessed and bool(pa.types.is_boolean(self._table[name].type))

    def raw(self, name: str) -> tuple[Any, npt.NDArray[Any], Bools]:
        """Return the Arrow type of a numeric column, its values as they are, and where it has any.

        Nothing is refused because of a value: an error would disclose it.
        """
        kind, values, present = self._column(name)
        if not is_number(kind) or pa.types.is_temporal(kind):
            raise InputError(f"Column '{name}' is not numeric and cannot be summed. It holds "
                             f"{kind}.")
        return kind, values, present

    def labels(self, names: Sequence[str]) -> npt.NDArray[np.int64]:
        """Number the records by their values in some columns; missing is a value, too."""
        labels = np.zeros(self.count, np.int64)
        for name in names:
            _, values, present = self._column(name)
            codes = np.unique(np.where(present, values, 0), return_inverse=True)[1].reshape(-1)
            joint = np.column_stack([labels, np.where(present, codes + 1, 0)])
            labels = np.unique(joint, axis=0, return_inverse=True)[1].reshape(-1)
        return labels

    def distinct(self, name: str) -> list[Any]:
        """Return the values of a column, as constants of conditions."""
        kind, values, present = self._column(name)
        if not is_number(kind):
            return sorted(self._texts[name])
        return [value.item() for value in np.unique(values[present])]

    def equal(self, name: str, value: Any) -> Bools:
        """Return which records hold a value; one of another type is held by none."""
        kind, values, present = self._column(name)
        if is_number(kind) != isinstance(value, bool | int | float):
            return np.zeros(self.count, np.bool_)
        code = value if is_number(kind) else self._texts[name].get(value, -2)
        return np.asarray((values == code) & present)

    def missing(self, name: str) -> Bools:
        """Return which records have no value."""
        if name in self._by_cell:
            return ~present_in(self._table[name])
        return np.asarray(~self._column(name)[2])

    def values(self, name: str) -> tuple[npt.NDArray[np.float64], Bools]:
        """Return a numeric column and where it has values; elsewhere it is 0."""
        kind, values, present = self._column(name)
        if not is_number(kind) or pa.types.is_temporal(kind):
            raise InputError(f"Column '{name}' is not numeric and cannot be summed. It holds "
                             f"{kind}.")
        numbers = np.where(present, values, 0).astype(np.float64)
        if not np.all(np.isfinite(numbers)):
            raise DataError(f"Column '{name}' must be finite to be summed. It holds infinities.")
        return numbers, present

    def meet(self, predicate: Predicate | None) -> Bools:
        """Return which records meet a condition; None is met by all."""
        if predicate is None:
            return np.ones(self.count, np.bool_)
        if isinstance(predicate, Not):
            return ~self.meet(predicate.part)
        if isinstance(predicate, All | Some):
            join = np.logical_and if isinstance(predicate, All) else np.logical_or
            return np.asarray(join.reduce([self.meet(part) for part in predicate.parts]))
        return self._atom(predicate)

    def _atom(self, predicate: Predicate) -> Bools:
        if isinstance(predicate, Missing):
            return self.missing(predicate.name)
        if isinstance(predicate, Among):
            hits = [self._compare(predicate.name, "=", value) for value in predicate.values]
            return np.asarray(np.logical_or.reduce(hits)) if hits \
                else np.zeros(self.count, np.bool_)
        if not isinstance(predicate, Compare):
            raise InputError(explain("A condition", "built with column(...) or parse(...)",
                                     type(predicate).__name__))
        return self._compare(predicate.name, predicate.sign, predicate.value)

    def _compare(self, name: str, sign: str, value: Constant) -> Bools:
        if name in self._declared_texts and sign not in ("=", "!="):
            raise InputError(_only_texts(name, sign, value))
        if name in self._by_cell:
            return compared(name, self._table[name], sign, value)
        kind, values, present = self._column(name)
        if pa.types.is_boolean(kind) and isinstance(value, str):
            # As the same cells compare where one other word makes texts of them.
            if sign not in ("=", "!="):
                raise InputError(_only_texts(name, sign, value))
            return np.asarray(SIGNS[sign](values, _WORDS.get(value.lower(), _NEITHER)) & present)
        if is_number(kind):
            return np.asarray(SIGNS[sign](values, _number(name, kind, value)) & present)
        if sign not in ("=", "!=") or not isinstance(value, str):
            raise InputError(_only_texts(name, sign, value))
        return np.asarray(SIGNS[sign](values, self._texts[name].get(value, -2)) & present)

    def fingerprint(self, key: bytes) -> str:
        """Return a keyed hash of names, types and values: which table this is."""
        hashed = hashlib.blake2b(key=key, digest_size=32)
        for name in self.schema.names:
            column = self._table[name]
            hashed.update(repr((name, str(column.type), len(column))).encode())
            for part in _contents(column):
                hashed.update(hashlib.blake2b(part).digest())
        return hashed.hexdigest()


def _only_texts(name: str, sign: str, value: Constant) -> str:
    return (f"Column '{name}' holds texts and can only be compared by = or != with a text. "
            f"Got {sign} {value!r}.")


def _number(name: str, kind: Any, value: Constant) -> int | float:
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _moment(name, kind, value)
    if isinstance(value, str):
        raise InputError(f"Column '{name}' holds numbers and must be compared with a number. "
                         f"Got {value!r}.")
    return value


def _moment(name: str, kind: Any, value: Constant) -> float:
    """Return a date as days or a timestamp as seconds, as the column's numbers are."""
    try:
        moment = datetime.datetime.fromisoformat(str(value)).replace(tzinfo=datetime.UTC)
    except ValueError:
        raise InputError(f"Column '{name}' holds dates and must be compared with a date such "
                         f"as '2024-03-31'. Got {value!r}.") from None
    seconds = moment.timestamp()
    return seconds / 86400 if pa.types.is_date(kind) else seconds


def _contents(column: Any) -> list[bytes]:
    """Return the values of a column as bytes that do not depend on how it is chunked."""
    missing = pc.is_null(column).to_numpy().tobytes()
    if is_number(column.type):
        return [missing, np.nan_to_num(to_numbers(column), nan=0.0, posinf=None).tobytes(),
                np.isnan(to_numbers(column).astype(np.float64)).tobytes()]
    encoded = pc.fill_null(column.cast(pa.large_string()), "").to_pylist()
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    return [missing, lengths.tobytes(), "".join(encoded).encode("utf-8", "surrogatepass")]
