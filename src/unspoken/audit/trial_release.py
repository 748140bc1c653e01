"""Risks to people beside a control group, where nobody was left out of the release.

What a release tells about people who are in it must be told apart from what it tells about
everybody like them. Without a control group every risk is an upper bound, and a release that says
that the old are often ill looks as if it disclosed the illness of each. So most records are
released once more, for trial, by the same method with the same parameters, and the others are the
control group. The trial is attacked and thrown away.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from unspoken.audit.people.own_release import with_people
from unspoken.disclosure.audit_request import AuditRequest
from unspoken.disclosure.audit_result import Audit
from unspoken.numerics.random import generator, seed_from
from unspoken.release.method import method_of
from unspoken.release.record_key import taken
from unspoken.table.table import Table

SHARE = 0.25
MOST = 50_000
"""Records of the trial and its control group together; more would not change the shares."""
FEWEST = 80
"""With fewer records a control group is too small to say anything."""


def with_trial(audited: Audit, table: Table, method: Any, random_state: Any = None) -> Audit:
    """Return an audit with the risks to people, measured on a trial release.

    `method` is an unfitted transformer with the parameters of the release.
    """
    if table.rows < FEWEST:
        return audited
    people, control = _divided(table, random_state)
    release, key = method.protect(people)
    words = (f"risks to people were measured on a trial release of {people.rows:,} records by the "
             f"same method; {control.rows:,} others were its control group")
    tried = replace(audited, limits=(*audited.limits, words))
    described = method_of(release.mechanism)
    if not described.of_people:
        request = AuditRequest(random_state=random_state, control=control)
        tried = _with_rows_of(tried, described.audit(people, release, key, request))
    return with_people(tried, people, release, key, control, random_state)


def _with_rows_of(audited: Audit, trial: Audit) -> Audit:
    """Take the rows of adversaries who found out about nobody in particular from the trial."""
    again = {(row.adversary, row.knowledge, row.column, row.measure): row for row in trial.rows}
    return replace(audited, rows=tuple(
        again.get((row.adversary, row.knowledge, row.column, row.measure), row)
        for row in audited.rows))


def _divided(table: Table, random_state: Any) -> tuple[Table, Table]:
    order = generator(seed_from(random_state), "trial").permutation(table.rows)[:MOST]
    held = int(SHARE * order.size)
    return taken(table, np.sort(order[held:])), taken(table, np.sort(order[:held]))
