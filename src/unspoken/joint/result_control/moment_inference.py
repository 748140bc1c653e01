"""Which moments of the others follow from an opened linear model: the rank of its equations.

The numbers of a linear model (records, coefficients, standard errors, sums of squares) are
functions of the moments of all data: the number of records, sums, and sums of products. What a
party knows beside them are moments too: those of its own rows, or of its own columns. A quantity of
the others follows, up to finitely many values such as a sign, if its gradient is a combination of
the gradients of everything known. That is decided at a random point, where rank is what it is
almost everywhere; derivatives are exact (a complex step).

Of columns of 0 and 1 the sum of squares is the sum: that is one moment less for each, and more
follows (`zero_one`). That values are whole numbers, and so moments too, is not used: numbers with
many bits may fit a single set of moments even where rank leaves many.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Complex = npt.NDArray[np.complex128]
Function = Callable[[Complex], Complex]
STEP = 1e-30
CLOSE = 1e-7
MOST_TERMS = 4
"""More terms than this change nothing about what follows; they only take longer."""
MOST_TRIED = 12
"""Of models with more terms than this, models inside them are left out of account."""


@dataclass(frozen=True)
class ModelNumbers:
    """What is opened of a model with some terms and a response.

    `smaller`: the terms of models inside it, of which the residual sum of squares is opened.
    `zero_one`: every column has the values 0 and 1 alone.
    """

    terms: int
    errors: bool = True
    sums: bool = True
    ridge: bool = False
    smaller: tuple[tuple[int, ...], ...] = ()
    zero_one: bool = False

    @property
    def size(self) -> int:
        """Return how many columns have moments: ones, terms, response."""
        return self.terms + 2

    def opened(self, moments: Complex) -> Complex:
        """Return the opened numbers as a function of the packed moments."""
        matrix = unpacked(moments, self.size)
        count, means = matrix[0, 0], matrix[0, 1:] / matrix[0, 0]
        centred = matrix[1:, 1:] - np.outer(means, means) * count
        inner = centred[:-1, :-1] + np.eye(self.terms) * bool(self.ridge)
        inverse = np.linalg.inv(inner)
        beta = inverse @ centred[:-1, -1]
        parts = [[count], beta, [means[-1] - beta @ means[:-1]]]
        if self.sums:
            parts.append([centred[-1, -1], centred[-1, -1] - beta @ centred[:-1, -1]])
        if self.errors:
            parts += [np.diagonal(inverse), [means[:-1] @ inverse @ means[:-1]]]
        parts += [[_residual(centred, terms)] for terms in self.smaller]
        parts += [np.diagonal(matrix)[1:] - matrix[0, 1:]] * self.zero_one
        return np.concatenate([np.asarray(part, np.complex128) for part in parts])

    def rows(self) -> npt.NDArray[np.float64]:
        """Return made-up rows, the response last."""
        rng = np.random.default_rng(5)
        rows = rng.normal(size=(60, self.terms + 1)) + 0.4
        rows[:, -1] += rows[:, :-1].sum(axis=1)
        if self.zero_one:
            # No share is a half, where the deviation of a column stands still.
            rows = (rows > 0.9 + rng.random(self.terms + 1) / 3).astype(np.float64)
        return rows


def _residual(centred: Complex, terms: Sequence[int]) -> complex:
    """Return the residual sum of squares of a model of some terms."""
    at = list(terms)
    products = centred[at, -1]
    return complex(centred[-1, -1] - products @ np.linalg.solve(centred[np.ix_(at, at)], products))


def unpacked(moments: Complex, size: int) -> Complex:
    """Return the symmetric matrix of moments from its upper half."""
    matrix = np.zeros((size, size), np.complex128)
    upper = np.triu_indices(size)
    matrix[upper] = moments
    matrix.T[upper] = moments
    return matrix


def packed(matrix: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the upper half of a matrix of moments."""
    return np.asarray(matrix[np.triu_indices(matrix.shape[0])], np.float64)


