"""The people of as2000 section 5: nine attributes and five ways to sort them into two groups.

The generator of the original study, from its published description. Amounts are in units of
money, ages and years in years. `equity` is a tenth of the house's value for every year beyond
twenty. The house's value spreads by half around a price that depends on the zip code.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Bools, Floats
from unspoken.errors import InputError, explain

COLUMNS = ("salary", "commission", "age", "elevel", "car", "zipcode", "hvalue", "hyears", "loan")
RANGES = {"salary": (20e3, 150e3), "commission": (0.0, 75e3), "age": (20.0, 80.0),
          "elevel": (0.0, 4.0), "car": (1.0, 20.0), "zipcode": (0.0, 8.0),
          "hvalue": (50e3, 1350e3), "hyears": (1.0, 30.0), "loan": (0.0, 500e3)}


def people(rows: int, seed: int = 0) -> dict[str, Floats]:
    """Draw people; the same seed gives the same people."""
    rng = np.random.default_rng(seed)
    salary = rng.uniform(20e3, 150e3, rows)
    zipcode = rng.integers(0, 9, rows).astype(np.float64)
    price = 100e3 * (zipcode + 1)
    return {
        "salary": salary,
        "commission": np.where(salary >= 75e3, 0.0, rng.uniform(10e3, 75e3, rows)),
        "age": rng.uniform(20, 80, rows),
        "elevel": rng.integers(0, 5, rows).astype(np.float64),
        "car": rng.integers(1, 21, rows).astype(np.float64),
        "zipcode": zipcode,
        "hvalue": rng.uniform(0.5, 1.5, rows) * price,
        "hyears": rng.integers(1, 31, rows).astype(np.float64),
        "loan": rng.uniform(0, 500e3, rows),
    }


def matrix(columns: dict[str, Floats]) -> Floats:
    """Return the people as one array, columns in the order of COLUMNS."""
    return np.column_stack([columns[name] for name in COLUMNS])


def _between(values: Floats, low: float, high: float) -> Bools:
    return np.asarray((values >= low * 1e3) & (values <= high * 1e3), np.bool_)


def _f1(p: dict[str, Floats]) -> Bools:
    return np.asarray((p["age"] < 40) | (p["age"] >= 60), np.bool_)


def _f2(p: dict[str, Floats]) -> Bools:
    age, pay = p["age"], p["salary"]
    return np.select([age < 40, age < 60], [_between(pay, 50, 100), _between(pay, 75, 125)],
                     _between(pay, 25, 75)).astype(np.bool_)


def _f3(p: dict[str, Floats]) -> Bools:
    age, pay, level = p["age"], p["salary"], p["elevel"]
    young = ((level <= 1) & _between(pay, 25, 75)) | (
        (level >= 2) & (level <= 3) & _between(pay, 50, 100))
    middle = ((level >= 1) & (level <= 3) & _between(pay, 50, 100)) | (
        (level == 4) & _between(pay, 75, 125))
    old = ((level >= 2) & _between(pay, 50, 100)) | ((level == 1) & _between(pay, 25, 75))
    return np.asarray(np.select([age < 40, age < 60], [young, middle], old), np.bool_)


def _disposable(p: dict[str, Floats]) -> Floats:
    return np.asarray(0.67 * (p["salary"] + p["commission"]) - 0.2 * p["loan"] - 10e3)


def _f4(p: dict[str, Floats]) -> Bools:
    return np.asarray(_disposable(p) > 0, np.bool_)


def _f5(p: dict[str, Floats]) -> Bools:
    equity = 0.1 * p["hvalue"] * np.maximum(p["hyears"] - 20, 0)
    return np.asarray(_disposable(p) + 0.2 * equity > 0, np.bool_)


FUNCTIONS: dict[int, Callable[[dict[str, Floats]], Bools]] = {1: _f1, 2: _f2, 3: _f3, 4: _f4,
                                                              5: _f5}


def group(columns: dict[str, Floats], function: int) -> npt.NDArray[np.str_]:
    """Return the group, "A" or "B", of everybody by one of the five functions."""
    if function not in FUNCTIONS:
        raise InputError(explain("'function'", "1 to 5", function))
    return np.where(FUNCTIONS[function](columns), "A", "B")
