"""MultiplicativeNoise: the two forms of Kim and Winkler, as baselines (liu2006 section 5).

"truncated" multiplies every value by a number from a Gaussian with mean one, cut off at
1 +- `cut` deviations. "lognormal" takes logarithms, adds Gaussian noise whose covariance is
`variance` times that of the logarithms, and takes the exponential again.

Who learns what. The noise grows with the value: zero is released as zero, small values stay small
and signs are seen. Truncated noise confines a value to a known interval around the report; neither
form bounds any odds. In the second form the noise is correlated like the data, which the manifest
publishes: covariances are no secret. Correlated columns can be filtered in the first form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from unspoken.arrays import Floats
from unspoken.errors import DataError
from unspoken.methods.distortion.choices import (
    check_choices,
    chosen_changes,
    limited,
    markers_of,
    sent,
)
from unspoken.methods.distortion.column_noise import ends_of, rounded_out
from unspoken.methods.distortion.column_sums import beyond
from unspoken.methods.distortion.declared_ranges import (
    CLAMP,
    MISSING,
    note_clamped,
    within,
)
from unspoken.methods.distortion.method import MULTIPLICATIVE_NOISE
from unspoken.methods.distortion.noise_laws import Noise
from unspoken.methods.distortion.random_factors import (
    LOGNORMAL,
    TRUNCATED,
    check_form,
    truncated_quantile,
)
from unspoken.models.sklearn_fields import feature_names
from unspoken.numerics.random import derive, shares, words
from unspoken.release.distorted import (
    Distorted,
    Draws,
    Plan,
    chosen_columns,
    finite,
    make_release,
    of_column,
)
from unspoken.release.key import Key
from unspoken.release.record_key import keyed
from unspoken.release.release import Release
from unspoken.table.any_table import from_any_table
from unspoken.table.formats.wide_numbers import of_floats
from unspoken.table.table import Table


@dataclass(frozen=True)
class Factors:
    """The public law: how factors are drawn for the columns of a row."""

    form: str
    names: tuple[str, ...]
    deviation: float
    cut: float
    covariance: Floats

    def __post_init__(self) -> None:
        """Refuse an unknown form, by name."""
        check_form(self.form)

    def draw(self, seed: bytes, index: int, start: int, count: int) -> Floats:
        """Return the factors of one column for rows `start` and following."""
        draw = {TRUNCATED: self._truncated, LOGNORMAL: self._lognormal}[self.form]
        return draw(seed, index, start, count)

    def _truncated(self, seed: bytes, index: int, start: int, count: int) -> Floats:
        bits = words(derive(seed, "factor", self.names[index]), start, count)
        return truncated_quantile(shares(bits), self.deviation, self.cut)

    def _lognormal(self, seed: bytes, index: int, start: int, count: int) -> Floats:
        root = _root(self.covariance)[index]
        total = np.zeros(count)
        for weight, name in zip(root, self.names, strict=True):
            if weight:
                bits = words(derive(seed, "factor", name), start, count)
                total += weight * Noise("gaussian", 1.0).from_words(bits)
        return np.exp(total)

    def spread(self, index: int) -> float:
        """Return the standard deviation of the factor, or of its logarithm."""
        log = float(np.sqrt(self.covariance[index, index]))
        return {TRUNCATED: self.deviation, LOGNORMAL: log}[self.form]


def _root(covariance: Floats) -> Floats:
    """Return a matrix square root that also exists where columns depend on each other."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


@dataclass(frozen=True)
class _Multiplying:
    name: str
    index: int
    law: Factors
    seed: bytes
    limits: tuple[float, float]

    def __call__(self, batch: Any, start: int) -> Any:
        values, missing = finite(self.name, batch.column(self.name))
        values = within(self.name, values, self.limits, CLAMP)
        _positive(self.name, values, self.law.form)
        factors = self.law.draw(self.seed, self.index, start, values.size)
        return pa.array(np.where(missing, 0.0, values * factors), pa.float64(), mask=missing)


def _positive(name: str, values: Floats, form: str) -> None:
    if form == LOGNORMAL and np.nanmin(values, initial=1.0) <= 0:
        raise DataError(f"Column '{name}' must be above zero, because its logarithm is taken. "
                        f"Got {float(np.nanmin(values))}. Shift it, or use form='truncated'.")


