"""NoiseAdder: people report their values plus noise of a published law (as2000 section 2).

Who learns what. The collector learns every reported value, who sent it, what is missing or was
withheld, and everybody's choice. Against one who knows nothing else, a value is hidden in an
interval of the stated width. Against one who has reconstructed the distribution it is hidden in
less: "100% privacy" leaves .48 to .60 of the range on average, and people at the ends of the
range much less (a driver who reports the age of 1 under noise of 15 years is 16). Uniform and
Gaussian noise bound no odds (gamma is infinite); Laplace noise does. Correlated columns and
repeated reports of one value average the noise out: the device must keep what it has once
reported and never report again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from unspoken.errors import DataError, InputError, explain
from unspoken.methods.distortion.choices import (
    check_choices,
    chosen_changes,
    limited,
    markers_of,
    sent,
)
from unspoken.methods.distortion.column_noise import (
    ColumnNoise,
    ends_of,
    promise,
    rounded_out,
)
from unspoken.methods.distortion.column_sums import (
    beyond,
    refuse_extremes,
    table_beyond,
    table_ends,
)
from unspoken.methods.distortion.declared_ranges import CLAMP, note_clamped
from unspoken.methods.distortion.method import NOISE
from unspoken.methods.distortion.noise_laws import Noise, for_width
from unspoken.models.sklearn_fields import feature_names
from unspoken.numerics.random import derive
from unspoken.release.distorted import (
    Draws,
    Plan,
    chosen_columns,
    finite,
    make_release,
    of_column,
)
from unspoken.release.key import Key
from unspoken.release.method import name_in
from unspoken.release.record_key import keyed
from unspoken.release.release import Release
from unspoken.table.any_table import from_any_table
from unspoken.table.formats.wide_numbers import of_floats
from unspoken.table.table import Table


@dataclass(frozen=True)
class _Adding:
    """The change of one column: every value plus its own noise."""

    name: str
    law: ColumnNoise
    seed: bytes

    def __call__(self, batch: Any, start: int) -> Any:
        values, missing = finite(self.name, batch.column(self.name))
        known = np.where(missing, self.law.low, values)
        noisy = self.law.add(known, self.seed, start, self.name)
        return pa.array(noisy, pa.float64(), mask=missing)


class NoiseAdder(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Add uniform, Gaussian or Laplace noise to numeric columns.

    Parameters
    ----------
    family : "uniform", "gaussian" or "laplace"; one for all, or a mapping by column.
    privacy : width of the interval that holds the value, as a share of the column's range.
    confidence : confidence of that interval.
    scale : half-width a, standard deviation or b given directly, in place of `privacy`.
    ranges : mapping from column to (low, high), public knowledge; where it is silent the range of
        the data is taken, rounded outward so that nobody's value is published, and no epsilon is
        stated.
    outside : what happens to values outside a declared range: "clamp" moves them to its end,
        "refuse" raises. In a table, in an array and on a device alike.
    reports : how often each value is reported; the total epsilon is stated for all of them.
    columns : the columns to distort; all numeric features by default.
    choices : mapping from column to the column that holds each person's choice: "withhold",
        "truth" or "distort" (as2000 section 1). The choices are released, so that the miner can
        use every report as what it is.
    others : what happens to features that are not distorted: "refuse", "keep" or "drop".
    shuffle_rows : release the rows in a random order; the key says which record is which.
    random_state : for tests and experiments only; a release made with it says so.

    Attributes
    ----------
    laws_ : the public law of every column, by name.
    outside_ : how many values of which columns `protect` moved; for the custodian alone.

    Examples
    --------
    >>> adder = NoiseAdder("gaussian", 0.5, ranges={"age": (18, 90)})
    >>> release, key = adder.protect(table)  # doctest: +SKIP
    """

    def __init__(  # noqa: PLR0913
        self,
        family: Any = "gaussian",
        privacy: Any = 1.0,
        confidence: float = 0.95,
        *,
        scale: Any = None,
        ranges: Any = None,
        columns: Any = None,
        choices: Any = None,
        others: str = "refuse",
        outside: str = CLAMP,
        reports: int = 1,
        shuffle_rows: bool = True,
        random_state: Any = None,
    ) -> None:
        self.family = family
        self.privacy = privacy
        self.confidence = confidence
        self.scale = scale
        self.ranges = ranges
        self.columns = columns
        self.choices = choices
        self.others = others
        self.outside = outside
        self.reports = reports
        self.shuffle_rows = shuffle_rows
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> NoiseAdder:
        """Learn the range of every column of X that `ranges` does not name."""
        NOISE.check(self)
        data = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        names = feature_names(self)
        NOISE.check_columns(self, names)
        self._set({name: self._law(name, lambda i=i: ends_of(data[:, i]))
                   for i, name in enumerate(names)})
        return self

    def _set(self, laws: dict[str, ColumnNoise]) -> None:
        self.laws_ = laws
        self.draws_ = Draws(self.random_state)

    def _law(self, name: str, ends: Any) -> ColumnNoise:
        declared = of_column(self.ranges, name)
        low, high = ((float(e) for e in declared) if declared is not None
                     else rounded_out(name, *ends()))
        refuse_extremes(name, low, high)
        family, scale = of_column(self.family, name), of_column(self.scale, name)
        if family is None:
            raise InputError(f"NoiseAdder: 'family' is missing for column '{name}'.")
        if scale is not None:
            return self._ranged(Noise(family, float(scale)), low, high, declared is not None)
        share = of_column(self.privacy, name)
        if share is None:
            raise InputError("NoiseAdder: neither 'privacy' nor 'scale' is set for column "
                             f"'{name}'.")
        return self._ranged(for_width(family, share * (high - low), self.confidence), low, high,
                            declared is not None)

    def _ranged(self, noise: Noise, low: float, high: float, declared: bool) -> ColumnNoise:
        return ColumnNoise(noise, low, high, declared, self.outside)

    def _declared(self) -> dict[str, tuple[float, float]]:
        return {name: (law.low, law.high) for name, law in self.laws_.items() if law.declared}

    def transform(self, X: Any) -> Any:
        """Return X with fresh noise at every call; NaN stays NaN."""
        check_is_fitted(self)
        data = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        seed, out = self.draws_.next(), np.empty(data.shape, order="F")
        for index, (name, law) in enumerate(self.laws_.items()):
            out[:, index] = law.add(data[:, index], derive(seed, "noise", name), 0, name)
        places = {name: index for index, name in enumerate(self.laws_)}
        note_clamped({name: beyond(data[:, places[name]], ends)
                      for name, ends in self._declared().items()}, self.outside)
        return out

    def distort(self, record: Mapping[str, Any],
                choices: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return what one person's device sends: one record, each attribute as the person chose.

        Attributes that have no law are not sent. With `choices` the record says which attributes
        were withheld (None), reported or distorted, as `<column>_choice`.
        """
        self._ready()
        check_choices(choices, self.laws_)
        _check_record(record, self.laws_)
        seed = self.draws_.next()
        noisy = {name: _noisy(name, record[name], law, derive(seed, "noise", name))
                 for name, law in self.laws_.items()}
        true = {name: None if noisy[name] is None else float(record[name]) for name in noisy}
        return sent(true, noisy, choices)

    def _ready(self) -> None:
        """A device has no table to fit: the ranges say it all."""
        if hasattr(self, "laws_"):
            return
        NOISE.check(self)
        if not self.ranges:
            raise InputError("NoiseAdder: 'ranges' is required where there is no table to "
                             "fit. Or use NoiseAdder.from_public(mechanism).")
        NOISE.check_columns(self, list(self.ranges))
        self._set({name: self._law(name, None) for name in self.ranges})

    @classmethod
    def from_public(cls, mechanism: Mapping[str, Any], random_state: Any = None) -> NoiseAdder:
        """Return the adder that a published mechanism describes, for a person's device."""
        if name_in(mechanism) != NOISE.name:
            raise InputError(explain("The mechanism", f"'{NOISE.name}'", name_in(mechanism)))
        laws = {name: ColumnNoise.from_json(law) for name, law in mechanism["columns"].items()}
        adder = cls(confidence=float(mechanism["confidence"]), random_state=random_state)
        adder._set(laws)
        return adder

    @from_any_table
    @of_floats
    def protect(self, table: Table) -> tuple[Release, Key]:
        """Return the release of a table, and the key that says which record is which."""
        NOISE.check(self, table)
        names = chosen_columns("NoiseAdder", table.schema, ("numeric", "ordinal"), self.columns)
        names, markers = markers_of("NoiseAdder", table.schema, names, self.choices)
        ends = table_ends(table, [n for n in names if of_column(self.ranges, n) is None])
        self._set({name: self._law(name, lambda n=name: ends[n]) for name in names})
        self.outside_ = note_clamped(table_beyond(table, self._declared()), self.outside)
        seed = self.draws_.next()
        changes = {name: _Adding(name, law, derive(seed, "noise", name))
                   for name, law in self.laws_.items()}
        plan = Plan("NoiseAdder", chosen_changes(changes, markers),
                    dict.fromkeys(names, pa.float64()), self._public(markers),
                    limited(promise(self.laws_, self.confidence, self.reports), markers),
                    self.others, tuple(markers.values()), dict.fromkeys(names, "numeric"))
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(names, dtype=object)
        return keyed(make_release(table, plan, seed, self.random_state is not None), table, seed,
                     self.shuffle_rows)

    def _public(self, markers: Mapping[str, str]) -> dict[str, Any]:
        laws = {name: law.to_json(self.confidence) for name, law in self.laws_.items()}
        return {"name": NOISE.name, "confidence": self.confidence, "columns": laws,
                "choices": dict(markers)}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.non_deterministic = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _check_record(record: Mapping[str, Any], laws: Mapping[str, ColumnNoise]) -> None:
    missing = [name for name in laws if name not in record]
    if missing:
        raise DataError(f"The record has no '{missing[0]}'. Columns: "
                        f"{', '.join(list(laws)[:10])}. Use None for a value that is missing.")


def _noisy(name: str, value: Any, law: ColumnNoise, seed: bytes) -> float | None:
    if value is None or value != value:
        return None
    return float(law.add(np.array([_number(value)]), seed, 0, name)[0])


def _number(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise DataError(explain("A value to distort", "a finite number", type(value).__name__))
    return number
