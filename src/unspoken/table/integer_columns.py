"""Columns in codes: what a learner that counts needs of a table.

Numbers are read as float32, as scikit-learn's trees read them; a code is the rank of a value, and
missing comes last. Categories are coded in the order of their labels; a missing one is a category
of its own. A numeric response is read in steps of a power of two, so fine that 40 bits span its
range: whole numbers and most decimals of real data lose nothing that a tree could see, and sums
become exact, whatever their order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError, explain
from unspoken.numerics.splitting import NUMERIC
from unspoken.numerics.tally import DIRECT_RANGE, as_whole
from unspoken.table.arrow_arrays import to_labels, to_numbers
from unspoken.table.schema import Column

Codes = npt.NDArray[np.integer]
Label = str | None

_EXACT = 1 << 24


@dataclass(frozen=True)
class Coded:
    """One column: a code a row, and what the codes stand for.

    `values` for numbers, in increasing order, `labels` for categories; a missing number has the
    code len(values), a missing category stands among the labels as None.
    """

    name: str
    kind: str
    codes: Codes
    values: Floats | None = None
    labels: tuple[Label, ...] = ()

    @property
    def size(self) -> int:
        """Return the number of values, a missing number left out."""
        return len(self.labels) if self.values is None else int(self.values.size)


def code_column(column: Column, data: Any, categories: str) -> Coded:
    """Code one Arrow column; `categories` says how its categories are split."""
    if column.kind in ("numeric", "ordinal"):
        return code_numbers(column.name, data)
    labels, codes = code_labels(data)
    return Coded(column.name, categories, codes, labels=labels)


def code_labels(data: Any) -> tuple[tuple[Label, ...], Codes]:
    """Return the labels as texts in their order, None last, and the code of every row."""
    missing = pc.is_null(data, nan_is_null=True) if data.null_count else None
    if data.null_count == len(data):
        return (None,), np.zeros(len(data), np.uint8)
    filled = data if missing is None else pc.fill_null(data, data.drop_null()[0])
    texts, codes = _by_text(*to_labels(filled))
    if missing is None:
        return texts, small(codes, len(texts))
    codes = np.where(np.asarray(missing.to_numpy(zero_copy_only=False), np.bool_),
                     len(texts), codes)
    return (*texts, None), small(codes, len(texts) + 1)


def _by_text(labels: tuple[Any, ...], codes: Codes) -> tuple[tuple[str, ...], Codes]:
    """Order labels as texts, whatever they were: a release holds texts."""
    texts = [str(label) for label in labels]
    order = sorted(range(len(texts)), key=texts.__getitem__)
    rank = np.empty(len(texts), np.int64)
    rank[order] = np.arange(len(texts))
    same = order == list(range(len(texts)))
    return tuple(texts[i] for i in order), codes if same else rank[codes]


def small(codes: Codes, size: int) -> Codes:
    """Return codes below `size` in the smallest type that holds them."""
    return codes.astype(np.min_scalar_type(max(size, 1)), copy=False)


def code_numbers(name: str, data: Any) -> Coded:
    """Code a numeric column by its values as float32."""
    try:
        numbers = np.asarray(to_numbers(data))
    except (ValueError, TypeError, NotImplementedError):
        raise DataError(explain(f"Column '{name}'", "numeric", str(data.type),
                                "Declare it categorical when reading.")) from None
    missing = np.isnan(numbers) if numbers.dtype.kind == "f" else None
    if missing is not None and not missing.any():
        missing = None
    known = numbers if missing is None else numbers[~missing]
    values, codes = _distinct(name, known)
    if missing is not None:
        whole = np.full(numbers.size, values.size, codes.dtype)
        whole[~missing] = codes
        codes = whole
    return Coded(name, NUMERIC, codes, values)


def _distinct(name: str, known: npt.NDArray[Any]) -> tuple[Floats, Codes]:
    """Return the distinct float32 values and the rank of each number among them."""
    if known.size and not np.isfinite(_narrow(known[[known.argmin(), known.argmax()]])).all():
        raise DataError(explain(f"Column '{name}'", "finite in float32, or missing",
                                "an infinite value"))
    direct = _by_address(known)
    if direct is not None:
        return direct
    values, codes = np.unique(_narrow(known), return_inverse=True)
    return values.astype(np.float64), small(codes.reshape(-1), values.size + 1)


def _narrow(numbers: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    with np.errstate(over="ignore"):
        return numbers.astype(np.float32)


def _by_address(known: npt.NDArray[Any]) -> tuple[Floats, Codes] | None:
    """Whole numbers of a modest range are ranked without sorting."""
    if known.size == 0 or max(abs(float(known.min())), abs(float(known.max()))) >= _EXACT:
        return None
    low, high = int(known.min()), int(known.max())
    # Addressing a range far above the number of values costs more than sorting them.
    direct = high - low < min(DIRECT_RANGE, max(1 << 12, 8 * known.size))
    whole = as_whole(known) if direct else None
    if whole is None:
        return None
    place = whole if low == 0 else np.subtract(whole, low, dtype=np.int32)
    there = np.zeros(high - low + 1, np.bool_)
    there[place] = True
    present = np.flatnonzero(there)
    rank = small(np.cumsum(there), present.size + 1)
    rank -= rank.dtype.type(1)
    return (present + low).astype(np.float64), rank[place]


@dataclass(frozen=True)
class Steps:
    """A numeric response as whole steps from its middle: y = middle + unit * steps."""

    steps: Ints
    middle: float
    unit: float
    bits: int

    @property
    def parts(self) -> Ints:
        """Return (1, high, low) of every row; high * 2**bits + low are its steps."""
        return np.stack([np.ones_like(self.steps), self.steps >> self.bits,
                         self.steps & ((1 << self.bits) - 1)], axis=1)


def in_steps(name: str, numbers: npt.NDArray[Any]) -> Steps:
    """Read a numeric response in whole steps."""
    numbers = np.asarray(numbers, np.float64)
    if not np.isfinite(numbers).all():
        raise DataError(explain(f"Target '{name}'", "a finite number in every row",
                                "missing or infinite values"))
    low, high = float(numbers.min()), float(numbers.max())
    bits = min(20, (62 - int(numbers.size).bit_length()) // 2)
    span = max(high - low, 2.0**-900)
    unit = 2.0 ** (math.ceil(math.log2(span)) - (2 * bits - 1))
    if float(np.rint(low)) == low and high - low < 2 ** (2 * bits - 1):
        unit = max(unit, 1.0) if np.array_equal(np.rint(numbers), numbers) else unit
    middle = low + unit * np.rint((high - low) / 2 / unit)
    steps = np.rint((numbers - middle) / unit).astype(np.int64)
    return Steps(steps, float(middle), unit, bits)
