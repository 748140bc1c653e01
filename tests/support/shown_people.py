"""People whose class follows age and wage, so that a full tree asks about nearly every value."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import unspoken


def shown_people(rows: int = 400, seed: int = 0):
    """Return a table of two numbers, one column of categories and a class."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, rows).astype(float)
    wage = rng.lognormal(8, 0.7, rows).round(1)
    sick = np.where(age / 90 + np.log(wage) / 20 + rng.normal(size=rows) * 0.4 > 1, "a", "b")
    frame = pa.table({"age": age, "wage": wage, "sex": rng.choice(["f", "m"], rows), "sick": sick})
    return unspoken.read(frame, target="sick", show=False)
