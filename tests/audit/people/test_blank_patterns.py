"""Cells left blank tell what a release does not show: that is a fault."""

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken.audit.people.audit_people import audit_table
from unspoken.disclosure.release_verdict import may_leave, verdict_of


def patients(rng, rows=400):
    zip_ = rng.integers(0, 8, rows)
    return {"zip": [f"z{one}" for one in zip_], "visits": rng.integers(1, 40, rows) * 1.0,
            "ill": np.where(zip_ % 2, "yes", "no")}


def released(columns, blank, rng):
    visits = np.where(blank, None, rng.permutation(columns["visits"]))
    rows = pa.table({"zip": columns["zip"], "visits": pa.array(list(visits), pa.float64())})
    return unspoken.read(rows.take(pa.array(rng.permutation(rows.num_rows))), show=False)


@pytest.mark.slow
@pytest.mark.parametrize("telling", [True, False])
def test_blanks_that_follow_a_column_that_did_not_leave_are_a_fault(telling):
    rng = np.random.default_rng(0)
    columns = patients(rng)
    original = unspoken.read(pa.table(columns), show=False)
    ill = columns["ill"] == "yes"
    blank = ill if telling else rng.permutation(ill)
    audit = audit_table(released(columns, blank, rng), original, known=["zip"], people=100,
                        random_state=0)
    assert any("'ill'" in fault for fault in audit.faults) is telling
    if telling:
        assert not may_leave(audit, verdict_of(audit))


@pytest.mark.slow
def test_blanks_of_the_original_itself_are_no_fault():
    rng = np.random.default_rng(1)
    columns = patients(rng)
    columns["visits"] = np.where(columns["ill"] == "yes", np.nan, columns["visits"])
    original = unspoken.read(pa.table(columns), show=False)
    rows = pa.table({name: columns[name] for name in ("zip", "visits")})
    audit = audit_table(unspoken.read(rows, show=False), original, people=100, random_state=0)
    assert not any("blank" in fault for fault in audit.faults)
