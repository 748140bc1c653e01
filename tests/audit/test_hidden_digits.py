"""Columns packed into the digits of others are noticed in tables whose records are nobody's."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken.audit.hidden_digits import digits_held

ROWS = 500


def people(seed):
    rng = np.random.default_rng(seed)
    return {"stay": np.where(rng.random(ROWS) < 0.3, 0, rng.poisson(5, ROWS)),
            "days": rng.gamma(2, 900, ROWS).round().astype(int), "age": rng.integers(18, 90, ROWS)}


def held(**columns):
    original, release = people(1), {**people(2), **columns}
    return list(digits_held(*(unspoken.read(pa.table(one), show=False)
                              for one in (original, release))))


DAYS, STAY = people(1)["days"], people(2)["stay"]


@pytest.mark.parametrize(("packed", "how"), [
    (DAYS * 1000 + STAY, "in its first digits"), (DAYS + STAY / 100, "in its first digits"),
    (STAY * 100_000 + DAYS, "in its low digits"), (STAY + DAYS / 1e5, "in its low digits"),
    (-STAY - DAYS / 1e5, "in its low digits")])
def test_packed_columns_are_noticed(packed, how):
    order = np.random.default_rng(3).permutation(ROWS)
    assert held(stay=packed[order]) == [("stay", "days", how)]


def test_what_hides_nothing_is_no_fault():
    """Invented people, other units, noise and means of few people, which have few digits."""
    assert held() == []
    rng = np.random.default_rng(4)
    for change in (lambda v: v * 10, lambda v: v / 100, lambda v: 3.7 * v + 11,
                   lambda v: v + rng.normal(0, 30, ROWS), lambda v: np.rint(v + rng.normal(0, 30)),
                   lambda v: np.sort(v).reshape(-1, 5).mean(axis=1).repeat(5)):
        assert held(**{name: change(v) for name, v in people(1).items()}) == []


def test_what_the_original_packs_itself_is_no_fault():
    code = people(1)["days"] * 1000 + people(1)["stay"]
    table = unspoken.read(pa.table({**people(1), "code": code}), show=False)
    assert list(digits_held(table, table)) == []
