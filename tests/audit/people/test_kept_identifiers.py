"""A table of another tool that keeps names or numbers of people is said to, and fails."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from support.population import population
from unspoken.audit.people.audit_people import audit_table

ROWS = 120


def named(seed, **more):
    table = population(ROWS, seed)
    for name, values in more.items():
        table = table.append_column(name, pa.array(values))
    return unspoken.read(table, show=False)


NAMES = [f"Person {place:05d} x" for place in range(ROWS)]
NUMBERS = np.random.default_rng(3).choice(9 * 10**8, ROWS, replace=False) + 10**8


@pytest.mark.parametrize(("values", "kept"), [(NAMES, "name"), (NUMBERS, "x"), (NAMES, "note")])
def test_invented_people_with_true_identifiers(values, kept):
    original = named(1, **{"name" if kept == "note" else kept: values})
    release = named(2, **{kept: np.random.default_rng(4).permutation(np.array(values))})
    audited = audit_table(release, original, named(3), people=20, random_state=0)
    owner = "name" if kept == "note" else kept
    assert f"'{kept}' holds the values of the identifier '{owner}'" in audited.faults
    assert audited.verdict == "not what it says it is"
    if kept == owner:
        assert "control group has no such column" in audited.unscored[kept]


def test_measured_numbers_are_no_row_numbers():
    """Numbers from 0 on are row numbers by chance, and were so in the original, too."""
    rng = np.random.default_rng(5)
    original = named(1, row_number=np.arange(ROWS), size=rng.integers(0, ROWS, ROWS))
    release = named(2, size=rng.integers(0, ROWS, ROWS))
    assert original.schema.with_role("identifier") == ("row_number",)
    assert audit_table(release, original, people=20, random_state=0).faults == ()
