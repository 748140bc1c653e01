"""Two anonymised releases of the same people are intersected where the register knows the first."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken.protect import MondrianAnonymizer, NoiseAdder, TreePreservingAnonymizer
from unspoken.risk import Policy, Register, audit, intersection, what_it_adds


def people(rows=400, seed=0):
    rng = np.random.default_rng(seed)
    age, town = rng.integers(20, 60, rows), rng.choice(list("abcdef"), rows)
    return unspoken.read(pa.table({
        "age": age, "town": town, "work": rng.choice(list("uvwxyz"), rows),
        "income": np.where((age > 40) & (town < "d"), "high", "low")}),
        target="income", sensitive="work", show=False)


def crossing(side=4):
    """Return people on a square and two releases: one shows its rows, the other its columns.

    Every person has a value of their own, so a row and a column have one value in common.
    """
    row, column = np.divmod(np.arange(side * side), side)
    columns = {"a": row * side + column, "b": column * side + row,
               "work": list("abcdefghijklmnop"), "y": list("pq") * 8}

    def read(*names):
        return unspoken.read(pa.table({n: columns[n] for n in (*names, "work", "y")}), target="y",
                          sensitive="work", show=False)

    return read("a", "b"), [MondrianAnonymizer(k=side).protect(read(name))[0] for name in "ab"]


@pytest.fixture
def known(tmp_path):
    table = people()
    first, _ = TreePreservingAnonymizer(k=8, rule="min-block", random_state=1).protect(table)
    first.save(tmp_path / "first")
    return table, Register.load(tmp_path / "register").add_release(
        table, first, "university", str(tmp_path / "first")), first


@pytest.mark.slow
def test_two_kept_trees_are_intersected(known):
    table, register, first = known
    second, _ = TreePreservingAnonymizer(k=8, tree={"criterion": "entropy", "min_leaf": 30},
                                         random_state=2).protect(table)
    found = what_it_adds(register, table, second, random_state=5)
    wanted = intersection(table, first, second, "work", random_state=5)
    assert [one.column for one in found] == ["work"]
    assert (found[0].before, found[0].next_alone, found[0].together) == (
        wanted["first"], wanted["second"], wanted["both"])
    assert "guessed correctly" in found[0].words
    assert "university" in found[0].words
    assert what_it_adds(register, table, first) == ()


@pytest.mark.slow
def test_both_tell_everything_where_each_alone_tells_one_in_four(tmp_path):
    table, (first, second) = crossing()
    first.save(tmp_path / "first")
    register = Register.load(tmp_path / "register").add_release(table, first, "",
                                                                str(tmp_path / "first"))
    (found,) = what_it_adds(register, table, second)
    assert found.before == found.next_alone == pytest.approx(1 / 4)
    assert found.together == 1.0
    assert "for 100.0% it is certain" in found.words


@pytest.mark.slow
def test_another_kind_of_table_counts_too(known):
    table, register, first = known
    second, _ = MondrianAnonymizer(k=4, others="keep").protect(table)
    (found,) = what_it_adds(register, table, second, random_state=5)
    assert found.together == intersection(table, first, second, "work", random_state=5)["both"]


@pytest.mark.slow
def test_suppressed_values_add_nothing(known):
    table, register, _ = known
    second, _ = TreePreservingAnonymizer(k=8, sensitive="suppress").protect(table)
    assert what_it_adds(register, table, second) == ()


def test_a_release_that_is_not_at_hand(tmp_path):
    table = people()
    first, _ = TreePreservingAnonymizer(k=8).protect(table)
    register = Register.load(tmp_path / "r").add_release(table, first, "x", str(tmp_path / "no"))
    second, _ = TreePreservingAnonymizer(k=20).protect(table)
    added = what_it_adds(register, table, second)
    assert {one.column for one in added} == set(table.schema.names)
    assert all(one.together is None and "could not be read" in one.words for one in added)


@pytest.mark.slow
def test_a_release_that_lies_where_an_earlier_one_lay_is_not_compared_with_itself(tmp_path):
    table, (first, second) = crossing()
    first.save(tmp_path / "release")
    register = Register.load(tmp_path / "register").add_release(table, first, "",
                                                                str(tmp_path / "release"))
    assert all(one.together is not None for one in what_it_adds(register, table, second))
    second = second.save(tmp_path / "release", overwrite=True)
    added = what_it_adds(register, table, second)
    assert added
    assert all(one.together is None and "could not be read" in one.words for one in added)


def test_what_cannot_be_read_is_not_assessed_where_no_column_is_sensitive(tmp_path):
    table = unspoken.read(people(100).arrow(["age", "town"]), quasi=["age", "town"], show=False)
    first, _ = MondrianAnonymizer(k=4).protect(table)
    register = Register.load(tmp_path / "r").add_release(table, first, "x", str(tmp_path / "no"))
    second, key = MondrianAnonymizer(k=5).protect(table)
    audited = audit(table, second, key, trials=1, random_state=0, register=register)
    assert any("could not be read" in why for why in audited.unscored.values())
    assert audited.verdict == "not assessed"


@pytest.mark.slow
def test_other_people_are_not_intersected(known):
    _, register, _ = known
    other = people(seed=9)
    second, _ = TreePreservingAnonymizer(k=8).protect(other)
    assert what_it_adds(register, other, second) == ()


@pytest.mark.slow
def test_noise_is_still_compared_by_order(known):
    table, register, _ = known
    noisy, _ = NoiseAdder(columns=["age"], others="drop").protect(table)
    for one in what_it_adds(register, table, noisy):
        assert "guessed correctly" not in one.words


def noisy(table, **options):
    return NoiseAdder(columns=["age"], others="drop", **options).protect(table)


@pytest.mark.slow
def test_two_noisy_releases_are_averaged_and_count(tmp_path):
    table = people(2000)
    first, _ = noisy(table, privacy=0.3)
    first = first.save(tmp_path / "first")
    register = Register.load(tmp_path / "r").add_release(table, first, "x", str(tmp_path / "first"))
    second, key = noisy(table, privacy=0.3)
    found = audit(table, second, key, trials=1, random_state=0, register=register)
    (row,) = found.select(measure="together", column="age")
    assert {one.column for one in found.select(measure="together")} == {"age", "income"}
    assert row.value > row.baseline + 0.01
    assert found.failed
    assert "averaged with release" in found.added[0]
    # A policy may allow it by name; without one it counts, and so it does in every other policy.
    lenient = '[columns]\nmax_recovered = 1\nagainst = "anybody"\n'
    for more, passed in (("", False), ("[register]\nmax_added = 0.9\n", True)):
        judged = audit(table, second, key, trials=1, random_state=0, register=register,
                       policy=Policy.parse(lenient + more))
        assert judged.judgement.passed == passed


@pytest.mark.slow
def test_one_row_more_does_not_hide_the_earlier_release(tmp_path):
    table = people(600)
    first, _ = noisy(table)
    first = first.save(tmp_path / "first")
    register = Register.load(tmp_path / "r").add_release(table, first, "x", str(tmp_path / "first"))
    rows = pa.concat_tables([table.arrow(), table.arrow().slice(3, 1)])
    larger = unspoken.read(rows, target="income", sensitive="work", show=False)
    second, key = noisy(larger)
    assert audit(larger, second, key, trials=1, random_state=0,
                 register=register).select(measure="together")


@pytest.mark.slow
def test_what_cannot_be_attacked_together_is_not_assessed(tmp_path):
    table = people()
    second, key = noisy(table)
    register = Register.load(tmp_path / "r").add_other("query", table, "mean of age", "ministry")
    found = audit(table, second, key, trials=1, random_state=0, register=register)
    assert "query 'mean of age' to ministry" in found.unscored["(register)"]
    assert found.verdict == "not assessed"
