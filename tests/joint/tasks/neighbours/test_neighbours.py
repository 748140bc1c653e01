"""Classes by the nearest rows of several owners equal those of plain counting, ties included."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier

from support.study_people import members_in, saved, study_of, to_all
from unspoken.errors import DataError, InputError
from unspoken.joint import run_local
from unspoken.joint.joint_errors import PartyError, RefusedError, RingError, StudyError
from unspoken.joint.session.run import run_outcomes
from unspoken.joint.tasks.neighbours.params import NeighbourParams
from unspoken.joint.tasks.neighbours.pooled import pooled
from unspoken.joint.tasks.neighbours.program_rows import (
    NEAREST,
    Labelled,
    NeighboursOverRows,
    neighbours_rows,
)

pytestmark = pytest.mark.slow

CLASSES = ("b", "a", "c")


def counted(asked, rows, labels, k, order):
    """The definition word by word: nearest first, then earlier; most votes, then first listed."""
    found = []
    for record in asked:
        gaps = [sum(abs(x - y) ** order for x, y in zip(record, row, strict=True)) for row in rows]
        near = sorted(range(len(rows)), key=lambda place: (gaps[place], place))[:k]
        votes = [sum(labels[place] == name for place in near) for name in CLASSES]
        found.append(CLASSES[votes.index(max(votes))])
    return found


def table(seed, asked, sizes, columns=2, spread=2):
    """Return whole numbers so few that many distances are equal, and rows twice."""
    rng = np.random.default_rng(seed)
    draw = lambda rows: rng.integers(-spread, spread + 1, (rows, columns)) * 1.0  # noqa: E731
    return draw(asked), [(draw(size), rng.choice(CLASSES, size)) for size in sizes]


def together(parts):
    return np.vstack([rows for rows, _ in parts]), np.concatenate([labels for _, labels in parts])


@settings(max_examples=8)
@given(st.integers(0, 10**6), st.integers(1, 4), st.lists(st.integers(1, 7), min_size=1,
                                                          max_size=3), st.sampled_from([1, 2, 4]),
       st.integers(1, 5), st.sampled_from([24, 2**20]))
def test_classes_are_those_of_plain_counting(seed, asked, sizes, order, k, block):
    records, parts = table(seed, asked, sizes)
    rows, labels = together(parts)
    rules = NeighbourParams(min(k, len(rows)), order=order, scale=1)
    found, _ = neighbours_rows(records, parts, CLASSES, rules, block=block)
    wanted = counted(records.tolist(), rows.tolist(), labels.tolist(), rules.k, order)
    assert found[0].tolist() == wanted
    assert pooled(records, rows, labels, CLASSES, rules).tolist() == wanted
    assert found[1:] == [None] * len(parts)


def test_the_first_row_and_the_first_class_decide_ties():
    records, twice = np.zeros((1, 1)), np.array([[1.0], [-1.0], [1.0]])
    for labels, k, wanted in ((["c", "a", "b"], 1, "c"), (["a", "c", "c"], 1, "a"),
                              (["c", "a", "a"], 2, "a"), (["c", "a", "b"], 3, "b"),
                              (["c", "c", "b"], 3, "c")):
        for parts in ([(twice, labels)], [(twice[:1], labels[:1]), (twice[1:], labels[1:])]):
            assert neighbours_rows(records, parts, CLASSES, NeighbourParams(k))[0][0] == [wanted]


@pytest.mark.parametrize(("mode", "k"), [("dealer", 5), ("three-party", 3), ("two-party", 1)])
def test_classes_are_those_of_scikit_learn(mode, k):
    rng = np.random.default_rng(k)
    rows = np.rint(rng.normal(size=(40, 3)) * 256) / 256
    labels = np.where(rows.sum(axis=1) + rng.normal(size=40) > 0, "yes", "no")
    records = np.rint(rng.normal(size=(5 if mode == "two-party" else 12, 3)) * 256) / 256
    parts = [(rows[:15], labels[:15]), (rows[15:], labels[15:])]
    found, _ = neighbours_rows(records, parts, ("no", "yes"), NeighbourParams(k), mode)
    model = KNeighborsClassifier(k).fit(rows, labels)
    assert found[0].tolist() == model.predict(records).tolist()


def test_only_who_asks_learns_anything():
    records, parts = table(3, 4, (6, 5))
    rules = NeighbourParams(3)
    for receivers, told in (((), "p0"), (("p2",), "p2")):
        found, ledgers = neighbours_rows(records, parts, CLASSES, rules, receivers=receivers)
        assert [classes is not None for classes in found] == [n == told for n in ("p0", "p1", "p2")]
        for ledger in ledgers:
            opened = {entry.because: tuple(entry.to) for entry in ledger.openings}
            assert set(opened) == {"how many records each owner has", NEAREST}
            assert opened[NEAREST] == (told,)


def everybody_fails(rules, inputs, error, match):
    """The owner whose input is bad says why, all others end too, and no distance was computed."""
    program = NeighboursOverRows(rules, 2, CLASSES, "p0", ["p0", "p1"])
    outcomes = run_outcomes(program, inputs)
    failed = [outcome.error for outcome in outcomes]
    assert any(isinstance(one, error) and match in str(one) for one in failed)
    assert all(isinstance(one, error | PartyError) for one in failed)
    for outcome in outcomes:
        assert not any("matmul" in row.label for row in outcome.ledger.rows)


GOOD = Labelled(np.zeros((3, 2)), np.array(["a", "b", "c"], object))


@pytest.mark.parametrize(("inputs", "error", "match"), [
    ([Labelled(np.full((1, 2), 9.0)), GOOD], DataError, "'most'"),
    ([Labelled(np.full((1, 2), np.nan)), GOOD], DataError, "finite"),
    ([Labelled(np.zeros((1, 3))), GOOD], InputError, "as agreed"),
    ([None, GOOD], DataError, "gave none"),
    ([Labelled(np.zeros((0, 2))), GOOD], RefusedError, "must have objects"),
    ([Labelled(np.zeros((4, 2))), GOOD], RefusedError, "At most 3 records"),
    ([Labelled(np.zeros((1, 2))), Labelled(np.zeros((1, 2)), GOOD.classes[:1])], RefusedError,
     "smaller 'k'"),
    ([Labelled(np.zeros((1, 2))), Labelled(np.zeros((3, 2)))], DataError, "agreed classes"),
    ([Labelled(np.zeros((1, 2))), Labelled(np.zeros((2, 2)), np.array(["a", None], object))],
     DataError, "agreed classes"),
    ([Labelled(np.zeros((1, 2))), Labelled(np.zeros((2, 2)), np.array(["a", "z"], object))],
     DataError, "agreed classes")])
def test_bad_input_ends_the_run_before_distances(inputs, error, match):
    everybody_fails(NeighbourParams(2, questions=3), inputs, error, match)


def test_rules_that_give_no_class_are_refused():
    for change in ({"k": 0}, {"k": 101}, {"order": 9}, {"scale": 25}, {"most": 0.0},
                   {"questions": 0}):
        with pytest.raises(InputError):
            NeighbourParams(**{"k": 3, **change})
    with pytest.raises(RefusedError, match="even"):
        NeighbourParams(3, order=3)
    with pytest.raises(RingError, match="2\\^62"):
        NeighboursOverRows(NeighbourParams(3, most=2.0**24), 2, CLASSES, "a", ["a", "b"])
    for asks, owners in (("c", ["a", "b"]), ("a", ["a"])):
        with pytest.raises(InputError, match="must be one of two owners"):
            NeighboursOverRows(NeighbourParams(3), 2, CLASSES, asks, owners)


STUDY = {"columns": ["x", "y"], "target": "kind", "classes": list(CLASSES), "k": 3,
         "asks": "south"}


def test_a_study_gives_classes_to_its_receivers_or_to_who_asks(tmp_path):
    members = members_in(tmp_path)
    records, parts = table(5, 7, (9, 8), spread=3)
    files = [{"x": parts[0][0][:, 0], "y": parts[0][0][:, 1], "kind": parts[0][1]},
             {"x": records[:, 0], "y": records[:, 1]},
             {"x": parts[1][0][:, 0], "y": parts[1][0][:, 1], "kind": parts[1][1]}]
    wanted = pooled(records, *together(parts), CLASSES, NeighbourParams(3)).tolist()
    paths = saved(tmp_path, files)
    for people, told in ((members, "north"), (to_all(members), "south")):
        study, task = study_of(people, "neighbours", STUDY)
        outputs = run_local(task.program(study), [task.load(path, study) for path in paths],
                            names=["north", "south", "east"])
        assert {name: output for name, (output, _) in zip(
            ("north", "south", "east"), outputs, strict=True) if output is not None} == {
                told: {NEAREST: wanted}}
        plan = task.plan(study, 30)
        assert NEAREST in plan.learns[told]
        assert NEAREST not in plan.learns["east"]
        assert "nothing counts the records" in plan.text()


@pytest.mark.parametrize(("change", "why"), [
    ({"asks": "west"}, "one of two owners"), ({"target": "x"}, "not in 'columns'"),
    ({"order": 3}, "even"), ({"k": 0}, "'k'"), ({"classes": ["a"]}, "'classes'"),
    ({"most": 2.0**24}, "2\\^62")])
def test_wrong_parameters_are_named(tmp_path, change, why):
    with pytest.raises(StudyError, match=why):
        study_of(members_in(tmp_path), "neighbours", {**STUDY, **change})


def test_a_file_without_classes_is_refused_where_rows_are_needed(tmp_path):
    study, task = study_of(members_in(tmp_path), "neighbours", STUDY)
    paths = saved(tmp_path, [{"x": [1.0], "y": [2.0]}] * 3)
    outcomes = run_outcomes(task.program(study), [task.load(path, study) for path in paths],
                            names=["north", "south", "east"])
    assert any(isinstance(outcome.error, DataError) for outcome in outcomes)
