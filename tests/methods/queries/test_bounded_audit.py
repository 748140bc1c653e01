"""The guard's own attack on bounded whole numbers, against brute force over all of them."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unspoken
from unspoken.errors import InputError, QueryRefusedError
from unspoken.methods.queries import bounded_audit
from unspoken.methods.queries.bounded_audit import AuditedSums, Box
from unspoken.protect import QueryGuard

LOW, HIGH, PEOPLE = 0, 3, 5
WORLD = np.array(list(itertools.product(range(LOW, HIGH + 1), repeat=PEOPLE)))


def pinned(sets, totals):
    """Say by trying all assignments whether some asked person has one possible value."""
    fits = np.all([WORLD[:, s].sum(axis=1) == t for s, t in zip(sets, totals, strict=True)], axis=0)
    left = WORLD[fits]
    asked = np.any(sets, axis=0)
    return bool(np.any((left.max(axis=0) == left.min(axis=0)) & asked))


@pytest.mark.slow
@settings(max_examples=60)
@given(st.lists(st.integers(LOW, HIGH), min_size=PEOPLE, max_size=PEOPLE),
       st.lists(st.sets(st.integers(0, PEOPLE - 1), min_size=1), min_size=1, max_size=4))
def test_it_sees_exactly_what_brute_force_sees(truth, chosen):
    truth = np.array(truth)
    sums, kept = AuditedSums(PEOPLE, Box(LOW, HIGH, 0.0)), []
    for people in chosen:
        members = np.isin(np.arange(PEOPLE), sorted(people))
        total = int(truth[members].sum())
        # Sets that touch no common record say nothing about each other.
        chain = [kept[k] for k in sums._chain(members)]
        sets = [*chain, members]
        assert sums.discloses(members, total) == pinned(sets, [truth[s].sum() for s in sets])
        sums.add(members, total)
        kept.append(members)


def test_what_is_not_settled_counts_as_disclosed(monkeypatch):
    sums = AuditedSums(4, Box(0, 100, 0.0))
    members = np.ones(4, bool)
    assert not sums.discloses(members, 200)
    monkeypatch.setattr(bounded_audit._Program, "_solve", lambda *_: None)
    assert sums.discloses(members, 200)
    assert sums.foreseen(members)


def guard(tmp_path, values, **limits):
    table = unspoken.read({"unit": np.arange(len(values)), "value": values}, keep="unit",
                          show=False)
    return QueryGuard(table, tmp_path / "log", **{
        "public": ["unit"], "audit": "exact", "bounds": {"value": (0, 100)},
        "decoys": 1e-9} | limits)


def rule(ask, *args):
    with pytest.raises(QueryRefusedError) as refused:
        ask(*args)
    return refused.value.rule


VALUES = np.random.default_rng(2).integers(20, 80, 60)


@pytest.mark.slow
def test_exact_answers_are_exact_and_hang_together_with_few(tmp_path):
    ours = guard(tmp_path, VALUES)
    assert ours.sum("value", "unit < 30").value == VALUES[:30].sum()
    assert ours.mean("value", "unit < 40").value == pytest.approx(VALUES[:40].mean())
    assert rule(ours.sum, "value", "unit < 31") == "audit"
    assert ours.sum("value", "unit < 20").error == 0
    assert ours.sum("value", "unit >= 10 and unit < 35").value == VALUES[10:35].sum()
    assert rule(ours.sum, "value", "unit >= 5 and unit < 25") == "overlapping"
    # What touches none of them is free, and so it is after a restart.
    again = QueryGuard(unspoken.read({"unit": np.arange(60), "value": VALUES}, keep="unit",
                                     show=False),
                       tmp_path / "log")
    assert rule(again.sum, "value", "unit >= 5 and unit < 25") == "overlapping"
    assert again.sum("value", "unit >= 45").value == VALUES[45:].sum()


def test_a_sum_at_the_end_of_the_range_is_refused_and_its_people_are_left_alone(tmp_path):
    values = VALUES.copy()
    values[:12] = 0
    ours = guard(tmp_path, values)
    assert rule(ours.sum, "value", "unit < 12") == "determined"
    assert rule(ours.sum, "value", "unit >= 11 and unit < 40") == "burned"
    again = QueryGuard(unspoken.read({"unit": np.arange(60), "value": values}, keep="unit",
                                     show=False),
                       tmp_path / "log")
    assert rule(again.sum, "value", "unit < 20") == "burned"
    assert again.sum("value", "unit >= 20 and unit < 50").value == values[20:50].sum()


def test_decoys_are_refused_in_the_same_words(tmp_path):
    ours = guard(tmp_path, VALUES, decoys=0.999999999)
    with pytest.raises(QueryRefusedError) as harmless:
        ours.sum("value", "unit < 30")
    (tmp_path / "zero").mkdir()
    with pytest.raises(QueryRefusedError) as disclosing:
        guard(tmp_path / "zero", np.zeros(60, int), decoys=0.999999999).sum("value", "unit < 30")
    assert str(harmless.value) == str(disclosing.value)


def test_usual_answers_that_would_disclose_are_refused_unseen(tmp_path):
    """Whether the middle of what is possible would disclose does not depend on the values."""
    outcomes = []
    for name, values in (("a", VALUES), ("b", 100 - VALUES)):
        (tmp_path / name).mkdir()
        ours = guard(tmp_path / name, values, smallest=1, width=0.999)
        outcomes.append(rule(ours.sum, "value", "unit < 3"))
    assert outcomes == ["bounded", "bounded"]


def test_missing_counts_as_a_value_and_grids_are_declared(tmp_path):
    values = [None if i % 3 == 0 else float(v) for i, v in enumerate(VALUES)]
    ours = guard(tmp_path, values, grid={"value": 1})
    known = [0 if v is None else v for v in values[:30]]
    assert ours.sum("value", "unit < 30").value == sum(known)
    assert ours.mean("value", "unit < 30").value == pytest.approx(sum(known) / 30)
    (tmp_path / "fine").mkdir()
    fine = guard(tmp_path / "fine", values, grid={"value": 1e-6})
    with pytest.raises(InputError, match="coarser grid"):
        fine.sum("value", "unit < 30")
