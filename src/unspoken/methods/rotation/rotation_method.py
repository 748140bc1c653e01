"""What every method of this family shares: a transformer, a release, a key, a way back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError, ForeignKeyError
from unspoken.methods.rotation.category_embedding import Embedding
from unspoken.methods.rotation.guarantee import preserved
from unspoken.methods.rotation.rotated_release import (
    numeric_features,
    release_of,
    table_moments,
)
from unspoken.methods.rotation.secret_motion import Motion
from unspoken.methods.rotation.streamed_moments import Moments, moments
from unspoken.models.sklearn_fields import feature_names
from unspoken.numerics.random import derive, fresh_seed, seed_from
from unspoken.release.guarantee import Guarantee
from unspoken.release.key import Key
from unspoken.release.method import Method
from unspoken.release.record_key import KEPT, original_rows, taken, with_original
from unspoken.release.release import Release
from unspoken.table.any_table import from_any_table
from unspoken.table.formats.wide_numbers import of_floats
from unspoken.table.table import Table

_ROWS = 1 << 16


class RotationMethod(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the methods that release records as M x: parameters of all of them.

    `standardise`, `missing`, `categorical`, `shuffle_rows` and `random_state` mean the same
    everywhere; see Rotation.
    """

    method: ClassVar[Method]
    least_columns: ClassVar[int] = 2

    standardise: bool
    missing: str
    categorical: str
    shuffle_rows: bool
    random_state: Any
    embedding_: Embedding | None = None

    def _draw(self, stats: Moments, names: tuple[str, ...], seed: bytes) -> Motion:
        """Draw the secret map for data of these moments."""
        raise NotImplementedError

    def _promise(self, columns: tuple[str, ...], stats: Moments, rows: int) -> Guarantee:
        """Return the guarantee of a release of these columns; a rotation keeps all distances."""
        blank = stats.gaps if self.missing == "blank" else 0
        return preserved(columns, stats, bool(self.standardise), blank, self.embedding_)

    def _public(self) -> dict[str, Any]:
        """Return what the release says about the mechanism besides its name."""
        return {}

    def _checked(self) -> None:
        self.method.check(self)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the secret map for the columns of X."""
        self._checked()
        self.embedding_ = None
        data = validate_data(self, X, dtype="numeric", ensure_all_finite=False)
        data = np.asarray(data, np.float64)
        blocks = (data[i:i + _ROWS] for i in range(0, data.shape[0], _ROWS))
        names = feature_names(self)
        self._learn(names, lambda: moments(blocks, len(names)), seed_from(self.random_state))
        return self

    def _learn(self, names: tuple[str, ...], measure: Callable[[], Moments],
               seed: bytes) -> Moments:
        if len(names) < self.least_columns:
            raise DataError(
                f"{type(self).__name__} needs at least {self.least_columns} columns "
                f"(n_features = {len(names)} feature(s) given): one column alone can only be "
                "mirrored, and its values would leave as they are.")
        measured = measure()
        _check_values(type(self).__name__, measured, self.missing)
        motion = self._draw(measured, names, derive(seed, "motion"))
        fill = measured.mean if self.missing == "mean" else None
        self.motion_ = replace(motion, fill=fill, embedding=self.embedding_)
        self.key_ = self.motion_.to_key("")
        return measured

    def _frame_of(self, stats: Moments) -> tuple[Floats, Floats]:
        """Return what is subtracted from and divided out of columns before they are rotated."""
        width = stats.mean.size
        centre, scale = np.zeros(width), np.ones(width)
        if self.standardise:
            centre, scale = stats.mean, np.where(stats.spread > 0, stats.spread, 1.0)
        return (centre, scale) if self.embedding_ is None else self.embedding_.frame(centre, scale)

    def transform(self, X: Any) -> Any:
        """Rotate records, those of the release or later ones, with the same secret map."""
        check_is_fitted(self)
        data = validate_data(self, X, dtype="numeric", ensure_all_finite=False, reset=False)
        _check_later(type(self).__name__, data, self.missing)
        rotated = self.motion_.apply(data)
        if self.motion_.noise:
            seed = fresh_seed() if self.random_state is None else seed_from(self.random_state)
            later = replace(self.motion_, noise_seed=derive(seed, "later"))
            rotated = later.released(data, 0)
        return rotated

    def inverse_transform(self, Z: Any) -> Any:
        """Map released records back, rounded as the originals were written."""
        check_is_fitted(self)
        return self.motion_.invert(np.asarray(Z, np.float64))

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Return the names of the released columns, which are mixtures of the original ones."""
        check_is_fitted(self)
        return np.array([f"r{i + 1}" for i in range(self.motion_.inner)], dtype=object)

    @from_any_table
    @of_floats
    def protect(self, table: Table) -> tuple[Release, Key]:
        """Draw a secret map, return the rotated table and the key that maps it back."""
        self._checked()
        self.embedding_ = self._embedding(table)
        spread = table if self.embedding_ is None else self.embedding_.spread(table)
        names = numeric_features(type(self).__name__, spread.schema, self.categorical)
        kept = self._kept(spread, names)
        shown = spread if kept is None else taken(spread, kept)
        seed = seed_from(self.random_state)
        stats = self._learn(names, lambda: table_moments(shown, names), seed)
        order = derive(seed, "order") if self.shuffle_rows else None
        self.motion_ = replace(self.motion_, order_seed=order, target=table.schema.target)
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(names, dtype=object)
        release = release_of(
            shown, self.motion_, self._mechanism(), seed, self.random_state is not None,
            lambda columns: self._promise(columns, stats, shown.rows))
        self.key_ = self._key_of(table, release, seed, kept)
        return release, self.key_

    def _key_of(self, table: Table, release: Release, seed: bytes, kept: Ints | None) -> Key:
        key = self.motion_.to_key(release.fingerprint).with_seal(derive(seed, "seal"))
        if kept is not None:
            key = replace(key, arrays={**key.arrays, KEPT: kept})
        return with_original(key, table, self._sent(table), seed)

    def _embedding(self, table: Table) -> Embedding | None:
        """Return where categories are placed, None where they are not released."""
        return None

    def _kept(self, table: Table, names: tuple[str, ...]) -> Ints | None:
        """Return the rows that are released, None for all."""
        return None

    def _sent(self, table: Table) -> tuple[str, ...]:
        """Return the original columns that the release is made of."""
        target = table.schema.target
        names = self.motion_.features if self.embedding_ is None else self.embedding_.columns
        return names if target is None else (*names, target)

    def _mechanism(self) -> dict[str, Any]:
        return {"name": self.method.name, "standardised": bool(self.standardise),
                "rows_shuffled": bool(self.shuffle_rows), "missing": self.missing,
                **self._public()}

    @classmethod
    def from_key(cls, key: Key) -> Self:
        """Return a fitted method that rotates later records and maps released ones back."""
        if key.mechanism != cls.method.name:
            raise ForeignKeyError(f"{cls.__name__} needs a key of '{cls.method.name}'. "
                                  f"This key is of '{key.mechanism}'.")
        method = cls()
        method.motion_ = Motion.from_key(key)
        method.missing = "blank" if method.motion_.fill is None else "mean"
        method.embedding_ = method.motion_.embedding
        method.key_ = key
        method.n_features_in_ = len(method.motion_.features)
        method.feature_names_in_ = np.array(method.motion_.features, dtype=object)
        return method

    def inverse(self, release: Release, key: Key | None = None) -> Floats:
        """Return the original records of a release, in their original order."""
        own = self.key_ if key is None else key
        motion = Motion.from_key(own)
        own.fits(release)
        rotated = release.table.numbers(release.guarantee.facts["columns"])
        rows = original_rows(own, rotated.shape[0])
        return motion.invert(rotated)[np.argsort(rows)]

    def restored(self, release: Release, key: Key | None = None) -> Any:
        """Return the original records as an Arrow table, embedded categories by their names."""
        return Motion.from_key(self.key_ if key is None else key).as_table(
            self.inverse(release, key))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "refuse"
        tags.transformer_tags.preserves_dtype = []
        return tags


