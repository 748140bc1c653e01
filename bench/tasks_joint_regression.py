"""Joint regression by processes over TLS, against the same regression of pooled data."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import Row, best, shared, task
from sizes import scaled

ROWS = (scaled(1_000_000, 4_000), 50)
COLUMNS = (scaled(100_000, 2_000), 30)
SEARCHED = (scaled(5_000, 300), 6)
TOLERANCE = 1e-6


def _ran(program: Any, inputs: Any) -> tuple[float, Any, int]:
    """Return seconds, the model, and the bytes that all parties received."""
    from unspoken.joint import run_local

    results = run_local(program, inputs, "dealer", True)
    received = sum(row.bytes for _, ledger in results for row in ledger.rows
                   if row.direction == "received")
    return max(output[0] for output, _ in results), results[0][0][1], received


def _ours(program: Any, sizes: tuple[int, int], owners: int = 2) -> tuple[float, Any, int]:
    return _ran(program, [sizes] * owners)


def _apart(model: Any, table: np.ndarray[Any, Any]) -> float:
    """Return how far coefficients are from numpy's, in units of |beta| plus its error."""
    from unspoken.numerics.least_squares import solve

    exact = solve(table[:, :-1], table[:, -1])
    found = np.concatenate([[exact.intercept], exact.coefficients])
    return float((np.abs(model.parameters - found) / (np.abs(found) + exact.errors)).max())


def _row(name: str, program: Any, sizes: tuple[int, int], table: Any,
         goal: float | None) -> list[Row]:
    from unspoken.numerics.least_squares import solve

    seconds, model, received = _ours(program, sizes)
    apart = _apart(model, table)
    assert apart <= TOLERANCE, f"{name}: off by {apart}"
    x, y = table[:, :-1], table[:, -1]
    ones = np.column_stack([np.ones(len(y)), x])
    pooled = best(lambda: solve(x, y), 1)
    lstsq = best(lambda: np.linalg.lstsq(ones, y, rcond=None), 1)
    floor = best(lambda: np.linalg.solve(ones.T @ ones, ones.T @ y), 3)
    note = f"off by {apart:.0e} of beta and its error; {received / 1e6:.0f} MB"
    size = f"{sizes[0]:,} x {sizes[1]}"
    return [Row(name, size, seconds, "numpy, pooled, QR with errors", pooled, "X'X, pooled",
                floor, goal, note=note),
            Row(name, size, seconds, "numpy.linalg.lstsq, pooled", lstsq, "X'X, pooled", floor,
                note=note)]


@task
def regression_over_rows() -> list[Row]:
    import regression_program as programs

    half = ROWS[0] // programs.OWNERS
    table = np.vstack([programs.rows_of(i, half, ROWS[1]) for i in range(programs.OWNERS)])
    return _row("regression, rows", programs.horizontal, ROWS, table, 3)


@task
def regression_over_columns() -> list[Row]:
    import regression_program as programs

    return _row("regression, columns", programs.vertical, COLUMNS,
                programs.rows_of(0, *COLUMNS), None)


@task
def regression_by_powell() -> list[Row]:
    """Powell's search beside the matrix way, both over columns."""
    import regression_program as programs

    seconds, model, received = _ours(programs.powell, SEARCHED, 3)
    table = programs.rows_of(0, *SEARCHED)
    apart = _apart(model, table)
    assert apart <= TOLERANCE, f"off by {apart}"
    matrix, _, _ = _ours(programs.vertical, SEARCHED)
    note = f"off by {apart:.0e} of beta and its error; {received / 1e6:.0f} MB"
    return [Row("regression, Powell", f"{SEARCHED[0]:,} x {SEARCHED[1]}", seconds,
                "our matrix way, two owners", matrix, "X'X, pooled",
                best(lambda: table.T @ table, 3), note=note)]


@task
def regression_by_powell_on_boston() -> list[Row]:
    """The book's own case, 13 columns of three owners; a minute is asked."""
    import pyarrow.parquet as pq

    import regression_program as programs
    from unspoken.joint.tasks.regression.column_blocks import Given

    path = shared("boston_housing.parquet")
    if path is None:
        return []
    rows, layout = pq.read_table(path), programs.HOUSES
    given = [Given({name: rows[name].to_numpy().astype(float) for name in layout.needed(owner)})
             for owner in layout.owners]
    seconds, model, received = _ran(programs.powell_on_boston, given)
    table = np.column_stack([rows[name].to_numpy() for name in (*programs.BOSTON, "MEDV")])
    apart = _apart(model, table)
    assert apart <= TOLERANCE, f"off by {apart}"
    note = f"off by {apart:.0e} of beta and its error; {received / 1e6:.0f} MB"
    matrix, _, _ = _ran(programs.matrix_on_boston, given)
    return [Row("regression, Powell, Boston", f"{len(table):,} x 13, owners 6, 3, 4", seconds,
                "a minute", 60, "our matrix way", matrix, 1, note=note)]


def _logistic(name: str, program: Any, sizes: tuple[int, int], most: float) -> list[Row]:
    import regression_program as programs
    from unspoken.numerics.logistic_fit import fit_logistic

    seconds, model, received = _ours(program, sizes)
    table = programs.yes_and_no(*sizes)
    x, y = table[:, :-1], table[:, -1]
    beta, errors, _ = fit_logistic(x, y)
    apart = float((np.abs(model.parameters - beta) / errors).max())
    assert apart <= most, f"{name}: off by {apart}"
    note = f"off by {apart:.0e} of a standard error; {received / 1e6:.0f} MB"
    return [Row(name, f"{sizes[0]:,} x {sizes[1]}", seconds, "Newton in numpy, pooled",
                best(lambda: fit_logistic(x, y), 1), "X'X, pooled", best(lambda: x.T @ x, 3),
                note=note)]


@task
def logistic_over_rows() -> list[Row]:
    import regression_program as programs

    return _logistic("logistic, rows", programs.logistic_rows, (scaled(200_000, 4_000), 20),
                     1e-6)


@task
def logistic_over_columns() -> list[Row]:
    import regression_program as programs

    return _logistic("logistic, columns", programs.logistic_columns, (scaled(10_000, 500), 10),
                     1e-4)
