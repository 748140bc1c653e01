"""Filtering noise off correlated columns and off serially correlated records.

vcz2006 section 3.2: arbitrary randomisation is not safe, because noise has no structure and data
has. Columns that move together share their signal; independent noise spreads over all directions.

- Spectral filtering keeps the directions whose variance exceeds what the noise alone could reach
  (the upper Marchenko-Pastur edge) and projects the reports on them.
- PCA reconstruction keeps the directions that hold most of the estimated signal.
- The Bayes estimate is the posterior mean when data are Gaussian: every direction is shrunk by
  its share of signal, which never does worse in the mean square.

Serially correlated records become correlated columns once each is put beside its neighbours.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from unspoken.arrays import Floats
from unspoken.disclosure.adversary import Adversary, View
from unspoken.disclosure.knowledge import Knowledge
from unspoken.errors import InputError, explain
from unspoken.methods.distortion.known_laws import Additive, law_of
from unspoken.release.release import Release
from unspoken.table.arrow_arrays import to_numbers


def _moments(noisy: Floats, variances: Floats) -> tuple[Floats, Floats, Floats]:
    """Return mean, and eigenvalues and vectors of the covariance in units of the noise."""
    if noisy.ndim != 2 or noisy.shape[0] < 2 or variances.shape != (noisy.shape[1],):
        raise InputError(explain("Reports to filter", "a table, with a variance for each column",
                                 f"shapes {noisy.shape} and {variances.shape}"))
    mean = noisy.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov((noisy - mean) / np.sqrt(variances), rowvar=False)
                                     .reshape(noisy.shape[1], -1))
    return mean, values, vectors


def _shrunk(noisy: Floats, variances: Floats, mean: Floats, vectors: Floats,
            weights: Floats) -> Floats:
    scaled = (noisy - mean) / np.sqrt(variances)
    return np.asarray(mean + (scaled @ vectors * weights) @ vectors.T * np.sqrt(variances))


def spectral_filter(noisy: Floats, variances: Floats) -> Floats:
    """Project on the directions that noise alone could not fill (random matrix theory)."""
    mean, values, vectors = _moments(noisy, variances)
    edge = (1 + np.sqrt(noisy.shape[1] / noisy.shape[0])) ** 2
    return _shrunk(noisy, variances, mean, vectors, (values > edge).astype(np.float64))


def pca_filter(noisy: Floats, variances: Floats, share: float = 0.95) -> Floats:
    """Project on the fewest directions that hold a share of the estimated signal."""
    mean, values, vectors = _moments(noisy, variances)
    signal = np.maximum(values - 1.0, 0.0)
    order = np.argsort(-signal, kind="stable")
    before = np.cumsum(signal[order]) - signal[order]
    weights = np.zeros(values.size)
    weights[order] = (before < share * signal.sum()) & (signal[order] > 0)
    return _shrunk(noisy, variances, mean, vectors, weights)


def bayes_estimate(noisy: Floats, variances: Floats) -> Floats:
    """Return the posterior mean for Gaussian data with the estimated covariance."""
    mean, values, vectors = _moments(noisy, variances)
    signal = np.maximum(values - 1.0, 0.0)
    return _shrunk(noisy, variances, mean, vectors, signal / (signal + 1.0))


def serial_filter(series: Floats, variance: float, window: int = 15) -> Floats:
    """Filter one column whose records follow each other: each beside its neighbours."""
    if window < 2 or series.size < 2 * window:
        raise InputError(f"'window' must be from 2 to half of the {series.size} records. Got "
                         f"{window!r}.")
    padded = np.pad(series, (window // 2, window - 1 - window // 2), mode="reflect")
    beside = np.lib.stride_tricks.sliding_window_view(padded, window)
    estimate = bayes_estimate(np.ascontiguousarray(beside), np.full(window, variance))
    return np.asarray(estimate[:, window // 2])


class _Filtering(Adversary):
    """Base of the filters: they look at whole rows of noisy columns."""

    attacks: ClassVar[frozenset[str] | None] = frozenset({"noise"})
    rows: ClassVar[bool] = True
    """Needs a View with rows."""

    def applies(self, release: Release | View) -> bool:
        """Return True if everybody distorted: true reports have no noise to filter."""
        return not release.mechanism.get("choices")

    def filtered(self, noisy: Floats, variances: Floats, index: int) -> Floats:
        """Return the estimate of one column, row by row."""
        raise NotImplementedError

    def guess(self, view: View, column: str, knowledge: Knowledge,
              rng: np.random.Generator) -> Floats:
        """Return the mean estimate of the rows behind every report."""
        if view.table is None:
            raise InputError("Filtering needs a view with rows; this one has counts only. Use "
                             "View.of(release, rows=True).")
        names, noisy, variances = noisy_columns(view)
        values = np.asarray(to_numbers(view.table[column]), np.float64)
        known = ~np.isnan(values)
        estimate = self.filtered(noisy, variances, names.index(column))[known]
        codes = view[column].codes
        where = np.searchsorted(codes, values[known])
        total = np.bincount(where, weights=estimate, minlength=codes.size)
        return np.asarray(total / np.bincount(where, minlength=codes.size))[None]


def noisy_columns(view: View) -> tuple[list[str], Floats, Floats]:
    """Return names, rows (missing ones at the mean) and noise variances of the noisy columns."""
    assert view.table is not None
    laws = {name: law_of(view.mechanism, name) for name in view.columns
            if name in view.mechanism.get("columns", {})}
    additive = {name: law for name, law in laws.items() if isinstance(law, Additive)}
    data = np.column_stack([np.asarray(to_numbers(view.table[name]), np.float64)
                            for name in additive])
    filled = np.where(np.isnan(data), np.nanmean(data, axis=0), data)
    return list(additive), filled, np.array([law.noise.deviation**2 for law in additive.values()])


class Spectral(_Filtering):
    """Random-matrix spectral filtering over the columns."""

    name: ClassVar[str] = "spectral"
    gets: ClassVar[str] = "filters the noise off correlated columns by their spectrum"

    def filtered(self, noisy: Floats, variances: Floats, index: int) -> Floats:
        """Return the projection on the directions that noise cannot fill."""
        return np.asarray(spectral_filter(noisy, variances)[:, index])


class Pca(_Filtering):
    """PCA reconstruction over the columns."""

    name: ClassVar[str] = "pca"
    gets: ClassVar[str] = "keeps the directions that hold most of the signal"

    def filtered(self, noisy: Floats, variances: Floats, index: int) -> Floats:
        """Return the projection on the directions of most signal."""
        return np.asarray(pca_filter(noisy, variances)[:, index])


class Bayes(_Filtering):
    """The posterior mean over correlated columns."""

    name: ClassVar[str] = "bayes"
    gets: ClassVar[str] = "shrinks every direction of the columns by its share of signal"

    def filtered(self, noisy: Floats, variances: Floats, index: int) -> Floats:
        """Return the posterior mean."""
        return np.asarray(bayes_estimate(noisy, variances)[:, index])


class Serial(_Filtering):
    """The posterior mean over neighbouring records, for tables in the order of time."""

    name: ClassVar[str] = "serial"
    gets: ClassVar[str] = "filters the noise off records that follow each other"

    def filtered(self, noisy: Floats, variances: Floats, index: int) -> Floats:
        """Return the estimate from each record's neighbours."""
        window = min(15, noisy.shape[0] // 2)
        if window < 2:
            return np.asarray(noisy[:, index])
        return serial_filter(noisy[:, index], float(variances[index]), window)