def _check_values(owner: str, stats: Moments, missing: str) -> None:
    if stats.infinite:
        raise DataError(f"{owner}: values must be finite. Got {stats.infinite} records with "
                        "infinity (inf). Leave them out.")
    if not np.isfinite(stats.covariance).all():
        raise DataError(f"{owner}: the squares of values must be finite. Got numbers so large that "
                        "float64 cannot hold them. Rescale the columns.")
    if stats.gaps and missing == "refuse":
        raise DataError(
            f"{owner}: every record must be complete, because each released number mixes all "
            f"columns. {stats.gaps} records have missing values (NaN). Use missing='blank' to "
            "release those records blank, 'mean' to fill them in, or leave them out.")
    if stats.count == 0:
        raise DataError(f"{owner}: at least one complete record is needed. Got none.")


def _check_later(owner: str, data: Any, missing: str) -> None:
    if data.dtype.kind != "f":
        return
    # A sum is finite unless something in it is not, or it overflows: look closer only then.
    if np.isfinite(data.sum()):
        return
    if np.isinf(data).any():
        raise DataError(f"{owner}: values must be finite. Got infinity (inf).")
    if missing == "refuse" and np.isnan(data).any():
        raise DataError(f"{owner}: every record must be complete. Got missing values (NaN). "
                        "Leave those records out, or fit with missing='blank'.")
