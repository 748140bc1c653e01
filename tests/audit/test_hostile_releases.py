"""Five ways to fool an audit that looks at distributions alone: none of them passes."""

from __future__ import annotations

import hashlib

import numpy as np
import pyarrow as pa
import pytest

from unspoken.audit.hidden_values import hidden_values
from unspoken.audit.people import audit_people
from unspoken.audit.people.audit_people import audit_table
from unspoken.disclosure.people_risk import LINKED
from unspoken.disclosure.release_verdict import verdict_of
from unspoken.table.read import read

pytestmark = pytest.mark.slow

ROWS = 700


def members(seed=0, rows=ROWS):
    rng = np.random.default_rng(seed)
    return {"card": rng.permutation(90_000)[:rows] + 10_000, "visits": rng.poisson(9, rows),
            "fine": np.round(rng.gamma(2.0, 6.0, rows), 2), "born": rng.integers(1930, 2015, rows),
            "branch": rng.choice(list("pqrst"), rows)}


def table_of(columns, **options):
    return read(pa.table(columns), show=False, **options)


def moved(columns, seed=3):
    order = np.random.default_rng(seed).permutation(len(columns["born"]))
    return {name: np.asarray(values)[order] for name, values in columns.items()}


def blurred(columns, seed=5):
    """Return columns with so much noise that nobody is found by them."""
    rng = np.random.default_rng(seed)
    return {name: values if name == "branch" else values + rng.normal(0, 3 * np.std(values), ROWS)
            for name, values in columns.items() if name != "card"}


def audited(release, **options):
    return audit_table(table_of(release), table_of(members(), identifiers=["card"]),
                       table_of(members(1), identifiers=["card"]), people=100, random_state=0,
                       **options)


def test_much_noise_in_another_order_has_no_faults():
    assert audited(moved(blurred(members()))).faults == ()


@pytest.mark.parametrize("turn", [1, -1])
def test_noise_does_not_help_where_the_order_was_kept(turn):
    release = {name: values[::turn] for name, values in blurred(members()).items()}
    audit = audited(release)
    assert any("order of the original" in line for line in audit.faults)
    assert audit.failed
    assert not verdict_of(audit).release


@pytest.mark.parametrize("form", ["md5", "sha256", "backwards"])
def test_a_disguised_identifier_is_no_new_column(form):
    plain = members()
    texts = [str(card) for card in plain["card"]]
    token = [text[::-1] if form == "backwards" else hashlib.new(form, text.encode()).hexdigest()
             for text in texts]
    light = {name: values for name, values in plain.items() if name != "card"}
    audit = audited(moved(light | {"token": np.array([f"{one}" for one in token])}))
    assert audit.faults if form != "backwards" else not verdict_of(audit).release
    assert not verdict_of(audit).release


def test_what_low_digits_carry_is_read():
    plain = members()
    fine = np.round(plain["fine"] + np.random.default_rng(1).normal(0, 0.01, ROWS), 2)
    release = {name: values for name, values in plain.items() if name != "card"}
    hidden = audited(moved(release | {"fine": fine + plain["card"] * 1e-9}))
    assert any("'card' in its low digits" in line for line in hidden.faults)
    assert hidden.failed
    assert not [line for line in audited(moved(release | {"fine": fine})).faults
                if "low digits" in line]


def test_another_column_packed_behind_a_number_is_read():
    plain = members()
    own = np.arange(ROWS)
    packed = plain["visits"] * 100_000 + plain["card"]
    original = table_of(plain)
    found = hidden_values(original, table_of({"visits": packed}), own, own)
    assert found == ("'visits' holds the values of 'card' in its low digits",)
    # The original says it, too: year and year of the century.
    both = {"year": 1900 + np.arange(60), "short": np.arange(60)}
    assert hidden_values(table_of(both), table_of(both), np.arange(60), np.arange(60)) == ()


@pytest.mark.parametrize("times", [2, 10])
def test_repeated_records_are_no_crowd_to_hide_in(times):
    plain = {name: values for name, values in members().items() if name != "card"}
    once = audited(moved(plain)).people
    more = audited(moved({name: np.tile(values, times) for name, values in plain.items()})).people
    assert once.worst(LINKED).value > 0.9
    assert more.persons.marketer > 0.9 * once.persons.marketer


def test_taking_the_checks_out_lets_them_pass(monkeypatch):
    monkeypatch.setattr(audit_people, "kept_order", lambda *args: ())
    monkeypatch.setattr(audit_people, "hidden_values", lambda *args: ())
    assert audited(blurred(members())).faults == ()
