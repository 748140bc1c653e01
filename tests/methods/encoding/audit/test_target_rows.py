"""What secret units of a target give away: everything, to whoever knows two targets."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken.methods.encoding.adversaries.target_line import CommonStep, TwoTargets
from unspoken.methods.encoding.audit.code_promise import broken_codes
from unspoken.protect import PiecewiseEncoder
from unspoken.release.record_key import original_rows
from unspoken.risk import audit


def table_of(wage):
    rng = np.random.default_rng(0)
    return unspoken.read(pa.table({"age": rng.integers(18, 90, len(wage)).astype(float),
                                   "wage": wage}), target="wage", show=False)


def rows_of(wage, **options):
    table = table_of(wage)
    release, key = PiecewiseEncoder(random_state=1, **options).protect(table)
    audited = audit(table, release, key, trials=20, random_state=0,
                    adversaries=["target-line", "common-step"])
    return {(row.adversary, row.knowledge, row.measure): row for row in audited.rows
            if row.column == "wage"}


def test_two_known_targets_or_the_ends_give_all_of_them_away():
    rows = rows_of(np.random.default_rng(1).lognormal(8, 1, 400).round(2))
    for level in ("two targets", "bounds"):
        assert rows["target-line", level, "records"].value == 1.0
    assert rows["target-line", "bounds", "exact records"].value > 0.95
    assert rows["target-line", "two targets", "records"].baseline < 0.1
    assert rows["target-line", "sample 1%", "records"].value > 0


def test_the_common_step_of_whole_numbers_gives_the_unit_away():
    rows = rows_of(np.random.default_rng(1).integers(0, 80, 400).astype(float))
    assert rows["common-step", "smallest target", "exact records"].value == 1.0


def test_a_target_in_clear_is_reported_as_such_and_not_attacked_by_a_line():
    table = table_of(np.random.default_rng(1).lognormal(8, 1, 200).round(2))
    release, key = PiecewiseEncoder(random_state=1, clear_target="wage").protect(table)
    audited = audit(table, release, key, trials=5, random_state=0, people=False)
    assert audited.select(adversary="unchanged", column="wage", measure="records")[0].value == 1.0
    assert not audited.select(adversary="target-line")
    assert not TwoTargets().applies(release)
    assert not CommonStep().applies(release)


def test_a_released_number_outside_the_units_is_a_fault():
    wage = np.random.default_rng(1).lognormal(8, 1, 200).round(2)
    table = table_of(wage)
    release, key = PiecewiseEncoder(random_state=1).protect(table)
    rows = original_rows(key, table.rows)
    assert not list(broken_codes(table, release, key, rows))
    wage[7] *= 2
    faults = list(broken_codes(table_of(wage), release, key, rows))
    assert len(faults) == 1
    assert "wage" in faults[0]
    assert "secret units" in faults[0]


@pytest.mark.slow
@pytest.mark.parametrize("neutral", [False, True])
def test_the_whole_audit_scores_an_encoded_target(neutral):
    table = table_of(np.random.default_rng(2).lognormal(8, 1, 200).round(2))
    release, key = PiecewiseEncoder(random_state=1, neutral_names=neutral).protect(table)
    audited = audit(table, release, key, trials=5, random_state=0)
    assert not audited.faults
    assert audited.assessed
    assert not audited.select(adversary="unchanged", column="wage")
    assert audited.worst("wage").value == 1.0
