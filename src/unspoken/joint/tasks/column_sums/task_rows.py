"""The sum of columns over all owners (vcz2006 section 3.3.2): the smallest useful study.

Receivers learn the sum of each column and nothing else; how many rows an owner has stays private.
With two owners a sum gives the other's part away, so that masks are refused for two.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.secure_sum import plan_masks, refuse_two, secure_sum
from unspoken.joint.mpc.ops.sharing import reveal, share_sum
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import LIMIT, to_ring
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.party_files import party_table
from unspoken.joint.tasks.task import Plan, Task, notes_of, safe_against
from unspoken.joint.wire.frames import wire_bytes

SUM = "sum of each column"


class SumProgram:
    """The sum of each column over all owners' rows; how many rows each has stays private."""

    def __init__(self, study: Study) -> None:
        self.columns = list(study.parameters["columns"])
        self.scale = int(study.parameters.get("scale", 0))
        self.receivers = study.having("receiver")
        self.shares = study.facts.has_shares
        self.disclosures = study.disclosures

    async def __call__(self, party: Party, data: Any) -> dict[str, Any] | None:
        """Sum, and name the columns in the result."""
        values = np.zeros(len(self.columns)) if data is None else data
        found = await (self._by_shares if self.shares else self._by_masks)(party, values)
        return None if found is None else dict(zip(self.columns, found.tolist(), strict=True))

    async def _by_masks(self, party: Party, values: Any) -> Any:
        return await secure_sum(party, values, because=SUM, to=self.receivers, scale=self.scale)

    async def _by_shares(self, party: Party, values: Any) -> Any:
        bound = (LIMIT - 1) // len(party.roles.owners)
        total = await share_sum(party, values, (len(self.columns),), -bound, bound, self.scale)
        return await reveal(party, total, because=SUM, to=self.receivers)


def _check_sum(parameters: Mapping[str, Any]) -> None:
    columns = parameters.get("columns")
    if not isinstance(columns, list) or not columns or not all(isinstance(c, str) and c
                                                               for c in columns):
        raise StudyError(explain("Parameter 'columns' of task 'sum'", "a list of column names",
                                 columns))
    scale = parameters.get("scale", 0)
    if not isinstance(scale, int) or not 0 <= scale <= 40:
        raise StudyError(explain("Parameter 'scale' of task 'sum'", "an int from 0 to 40", scale))
    for name in parameters:
        if name not in ("columns", "scale"):
            raise StudyError(f"Task 'sum' has no parameter '{name}'. It has columns and scale.")


def _sum_disclosures(study: Study) -> tuple[Disclosure, ...]:
    return (Disclosure(SUM, study.having("receiver")),)


def _sum_plan(study: Study) -> Plan:
    receivers = study.having("receiver")
    learns = {name: [SUM] if name in receivers else [] for name in study.names}
    if study.outside_dealer is not None:
        learns[study.outside_dealer] = ["how many columns there are"]
    size, owners = len(study.parameters["columns"]), len(study.having("owner"))
    if not study.facts.has_shares:
        refuse_two(study.having("owner"), receivers)
        cost = plan_masks(owners, size, len(receivers))
        safe = f"any {max(0, owners - 2)} of the {owners} owners together"
        return Plan(cost["rounds"] + 1, cost["bytes"], learns, safe)
    holders = len(study.having("holder"))
    messages = owners + holders * len(receivers)
    return Plan(3, messages * wire_bytes("<u8", (size,)), learns, safe_against(study),
                notes_of(study))


def _load_sum(path: Path, study: Study) -> npt.NDArray[np.float64]:
    """Return this owner's column sums; a missing value or an unknown column is refused."""
    names = list(study.parameters["columns"])
    rows = party_table(path).numbers(names)
    for name, column in zip(names, rows.T, strict=True):
        if np.isnan(column).any():
            raise StudyError(f"Column '{name}' must have a value in every row. Some have none.")
    sums = np.asarray(rows.sum(axis=0), np.float64)
    bound = (LIMIT - 1) // len(study.having("owner"))
    to_ring(sums, -bound, bound, int(study.parameters.get("scale", 0)), "Column sums")
    return sums


TASK = Task("sum", _check_sum, _sum_disclosures, _sum_plan, _load_sum, SumProgram)
