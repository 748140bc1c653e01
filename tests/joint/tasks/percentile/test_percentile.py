"""An owner's place among others: that of scipy on all numbers, told to nobody but itself."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import percentileofscore, rankdata

from support.joint_commands import OWNERS, joint_command, write
from support.replayed import real_run
from support.study_cases import study_case
from support.watching import opened_and_lengths
from unspoken.errors import UnspokenError
from unspoken.joint import mine, run_local
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.tasks.percentile import program_rows
from unspoken.joint.tasks.percentile.params import PercentileParams
from unspoken.joint.tasks.percentile.pooled import pooled
from unspoken.joint.tasks.percentile.program_rows import PercentileOverRows, own_place

NAMES = ("a", "b", "c", "d", "e")
PARAMS = PercentileParams(("wage", "days"), most=1000.0)
# A tie of three, a tie of two, the least and the greatest possible.
PARTS = dict(zip(NAMES, [(20.5, 3), (31.25, 3), (20.5, -1000), (-7, 3), (999.5, 1000)],
                 strict=True))


def by_scipy(parts):
    """Return ranks and percentiles by owner and column."""
    table = np.array(list(parts.values()), float)
    return {name: [(rankdata(column, "average")[place],
                    percentileofscore(column, column[place], "mean")) for column in table.T]
            for place, name in enumerate(parts)}


def told(standing):
    return [(row["rank"], pytest.approx(row["percentile"])) for row in standing.values()]


def test_everybody_learns_its_own_place_and_nobody_elses():
    outputs = run_local(PercentileOverRows(PARAMS, NAMES), list(PARTS.values()), names=NAMES)
    for (output, ledger), name in zip(outputs, NAMES, strict=True):
        assert told(output) == by_scipy(PARTS)[name]
        assert [row.because for row in ledger.learned()] == [own_place(name)]
        assert {row.to for row in ledger.openings} == {(each,) for each in NAMES}


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=2, max_size=9))
def test_the_reference_is_scipys(numbers):
    parts = {f"p{place}": [number] for place, number in enumerate(numbers)}
    found = pooled(parts, PercentileParams(("x",)))
    assert {name: told(one) for name, one in found.items()} == by_scipy(parts)


@settings(max_examples=40)
@given(st.integers(2, 12), st.integers(2, 12))
def test_limits_part_the_ranks_into_equal_groups(owners, groups):
    """By fractions: group g has the percentiles from 100 (g - 1) / groups on, below 100 g."""
    params = PercentileParams(("x",), groups=groups)
    for balance in range(1 - owners, owners):
        reached = sum(balance >= limit for limit in params.limits(owners))
        assert reached * 2 * owners <= groups * (owners + balance) < (reached + 1) * 2 * owners


@pytest.mark.parametrize("groups", [2, 4])
def test_with_groups_only_the_part_is_opened(groups):
    params = PercentileParams(PARAMS.columns, most=1000.0, groups=groups)
    real = real_run(PercentileOverRows(params, NAMES), PARTS, roles_for(NAMES, "dealer"))
    expected = {name: [int(groups * percent / 100) + 1 for _, percent in rows]
                for name, rows in by_scipy(PARTS).items()}
    for name in NAMES:
        assert [row["group"] for row in real.outputs[name].values()] == expected[name]
        [opened] = real.opened[name][own_place(name)]
        assert (opened + 1).tolist() == expected[name], "no more than the group is opened"
        assert set(real.opened[name]) == {own_place(name)}


def test_owners_that_are_not_named_learn_nothing():
    outputs = run_local(PercentileOverRows(PARAMS, NAMES, ["b"]), list(PARTS.values()),
                        names=NAMES)
    assert [output is not None for output, _ in outputs] == [False, True, False, False, False]
    assert all(row.to == ("b",) for _, ledger in outputs for row in ledger.openings)


SAME_RANKS = [[[1], [2], [3]], [[-900], [0.5], [901]]]


def test_numbers_of_equal_ranks_look_alike_and_a_difference_that_is_opened_is_caught(monkeypatch):
    program = PercentileOverRows(PercentileParams(("x",), most=1000.0), ("p0", "p1", "p2"))
    one, other = (opened_and_lengths(program, inputs) for inputs in SAME_RANKS)
    assert one == other
    real = program_rows.sign

    async def leaking(party, gaps):
        await program_rows.reveal(party, gaps, because=own_place("p0"), to=("p0",))
        return await real(party, gaps)

    monkeypatch.setattr(program_rows, "sign", leaking)
    one, other = (opened_and_lengths(program, inputs) for inputs in SAME_RANKS)
    assert one != other


@pytest.mark.slow
@pytest.mark.parametrize(("content", "why"), [
    ("wage,days\n1,2\n3,4\n", "of one row"), ("wage,days\n", "at least one row"),
    ("wage,days\n1,\n", "missing"), ("wage,days\n1,1001\n", "between -1000 and 1000"),
    ("wage\n1\n", "'days' is there"), ("wage,days\n1,many\n", "must hold numbers")])
def test_files_that_do_not_fit_are_refused_without_a_value(tmp_path, content, why):
    study, task, _ = study_case("percentile", "dealer")
    (tmp_path / "a.csv").write_text(content)
    with pytest.raises(UnspokenError, match=why) as error:
        task.load(tmp_path / "a.csv", study)
    assert "many" not in str(error.value)
    assert "1001" not in str(error.value)


def test_the_plan_says_that_made_up_numbers_find_others():
    study, task, records = study_case("percentile", "dealer")
    plan = task.plan(study, records)
    assert plan.learns["north"] == [own_place("north")]
    assert plan.learns["south"] == []
    assert "by halving" in plan.text()
    assert any("whose number is greater" in line for line in plan.determined["north"])
    assert "south" not in plan.determined


@pytest.mark.slow
def test_a_study_is_written_and_planned_and_files_give_results(folder, capsys):
    parties = [word for name in OWNERS
               for word in ("--party", f"{folder / name}.crt={name}.example:7700")]
    assert joint_command("new", folder / "study.toml", "--name", "wages", "--task", "percentile",
                         "--set", 'columns=["wage", "days"]', "--set", "most=1000", *parties,
                         "--dealer", f"{folder / 'dora'}.crt=dora.example:7700") == 0
    capsys.readouterr()
    assert joint_command("plan", folder / "study.toml", "--json") == 0
    learned = json.loads(capsys.readouterr().out)["learns"]
    assert all(learned[name] == [own_place(name)] for name in OWNERS)
    three = dict(zip(OWNERS, PARTS.values(), strict=False))
    for name, row in three.items():
        write(folder / f"{name}.csv", {"wage": [row[0]], "days": [row[1]]})
    first = mine("percentile", [folder / f"{name}.csv" for name in OWNERS],
                 columns=["wage", "days"], most=1000)
    assert told(first) == by_scipy(three)["north"]
