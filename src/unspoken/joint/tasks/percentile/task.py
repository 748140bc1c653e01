"""The study task `percentile`: everybody learns where it stands, and nobody's number shows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.result_control.opened_forms import Decisions, Opened
from unspoken.joint.result_control.verdict import Certainty
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.column_files import read_matrix, with_shares
from unspoken.joint.tasks.common.study_parameters import outlined
from unspoken.joint.tasks.percentile.params import PercentileParams
from unspoken.joint.tasks.percentile.pooled import pooled
from unspoken.joint.tasks.percentile.program_rows import PercentileOverRows
from unspoken.joint.tasks.task import Outlook, Task
from unspoken.joint.tasks.task_params import declared

HELP = """Where an owner's number stands among those of all owners, and nothing else.

    unspoken joint new study.toml --name wages --task percentile
        --set 'columns=["hourly wage", "sick days"]' --set most=1000 ...

Every owner joins with a table of one row, and learns its own rank (1 is the least; equal numbers
share the middle of their ranks) and percentile in each column. With groups=4 it learns its quarter
alone. Receivers, where some are named, are the owners that learn theirs. With two owners a rank
says whose number is greater."""
PROBING = "an owner that comes again with made-up numbers finds the others' by halving"
FEW_OWNERS = 4
"""With at most this many one is as likely as not first or last, which tells about all others."""


class PercentileStudy(PercentileOverRows):
    """The program of a study."""

    def __init__(self, study: Study) -> None:
        super().__init__(PercentileParams.of(study.parameters), study.having("owner"),
                         study.having("receiver"))
        self.disclosures = study.disclosures


def _fits(parameters: Mapping[str, Any]) -> None:
    PercentileParams.of(parameters)


def _disclosures(study: Study) -> tuple[Disclosure, ...]:
    return PercentileOverRows(PercentileParams.of(study.parameters), study.having("owner"),
                              study.having("receiver")).disclosures


def _outlook(study: Study) -> Outlook:
    with_shares(study)
    owners = study.having("owner")
    if len(owners) < 2:
        raise StudyError(explain("Task 'percentile'", "given two owners or more", len(owners)))
    outside = [name for name in study.having("receiver") if name not in owners]
    if outside:
        raise StudyError(f"In task 'percentile' an owner learns where its own number stands. "
                         f"'{outside[0]}' brings none and cannot be a receiver. Leave it out.")
    return outlined(study, _disclosures(study), (PROBING,))


def _load(path: Path, study: Study) -> Floats:
    """Return this owner's numbers; more than one row, or what does not fit, is refused here."""
    params = PercentileParams.of(study.parameters)
    rows = read_matrix(path, params.columns)
    if len(rows) == 1:
        params.units(rows[0])
        return np.asarray(rows[0])
    raise StudyError(explain("The table of an owner in task 'percentile'", "of one row, with its "
                             "one number in each column", f"{len(rows)} rows"))


def _blank(study: Study, name: str, records: int) -> Floats:
    return np.zeros(len(PercentileParams.of(study.parameters).columns))


def _opens(study: Study) -> tuple[Opened, ...]:
    params, owners = PercentileParams.of(study.parameters), len(study.having("owner"))
    learners = tuple(d.to[0] for d in _disclosures(study))
    certainty = _certainty(params, owners)
    why = "its rank says it" if certainty is Certainty.ALWAYS else "where it is first or last"
    return (Decisions("whose number is greater", why, learners, certainty=certainty),
            Decisions("numbers", "where they must equal its own, or lie at a bound", learners))


def _certainty(params: PercentileParams, owners: int) -> Certainty:
    """Return how surely an owner knows who is above it: always of one, often of few."""
    if not params.ends_alone(owners) or owners > FEW_OWNERS:
        return Certainty.SOMETIMES
    return Certainty.ALWAYS if owners == 2 else Certainty.USUALLY


TASKS = (Task("percentile", HELP, declared(PercentileParams), _fits, _disclosures, _outlook, _load,
              PercentileStudy, _blank, pooled, opens=_opens),)
