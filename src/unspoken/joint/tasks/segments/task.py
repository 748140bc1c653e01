"""The study task `segments`: joint counts and means by segment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.result_control.opened_forms import Decisions, Opened, Totals
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.column_files import with_shares
from unspoken.joint.tasks.common.study_parameters import outlined, read_columns
from unspoken.joint.tasks.segments.params import OwnSegments, SegmentParams
from unspoken.joint.tasks.segments.pooled import pooled
from unspoken.joint.tasks.segments.program_rows import MEANS, SegmentsOverRows
from unspoken.joint.tasks.task import Outlook, Task
from unspoken.joint.tasks.task_params import declared

HELP = """Joint counts and means by segment, without those that have few records.

    unspoken joint new study.toml --name rents --task segments --set segment=district
        --set 'labels=["north", "centre", "south"]' --set 'columns=["rent", "area"]'
        --set least=20 --set others=5 ...

Receivers learn how many records each segment has, of all owners together, and the means of the
columns. A segment with fewer than 'least' records is not shown, and cannot be told from an empty
one: that is decided on shares, before anything is opened. Of two owners each can subtract its own
part; with 'others' a segment is shown only if all owners but any one have so many records in it."""


class SegmentsStudy(SegmentsOverRows):
    """The program of a study."""

    def __init__(self, study: Study) -> None:
        super().__init__(SegmentParams.of(study.parameters), study.having("receiver"))
        self.disclosures = study.disclosures


def _fits(parameters: Mapping[str, Any]) -> None:
    SegmentParams.of(parameters)


def _disclosures(study: Study) -> tuple[Disclosure, ...]:
    return (Disclosure(MEANS, study.having("receiver")),)


def _outlook(study: Study) -> Outlook:
    with_shares(study)
    params, notes = SegmentParams.of(study.parameters), ["an owner can bring made-up records"]
    if len(study.having("owner")) == 2 and params.others < params.least:
        notes.append(f"of two owners each learns the other's means, also over {params.others or 1} "
                     "records of it: agree on 'others'")
    return outlined(study, _disclosures(study), notes)


def _load(path: Path, study: Study) -> OwnSegments:
    """Return this owner's records and sums by segment; what does not fit is refused here."""
    params = SegmentParams.of(study.parameters)
    return params.own(read_columns(path, (params.segment, *params.columns)),
                      len(study.having("owner")))


def _blank(study: Study, name: str, records: int) -> OwnSegments:
    params = SegmentParams.of(study.parameters)
    size = len(params.labels)
    return OwnSegments(np.full(size, records // size), np.zeros((size, len(params.columns)),
                                                                np.int64))


def _opens(study: Study) -> tuple[Opened, ...]:
    to = study.having("receiver")
    return (Totals("the records and sums of each segment that is shown", to),
            Decisions("the records of segments that are not shown", "where its own are almost "
                      "enough", to))


TASKS = (Task("segments", HELP, declared(SegmentParams), _fits, _disclosures, _outlook, _load,
              SegmentsStudy, _blank, pooled, opens=_opens),)
