"""What a plan lets pass, a run of that study does: nobody begins in vain."""

from __future__ import annotations

import pytest

from support.replayed import real_run
from support.study_cases import CASES, modes_of
from support.study_variants import VARIANTS, planned, varied
from unspoken.errors import InputError
from unspoken.joint.session.run_roles import roles_of
from unspoken.joint.tasks.task_list import task_of

# The others take seconds a run and share their programs with these.
QUICK = ("sum", "intersection", "classify", "classify-columns", "network", "neighbours", "outliers",
         "outliers-columns", "rules", "rules-columns", "forest", "forest-columns", "tree",
         "percentile", "segments", "forecast", "union", "vote")


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", QUICK)
def test_a_study_that_is_planned_runs(name, variant):
    study, records = varied(name, modes_of(name)[-1 if name == "intersection" else 0], variant)
    try:
        study = planned(study, records)
    except InputError:
        return
    task = task_of(study)
    inputs = {owner: task.blank(study, owner, records) for owner in study.having("owner")}
    real_run(task.program(study), inputs, roles_of(study))


@pytest.mark.parametrize("name", [n for n in CASES if n not in ("sum", "intersection")])
def test_a_mode_without_shares_is_refused_by_the_plan(name):
    with pytest.raises(InputError, match=r"shares|sums"):
        planned(*varied(name, "sums", "all are named"))
