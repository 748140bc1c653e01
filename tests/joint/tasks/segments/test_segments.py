"""Joint means by segment: those of numpy on all rows, and nothing of small segments is opened."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.joint_commands import write
from support.replayed import real_run
from support.study_cases import NAMES, study_case
from support.study_variants import varied
from unspoken.errors import DataError
from unspoken.joint import mine, run_local
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.shared import public
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.tasks.segments import program_rows
from unspoken.joint.tasks.segments.params import SegmentParams
from unspoken.joint.tasks.segments.pooled import pooled
from unspoken.joint.tasks.segments.program_rows import MEANS, SegmentsOverRows
from unspoken.joint.tasks.task_list import task_of

LABELS = ("u", "v", "w", "x")
PARAMS = SegmentParams("town", LABELS, ("rent", "area"), least=5)
# Of u there are 8, of v 5, of w 4 (all at one owner), of x none.
ROWS = [("u" * 4 + "v" * 2), ("u" * 4 + "v" * 3), "wwww"]


def part(words, seed):
    rng = np.random.default_rng(seed)
    return {"town": np.array(list(words), object), "rent": rng.normal(900, 200, len(words)),
            "area": np.round(rng.uniform(20, 90, len(words)), 1)}


TABLES = [part(words, seed) for seed, words in enumerate(ROWS)]


def by_numpy(tables, least):
    """Return records and means of every segment that has enough records, in one place."""
    whole = {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
    return {label: (count, *(whole[name][whole["town"] == label].mean()
                             for name in ("rent", "area")))
            for label in LABELS if (count := int((whole["town"] == label).sum())) >= least}


def told(result):
    return {label: (row["records"], *row["means"].values())
            for label, row in result["segments"].items()}


def near(one, other):
    return one.keys() == other.keys() and all(
        np.allclose(one[key], other[key], atol=2.0**-11) for key in one)


def run(params, tables=TABLES, mode="dealer"):
    own = [params.own(table, len(tables)) for table in tables]
    return run_local(SegmentsOverRows(params), own, mode, names=list(NAMES)[:len(tables)])


def test_means_are_those_of_all_rows_in_one_place():
    for output, ledger in run(PARAMS):
        assert near(told(output), by_numpy(TABLES, 5))
        assert output["not shown"] == ["w", "x"]
        assert [row.because for row in ledger.openings] == [MEANS]
        assert output == pooled(TABLES, PARAMS)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.text("uvw", max_size=12), min_size=2, max_size=3), st.integers(1, 6))
@pytest.mark.slow
def test_the_reference_is_numpys(words, least):
    tables = [part(word, seed) for seed, word in enumerate(words)]
    found = pooled(tables, SegmentParams("town", LABELS, ("rent", "area"), least=least))
    assert near(told(found), by_numpy(tables, least))


def opened_of(params):
    """Return what a run opens: one row a segment, its records and sums in units."""
    own = {name: params.own(table, 3) for name, table in zip(NAMES, TABLES, strict=True)}
    real = real_run(SegmentsOverRows(params), own, roles_for(NAMES, "dealer"))
    [opened] = real.opened["north"][MEANS]
    return opened


def test_of_a_small_segment_nothing_is_opened_at_all(monkeypatch):
    """Zeros come out of the shares themselves, as of an empty one; a mutant shows the others."""
    assert opened_of(PARAMS)[:, 0].tolist() == [8, 5, 0, 0]
    assert not opened_of(PARAMS)[2:].any()

    async def everything(party, x):
        return public(party, np.ones(x.shape, np.int64))

    monkeypatch.setattr(program_rows, "is_zero", everything)
    assert opened_of(PARAMS)[:, 0].tolist() == [8, 5, 4, 0]


@pytest.mark.parametrize(("others", "shown"), [(1, "uv"), (2, "uv"), (3, "u"), (4, "u"), (5, "")])
def test_a_segment_that_one_owner_has_almost_alone_is_not_shown(others, shown):
    """North has 4 of u and 2 of v, south 4 and 3, east neither: least of all but one 4 and 2."""
    params = SegmentParams("town", LABELS, ("rent", "area"), least=1, others=others)
    [(output, _), *_] = run(params)
    assert "".join(output["segments"]) == shown
    assert output == pooled(TABLES, params)


def test_of_two_owners_each_has_the_others_means_and_the_plan_says_so():
    tables = [TABLES[0], TABLES[1]]
    (output, _), _ = run(PARAMS, tables)
    row, own = output["segments"]["u"], tables[0]["rent"][tables[0]["town"] == "u"]
    rest = (row["records"] * row["means"]["rent"] - own.sum()) / (row["records"] - own.size)
    assert rest == pytest.approx(tables[1]["rent"][tables[1]["town"] == "u"].mean(), abs=0.01)
    study, _ = varied("segments", "dealer", "two owners")
    outlook = task_of(study).outlook(study)
    assert any("can work out: the records and sums of each segment that is shown of south" in line
               for line in outlook.determined["north"])
    assert any("of two owners each learns the other's means" in note for note in outlook.notes)


def test_the_others_are_told_nothing():
    own = [PARAMS.own(table, 3) for table in TABLES]
    outputs = run_local(SegmentsOverRows(PARAMS, ["south"]), own, names=list(NAMES))
    assert [output is not None for output, _ in outputs] == [False, True, False]


@pytest.mark.slow
@pytest.mark.parametrize(("content", "why"), [
    ("town,rent\na,1\nzzz,2\n", "agreed categories only"), ("town,rent\n,1\n", "agreed categories"),
    ("town,rent\na,\n", "finite number"), ("town,rent\na,zzz\n", "numbers"),
    ("town\na\n", "'rent' is there"), ("town,rent\na,1e18\n", "smaller 'scale'")])
def test_files_that_do_not_fit_are_refused_without_a_value(tmp_path, content, why):
    study, task, _ = study_case("segments", "dealer")
    (tmp_path / "a.csv").write_text(content)
    with pytest.raises((StudyError, DataError), match=why) as error:
        task.load(tmp_path / "a.csv", study)
    assert "zzz" not in str(error.value)


def test_a_segment_cannot_be_averaged():
    with pytest.raises(StudyError, match="must not be one of 'columns'"):
        SegmentParams("town", LABELS, ("rent", "town"))


@pytest.mark.slow
def test_from_files_to_results(tmp_path):
    for name, table in zip(NAMES, TABLES, strict=True):
        write(tmp_path / f"{name}.csv", table)
    found = mine("segments", [tmp_path / f"{name}.csv" for name in NAMES], segment="town",
                 labels=list(LABELS), columns=["rent", "area"], least=5)
    assert near(told(found), by_numpy(TABLES, 5))
