"""Task `bins` against pandas on all rows in one place, and what it keeps to itself."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from support.joint_tables import OWNERS, outputs_of, owners_tables, study_of
from support.mining_views import watched
from support.replayed import real_run
from unspoken.errors import DataError
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.tasks.column_bins import hidden_bins, program_rows
from unspoken.joint.tasks.column_bins.evidence_weights import OwnRows, evidence
from unspoken.joint.tasks.column_bins.params import BinParams
from unspoken.joint.tasks.column_bins.pooled import pooled
from unspoken.joint.tasks.column_bins.program_rows import COUNTS
from unspoken.joint.tasks.task_list import all_tasks, task_of

CLASSES = {"target": "ill", "classes": ["no", "yes"]}
COLUMNS = {"columns": ["tied", "gaps", "town", "spread"], "cuts.tied": [2.5, 5.0],
           "cuts.gaps": [0.0], "categories.town": ["a", "b", "c"], "range.spread": [-32, 96],
           "bins": 4, "bits": 5}


def edges_by_counting(values, fewest):
    """Return the edges between four bins of equally many values, on the grid of 4 from -32 on."""
    edges = set()
    for quarter in (1, 2, 3):
        if len(values) * min(quarter, 4 - quarter) >= fewest * 4:
            reached = [point for point in range(-32, 97, 4)
                       if 4 * (values <= point).sum() >= quarter * len(values)]
            edges.add(float(reached[0] if reached else 96))
    return sorted(edges)


def by_pandas(tables, fewest, smoothing=0.5):
    """Return counts by bin and class, weights and information, written apart."""
    whole, out = pd.concat(tables, ignore_index=True), {}
    edges = {"tied": [2.5, 5.0], "gaps": [0.0], "spread": edges_by_counting(
        whole["spread"].dropna(), max(1, fewest))}
    for name in COLUMNS["columns"]:
        if name in edges:
            cut = pd.cut(whole[name].astype(float), [-np.inf, *edges[name], np.inf],
                         labels=False).fillna(len(edges[name]) + 1)
            size = len(edges[name]) + 2
        else:
            cut, size = whole[name].map({"a": 0, "b": 1, "c": 2}).fillna(3), 4
        table = np.zeros((size, 2), np.int64)
        for place, label in zip(cut.astype(int), whole["ill"], strict=True):
            table[place, int(label == "yes")] += 1
        out[name] = (edges.get(name), *_weighed(table, fewest, smoothing))
    return out


def _weighed(table, fewest, smoothing):
    rows = [row if sum(row) >= max(1, fewest) else None for row in table.tolist()]
    hidden = sum(map(sum, table.tolist())) - sum(sum(row) for row in rows if row is not None)
    if 0 < hidden < fewest and any(row is not None for row in rows):
        rows[rows.index(min((row for row in rows if row is not None), key=sum))] = None
    shown = [row for row in rows if row is not None]
    totals = [sum(row[k] + smoothing for row in shown) for k in (0, 1)]
    weights, information = [], 0.0
    for row in rows:
        if row is None:
            weights.append(None)
            continue
        first, second = ((row[k] + smoothing) / totals[k] for k in (0, 1))
        weights.append(math.log(second / first))
        information += (second - first) * weights[-1]
    return [row if row is not None or fewest else [0, 0] for row in rows], weights, information


def assert_same(result, expected):
    assert result["classes"] == ["no", "yes"]
    for name, (edges, counts, weights, information) in expected.items():
        shown = result["bins"][name]
        assert shown.get("cuts") == edges
        assert shown["counts"] == counts, name
        assert shown["weights"] == pytest.approx(weights)
        assert shown["information"] == pytest.approx(information)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_joint_bins_are_those_of_all_rows_in_one_place(seed, tmp_path):
    tables = owners_tables(seed)
    outputs = outputs_of("bins", tables, tmp_path, **COLUMNS, **CLASSES)
    assert_same(outputs[0], by_pandas(tables, 5))
    assert outputs[1] == outputs[2] == outputs[0]


@pytest.mark.slow
@pytest.mark.parametrize("fewest", [0, 3])
def test_a_hundred_random_studies_are_right(fewest):
    params = BinParams.of({**COLUMNS, **CLASSES, "fewest": fewest})
    for seed in range(100):
        tables = owners_tables(5000 + seed, 14)
        parts = [OwnRows({name: table[name].to_numpy() for name in params.columns},
                         (table["ill"] == "yes").to_numpy(np.int64)) for table in tables]
        assert_same(pooled(parts, params), by_pandas(tables, fewest))


@pytest.mark.slow
def test_without_a_target_values_are_only_counted(tmp_path):
    tables = owners_tables(1)
    outputs = outputs_of("bins", tables, tmp_path, columns=["tied"], fewest=0,
                         **{"cuts.tied": [2.5]})
    whole = pd.concat(tables)["tied"]
    assert outputs[0] == {"bins": {"tied": {
        "cuts": [2.5], "counts": [int((whole <= 2.5).sum()), int((whole > 2.5).sum()), 0]}}}


@pytest.mark.slow
def test_rows_without_a_class_are_left_out(tmp_path):
    study = study_of("bins", {"columns": ["x"], "cuts.x": [1.0], **CLASSES})
    (tmp_path / "t.csv").write_text("x,ill\n1,no\n2,\n3,yes\n")
    own = task_of(study).load(tmp_path / "t.csv", study)
    assert own.columns["x"].tolist() == [1.0, 3.0]
    assert own.labels.tolist() == [0, 1]


def test_weights_are_those_of_a_worked_example():
    """Two bins, no smoothing to speak of: ln((30/40)/(10/60)) and ln((10/40)/(50/60))."""
    weights, information = evidence(np.array([[10, 30], [50, 10]]), 1e-9)
    assert weights == pytest.approx([math.log(4.5), math.log(0.3)])
    assert information == pytest.approx((0.75 - 1 / 6) * math.log(4.5)
                                        + (0.25 - 5 / 6) * math.log(0.3))


# What is kept back ----------------------------------------------------------------------------

def small_study(owners=OWNERS, **more):
    return study_of("bins", {"columns": ["x"], "cuts.x": [5.0, 20.0], **CLASSES, **more}, owners)


def rows_of(values, labels):
    return OwnRows({"x": np.array(values, float)}, np.array(labels, np.int64))


NOBODY = rows_of([], [])
MANY = rows_of([1] * 9 + [30] * 7, [0, 1, 1] * 3 + [0] * 7)
FEW = [rows_of([9, 9, np.nan], [1, 1, 0]), rows_of([9], [0])]


def opened_by(study, inputs):
    run = real_run(task_of(study).program(study), dict(zip(OWNERS, inputs, strict=True)),
                   roles_for(list(OWNERS), "dealer"))
    return run.opened["north"][COUNTS][0].tolist()


@pytest.mark.slow
def test_a_bin_with_too_few_values_shows_nothing(monkeypatch):
    study, numbered = small_study(), small_study(("p0", "p1", "p2"))
    hidden = [[3, 6], [0, 0], [0, 0], [0, 0]]
    assert opened_by(study, [MANY, FEW[0], NOBODY]) == hidden
    views = [watched(task_of(numbered).program(numbered), [MANY, one, NOBODY]) for one in FEW]
    assert views[0] == views[1]

    async def not_hidden(party, counts, sizes, least):
        return counts

    monkeypatch.setattr(program_rows, "hide_small", not_hidden)
    assert opened_by(study, [MANY, FEW[0], NOBODY]) == [[3, 6], [0, 2], [7, 0], [1, 0]]


@pytest.mark.slow
def test_what_is_hidden_does_not_follow_from_all_records_less_what_is_shown(monkeypatch):
    """The smallest shown bin is hidden too, unless those that are hidden have enough together."""
    study = small_study()
    assert opened_by(study, [MANY, NOBODY, NOBODY]) == [[3, 6], [0, 0], [7, 0], [0, 0]]
    enough = rows_of([9] * 3 + [np.nan] * 2, [0] * 5)
    assert opened_by(study, [MANY, enough, NOBODY]) == [[3, 6], [0, 0], [7, 0], [0, 0]]
    assert opened_by(study, [FEW[0], NOBODY, NOBODY]) == [[0, 0]] * 4

    async def never(party, each, few, sizes, least):
        return (await real(party, each, few, sizes, least)) * 0

    real = hidden_bins._lacking
    monkeypatch.setattr(hidden_bins, "_lacking", never)
    assert opened_by(study, [MANY, FEW[0], NOBODY]) == [[3, 6], [0, 0], [7, 0], [0, 0]]


@pytest.mark.slow
def test_no_column_of_random_tables_hides_some_values_and_too_few():
    params = BinParams.of({**COLUMNS, **CLASSES, "fewest": 6})
    for seed in range(100):
        tables = owners_tables(7000 + seed, 30)
        parts = [OwnRows({name: table[name].to_numpy() for name in params.columns},
                         (table["ill"] == "yes").to_numpy(np.int64)) for table in tables]
        for shown in pooled(parts, params)["bins"].values():
            hidden = sum(map(len, tables)) - sum(sum(row) for row in shown["counts"] if row)
            assert hidden == 0 or hidden >= 6 or hidden == sum(map(len, tables))


def test_every_owner_adds_its_part_of_the_noise(monkeypatch):
    drawn = []

    def part(size, scale):
        drawn.append((size, scale))
        return np.full(size, 4, np.int64)

    monkeypatch.setattr(program_rows, "draw_part", part)
    study = small_study(epsilon=1.0)
    assert opened_by(study, [NOBODY] * 3) == [[12, 12]] * 4
    assert drawn == [(8, BinParams.of(study.parameters).parts(3)["x"])] * 3
    assert any("standard deviation of the noise" in note
               for note in task_of(study).outlook(study).notes)


# Plans and refusals ---------------------------------------------------------------------------

def test_two_owners_are_told_that_each_can_work_the_other_out():
    study = small_study(OWNERS[:2])
    assert task_of(study).outlook(study).determined["north"][0].startswith(
        "can work out: the counts of each bin of south")
    refusing = small_study(OWNERS[:2], result_control="refuse")
    with pytest.raises(StudyError, match="could work out the counts of each bin of south"):
        task_of(refusing).plan(refusing)


@pytest.mark.parametrize(("more", "match"), [
    ({"range.x": [0, 1]}, "must be given one of cuts.x, range.x, categories.x. It has 2"),
    ({"cuts.y": [1.0]}, "'cuts.y' of task 'bins'"), ({"cuts.x": [2.0, 1.0]}, "increasing"),
    ({"classes": ["a"]}, "both of its 'classes'"), ({"target": "x"}, "Leave it out of 'columns'"),
    ({"epsilon": 1.0, "fewest": 2}, "without noise")])
def test_what_does_not_fit_together_is_refused(more, match):
    with pytest.raises(StudyError, match=match):
        all_tasks()["bins"].check({"columns": ["x"], "cuts.x": [5.0], **CLASSES, **more})


@pytest.mark.slow
def test_a_category_that_was_not_agreed_on_is_refused_without_showing_it(tmp_path):
    study = study_of("bins", {"columns": ["town"], "categories.town": ["a"], "fewest": 0})
    (tmp_path / "t.csv").write_text("town\na\nsecret\n")
    with pytest.raises(DataError, match="agreed categories only") as error:
        task_of(study).load(tmp_path / "t.csv", study)
    assert "secret" not in str(error.value)