class MultiplicativeNoise(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Multiply numeric columns by random factors around one.

    Parameters
    ----------
    form : "truncated" or "lognormal".
    deviation, cut : standard deviation of the truncated form before it is cut, and where it is
        cut, in deviations.
    variance : covariance of the logarithmic noise as a multiple of the logarithms' covariance.
    ranges : mapping from column to (low, high), public knowledge; where it is silent the range of
        the data is taken, rounded outward, and published.
    columns, choices, others, outside, shuffle_rows, random_state : as for NoiseAdder.

    Attributes
    ----------
    law_ : how factors are drawn; ranges_ : the rounded range of every column.

    Examples
    --------
    >>> release, _ = MultiplicativeNoise().protect(table)  # doctest: +SKIP
    """

    def __init__(  # noqa: PLR0913
            self, form: str = "truncated", deviation: float = 0.15, cut: float = 2.0, *,
            variance: float = 0.1, columns: Any = None, choices: Any = None,
            others: str = "refuse", ranges: Any = None, outside: str = CLAMP,
            shuffle_rows: bool = True, random_state: Any = None) -> None:
        self.form = form
        self.deviation = deviation
        self.cut = cut
        self.variance = variance
        self.columns = columns
        self.choices = choices
        self.others = others
        self.ranges = ranges
        self.outside = outside
        self.shuffle_rows = shuffle_rows
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> MultiplicativeNoise:
        """Learn the covariance of the logarithms, which only the second form needs."""
        MULTIPLICATIVE_NOISE.check(self)
        data = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        MULTIPLICATIVE_NOISE.check_columns(self, feature_names(self))
        self._set(feature_names(self), data)
        return self

    def _set(self, names: Sequence[str], data: Floats) -> None:
        data = self._inside(names, data)
        for index, name in enumerate(names):
            _positive(name, data[:, index], self.form)
        covariance = np.zeros((len(names), len(names)))
        if self.form == LOGNORMAL:
            covariance = self.variance * _covariance(np.log(data))
        self.law_ = Factors(self.form, tuple(names), float(self.deviation), float(self.cut),
                            covariance)
        self.ranges_ = {name: self._declared(name) or rounded_out(name, *ends_of(data[:, i]))
                        for i, name in enumerate(names)}
        self.draws_ = Draws(self.random_state)

    def _declared(self, name: str) -> tuple[float, float] | None:
        declared = of_column(self.ranges, name)
        return None if declared is None else (float(declared[0]), float(declared[1]))

    def _limits(self, name: str) -> tuple[float, float]:
        return self._declared(name) or (-np.inf, np.inf)

    def _inside(self, names: Sequence[str], data: Floats) -> Floats:
        """Return the values moved into their declared ranges, or refuse them."""
        note_clamped({name: beyond(data[:, i], self._limits(name))
                      for i, name in enumerate(names)}, self.outside)
        parts = [within(name, data[:, i], self._limits(name), self.outside)
                 for i, name in enumerate(names)]
        return np.column_stack(parts) if parts else data

    def transform(self, X: Any) -> Any:
        """Return X times fresh factors at every call; NaN stays NaN."""
        check_is_fitted(self)
        data = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        data = self._inside(self.law_.names, data)
        seed, out = self.draws_.next(), np.empty(data.shape, order="F")
        for index, name in enumerate(self.law_.names):
            _positive(name, data[:, index], self.form)
            out[:, index] = data[:, index] * self.law_.draw(seed, index, 0, data.shape[0])
        return out

    def distort(self, record: Mapping[str, Any],
                choices: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return one record times fresh factors, or as the person chose, like NoiseAdder's.

        Attributes that have no law are not sent.
        """
        check_is_fitted(self)
        names = self.law_.names
        check_choices(choices, names)
        values = {n: None if record.get(n) is None or record[n] != record[n] else float(record[n])
                for n in names}
        seed, out = self.draws_.next(), {}
        for index, (name, true) in enumerate(values.items()):
            value = None if true is None else float(
                within(name, np.array([true]), self._limits(name), self.outside)[0])
            _positive(name, np.array([np.nan if value is None else value]), self.law_.form)
            out[name] = None if value is None \
                else float(value * self.law_.draw(seed, index, 0, 1)[0])
        return sent(values, out, choices)

    @from_any_table
    @of_floats
    def protect(self, table: Table) -> tuple[Release, Key]:
        """Return the release of a table, and the key that says which record is which."""
        MULTIPLICATIVE_NOISE.check(self, table)
        names = chosen_columns("MultiplicativeNoise", table.schema, ("numeric", "ordinal"),
                               self.columns)
        names, markers = markers_of("MultiplicativeNoise", table.schema, names, self.choices)
        for name in names:
            finite(name, table.arrow([name])[name])
        self._set(names, table.numbers(names))
        seed = self.draws_.next()
        changes = {name: _Multiplying(name, i, self.law_, seed, self._limits(name))
                   for i, name in enumerate(names)}
        plan = Plan("MultiplicativeNoise", chosen_changes(changes, markers),
                    dict.fromkeys(names, pa.float64()), self._public() | {"choices": markers},
                    limited(promise(self.law_), markers), self.others, tuple(markers.values()),
                    dict.fromkeys(names, "numeric"))
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(names, dtype=object)
        return keyed(make_release(table, plan, seed, self.random_state is not None), table, seed,
                     self.shuffle_rows)

    def _public(self) -> dict[str, Any]:
        law = self.law_
        columns = {name: {"form": law.form, "deviation": law.spread(i), "cut": law.cut,
                          "low": self.ranges_[name][0], "high": self.ranges_[name][1]}
                   for i, name in enumerate(law.names)}
        description = {"name": MULTIPLICATIVE_NOISE.name, "form": law.form, "columns": columns}
        return description | ({"covariance": law.covariance.tolist()}
                              if law.form == LOGNORMAL else {})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.positive_only = self.form == LOGNORMAL
        tags.non_deterministic = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _covariance(logs: Floats) -> Floats:
    """Return the covariance of records that are complete."""
    whole = logs[~np.isnan(logs).any(axis=1)]
    if whole.shape[0] < 2:
        raise DataError("MultiplicativeNoise needs two complete records or more. Got "
                        f"{whole.shape[0]} sample.")
    return np.atleast_2d(np.cov(whole, rowvar=False))


def promise(law: Factors) -> Distorted:
    """Return the guarantee of one release."""
    facts = {"columns": {name: {"deviation": law.spread(i), "gamma": None, "epsilon": None}
                         for i, name in enumerate(law.names)}, "epsilon_total": None}
    return Distorted("Every value was multiplied by a random factor around one. The smaller a "
                     "value, the less it is hidden.",
                     ("zero and signs are released as they are",
                      "no odds are bounded, no epsilon holds", MISSING), facts)
