"""The audit of synthetic rows: how often a missing value of a person is guessed from them.

What is stated about a private release is proved, not measured; an attack that finds more than
guessing finds what holds for people alike. The baseline is the commonest value for everybody, or
what the same attack finds about people who are not in the release, if that is more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from unspoken.arrays import Ints
from unspoken.disclosure.adversary import chosen_of
from unspoken.disclosure.audit_request import AuditRequest
from unspoken.disclosure.audit_result import Audit
from unspoken.disclosure.audit_rows import Row
from unspoken.methods.private.adversaries.synthetic_neighbours import SyntheticNeighbours
from unspoken.methods.private.declared_columns import Cells, Coded
from unspoken.numerics.random import replayed, seed_from
from unspoken.release.key import Key
from unspoken.release.release import Release
from unspoken.table.table import Table

LEVEL = "all but one column"
TARGETS, RELEASED, MOST_TRIALS = 100, 2000, 20
_LIMITS = ("only the listed adversaries were tried; a better one may exist",
           "numbers count as guessed if their interval is")


def audit_synthetic(table: Table, release: Release, key: Key | None,
                    request: AuditRequest) -> Audit:
    """Attack synthetic rows; a guess is right or wrong, so that the radius plays no part."""
    names = [name for name in release.mechanism.get("columns", {}) if name in table.schema.names]
    cells = [_cells(name, release) for name in names]
    people, shown = _coded(cells, table), _coded(cells, release.table)
    outside = None if request.control is None else _coded(cells, request.control)
    chosen = chosen_of(SyntheticNeighbours, release, request.adversaries)
    trials = min(request.trials, MOST_TRIALS)
    rows = [row for one in chosen for row in _beside(
        list(_rows(one, names, people, shown, trials, request)),
        None if outside is None else list(_rows(one, names, outside, shown, trials, request)))]
    about = {"fingerprint": release.fingerprint, "rows": release.table.rows,
             "mechanism": dict(release.mechanism), "data_sha256": release.data_sha256,
             "columns": {name: name for name in names}}
    unscored = {name: "the table has no column of this name" for name in release.schema.names
                if name not in names}
    return Audit(tuple(rows), request.radius, trials, about, {one.name: one.gets for one in chosen},
                 unscored, limits=_LIMITS)


def _coded(cells: list[Cells], source: Table) -> Ints:
    coded = Coded(source, cells)
    return np.column_stack([coded[one.name] for one in cells])


def _beside(rows: list[Row], outside: list[Row] | None) -> list[Row]:
    """Return the rows with the share among people outside the release as their baseline."""
    if outside is None:
        return rows
    return [replace(row, baseline=max(row.baseline, other.value))
            for row, other in zip(rows, outside, strict=True)]


def _cells(name: str, release: Release) -> Cells:
    stated = release.mechanism["columns"][name]
    return Cells(name, tuple(stated["edges"]), tuple(stated["values"]), False,
                 bool(stated["declared"]), bool(stated.get("complete", False)))


def _rows(one: SyntheticNeighbours, names: list[str], people: Ints, shown: Ints, trials: int,
          request: AuditRequest) -> Iterator[Row]:
    rng = replayed(seed_from(request.random_state), "synthetic")
    shares = np.zeros((trials, len(names)))
    for trial in range(trials):
        targets = people[rng.integers(0, people.shape[0], min(TARGETS, people.shape[0]))]
        near = shown[rng.permutation(shown.shape[0])[:RELEASED]]
        for k in range(len(names)):
            shares[trial, k] = (one.guesses(targets, near, k) == targets[:, k]).mean()
    for k, name in enumerate(names):
        low, middle, high = np.quantile(shares[:, k], [0.025, 0.5, 0.975]).tolist()
        baseline = float(np.bincount(people[:, k]).max() / people.shape[0])
        yield Row(one.name, LEVEL, name, "records", middle, low, high, baseline, trials)
