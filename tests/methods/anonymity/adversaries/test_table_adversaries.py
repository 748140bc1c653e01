"""Adversaries of published tables: what they must find, what they must not, and baselines."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unspoken
from unspoken.attack import InformedMicrodata, RecordLinking, TableKnowledge, TableView
from unspoken.errors import InputError
from unspoken.methods.anonymity.adversaries.released_meaning import meaning
from unspoken.protect import (
    DataSwapper,
    Generalizer,
    MondrianAnonymizer,
    SampleReleaser,
    TreePreservingAnonymizer,
)
from unspoken.risk import audit, audit_tables, intersection

QUASI = ["age", "education", "marital-status", "sex", "hours-per-week"]


@pytest.fixture(scope="module")
def adult(shared):
    rows = pq.read_table(shared("adult_data.parquet")).slice(0, 2500)
    return unspoken.read(rows.select([*QUASI, "occupation", "income"]), target="income",
                         quasi=QUASI,
                      sensitive="occupation", show=False)


def value(found, adversary, measure, column="(all)"):
    (row,) = [row for row in found.select(adversary=adversary, measure=measure, column=column)]
    return row


# What released values stand for.


def test_distances_know_intervals_sets_limits_and_blanks():
    ages = meaning(pa.array(["[10, 20]", "25", None]), {"form": "interval"})
    found = ages.distance(pa.array([10, 22, 25]), ages.found.codes)
    assert found == pytest.approx(np.array([[0, 1, 0], [2 / 15, 3 / 15, 0], [5 / 15, 0, 0]]))
    jobs = meaning(pa.array(["a | b", "c", None]), {"form": "set", "groups": {"a | b": ["a", "b"]}})
    joined = meaning(pa.array(["a | b", "c", None]), {"form": "set", "separator": " | "})
    for one in (jobs, joined):
        found = one.distance(pa.array(["b", "c"]), one.found.codes)
        assert found.tolist() == [[0, 1, 0], [1, 0, 0]]
    top = meaning(pa.array([20, 30, 60]), {"form": "coded", "low": 20, "high": 60})
    found = top.distance(pa.array([17, 30, 90]), top.found.codes)
    assert (found == 0).tolist() == [[True, False, False], [False, True, False],
                                     [False, False, True]]


@pytest.mark.slow
def test_dates_are_found_in_their_intervals():
    days = np.datetime64("1970-03-01") + np.arange(60)
    times = np.datetime64("2001-01-01T00:00:00", "us") + np.arange(60) * np.timedelta64(7, "h")
    rows = pa.table({"born": pa.array(days.astype("datetime64[D]")), "seen": pa.array(times),
                     "ill": ["a", "b", "c"] * 20})
    table = unspoken.read(rows, quasi=["born", "seen"], sensitive="ill", show=False)
    release, key = MondrianAnonymizer(6).protect(table)
    found = audit(table, release, key, trials=1, random_state=0)
    # 60 records in one order: halved to classes of seven and eight.
    assert value(found, "record-linking", "identified").value == pytest.approx(8 / 60)
    assert found.select(adversary="informed-microdata")


@pytest.mark.slow
def test_linking_agrees_with_asking_every_record(adult):
    release, _ = MondrianAnonymizer(7, shuffle_rows=False).protect(adult)
    view = TableView.of(release)
    some = adult.arrow(QUASI).slice(0, 40)
    weight = RecordLinking().attack(view, TableKnowledge(some)).weight
    shown = release.table.arrow().to_pylist()
    sets = release.mechanism["columns"]
    for place, person in enumerate(some.to_pylist()):
        fits = np.array([all(agrees(person[name], row[name], sets[name]) for name in QUASI)
                         for row in shown])
        assert (weight[place][view.owner] > 0).tolist() == fits.tolist()
        assert fits[place]
        assert fits.sum() >= 7


def agrees(own, label, about):
    if "values" in about:
        return own in (about["values"] if label == "*" else label.split(about["separator"]))
    low, *high = (float(end) for end in label.strip("[]").split(","))
    return low <= own <= (high or [low])[0]


# Promises that must hold against them.


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["strict", "relaxed"])
def test_linking_names_at_most_one_in_k(adult, mode):
    release, _ = MondrianAnonymizer(20, mode=mode).protect(adult)
    found = audit(adult, release, trials=2, random_state=1)
    linked = value(found, "record-linking", "identified")
    assert 1 / adult.rows == pytest.approx(linked.baseline)
    assert linked.baseline < linked.value <= 1 / 20
    assert value(found, "classes", "k").value >= 20
    assert all(row.value <= 1 / 20 for row in found.select(measure="identified")
               if row.adversary == "known-order")


@pytest.mark.slow
def test_unprotected_records_are_found(adult):
    release, _ = Generalizer(widths={"age": 1}).protect(adult)
    found = audit(adult, release, trials=2, random_state=1)
    assert value(found, "record-linking", "identified").value > 0.5
    assert value(found, "homogeneity", "sure", "occupation").value > 0.4
    assert any("l or t" in one.what for one in found.suggestions)


@pytest.mark.slow
def test_strong_l_bounds_what_homogeneity_is_sure_of(adult):
    plain, _ = MondrianAnonymizer(5).protect(adult)
    diverse, _ = MondrianAnonymizer(5, l=3, diversity="strong").protect(adult)
    loose = audit(adult, plain, trials=2, random_state=2)
    tight = audit(adult, diverse, trials=2, random_state=2)
    for found in (loose, tight):
        row = value(found, "homogeneity", "records", "occupation")
        assert row.value > row.baseline
    assert value(tight, "homogeneity", "sure", "occupation").value == 0
    assert value(tight, "homogeneity", "records", "occupation").value <= \
        value(loose, "homogeneity", "records", "occupation").value


def test_ruling_a_value_out_helps():
    """Two values a class: whoever rules one out knows the other; k is 60 and l is 2."""
    rows = {"age": np.repeat([1, 2], 50), "ill": np.tile(["flu", "cold"], 50)}
    table = unspoken.read(pa.table(rows), quasi=["age"], sensitive="ill", show=False)
    release, _ = MondrianAnonymizer(60, l=2).protect(table)
    found = audit(table, release, trials=2, random_state=0)
    assert value(found, "background", "sure", "ill").value == 1.0
    assert value(found, "homogeneity", "sure", "ill").value == 0.0


def test_the_order_of_an_attribute_finds_the_lowest_group():
    """fu2010 section 3.3: the smallest value is in the group of the smallest, one of k."""
    rows = {"age": np.arange(100), "ill": ["a", "b"] * 50}
    table = unspoken.read(pa.table(rows), quasi=["age"], sensitive="ill", show=False)
    release, _ = MondrianAnonymizer(10).protect(table)
    found = audit(table, release, trials=2, random_state=0, adversaries=["known-order"])
    assert value(found, "known-order", "identified").value == pytest.approx(1 / 12.5, rel=0.1)


# Samples, swapping, and the informed adversary.


@pytest.mark.slow
def test_a_sample_is_found_again_and_swapping_makes_false_matches(adult):
    sample, key = SampleReleaser(0.2, random_state=1).protect(adult)
    found = audit(adult, sample, key, trials=2, random_state=1)
    named = value(found, "informed-microdata", "confident")
    assert named.value > 100 * named.baseline
    swapped, other = DataSwapper(0.5, columns=QUASI, others="keep", random_state=1).protect(adult)
    after = audit(adult, swapped, other, trials=2, random_state=1)
    assert value(after, "informed-microdata", "confident").value < named.value
    assert value(after, "informed-microdata", "false matches").value > \
        value(found, "informed-microdata", "false matches").value


def test_a_twin_in_the_pool_takes_the_confidence_away():
    rows = pa.table({"age": [20, 40, 60], "ill": ["a", "b", "c"]})
    table = unspoken.read(rows, quasi=["age"], sensitive="ill", show=False)
    view = TableView.of(Generalizer(widths={"age": 1}, shuffle_rows=False).protect(table)[0])
    people = rows.select(["age"]).slice(0, 2)
    for others, sure in (([70, 80], [True, True]), ([20, 80], [False, True])):
        pool = pa.table({"age": [20, 40, *others]})
        told = TableKnowledge(people, {}, pool, np.arange(2))
        found, confident = InformedMicrodata().records(view, told)
        assert found.tolist() == [0, 1]
        assert confident.tolist() == sure


def test_left_out_records_need_the_key(adult):
    method = Generalizer(widths={"age": 20, "hours-per-week": 50}, k=40, suppression=0.9)
    release, key = method.protect(adult)
    assert release.table.rows < adult.rows
    found = audit(adult, release, trials=1, random_state=0)
    assert any("pass the key" in line for line in found.limits)
    assert "(records)" in found.unscored
    assert found.verdict == "not assessed"
    assert not found.select(adversary="informed-microdata")
    scored = audit_tables(adult, release, key, trials=1, random_state=0)
    for one in (found, scored):
        assert 0 < value(one, "record-linking", "identified").value <= 1 / 40
    assert scored.select(adversary="informed-microdata")


@pytest.mark.slow
def test_releases_that_keep_a_tree_are_attacked_too(adult):
    release, _ = TreePreservingAnonymizer(k=10).protect(adult)
    found = audit(adult, release, trials=1, random_state=0)
    linked = value(found, "record-linking", "identified")
    assert linked.baseline < linked.value <= 1 / 10
    assert value(found, "classes", "k").value >= 10


@pytest.mark.slow
def test_two_releases_together_tell_more(adult):
    first, _ = MondrianAnonymizer(4).protect(adult)
    second, _ = MondrianAnonymizer(4, cuts="gain").protect(adult)
    found = intersection(adult, first, second, "occupation", random_state=0)
    assert found["both"] > max(found["first"], found["second"]) > found["baseline"]
    assert found["sure"] > 0


@pytest.mark.slow
def test_the_audit_repeats_and_travels(adult):
    release, _ = MondrianAnonymizer(10).protect(adult)
    one, two = (audit(adult, release, trials=2, random_state=5) for _ in range(2))
    assert one == two
    assert unspoken.risk.Audit.from_json(one.to_json()).rows == one.rows
    assert "every quasi-identifier of a person" in one.summary()
    assert "K is 10: at least 10 records" in one.summary()
    assert "of the people looked for are re-identified" in one.summary()


@pytest.mark.slow
def test_a_policy_can_ask_for_k(adult, tmp_path):
    policy = tmp_path / "policy.toml"
    policy.write_text("[anonymity]\nk = 10\n")
    release, key = MondrianAnonymizer(10).protect(adult)
    assert audit(adult, release, key, trials=1, policy=policy, random_state=0).judgement.passed
    assert not audit(adult, release, trials=1, policy=policy, random_state=0).judgement.passed
    small, key = MondrianAnonymizer(5).protect(adult)
    assert not audit(adult, small, key, trials=1, policy=policy, random_state=0).judgement.passed


def test_no_adversary_receives_the_original(adult):
    class Spy(RecordLinking):
        name = "spy"
        seen: ClassVar[list] = []

        def _attack(self, view, knowledge):
            self.seen.append((view, knowledge))
            return super()._attack(view, knowledge)

    release, _ = MondrianAnonymizer(50).protect(adult)
    audit(adult, release, trials=1, random_state=0, adversaries=[Spy()])
    ((view, told),) = Spy.seen
    assert told.people.num_rows == 300
    held = [view, told, *vars(view).values(), *vars(told).values()]
    assert not [thing for thing in held if isinstance(thing, unspoken.Table | unspoken.Key)]
    assert view.table.equals(release.table.arrow())


def test_knowledge_that_is_not_there_is_named(adult):
    release, _ = MondrianAnonymizer(10).protect(adult)
    with pytest.raises(InputError, match="'people'"):
        RecordLinking().attack(TableView.of(release), TableKnowledge(None))


# What leaves without a number.


def test_a_kept_column_makes_the_verdict_not_assessed(tmp_path):
    rng = np.random.default_rng(0)
    table = unspoken.read({"age": rng.integers(18, 90, 200), "illness": rng.choice([*"abcd"], 200),
                           "town": rng.choice([*"stuv"], 200)},
                          quasi=["age"], sensitive=["illness"], show=False)
    release, _ = MondrianAnonymizer(k=10, others="keep").protect(table)
    limits = tmp_path / "policy.toml"
    limits.write_text("[anonymity]\nk = 5\n")
    found = audit(table, release, trials=2, random_state=0, policy=limits)
    assert "leaves as it is" in found.unscored["town"]
    assert not found.judgement.passed
    assert "not assessed" in found.summary()
