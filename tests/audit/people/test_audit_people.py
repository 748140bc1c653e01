"""Auditing tables that other tools made: copies fall, fresh people do not, order never matters."""

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from support.population import coarsened, encoded, noised, population, shuffled
from unspoken.audit.people.audit_people import audit_table
from unspoken.disclosure.people_risk import INFERRED, LINKED, MEMBER, RISKS, SINGLED
from unspoken.disclosure.release_verdict import verdict_of
from unspoken.errors import DataError, SchemaError

ORIGINAL = population(seed=0)
OTHERS = population(seed=1)


def audited(release, control=OTHERS, **options):
    options.setdefault("people", 150)
    return audit_table(release, ORIGINAL, control, random_state=0, **options)


@pytest.fixture(scope="module")
def of_copy():
    return audited(shuffled(ORIGINAL))


@pytest.fixture(scope="module")
def of_fresh():
    return audited(population(seed=2))


@pytest.mark.slow
def test_a_copy_falls_to_every_attack(of_copy):
    for kind in RISKS:
        worst = of_copy.people.worst(kind)
        assert worst.beyond[1] > 0.8, kind
    assert verdict_of(of_copy).level == "high"
    assert not verdict_of(of_copy).release


@pytest.mark.slow
def test_other_people_of_the_population_tell_nothing(of_fresh):
    for kind in RISKS:
        for risk in of_fresh.people.risks:
            if risk.kind == kind:
                assert risk.beyond[1] < 0.1, risk
    assert of_fresh.people.persons.marketer < 0.05


@pytest.mark.slow
def test_the_order_of_rows_is_never_used(of_copy):
    again = audited(shuffled(ORIGINAL, seed=77))
    for kind in RISKS:
        one, other = of_copy.people.worst(kind), again.people.worst(kind)
        assert abs(one.value - other.value) < 0.05


@pytest.mark.slow
def test_noise_lowers_the_risk_in_the_order_of_its_size():
    named = [audited(noised(ORIGINAL, share)).people.worst(LINKED).excess
             for share in (0.01, 0.2, 1.0)]
    assert named[0] > 0.8
    assert named[0] > named[1] > named[2]


@pytest.mark.slow
def test_codes_and_other_names_are_read_by_rank_frequency_and_content():
    found = audited(encoded(ORIGINAL)).people
    assert found.read["age"] == "by rank, matched by content (x1)"
    assert found.read["income"] == "by rank"
    assert found.read["sex"] == "by frequency"
    assert found.worst(LINKED).excess > 0.7
    assert found.worst(INFERRED).excess > 0.7


@pytest.mark.slow
def test_groups_of_another_tool_hide_people_and_are_understood():
    audit = audited(coarsened(ORIGINAL), secrets=["ill"], known=["age", "sex"])
    found = audit.people
    assert found.read["age"] == "as intervals or groups"
    assert found.read["school"] == "as intervals or groups"
    assert found.worst(LINKED).excess < 0.2
    # A class of many people: nobody can be surer than one in as many.
    assert found.persons.spread()["highest"] < 0.3
    assert found.worst(INFERRED).column == "ill"


@pytest.mark.slow
def test_without_control_every_risk_is_an_upper_bound():
    found = audited(shuffled(ORIGINAL), None, people=40)
    assert all(risk.upper_bound for risk in found.people.risks)
    assert verdict_of(found).upper_bound
    assert any("no control group" in line for line in found.limits)
    assert "no control group" in found.summary()


@pytest.mark.slow
def test_numbers_come_with_counts_intervals_control_and_guess(of_copy):
    for risk in of_copy.people.risks:
        assert 0 <= risk.hits <= risk.people
        assert risk.interval[0] <= risk.value <= risk.interval[1]
        assert risk.control_people > 0
        assert 0.0 <= risk.baseline <= 1.0
    ill = [r for r in of_copy.people.risks if r.column == "ill"]
    share = np.mean(np.array(ORIGINAL["ill"].to_pylist()) == "no")
    assert all(r.baseline >= max(share, 1 - share) - 1e-9 for r in ill)
    measures = {row.measure for row in of_copy.rows}
    assert {SINGLED, LINKED, INFERRED, MEMBER, "linking beyond control", "records"} <= measures


@pytest.mark.slow
def test_reports_hold_no_single_person(of_copy):
    text = str(of_copy.to_json()["people"])
    assert "records" not in of_copy.to_json()["people"]["persons"]
    assert "array" not in text
    rows = of_copy.people.persons.exposed(5)
    assert len(rows) == 5
    assert all(0 <= row < ORIGINAL.num_rows for row, _, _ in rows)


@pytest.mark.slow
def test_an_identifier_in_the_release_is_seen():
    named = ORIGINAL.append_column("email", pa.array([f"u{i}@x.org" for i in range(600)]))
    copy = shuffled(named.select(["email", "ill"]))
    found = audit_table(copy, named, None, known=["email"], people=40, random_state=0)
    assert found.people.worst(LINKED).value == 1.0


def test_a_table_that_has_nothing_in_common_is_refused():
    other = pa.table({"weight": np.arange(600) % 7, "height": np.arange(600) % 3})
    with pytest.raises(SchemaError, match="neither by name nor by content"):
        audit_table(other, pa.table({"a": np.random.default_rng(0).normal(size=600)}))


@pytest.mark.slow
def test_a_released_column_that_fits_nothing_is_not_assessed():
    extra = ORIGINAL.append_column("odd", pa.array(np.arange(600) // 300))
    found = audited(extra, None, people=20)
    assert "odd" in found.unscored
    assert verdict_of(found).level in ("unknown", "high")


def test_a_handful_of_outsiders_is_no_control_group():
    with pytest.raises(DataError, match="at least 20 people"):
        audited(ORIGINAL, OTHERS.slice(0, 5))


def test_unknown_columns_are_refused_by_name():
    with pytest.raises(SchemaError, match="'shoe' is named as known to attackers"):
        audited(ORIGINAL, None, known=["shoe"])


@pytest.mark.slow
def test_releases_of_ours_have_the_same_risks():
    table = unspoken.read(ORIGINAL, target="ill", quasi=["age", "zip"], show=False)
    release, key = unspoken.protect.PiecewiseEncoder(
        categorical="relabel", random_state=1).protect(table)
    found = unspoken.risk.audit(table, release, key, trials=2, random_state=0, control=OTHERS)
    assert {risk.kind for risk in found.people.risks} == set(RISKS)
    assert found.people.controlled
    assert found.people.persons.known == ("age", "zip")
    assert "Risks to people" in found.summary()
    left = unspoken.risk.audit(table, release, key, trials=2, random_state=0, people=False)
    assert left.people is None
