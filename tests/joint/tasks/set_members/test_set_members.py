"""Members of intersections and unions: those of Python's sets, to whom a study names."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.joint_commands import write
from support.replayed import real_run
from support.study_cases import NAMES, study_case
from support.study_variants import varied
from unspoken.errors import UnspokenError
from unspoken.joint import mine, run_local
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.tasks.intersection.pooled import pooled_members
from unspoken.joint.tasks.intersection.program_rows import MEMBERS
from unspoken.joint.tasks.set_members.params import MemberParams
from unspoken.joint.tasks.set_members.pooled import pooled_common, pooled_union
from unspoken.joint.tasks.set_members.program_rows import ANY, COMMON, CommonMembers, UnionMembers
from unspoken.joint.tasks.task_list import task_of

UNIVERSE = tuple(f"w{n}" for n in range(70))
PARAMS = MemberParams("well", UNIVERSE, least=0)
SETS = [{"w1", "w2", "w69", "w5"}, {"w2", "w69", "w7"}, {"w69", "w2", "w8", "w1"}]
PROGRAMS = {COMMON: (CommonMembers, set.intersection), ANY: (UnionMembers, set.union)}


def listed(ids):
    return [item for item in UNIVERSE if item in ids]


@pytest.mark.parametrize("because", PROGRAMS)
def test_members_are_those_of_the_sets_and_go_to_receivers_alone(because):
    program, joined = PROGRAMS[because]
    own = {name: PARAMS.own(sorted(ids)) for name, ids in zip(NAMES, SETS, strict=True)}
    real = real_run(program(PARAMS, ["south"]), own, roles_for(NAMES, "dealer"))
    assert real.outputs["south"] == {because: listed(joined(*SETS))}
    assert real.outputs["north"] is None
    assert real.outputs["east"] is None
    assert {row.to for ledger in real.ledgers.values() for row in ledger.openings} == {("south",)}
    # One bit for each id of the list, and nothing else, is opened.
    [opened] = real.opened["south"][because]
    assert [UNIVERSE[place] for place in opened.nonzero()[0]] == listed(joined(*SETS))
    assert dict(real.opened["north"]) == {}


@given(st.lists(st.sets(st.sampled_from(UNIVERSE[:6])), min_size=1, max_size=4))
@pytest.mark.slow
def test_references_are_pythons_sets(sets):
    assert pooled_common(sets, UNIVERSE) == listed(set.intersection(*sets))
    assert pooled_union(sets, UNIVERSE) == listed(set.union(*sets))


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(st.lists(st.sets(st.sampled_from(UNIVERSE)), min_size=2, max_size=3))
def test_any_sets(sets):
    own = [PARAMS.own(sorted(ids)) for ids in sets]
    for because, (program, joined) in PROGRAMS.items():
        for output, _ in run_local(program(PARAMS), own):
            assert output == {because: listed(joined(*sets))}


@pytest.mark.slow
@pytest.mark.parametrize("task", ["intersection-members", "union"])
@pytest.mark.parametrize(("content", "why"), [
    ("id\na\nzzz\n", "not in the public universe"), ("id,x\na,1\n,2\n", "an id in every row"),
    ("x\n1\n", "'column'")])
def test_files_that_do_not_fit_are_refused_without_an_id(tmp_path, task, content, why):
    study, found, _ = study_case(task, "dealer")
    (tmp_path / "a.csv").write_text(content)
    with pytest.raises(UnspokenError, match=why) as error:
        found.load(tmp_path / "a.csv", study)
    assert "zzz" not in str(error.value)


def test_repeated_ids_count_once_or_are_refused():
    assert PARAMS.own(["w1", "w1"]) == [b"w1"]
    with pytest.raises(UnspokenError, match="stand twice"):
        MemberParams("well", UNIVERSE, duplicates="refuse").own(["w1", "w1"])
    with pytest.raises(StudyError, match="a universe of 70"):
        MemberParams("well", UNIVERSE, least=71)


@pytest.mark.parametrize(("task", "words"), [
    ("intersection-members", "can work out: membership of single ids of south"),
    ("union", "can work out: ids that it lacks itself of south")])
def test_of_two_owners_the_plan_says_what_each_works_out(task, words):
    study, _ = varied(task, "dealer", "two owners")
    [line] = task_of(study).outlook(study).determined["north"]
    assert line.startswith(words)
    three, _ = varied(task, "dealer", "one outside")
    [line] = task_of(three).outlook(three).determined["west"]
    assert line.startswith("can in some cases work out: membership of single ids")


def files(folder):
    """Write every owner's ids, and return the paths."""
    paths = [folder / f"{name}.csv" for name in NAMES]
    for place, (path, ids) in enumerate(zip(paths, SETS, strict=True)):
        write(path, {"well": sorted(ids), "site": [place] * len(ids)})
    return paths


@pytest.mark.slow
def test_from_files_to_results(tmp_path):
    how = {"column": "well", "universe": list(UNIVERSE)}
    assert mine("union", files(tmp_path), **how) == {ANY: listed(set.union(*SETS))}
    assert mine("intersection-members", files(tmp_path), **how) == {COMMON: ["w2", "w69"]}


@pytest.mark.slow
def test_ids_that_nobody_lists_are_shown_to_those_who_have_them(tmp_path):
    pytest.importorskip("rbcl")
    study, _ = varied("intersection", "sums", "all are named", column="well", least=3,
                      members=True)
    task = task_of(study)
    study = replace(study, disclosures=task.disclosures(study))
    inputs = {name: task.load(path, study)
              for name, path in zip(NAMES, files(tmp_path), strict=True)}
    real = real_run(task.program(study), inputs, roles_for(NAMES, "sums"))
    assert real.outputs == {name: {MEMBERS: ["w2", "w69"]} for name in NAMES}
    assert pooled_members(dict(zip(NAMES, SETS, strict=True))) == [b"w2", b"w69"]
    assert task.plan(study).learns["east"][0] == MEMBERS
    chosen, _, _ = study_case("intersection", "sums", column="well", members=True)
    with pytest.raises(StudyError, match="every owner learns which of its own ids"):
        task.outlook(chosen)
