"""Adversaries on releases where people chose: choices are public.

True reports are read off. A distorted column is sharpened by the person's other columns, each
treated as what it is: true reports are exact, distorted ones have the noise of their law, withheld
ones say nothing. So reporting one attribute discloses part of the others it is correlated with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np

from unspoken.arrays import Bools, Floats
from unspoken.disclosure.adversary import Adversary, ColumnView, View
from unspoken.disclosure.knowledge import Knowledge
from unspoken.errors import InputError, explain
from unspoken.methods.distortion.known_laws import Additive, law_of
from unspoken.release.release import Release
from unspoken.table.arrow_arrays import to_numbers

BLOCK = 4096
"""Rows whose systems of equations are solved at once."""


def markers(mechanism: Mapping[str, object]) -> dict[str, str]:
    """Return the columns of choices, by the column they are about."""
    choices = mechanism.get("choices")
    return {str(k): str(v) for k, v in choices.items()} if isinstance(choices, Mapping) else {}


def distorted_rows(view: View, column: str) -> Bools:
    """Return which rows hold a distorted value; without choices all that hold a value."""
    if view.table is None:
        raise InputError("This adversary needs a view with rows; this one has counts only. "
                         "Use View.of(release, rows=True).")
    known = ~np.isnan(np.asarray(to_numbers(view.table[column]), np.float64))
    marker = markers(view.mechanism).get(column)
    if marker is None:
        return known
    choices = np.asarray(view.table[marker].to_pylist(), dtype=object)
    return np.asarray(known & (choices == "distort"))


def distorted_only(view: View) -> View:
    """Return the view with the codes of those alone who distorted."""
    columns = dict(view.columns)
    for name in markers(view.mechanism):
        if name not in columns or view.table is None:
            continue
        values = np.asarray(to_numbers(view.table[name]), np.float64)
        codes, counts = np.unique(values[distorted_rows(view, name)], return_counts=True)
        columns[name] = ColumnView(name, codes, counts[:, None], np.arange(codes.size))
    return replace(view, columns=columns)


def choosing_estimate(reports: Floats, variances: Floats) -> Floats:
    """Return the posterior mean for Gaussian data, each report with a variance of its own.

    `variances`: zero where the value was reported, infinite where there is no report.
    """
    if reports.ndim != 2 or reports.shape != variances.shape:
        raise InputError(explain("Reports and variances", "two tables of one shape",
                                 f"{reports.shape} and {variances.shape}"))
    known = np.isfinite(variances)
    mean = np.where(known, reports, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    away = np.where(known, reports - mean, 0.0)
    signal = _signal(away, known, np.where(known, variances, 0.0))
    scale = float(np.trace(signal)) + 1e-300
    spread = np.where(known, variances, 1e9 * scale) + 1e-9 * scale
    out = np.empty(reports.shape)
    for start in range(0, reports.shape[0], BLOCK):
        rows = slice(start, start + BLOCK)
        systems = signal + spread[rows, :, None] * np.eye(signal.shape[0])
        out[rows] = mean + np.linalg.solve(systems, away[rows, :, None])[..., 0] @ signal
    return out


def _signal(away: Floats, known: Bools, variances: Floats) -> Floats:
    """Return the covariance of the values, from pairs of reports, without that of the noise."""
    pairs = known.astype(np.float64).T @ known
    seen = away.T @ away / np.maximum(pairs, 1.0)
    noise = variances.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    values, vectors = np.linalg.eigh(seen - np.diag(noise))
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


class KnownChoices(Adversary):
    """The posterior mean over a person's columns, each taken as what it is."""

    name: ClassVar[str] = "choices"
    attacks: ClassVar[frozenset[str] | None] = frozenset({"noise"})
    rows: ClassVar[bool] = True
    gets: ClassVar[str] = "uses true reports of a person to filter the noise off the distorted ones"

    def applies(self, release: Release | View) -> bool:
        """Return True if people could choose."""
        return bool(markers(release.mechanism))

    def guess(self, view: View, column: str, knowledge: Knowledge,
              rng: np.random.Generator) -> Floats:
        """Return the mean estimate of the rows behind every report of those who distorted."""
        names, reports, variances = reports_as_chosen(view)
        rows = distorted_rows(view, column)
        index = names.index(column)
        estimate = choosing_estimate(reports, variances)[rows, index]
        codes = view[column].codes
        where = np.searchsorted(codes, reports[rows, index])
        total = np.bincount(where, weights=estimate, minlength=codes.size)
        return np.asarray(total / np.maximum(np.bincount(where, minlength=codes.size), 1))[None]


def reports_as_chosen(view: View) -> tuple[list[str], Floats, Floats]:
    """Return names, reports and the variance of each report of the noisy columns."""
    assert view.table is not None
    laws = {name: law_of(view.mechanism, name) for name in view.columns
            if name in view.mechanism.get("columns", {})}
    noises = {name: law.noise for name, law in laws.items() if isinstance(law, Additive)}
    reports = np.column_stack([np.asarray(to_numbers(view.table[name]), np.float64)
                               for name in noises])
    distorted = np.column_stack([distorted_rows(view, name) for name in noises])
    variances = np.where(distorted, [noise.deviation**2 for noise in noises.values()], 0.0)
    missing = np.isnan(reports)
    return list(noises), np.where(missing, 0.0, reports), np.where(missing, np.inf, variances)
