"""RandomProjection: distances right on average, in fewer or more dimensions (liu2006 section 6).

The paper offers this as a remedy against its principal component attack: averaged over all R the
covariance of R V says nothing. A release holds one R, and over one R it does: the attack comes back
as the number of released columns grows (for two columns its relative error falls from .43 at l = 2
to .026 at l = 1000). Few columns hide by losing distances, and `unspoken.attack` shows how much.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np

from unspoken.errors import LeakWarning
from unspoken.methods.rotation.guarantee import in_expectation
from unspoken.methods.rotation.jl_distortion import distortion, projection
from unspoken.methods.rotation.method import RANDOM_PROJECTION
from unspoken.methods.rotation.rotation_method import RotationMethod
from unspoken.methods.rotation.secret_motion import Motion
from unspoken.methods.rotation.streamed_moments import Moments
from unspoken.numerics.random import derive, generator
from unspoken.release.guarantee import Guarantee
from unspoken.release.key import Key
from unspoken.release.method import Method
from unspoken.release.record_key import records_only
from unspoken.release.release import Release
from unspoken.table.any_table import from_any_table
from unspoken.table.formats.wide_numbers import of_floats
from unspoken.table.table import Table

CHANCE = 0.05
"""The distortion bound holds but for this chance."""


class RandomProjection(RotationMethod):
    """Release R x with independent random entries of mean 0 and variance 1/l.

    Parameters
    ----------
    columns : l, the number of released columns; None for as many as there are.
    entries : "gaussian", "sign" (+-1) or "sparse" (two thirds zeros), all scaled by 1/sqrt(l).
    keep_key : keep R, so that later records can be projected and this release mapped back; else
        R is forgotten, and the key only says which record is which.
    noise : standard deviation of Gaussian noise added to every released number; with noise the
        key maps records back only approximately.
    standardise, missing, categorical, shuffle_rows, random_state : see Rotation.
    """

    method: ClassVar[Method] = RANDOM_PROJECTION
    least_columns: ClassVar[int] = 1

    def __init__(  # noqa: PLR0913
        self,
        columns: int | None = None,
        *,
        entries: str = "gaussian",
        keep_key: bool = True,
        noise: float = 0.0,
        standardise: bool = False,
        missing: str = "refuse",
        categorical: str = "refuse",
        shuffle_rows: bool = True,
        random_state: Any = None,
    ) -> None:
        self.columns = columns
        self.entries = entries
        self.keep_key = keep_key
        self.noise = noise
        self.standardise = standardise
        self.missing = missing
        self.categorical = categorical
        self.shuffle_rows = shuffle_rows
        self.random_state = random_state

    def _draw(self, stats: Moments, names: tuple[str, ...], seed: bytes) -> Motion:
        centre, scale = self._frame_of(stats)
        rows = len(names) if self.columns is None else int(self.columns)
        matrix = projection(rows, len(names), self.entries, generator(seed, "matrix"))
        noise = float(self.noise)
        return Motion(self.method.name, names, matrix, np.zeros(rows), centre, scale,
                      stats.decimals, noise=noise,
                      noise_seed=derive(seed, "noise") if noise else None)

    def _promise(self, columns: tuple[str, ...], stats: Moments, rows: int) -> Guarantee:
        delta = distortion(len(columns), max(rows, 2), CHANCE, self.entries)
        return in_expectation(columns, delta, CHANCE, float(self.noise))

    def _public(self) -> dict[str, Any]:
        return {"proper": False, "translation": False, "entries": self.entries,
                "noise": float(self.noise), "width": int(self.motion_.matrix.shape[1])}

    @from_any_table
    @of_floats
    def protect(self, table: Table) -> tuple[Release, Key]:
        """Project a table; warn where the release gives as much away as a rotation."""
        release, key = super().protect(table)
        if self.motion_.inner > 10 * len(self.motion_.features):
            warnings.warn(LeakWarning(
                f"{self.motion_.inner} columns from {len(self.motion_.features)}: one projection "
                "to that many columns is nearly a rotation, and as easy to undo."),
                stacklevel=2)
        if self.keep_key:
            return release, key
        self._forget()
        return release, records_only(key)

    def _forget(self) -> None:
        del self.motion_, self.key_
