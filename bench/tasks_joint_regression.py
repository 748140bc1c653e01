"""Joint regression by processes over TLS, against the same regression of pooled data."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import Row, best, task

ROWS = (1_000_000, 50)
COLUMNS = (100_000, 30)
TOLERANCE = 1e-6


def _ours(program: Any, sizes: tuple[int, int]) -> tuple[float, Any, int]:
    from tacit.joint import run_local

    results = run_local(program, [sizes] * 2, "dealer", True)
    received = sum(row.bytes for _, ledger in results for row in ledger.rows
                   if row.direction == "received")
    return max(output[0] for output, _ in results), results[0][0][1], received


def _apart(model: Any, table: np.ndarray[Any, Any]) -> float:
    """Return how far coefficients are from numpy's, in units of |beta| plus its error."""
    from tacit.stats.least_squares import solve

    exact = solve(table[:, :-1], table[:, -1])
    found = np.concatenate([[exact.intercept], exact.coefficients])
    return float((np.abs(model.parameters - found) / (np.abs(found) + exact.errors)).max())


def _row(name: str, program: Any, sizes: tuple[int, int], table: Any,
         goal: float | None) -> list[Row]:
    from tacit.stats.least_squares import solve

    seconds, model, received = _ours(program, sizes)
    apart = _apart(model, table)
    assert apart <= TOLERANCE, f"{name}: off by {apart}"
    x, y = table[:, :-1], table[:, -1]
    ones = np.column_stack([np.ones(len(y)), x])
    central = best(lambda: solve(x, y), 1)
    lstsq = best(lambda: np.linalg.lstsq(ones, y, rcond=None), 1)
    floor = best(lambda: np.linalg.solve(ones.T @ ones, ones.T @ y), 3)
    note = f"off by {apart:.0e} of beta and its error; {received / 1e6:.0f} MB"
    size = f"{sizes[0]:,} x {sizes[1]}"
    return [Row(name, size, seconds, "numpy, pooled, QR with errors", central, "X'X, pooled",
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
