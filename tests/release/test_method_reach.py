"""A method that needs all rows in memory says so by name before it starts."""

from __future__ import annotations

import numpy as np
import pytest

import unspoken
from unspoken.errors import InputError
from unspoken.release.method import methods

LOCKED = [one for one in methods().values() if not one.streams and not one.takes_baskets]


class NoRows:
    """An engine that counts rows and does nothing else."""

    name, most_cells = "elsewhere", 1000

    def __init__(self, engine):
        self.rows = engine.rows


@pytest.mark.parametrize("method", LOCKED, ids=[one.name for one in LOCKED])
@pytest.mark.slow
def test_a_table_out_of_reach_is_refused_by_name(method):
    table = unspoken.read({"a": np.arange(500.0), "b": np.arange(500) % 2, "c": ["x"] * 500},
                          target="b", quasi="a")
    object.__setattr__(table, "engine", NoRows(table.engine))
    transformer = method.transformer
    required = {"private-synthetic": {"epsilon": 1.0}}.get(method.name, {})
    with pytest.raises(InputError, match=f"'{method.name}' needs all rows in the memory") as raised:
        transformer(**required).protect(table)
    assert "500 rows of 3 columns" in str(raised.value)
    assert "piecewise" in str(raised.value)


def test_methods_that_stream_are_declared():
    assert {name for name, one in methods().items() if one.streams} == {
        "piecewise", "rotation", "pairwise-rotation", "random-projection",
        "similarity-outsourcing", "noise", "discretize", "randomized-response"}
