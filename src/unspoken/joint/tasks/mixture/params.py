"""What everybody knows before EM begins: columns and ranges, the start, when it ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import InputError, explain
from unspoken.joint.tasks.common.column_checks import all_there, one_length
from unspoken.joint.tasks.naive_bayes.params import Numeric
from unspoken.models.mixture import Mixture
from unspoken.release.parameters import OneOf, Real, Rule, Whole, check

MOST = 1 << 20
_RULES: dict[str, tuple[Rule, str]] = {
    "covariance": (OneOf(("full", "diag")), "As scikit-learn's covariance_type."),
    "max_iter": (Whole(1), "Use 100; every iteration opens parameters."),
    "tol": (Real(0.0, 1e6), "Use 1e-3, a gain of the mean log-likelihood."),
    "reg_covar": (Real(-1e-300, 1e300), "Use 1e-6, as scikit-learn does."),
    "stop": (OneOf(("disclosed", "padded")), "'padded' always runs max_iter iterations."),
    "small": (OneOf(("refuse", "stop")), "'stop' ends with the parameters before."),
    "least": (Whole(3), "Two values follow from their mean and variance."),
    "moved": (Whole(3), "Two values that move follow from two iterations."),
    "most": (Whole(1), "It is a public bound on all records."),
    "two_agreed": (OneOf((True, False)), "Of two owners, each learns the other's sums.")}


@dataclass(frozen=True)
class MixtureParams:
    """How EM runs, and what it refuses.

    Attributes
    ----------
    covariance : {'full', 'diag'}, default 'full'
        As scikit-learn's covariance_type.
    max_iter : int, default 100
        The most iterations; every one opens parameters.
    tol : float, default 1e-3
        Stop when the mean log-likelihood changes by less.
    reg_covar : float, default 1e-6
        Added to the diagonal of covariances, as in scikit-learn.
    stop : {'disclosed', 'padded'}, default 'disclosed'
        Whether the stop by `tol` is opened; 'padded' always runs `max_iter` iterations.
    small : {'refuse', 'stop'}, default 'refuse'
        What happens below `least` or `moved`; 'stop' ends with the parameters before.
    least : int, default 10
        Members that every cluster must have, with and without any one owner's.
    moved : int, default 5
        Members that must share a change between two iterations.
    most : int, default 2**20
        A public bound on the number of all records.
    two_agreed : bool, default False
        Whether two owners agreed that each learns the other's sums.
    """

    covariance: str = "full"
    max_iter: int = 100
    tol: float = 1e-3
    reg_covar: float = 1e-6
    stop: str = "disclosed"
    small: str = "refuse"
    least: int = 10
    moved: int = 5
    most: int = MOST
    two_agreed: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be computed."""
        check("EM", _RULES, vars(self))
        if self.most > MOST or self.moved > 1000 or self.max_iter > 10_000:
            raise InputError(explain("'most', 'moved' and 'max_iter' of EM",
                                     f"at most {MOST:,}, 1,000 and 10,000",
                                     f"{self.most:,}, {self.moved} and {self.max_iter}"))


@dataclass(frozen=True, eq=False)
class Start:
    """Weights (k), means (k, n) and covariances (k, n, n) to begin with; all public."""

    weights: Floats
    means: Floats
    covariances: Floats

    def __post_init__(self) -> None:
        count, width = self.means.shape if self.means.ndim == 2 else (0, 0)
        shapes = self.weights.shape, self.covariances.shape
        if not count or not width or shapes != ((count,), (count, width, width)):
            raise InputError(explain("A start", "weights (k), means (k, n), covariances (k, n, n)",
                                     shapes))
        good = np.isfinite(self.means).all() and np.isfinite(self.covariances).all()
        if not good or self.weights.min() <= 0 or abs(self.weights.sum() - 1) > 1e-9 \
                or np.linalg.eigvalsh(self.covariances).min() <= 0:
            raise InputError("A start must have positive weights with sum 1 and positive definite "
                             "covariances. It has not.")


@dataclass(frozen=True)
class Space:
    """The columns and their agreed ranges, in the order that everybody uses."""

    columns: tuple[Numeric, ...]

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        if not names or len(set(names)) != len(names) or len(names) > 64:
            raise InputError(explain("Columns of EM", "1 to 64, of different names", names))

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def middles(self) -> Floats:
        """Return the middle of each range."""
        return np.array([column.middle for column in self.columns])

    @property
    def halves(self) -> Floats:
        """Return half the length of each range."""
        return np.array([column.half for column in self.columns])

    def rows(self, columns: Mapping[str, Any]) -> Floats:
        """Return rows in units of z, between -1 and 1; what lies outside is refused."""
        all_there(self.names, columns)
        scaled = [column.scaled(columns[column.name]) for column in self.columns]
        one_length(scaled)
        return np.column_stack(scaled)

    def to_z(self, start: Start) -> Start:
        """Return a start in units of z; its means must lie in the ranges."""
        if start.means.shape[1] != len(self.columns):
            raise InputError(explain("A start", f"of {len(self.columns)} columns",
                                     start.means.shape))
        means = (start.means - self.middles) / self.halves
        if np.abs(means).max() > 1:
            raise InputError("The means of a start must lie in the agreed ranges. Some do not.")
        return Start(start.weights, means, start.covariances / np.outer(self.halves, self.halves))

    def from_z(self, fitted: Start, records: int, facts: Mapping[str, Any]) -> Mixture:
        """Return the pattern in the units of the data."""
        return Mixture(self.names, fitted.weights / fitted.weights.sum(),
                       self.middles + self.halves * fitted.means,
                       fitted.covariances * np.outer(self.halves, self.halves), records, facts)


def random_start(space: Space, components: int, seed: int) -> Start:
    """Return a start that everybody can draw from a public seed, without any data.

    (The book begins with random memberships at every site.)
    """
    random = np.random.default_rng(seed)
    means = space.middles + space.halves * random.uniform(-0.5, 0.5,
                                                          (components, len(space.columns)))
    spread = np.repeat(np.diag((space.halves / 2) ** 2)[None], components, axis=0)
    return Start(np.full(components, 1 / components), means, spread)