def moments_of(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the packed moments of rows, with a column of ones before them."""
    whole = np.column_stack([np.ones(len(rows)), rows])
    return packed(whole.T @ whole)


def jacobian(function: Function, at: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the derivatives of a function, exact to rounding."""
    columns = []
    for place in range(at.size):
        moved = at.astype(np.complex128)
        moved[place] += 1j * STEP
        columns.append(function(moved).imag / STEP)
    return np.column_stack(columns)


def follows(known: npt.NDArray[np.float64], wanted: npt.NDArray[np.float64]) -> bool:
    """Return True if every wanted gradient is a combination of known ones."""
    scale = np.abs(known).max(axis=1, keepdims=True)
    rows = known / np.where(scale > 0, scale, 1.0)
    part, *_ = np.linalg.lstsq(rows.T, wanted.T, rcond=1e-11)
    rest = np.abs(rows.T @ part - wanted.T).max(initial=0.0)
    return bool(rest <= CLOSE * np.abs(wanted).max(initial=1e-300))


def described(moments: Complex, size: int) -> dict[str, Complex]:
    """Return what people call the moments of some rows: means, deviations, correlations."""
    means, spread, across = _parts(moments, size)
    return {"number of records": unpacked(moments, size)[0, :1], "means": means,
            "deviations": spread, "correlations": across[np.triu_indices(size - 1, 1)]}


def _parts(moments: Complex, size: int) -> tuple[Complex, Complex, Complex]:
    """Return means, deviations, and the matrix of correlations."""
    matrix = unpacked(moments, size)
    means = matrix[0, 1:] / matrix[0, 0]
    centred = matrix[1:, 1:] / matrix[0, 0] - np.outer(means, means)
    spread = np.sqrt(np.diagonal(centred))
    return means, spread, centred / np.outer(spread, spread)


def over_rows(model: ModelNumbers) -> Mapping[str, bool]:
    """Return what of the only other owner of rows follows from a model, by its name."""
    rows = model.rows()
    everything, own = moments_of(rows), moments_of(rows[:23])
    known = jacobian(model.opened, everything)

    def other(moments: Complex) -> dict[str, Complex]:
        return described(moments - own, model.size)

    return _followed(known, other, everything)


def _followed(known: npt.NDArray[np.float64], other: Callable[[Complex], dict[str, Complex]],
              at: npt.NDArray[np.float64]) -> dict[str, bool]:
    """Return which named functions of the moments follow from what is known."""
    def one(name: str) -> Function:
        return lambda moments: other(moments)[name]

    return {name: follows(known, jacobian(one(name), at))
            for name, values in other(at.astype(np.complex128)).items() if values.size}


def over_columns(model: ModelNumbers, own: Sequence[int]) -> Mapping[str, bool]:
    """Return what of all other columns follows for the owner of some (0 is the first term).

    The response is named apart from terms: of terms all have the same place in the equations.
    """
    everything, inside = moments_of(model.rows()), [0, *(place + 1 for place in own)]
    terms = [place for place in range(model.terms) if place not in own]
    response = [model.terms] if model.terms not in own else []
    known = np.vstack([jacobian(model.opened, everything), _own_block(model.size, inside)])

    def other(moments: Complex) -> dict[str, Complex]:
        means, spread, across = _parts(moments, model.size)
        beside = across[terms][:, terms][np.triu_indices(len(terms), 1)]
        return {"column means": means[terms], "column deviations": spread[terms],
                "column correlations": across[terms][:, list(own)].ravel(),
                "correlations among columns": beside,
                "mean of the response": means[response],
                "deviation of the response": spread[response],
                "correlations with the response": across[response][:, [*own, *terms]].ravel()}

    return _followed(known, other, everything)


def _own_block(size: int, inside: Sequence[int]) -> npt.NDArray[np.float64]:
    """Return one row for each moment that a party's own columns have."""
    pairs = list(zip(*np.triu_indices(size), strict=True))
    places = [at for at, (i, j) in enumerate(pairs) if i in inside and j in inside]
    return np.eye(len(pairs))[places]
