"""LocalMixture: a source sends a model in place of its records (vcz2006 section 7.1.1).

Who learns what. The server sees weights, means and covariances of a Gaussian mixture and the number
of records. A component of few records discloses something about them; a model under which a record
is very likely discloses where it is. So components hold a least number of records, and the privacy
cost, the mean log likelihood of the source's own records under what it sends, can be limited:
covariances are widened until it is. That is a measure, not a proof: it promises nothing about one
record.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from unspoken.arrays import Floats
from unspoken.errors import DataError, InputError, explain
from unspoken.models.mixture import Mixture
from unspoken.numerics.gaussian_mixture import em
from unspoken.numerics.random import generator, seed_from
from unspoken.release.parameters import Rule, Whole, check
from unspoken.table.table import Table

_RULES: Mapping[str, tuple[Rule, str]] = {
    "components": (Whole(1), "Use 1 for a single Gaussian."),
    "least": (Whole(2), "A component of one record is that record."),
}
_STEPS = 60


class LocalMixture(BaseEstimator):  # type: ignore[misc]
    """Fit the mixture that a source sends to the server.

    Parameters
    ----------
    components : the most components; fewer are taken where one would hold too few records.
    least : records that every component must hold, as weight times number of records.
    most_cost : the largest mean log likelihood (nats per record) of the own records under what is
        sent; None for no limit. Covariances are widened until it holds.
    random_state : for tests and experiments only.

    Attributes
    ----------
    mixture_ : what is sent; cost_ : its privacy cost, which is sent too; widened_ : the factor.

    Examples
    --------
    >>> model = LocalMixture(components=2, least=50).protect(table)  # doctest: +SKIP
    """

    def __init__(self, components: int = 3, *, least: int = 20, most_cost: float | None = None,
                 random_state: Any = None) -> None:
        self.components = components
        self.least = least
        self.most_cost = most_cost
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, names: Any = None) -> LocalMixture:
        """Fit to records without missing values."""
        check("LocalMixture", _RULES, self.get_params())
        limit = self._limit()
        data = _enough(np.asarray(validate_data(self, X, dtype=np.float64), np.float64),
                       int(self.least))
        features = tuple(f"x{i}" for i in range(data.shape[1])) if names is None else tuple(names)
        rng = generator(seed_from(self.random_state), "mixture")
        fitted = fitted_mixture(data, features, int(self.components), int(self.least), rng)
        self.widened_ = 1.0 if limit is None else widening(fitted, data, limit)
        sent = fitted.widened(self.widened_)
        self.cost_ = float(sent.log_density(data).mean())
        facts = {"cost": self.cost_, "widened": self.widened_, "least": int(self.least)}
        self.mixture_ = Mixture(features, sent.weights, sent.means, sent.covariances,
                                data.shape[0], facts)
        return self

    def _limit(self) -> float | None:
        if self.most_cost is None:
            return None
        if isinstance(self.most_cost, bool) or not isinstance(self.most_cost, int | float) \
                or not np.isfinite(self.most_cost):
            raise InputError(explain("LocalMixture: 'most_cost'", "None or a finite number",
                                     self.most_cost))
        return float(self.most_cost)

    def protect(self, table: Table) -> Mixture:
        """Return the model of a table's numeric columns, which goes to the server."""
        names = table.schema.of_kind("numeric", "ordinal")
        data = table.numbers(names)
        fitted: Mixture = self.fit(data[~np.isnan(data).any(axis=1)], names=names).mixture_
        return fitted


def _enough(data: Floats, least: int) -> Floats:
    if data.shape[0] < least:
        raise DataError(f"A mixture needs a table of numbers with at least {least} rows. Got "
                        f"an array of shape {data.shape} (n_samples = {data.shape[0]}).")
    return data


def fitted_mixture(data: Floats, features: tuple[str, ...], components: int, least: int,
                   rng: np.random.Generator) -> Mixture:
    """Fit by EM with as many components as hold enough records."""
    for count in range(min(components, data.shape[0] // least), 0, -1):
        fitted = em(data, count, rng)
        if count == 1 or fitted.weights.min() * data.shape[0] >= least:
            return Mixture(features, fitted.weights, fitted.means, fitted.covariances,
                           data.shape[0])
    raise DataError(f"A mixture needs at least {least} records. Got {data.shape[0]}.")


def widening(mixture: Mixture, data: Floats, limit: float) -> float:
    """Return the least factor on the covariances that brings the privacy cost to the limit."""
    def cost(log_factor: float) -> float:
        return float(mixture.widened(float(np.exp(log_factor))).log_density(data).mean())

    if cost(0.0) <= limit:
        return 1.0
    low, high = 0.0, 1.0
    while cost(high) > limit:
        low, high = high, 2 * high
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if cost(middle) > limit else (low, middle)
    return float(np.exp(high))
