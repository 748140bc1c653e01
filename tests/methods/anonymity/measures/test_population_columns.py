"""A population whose columns are of another kind than the table's."""

from __future__ import annotations

import pyarrow as pa
import pytest

import unspoken
from unspoken.errors import DataError
from unspoken.methods.anonymity.measures.measure import measure
from unspoken.methods.anonymity.measures.presence import presence
from unspoken.protect import OptimalRecoder


def ages(values):
    return unspoken.read(pa.table({"age": values}), quasi=["age"], show=False)


def recoded(table, population):
    return OptimalRecoder(k=2, population=population, k_map=2).protect(table)


def recoded_for_a_target(table, population):
    both = unspoken.read(table.arrow().append_column("y", pa.array(["a", "b"] * 5)),
                         quasi=["age"], target="y", show=False)
    return OptimalRecoder(k=2, population=population, k_map=2, loss="class").protect(both)


@pytest.mark.parametrize("use", [recoded, recoded_for_a_target, presence,
                                 lambda table, people: measure(table, population=people)])
@pytest.mark.parametrize("theirs", [["about 30", *map(str, range(20, 39))],
                                    [20.5, *map(float, range(20, 39))]])
def test_a_population_of_another_kind_is_refused_in_words(use, theirs):
    with pytest.raises(DataError, match=r"'age' must hold the same kind of values in the table and "
                       r"in the population. It is int64 in the table"):
        use(ages([*range(20, 30)]), ages(theirs))


def test_an_infinite_value_of_the_population_is_refused_in_words():
    with pytest.raises(DataError, match="'age' must be finite"):
        recoded(ages([float(at) for at in range(10)]),
                ages([float("inf"), *map(float, range(20))]))
