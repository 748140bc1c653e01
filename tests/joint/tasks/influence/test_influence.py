"""Leverage and Cook's distance are statsmodels', and an owner learns those of its own records."""

from __future__ import annotations

import numpy as np
import pytest

from support.joint_commands import write
from support.replayed import real_run
from support.study_cases import NAMES, study_case
from support.study_variants import varied
from unspoken.errors import InputError
from unspoken.joint import mine, run_local
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.shared import public
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.tasks.influence import program_rows
from unspoken.joint.tasks.influence.params import FLAGS, VALUES, Fitted
from unspoken.joint.tasks.influence.pooled import pooled
from unspoken.joint.tasks.influence.program_rows import InfluenceOverRows, own_influence
from unspoken.joint.tasks.regression.params import RegressionTerms
from unspoken.joint.tasks.task_list import task_of

TERMS = RegressionTerms("cost", ("age", "stay"))


def columns(rows=120, seed=1):
    rng = np.random.default_rng(seed)
    age, stay = rng.normal(40, 12, rows), rng.exponential(5, rows)
    cost = 3 + 2 * age - 4 * stay + rng.normal(0, 3, rows)
    cost[::15] += 20
    return {"age": age, "stay": stay, "cost": cost}


WHOLE = columns()
PARTS = [{name: column[place::3] for name, column in WHOLE.items()} for place in range(3)]
TABLES = [TERMS.table(part) for part in PARTS]


def by_statsmodels(parts):
    """Return leverage and Cook's distance of each part's records in the model of all of them."""
    import statsmodels.api as sm

    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    design = sm.add_constant(np.column_stack([whole["age"], whole["stay"]]))
    found = sm.OLS(whole["cost"], design).fit().get_influence()
    ends = np.cumsum([part["age"].size for part in parts])[:-1]
    return list(zip(np.split(found.hat_matrix_diag, ends), np.split(found.cooks_distance[0], ends),
                    strict=True))


def run(show, receivers=()):
    program = InfluenceOverRows(TERMS, NAMES, 256.0, show, receivers=receivers)
    return run_local(program, TABLES, names=list(NAMES))


@pytest.mark.slow
def test_values_are_those_of_statsmodels():
    for (found, _), (leverage, distance) in zip(run(VALUES), by_statsmodels(PARTS), strict=True):
        assert found["leverage"] == pytest.approx(leverage, abs=1e-7)
        assert found["distance"] == pytest.approx(distance, abs=1e-6)


@pytest.mark.slow
def test_flags_are_those_of_statsmodels_values():
    seen = 0
    for (found, _), (leverage, distance) in zip(run(FLAGS), by_statsmodels(PARTS), strict=True):
        assert found["leverage"] == (np.flatnonzero(leverage > 2 * 3 / 120) + 1).tolist()
        assert found["distance"] == (np.flatnonzero(distance > 4 / 120) + 1).tolist()
        seen += len(found["leverage"]) + len(found["distance"])
    assert seen > 10


def test_the_reference_is_that_of_statsmodels():
    for found, (leverage, distance) in zip(pooled(TERMS, PARTS, VALUES), by_statsmodels(PARTS),
                                           strict=True):
        assert found["leverage"] == pytest.approx(leverage, abs=1e-12)
        assert found["distance"] == pytest.approx(distance, abs=1e-12)


def test_a_limit_of_distance_is_a_limit_of_leverage():
    fitted = Fitted(np.zeros(3), 100, 2.0)
    rest = np.array([1e-3, 0.5, 2.0, 9.0])
    at = fitted.leverage_for(rest, 0.04)
    assert fitted.cook(rest, at) == pytest.approx(np.full(4, 0.04), rel=1e-6)
    assert ((at > 0) & (at < 1)).all()
    assert fitted.leverage_for(np.zeros(1), 0.04) == pytest.approx([1.0])


def test_of_a_straight_line_leverage_is_known_by_hand():
    """x = 0, 1, 2, 3, of which the mean is 1.5: 1/4 + (x - 1.5)^2 / 5."""
    line = RegressionTerms("y", ("x",))
    part = {"x": np.arange(4.0), "y": np.array([0.0, 1.0, 2.0, 4.0])}
    assert pooled(line, [part], VALUES)[0]["leverage"] == pytest.approx([0.7, 0.3, 0.3, 0.7])


def real(show):
    program = InfluenceOverRows(TERMS, NAMES, 256.0, show)
    return real_run(program, dict(zip(NAMES, TABLES, strict=True)), roles_for(NAMES, "dealer"))


@pytest.mark.slow
def test_an_owner_learns_nothing_of_the_others_records(monkeypatch):
    """Flags alone are opened, to their owner alone; a mutant that opens leverage is seen."""
    opened = real(FLAGS).opened
    for name in NAMES:
        assert [other for other in NAMES if own_influence(other) in opened[name]] == [name]
        [bits] = opened[name][own_influence(name)]
        assert bits.shape == (2, 40)
        assert set(np.unique(bits)) <= {0, 1}

    async def leverage_too(party, bits):
        return public(party, np.full(bits.shape, 7))

    monkeypatch.setattr(program_rows, "to_numbers", leverage_too)
    assert set(np.unique(real(FLAGS).opened["north"][own_influence("north")][0])) == {7}


@pytest.mark.slow
def test_receivers_are_the_owners_that_learn_theirs():
    outputs = run(FLAGS, ("south",))
    assert [output is not None for output, _ in outputs] == [False, True, False]


@pytest.mark.slow
def test_leverage_of_enough_records_gives_all_second_moments_away():
    """As the page says of show=values: an owner solves h = z'Gz for G, the inverse of all."""
    (found, _), *_ = run(VALUES)
    z = np.column_stack([np.ones(40), PARTS[0]["age"], PARTS[0]["stay"]])
    pairs = [(i, j) for i in range(3) for j in range(i, 3)]
    forms = np.column_stack([z[:, i] * z[:, j] * (1 if i == j else 2) for i, j in pairs])
    solved = np.linalg.lstsq(forms, np.array(found["leverage"]), rcond=None)[0]
    inverse = np.zeros((3, 3))
    for (i, j), value in zip(pairs, solved, strict=True):
        inverse[i, j] = inverse[j, i] = value
    design = np.column_stack([np.ones(120), WHOLE["age"], WHOLE["stay"]])
    assert np.linalg.inv(inverse) == pytest.approx(design.T @ design, rel=0.02)


def test_values_are_refused_for_two_owners_and_flags_are_not():
    study, _ = varied("influence", "dealer", "two owners")
    task_of(study).outlook(study)
    study, _ = varied("influence", "dealer", "two owners", show="values")
    with pytest.raises(InputError, match="three owners or more"):
        task_of(study).outlook(study)


def test_a_receiver_without_records_is_refused():
    study, task, _ = study_case("influence", "dealer")
    from dataclasses import replace
    dora = next(one for one in study.members if one.name == "dora")
    members = tuple(replace(one, roles=(*one.roles, "receiver")) if one is dora else one
                    for one in study.members)
    with pytest.raises(StudyError, match="'dora' brings none"):
        task.outlook(replace(study, members=members))


@pytest.mark.slow
def test_from_files_to_results(tmp_path):
    for name, part in zip(NAMES, PARTS, strict=True):
        write(tmp_path / f"{name}.csv", part)
    found = mine("influence", [tmp_path / f"{name}.csv" for name in NAMES], response="cost",
                 columns=["age", "stay"], condition=256.0)
    assert found == pooled(TERMS, PARTS)[0]
