"""Two releases of the same people are attacked together, whatever made them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken.audit import linked_releases
from unspoken.audit.linked_releases import join, read_sides
from unspoken.protect import MondrianAnonymizer, NoiseAdder, PiecewiseEncoder, Rotation
from unspoken.release.method import method_of
from unspoken.risk import Policy, Register, audit, what_it_adds

pytestmark = pytest.mark.slow

SEED = b"1" * 32


def columns(rows=3000, seed=3):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 95, rows)
    return {"age": age, "plot": rng.integers(0, 500, rows),
            "guild": rng.choice(list("abcdef"), rows),
            "debt": np.round(np.exp(rng.normal(8, 0.5, rows)), 1),
            "illness": rng.choice(list("uvwxyz"), rows),
            "vote": np.where(age + rng.normal(0, 20, rows) > 50, "yes", "no")}


def as_table(data, **roles):
    return unspoken.read(pa.table(data), show=False, **roles)


def original(**options):
    return as_table(columns(**options), target="vote", sensitive="illness")


def entered(tmp_path, table, method):
    release, key = method.protect(table)
    release = release.save(tmp_path / "first")
    names = method_of(release.mechanism).released_names(key, release)
    return Register.load(tmp_path / "r").add_release(table, release, "x", str(tmp_path / "first"),
                                                     names)


def noisy():
    """Return noise that is drawn the same way every time: gains are estimates, and have errors."""
    return NoiseAdder(columns=["age", "debt", "plot"], privacy=0.2, others="keep", random_state=5)


def test_an_interval_and_a_noisy_value_are_put_together_and_count(tmp_path):
    table = original()
    register = entered(tmp_path, table, MondrianAnonymizer(k=8))
    release, key = noisy().protect(table)
    audited = audit(table, release, key, trials=1, random_state=0, register=register)
    gains = {row.column: row.value - row.baseline for row in audited.select(measure="together")}
    assert gains["age"] > 0.03
    assert audited.failed
    assert any("from each alone" in line and "'age'" in line for line in audited.added)
    strict = Policy.parse("[register]\nmax_added = 0.0\n")
    assert any("together with release" in line for line in strict.judge(audited).reasons)


def test_in_the_other_order_too(tmp_path):
    table = original()
    register = entered(tmp_path, table, noisy())
    release, _ = MondrianAnonymizer(k=8).protect(table)
    (age,) = [one for one in what_it_adds(register, table, release, random_state=1)
              if one.column == "age"]
    assert age.together > max(age.before, age.next_alone) + 0.03


def test_codes_beside_noise_are_attacked_and_not_only_listed(tmp_path):
    table = original()
    register = entered(tmp_path, table, PiecewiseEncoder())
    release, _ = noisy().protect(table)
    added = what_it_adds(register, table, release, random_state=1)
    assert {one.column for one in added} == set(table.schema.names)
    assert all(one.together is not None for one in added)


def test_a_record_is_followed_from_one_release_into_the_other():
    """Facts lead into the first alone, the illness stands in the second alone; debt links both."""
    data = columns(1200)
    table = as_table({name: data[name] for name in ("age", "plot", "debt", "illness")},
                     quasi=["age", "plot"], sensitive="illness")
    rng = np.random.default_rng(0)

    def part(*names):
        order = rng.permutation(table.rows)
        return as_table({name: np.asarray(data[name])[order] for name in names})

    found = {one.column: one for one in join(read_sides(
        table, part("age", "plot", "debt"), part("debt", "illness"), 0.02, SEED))}
    assert found["illness"].together > 0.9
    assert max(found["illness"].first, found["illness"].second) < 0.4
    assert found["illness"].knowledge == "facts"


@pytest.mark.parametrize("seed", range(6))
def test_two_releases_that_say_the_same_add_nothing(seed):
    data = columns(600, seed)
    table = as_table(data, target="vote", sensitive="illness")
    order = np.random.default_rng(seed).permutation(600)
    again = as_table({name: np.asarray(values)[order] for name, values in data.items()})
    strange = as_table(columns(600, seed + 100))
    for other in (again, strange):
        for one in join(read_sides(table, again, other, 0.02, SEED)):
            assert one.together == max(one.first, one.second), one


def test_what_is_put_together_is_what_gains(monkeypatch):
    """Without the product of what both say, an interval does not cut a noisy value off."""
    table = original()
    shown = [method.protect(table)[0].table for method in (MondrianAnonymizer(k=8), noisy())]

    def gain():
        (age,) = [one for one in join(read_sides(table, *shown, 0.02, SEED))
                  if one.column == "age"]
        return age.together - max(age.first, age.second)

    assert gain() > 0.03
    monkeypatch.setattr(linked_releases, "combined", lambda one, other, domain: one)
    assert gain() < 0.02


def test_mixed_columns_are_not_assessed(tmp_path):
    data = columns()
    table = as_table({n: data[n] for n in ("age", "plot", "debt", "vote")}, target="vote")
    register = entered(tmp_path, table, Rotation())
    release, key = NoiseAdder(columns=["age", "debt", "plot"]).protect(table)
    audited = audit(table, release, key, trials=1, random_state=0, register=register)
    assert any("mixes columns" in why for why in audited.unscored.values())
    assert audited.verdict == "not assessed"
