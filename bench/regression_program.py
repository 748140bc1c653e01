"""Programs of the regression benches, importable by the processes that run them."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from unspoken.joint import Party
from unspoken.joint.museum.powell import PowellRegression
from unspoken.joint.tasks.common.public_sizes import ready
from unspoken.joint.tasks.logistic.program_columns import LogisticOverColumns
from unspoken.joint.tasks.logistic.program_rows import LogisticOverRows
from unspoken.joint.tasks.regression.column_blocks import Given, OwnedColumns
from unspoken.joint.tasks.regression.params import RegressionParams, RegressionTerms
from unspoken.joint.tasks.regression.program_columns import RegressionOverColumns
from unspoken.joint.tasks.regression.program_rows import RegressionOverRows

OWNERS = 2


def rows_of(owner: int, rows: int, columns: int) -> np.ndarray[Any, Any]:
    """Return one owner's rows: columns of different scales that go together, the response last."""
    rng = np.random.default_rng(owner)
    x = rng.normal(size=(rows, columns))
    x += 0.8 * x[:, :1]
    x *= np.geomspace(1e-3, 1e3, columns)
    x += np.linspace(0, 100, columns) * np.geomspace(1e-3, 1e3, columns)
    y = x @ (np.cos(np.arange(columns)) / np.geomspace(1e-3, 1e3, columns))
    return np.column_stack([x, y + 3 * rng.normal(size=rows)])


def terms(columns: int) -> RegressionTerms:
    """Return the terms of the made-up data."""
    return RegressionTerms("y", tuple(f"x{i}" for i in range(columns)))


def split(columns: int) -> OwnedColumns:
    """Return two owners with half of the columns each."""
    names, half = terms(columns).columns, columns // 2
    return OwnedColumns({"p0": names[:half], "p1": names[half:]}, "y", "p1")


async def horizontal(party: Party, sizes: tuple[int, int]) -> tuple[float, Any]:
    """Fit a regression over the rows of all owners; return seconds and the model."""
    rows, columns = sizes
    table = rows_of(party.index, rows // OWNERS, columns)
    await ready(party)
    start = time.perf_counter()
    model = await RegressionOverRows(terms(columns), RegressionParams())(party, table)
    return time.perf_counter() - start, model


async def vertical(party: Party, sizes: tuple[int, int]) -> tuple[float, Any]:
    """Fit a regression over the columns of two owners; return seconds and the model."""
    rows, columns = sizes
    layout = split(columns)
    table = rows_of(0, rows, columns)
    names = (*terms(columns).columns, "y")
    mine = {name: table[:, i] for i, name in enumerate(names)
            if name in layout.needed(party.name)}
    await ready(party)
    start = time.perf_counter()
    model = await RegressionOverColumns(layout, RegressionParams())(party, Given(mine))
    return time.perf_counter() - start, model


def thirds(columns: int) -> OwnedColumns:
    """Return three owners with a third of the columns each."""
    names, third = terms(columns).columns, columns // 3
    return OwnedColumns(
        {"p0": names[:third], "p1": names[third : 2 * third], "p2": names[2 * third :]}, "y", "p2"
    )


async def powell(party: Party, sizes: tuple[int, int]) -> tuple[float, Any]:
    """Fit by line searches over the columns of three owners; return seconds and the model."""
    layout = thirds(sizes[1])
    return await _timed(party, PowellRegression(layout), Given(_mine(party, layout, sizes)))


BOSTON = ("CRIM", "ZN", "INDUS", "CHAS", "NOX", "RM", "AGE", "DIS", "RAD", "TAX", "PTRATIO", "B",
          "LSTAT")
HOUSES = OwnedColumns({"p0": BOSTON[:6], "p1": BOSTON[6:9], "p2": BOSTON[9:]}, "MEDV", "p2")
"""The book's own case (vcz2006 section 5.2.4)."""


async def powell_on_boston(party: Party, given: Given) -> tuple[float, Any]:
    """Fit the book's case by line searches; return seconds and the model."""
    return await _timed(party, PowellRegression(HOUSES), given)


async def matrix_on_boston(party: Party, given: Given) -> tuple[float, Any]:
    """Fit the book's case by the matrix; return seconds and the model."""
    return await _timed(party, RegressionOverColumns(HOUSES), given)


async def logistic_columns(party: Party, sizes: tuple[int, int]) -> tuple[float, Any]:
    """Fit a logistic model over the columns of two owners; return seconds and the model."""
    layout = split(sizes[1])
    given = Given(_mine(party, layout, sizes, yes_and_no(*sizes)))
    return await _timed(party, LogisticOverColumns(layout), given)


async def logistic_rows(party: Party, sizes: tuple[int, int]) -> tuple[float, Any]:
    """Fit a logistic model over the rows of two owners; return seconds and the model."""
    rows, columns = sizes
    table = yes_and_no(rows, columns)[party.index::OWNERS]
    return await _timed(party, LogisticOverRows(terms(columns)), table)


def yes_and_no(rows: int, columns: int) -> np.ndarray[Any, Any]:
    """Return columns, and a response that they make likelier."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(rows, columns))
    likely = 1 / (1 + np.exp(-x @ np.cos(np.arange(columns)) / np.sqrt(columns)))
    return np.column_stack([x, rng.uniform(size=rows) < likely])


def _mine(party: Party, layout: OwnedColumns, sizes: tuple[int, int],
          table: np.ndarray[Any, Any] | None = None) -> dict[str, Any]:
    found = rows_of(0, *sizes) if table is None else table
    return {name: found[:, i] for i, name in enumerate((*terms(sizes[1]).columns, "y"))
            if name in layout.needed(party.name)}


async def _timed(party: Party, program: Any, data: Any) -> tuple[float, Any]:
    await ready(party)
    start = time.perf_counter()
    model = await program(party, data)
    return time.perf_counter() - start, model


# The benches run with any number of columns; what is disclosed does not depend on it.
horizontal.disclosures = RegressionOverRows(terms(1)).disclosures  # type: ignore[attr-defined]
vertical.disclosures = RegressionOverColumns(split(2)).disclosures  # type: ignore[attr-defined]
powell.disclosures = PowellRegression(thirds(3)).disclosures  # type: ignore[attr-defined]
powell_on_boston.disclosures = PowellRegression(HOUSES).disclosures  # type: ignore[attr-defined]
matrix_on_boston.disclosures = RegressionOverColumns(HOUSES).disclosures  # type: ignore[attr-defined]
logistic_columns.disclosures = LogisticOverColumns(split(2)).disclosures  # type: ignore[attr-defined]
logistic_rows.disclosures = LogisticOverRows(terms(1)).disclosures  # type: ignore[attr-defined]
