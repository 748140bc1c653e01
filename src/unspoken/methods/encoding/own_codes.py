"""Codes of the custodian's own making: a monotone function, or a range that looks real.

bu2007 section 1 encodes ages by 0.9 age + 10 and notes that who sees such numbers may not even know
that they are encoded. Codes stay whole numbers, because float32 must hold them and the middle of
two: where a function gives two values the same whole number, the next one is taken, so that every
promise about order holds. What leaks: a simple function is found from as many known values as it
has unknowns, two for a line; the audit tries. A range tells nothing but that it is one.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError, InputError
from unspoken.methods.encoding.draw_codes import MIDPOINT_LIMIT, Codes
from unspoken.methods.encoding.formulas import parsed_formula
from unspoken.numerics.label_runs import Pieces

_OPERATORS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.Pow: operator.pow,
}
_SIGNS: Mapping[type, Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}
_NAMED: Mapping[str, Callable[[Any], Any]] = {
    "log": np.log, "log1p": np.log1p, "sqrt": np.sqrt, "exp": np.exp,
}


@dataclass(frozen=True)
class OwnCodes:
    """What the custodian asks of the codes of one column: a function, or a range."""

    function: Any = None
    look: tuple[float, float] | None = None

    @property
    def whole(self) -> tuple[int, int] | None:
        """Return the first and the last whole number of the range."""
        return None if self.look is None else (math.ceil(self.look[0]), math.floor(self.look[1]))

    def room(self, name: str, size: int) -> int | None:
        """Return how many whole numbers there are for that many values; refuse too few."""
        if self.whole is None:
            return None
        room = self.whole[1] - self.whole[0] + 1
        if size > room or max(map(abs, self.whole)) > MIDPOINT_LIMIT:
            raise DataError(f"Column '{name}' has {size:,} different values, and its range "
                            f"{self.whole[0]:,} to {self.whole[1]:,} must hold as many whole "
                            f"numbers, none beyond {MIDPOINT_LIMIT:,}. Declare a wider one.")
        return room

    def codes(self, name: str, values: Floats, pieces: Pieces) -> Codes:
        """Return the codes that the function gives to increasing values."""
        with np.errstate(all="ignore"):
            raw = np.asarray(_applied(self.function, values), np.float64)
        if raw.shape != values.shape or not np.all(np.isfinite(raw)):
            raise DataError(f"The function of column '{name}' must give a finite number for every "
                            "value of the column. It does not.")
        if np.any(np.diff(raw) <= 0):
            raise DataError(f"The function of column '{name}' must increase from value to value. "
                            "It does not.")
        if np.abs(raw).max(initial=0) + raw.size > MIDPOINT_LIMIT:
            raise DataError(f"The function of column '{name}' must give numbers within "
                            f"{MIDPOINT_LIMIT:,} of zero. It gives larger ones.")
        codes = strictly_increasing(np.rint(raw).astype(np.int64))
        ends = pieces.starts + pieces.lengths - 1
        return Codes(codes, codes[pieces.starts], codes[ends])


def strictly_increasing(whole: Ints) -> Ints:
    """Return the least whole numbers that increase strictly and lie nowhere below these."""
    steps = np.arange(whole.size)
    return np.asarray(np.maximum.accumulate(whole - steps) + steps)


def own_codes(functions: Mapping[str, Any] | None, looks: Mapping[str, Any] | None,
              names: tuple[str, ...]) -> dict[str, OwnCodes]:
    """Return what is asked of each column; refuse columns that are not there, or asked twice."""
    functions, looks = functions or {}, looks or {}
    for name in (*functions, *looks):
        if name not in names:
            raise InputError(f"'{name}' has a function or a range for its codes, and is no numeric "
                             f"column of the table. Columns: {', '.join(names[:10])}.")
        if name in functions and name in looks:
            raise InputError(f"'{name}' has both a function and a range for its codes. Leave one "
                             "of them out.")
    return {**{name: OwnCodes(function) for name, function in functions.items()},
            **{name: OwnCodes(look=(float(low), float(high)))
               for name, (low, high) in looks.items()}}


def _applied(function: Any, values: Floats) -> Any:
    if callable(function):
        return function(values.copy())
    tree = parsed_formula(function)
    return _value(tree, values) + np.zeros(values.size)


def _value(node: Any, x: Floats) -> Any:
    if isinstance(node, ast.Constant):
        number: Any = node.value
        return np.float64(number)
    if isinstance(node, ast.BinOp):
        return _OPERATORS[type(node.op)](_value(node.left, x), _value(node.right, x))
    if isinstance(node, ast.UnaryOp):
        return _SIGNS[type(node.op)](_value(node.operand, x))
    if isinstance(node, ast.Call):
        called: Any = node.func
        return _NAMED[called.id](_value(node.args[0], x))
    return x
