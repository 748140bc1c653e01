"""Rotation: release distances, not values (liu2006 sections 1 and 2).

Who learns what. The miner sees every distance between records, the number of records, the target
and, without a translation, every record's length. That is much: an adversary who knows n records
in full and finds them (by their length: nearly always unambiguous) has everything; n - 1 are
enough if reflections are ruled out. A sample of similar data gives the map away through its
principal axes (section 4), and on whole-numbered data the differences between records show the
axes to an adversary who knows nothing. Use this against a miner who has a contract, not against
the public.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from unspoken.methods.rotation.method import ROTATION
from unspoken.methods.rotation.rotation_method import RotationMethod
from unspoken.methods.rotation.secret_motion import Motion
from unspoken.methods.rotation.streamed_moments import Moments
from unspoken.numerics.orthogonal import haar
from unspoken.numerics.random import generator
from unspoken.release.method import Method


class Rotation(RotationMethod):
    """Rotate all records by one secret orthogonal matrix, drawn uniformly (Haar).

    Parameters
    ----------
    proper : rotations only; else reflections too, which cost an attacker one record more.
    translation : move the records by a secret vector too (a rigid motion), which hides lengths.
    standardise : bring columns to mean 0 and variance 1 first; distances are then those of the
        standardised columns. Without it columns of large numbers decide every distance.
    missing : "refuse" records with missing values, release them "blank", or fill in the "mean".
    categorical : "refuse" a table with categorical features, or "drop" them.
    shuffle_rows : release the rows in a random order; the key can restore it.
    random_state : for tests and experiments only; a release made with it says so.

    Attributes
    ----------
    motion_ : the secret map; key_ : the same as a Key; n_features_in_, feature_names_in_.
    """

    method: ClassVar[Method] = ROTATION

    def __init__(
        self,
        *,
        proper: bool = False,
        translation: bool = False,
        standardise: bool = False,
        missing: str = "refuse",
        categorical: str = "refuse",
        shuffle_rows: bool = True,
        random_state: Any = None,
    ) -> None:
        self.proper = proper
        self.translation = translation
        self.standardise = standardise
        self.missing = missing
        self.categorical = categorical
        self.shuffle_rows = shuffle_rows
        self.random_state = random_state

    def _draw(self, stats: Moments, names: tuple[str, ...], seed: bytes) -> Motion:
        width = len(names)
        centre, scale = self._frame_of(stats)
        matrix = haar(width, generator(seed, "matrix"), self.proper)
        shift = np.zeros(width)
        if self.translation:
            # As long as a typical record: longer would cost digits and hide nothing more.
            size = np.sqrt(width) if self.standardise else stats.size
            shift = generator(seed, "shift").standard_normal(width) * (size or 1.0)
        return Motion(self.method.name, names, matrix, shift, centre, scale, stats.decimals)

    def _public(self) -> dict[str, Any]:
        return {"proper": bool(self.proper), "translation": bool(self.translation)}
