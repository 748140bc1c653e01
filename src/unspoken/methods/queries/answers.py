"""Answers: the value, its error, and what was done to it (as2000 section 1, output perturbation).

Noise and samples follow from a secret and from what the query is about, so that asking again, or
asking for the same set in other words, gives the same answer and averages nothing away.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.methods.queries.guarded_records import Rows
from unspoken.methods.queries.query import Asked
from unspoken.numerics.random import generator


@dataclass(frozen=True)
class Answer:
    """An answer. `error` is a standard error; None if stating it would disclose too much.

    `epsilon` is what the answer took from the guard's budget, None where it has none.
    """

    value: float
    error: float | None
    query: str
    done: tuple[str, ...] = ()
    epsilon: float | None = None

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        error = "" if not self.error else f" (standard error {self.error:.4g})"
        notes = "".join(f"\n  {note}" for note in self.done)
        return f"{self.query}: {self.value:.10g}{error}{notes}"

    def to_json(self) -> dict[str, Any]:
        """Return the answer as plain data."""
        return {"query": self.query, "value": self.value, "error": self.error,
                "done": list(self.done), "epsilon": self.epsilon}


def answer(asked: Asked, rows: Rows, secret: bytes, deviation: float | None,
           share: float | None) -> Answer:
    """Compute an answer that no rule refuses."""
    if asked.unknown == "count":
        return Answer(float(asked.size), 0.0, str(asked.query))
    values = _values(asked, rows)
    total, error, done = float(values.sum()), 0.0 if share is None else None, []
    if share is not None:
        total, taken = _sampled(asked, values, secret, share)
        done.append(f"estimated from a sample of {taken} of {values.size} records")
        error = _worst(values.size, taken) if asked.query.column is None else None
    if deviation is not None:
        total = _noisy(asked, total, secret, deviation)
        error = None if error is None else math.hypot(error, deviation)
        done.append(f"noise of standard deviation {deviation:g} was added to the "
                    + ("count" if asked.query.column is None else "sum"))
    scale = values.size if asked.query.kind == "mean" else 1
    return Answer(total / scale, None if error is None else error / scale, str(asked.query),
                  tuple(done))


def public_sum(asked: Asked, rows: Rows) -> Answer:
    """Sum or average a public column over a public set, which anybody could have done."""
    values, present = rows.values(str(asked.query.column))
    chosen = values[asked.members & present]
    scale = max(chosen.size, 1) if asked.query.kind == "mean" else 1
    return Answer(float(chosen.sum()) / scale, 0.0, str(asked.query))


def _values(asked: Asked, rows: Rows) -> Floats:
    if asked.query.column is None:
        return np.asarray(rows.meet(asked.hidden)[asked.members], np.float64)
    return np.asarray(rows.values(asked.query.column)[0][asked.members])


def _sampled(asked: Asked, values: Floats, secret: bytes, share: float) -> tuple[float, int]:
    """Scale up a sample of fixed size without replacement."""
    taken = math.ceil(share * values.size)
    rng = generator(secret, "sample", *asked.identity)
    chosen = np.argsort(rng.random(values.size), kind="stable")[:taken]
    return float(values[chosen].mean()) * values.size, taken


def _worst(size: int, taken: int) -> float:
    """Return the largest error of a sampled count: half of the records say yes."""
    return size * math.sqrt((1 - taken / size) / (4 * taken) * size / max(size - 1, 1))


def _noisy(asked: Asked, total: float, secret: bytes, deviation: float) -> float:
    """Add noise, and round to a grid far below it: low bits of a float could disclose the noise."""
    drawn = total + deviation * float(generator(secret, "noise", *asked.identity).normal())
    step = 2.0 ** math.floor(math.log2(deviation / 64))
    return round(drawn / step) * step
