"""What distorted reports really stand for: rows of the original beside rows of the release.

Distorting methods have no key and keep the order of rows, so each report is scored against the
value in the same row.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.attack.contract import Adversary, ColumnView, View, adversaries_for
from tacit.core.key import Key
from tacit.core.registry import register
from tacit.core.release import Release
from tacit.core.table import Table
from tacit.engines.arrow import to_numbers
from tacit.risk.grants import Setting
from tacit.risk.result import Audit
from tacit.risk.truth import Truth, Truths
from tacit.stats.random import seed_from

Floats = npt.NDArray[np.float64]

MECHANISMS = ("noise", "multiplicative", "discretize")


def audit_distorted(  # noqa: PLR0913
    table: Table, release: Release, key: Key | None, *, sample: Any, trials: int,
    random_state: Any, adversaries: Iterable[str | Adversary] | None, radius: float,
    progress: Any,
) -> Audit:
    """Attack a release of distorted values in every known way; filters need its rows."""
    from tacit.risk.audit import _result, _run, _sample_values

    view = View.of(release, rows=True)
    truths = row_truths(table, view, key)
    setting = Setting(float(radius), int(trials), seed_from(random_state),
                      _sample_values(sample, truths))
    chosen = adversaries_for(view, adversaries)
    return _result(release, truths, chosen, setting, _run(view, truths, chosen, setting, progress),
                   None)


for _name in MECHANISMS:
    register("audit", _name)(audit_distorted)


@register("truth", "noise")
@register("truth", "multiplicative")
@register("truth", "discretize")
def row_truths(table: Table, view: View, key: Key | None) -> Truths:
    """Return the truths of a release whose rows stand in the original order."""
    found, unscored = {}, {}
    for name, seen in view.columns.items():
        if name not in table.schema.names or view.table is None:
            unscored[name] = "the table has no column of this name"
        elif name not in view.mechanism.get("columns", {}):
            unscored[name] = "the column was released as it is"
        else:
            found[name] = _truth(name, seen, to_numbers(table.arrow([name])[name]),
                                 to_numbers(view.table[name]))
    return Truths(found, unscored)


def _truth(name: str, seen: ColumnView, original: Floats, released: Floats) -> Truth:
    known = ~(np.isnan(np.asarray(original, np.float64)) | np.isnan(np.asarray(released,
                                                                              np.float64)))
    values, owner = np.unique(np.asarray(original, np.float64)[known], return_inverse=True)
    where = np.searchsorted(seen.codes, np.asarray(released, np.float64)[known])
    size = max(seen.codes.size, 1)
    pairs, inverse, counts = np.unique(owner.reshape(-1) * size + where, return_inverse=True,
                                       return_counts=True)
    rows = np.full(original.size, -1, np.int32)
    rows[known] = inverse.reshape(-1)
    return Truth(name, name, values, pairs // size, pairs % size, counts, rows)
