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

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError, InputError
from unspoken.methods.rotation.breach_probability import breach_probability, reach_of
from unspoken.methods.rotation.category_embedding import Embedding, embedding_for
from unspoken.methods.rotation.guarantee import left_out
from unspoken.methods.rotation.method import ROTATION
from unspoken.methods.rotation.rotation_method import RotationMethod
from unspoken.methods.rotation.secret_motion import Motion
from unspoken.methods.rotation.streamed_moments import Moments
from unspoken.numerics.orthogonal import haar
from unspoken.numerics.random import generator
from unspoken.release.guarantee import Guarantee
from unspoken.release.method import Method
from unspoken.table.table import Table


class Rotation(RotationMethod):
    """Rotate all records by one secret orthogonal matrix, drawn uniformly (Haar).

    Parameters
    ----------
    proper : rotations only; else reflections too, which cost an attacker one record more.
    translation : move the records by a secret vector too (a rigid motion), which hides lengths.
    standardise : bring columns to mean 0 and variance 1 first; distances are then those of the
        standardised columns. Without it columns of large numbers decide every distance.
    missing : "refuse" records with missing values, release them "blank", or fill in the "mean".
    categorical : "refuse" a table with categorical features, "drop" them, or "embed" them: each
        category is a place, and records of different categories are `category_weight` apart.
    category_weight : the distance of two categories that are embedded.
    shuffle_rows : release the rows in a random order; the key can restore it.
    known_rows : rows of the table that an attacker may know in full; they are released.
    withhold : leave out every other record that such an attacker finds, within a tenth of its
        length, with a greater chance than this (liu2006 section 3.2). Those who know the rows
        learn that nobody near their span is left, and the miner mines fewer records.
    random_state : for tests and experiments only; a release made with it says so.

    Attributes
    ----------
    motion_ : the secret map; key_ : the same as a Key; n_features_in_, feature_names_in_;
    embedding_ : where categories are, None where none are; withheld_ : how many were left out.
    """

    method: ClassVar[Method] = ROTATION

    def __init__(  # noqa: PLR0913
        self,
        *,
        proper: bool = False,
        translation: bool = False,
        standardise: bool = False,
        missing: str = "refuse",
        categorical: str = "refuse",
        category_weight: float = 1.0,
        shuffle_rows: bool = True,
        known_rows: Sequence[int] | None = None,
        withhold: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.proper = proper
        self.translation = translation
        self.standardise = standardise
        self.missing = missing
        self.categorical = categorical
        self.category_weight = category_weight
        self.shuffle_rows = shuffle_rows
        self.known_rows = known_rows
        self.withhold = withhold
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
        public = {"proper": bool(self.proper), "translation": bool(self.translation)}
        if self.embedding_ is None:
            return public
        return {**public, "category_weight": self.embedding_.weight}

    def _embedding(self, table: Table) -> Embedding | None:
        if self.categorical != "embed" or not table.schema.of_kind("categorical"):
            return None
        gaps = [name for name in table.schema.of_kind("categorical")
                if self.missing == "mean" and table.engine.count_missing(table.frame, name)]
        if gaps:
            raise DataError(f"Rotation: column '{gaps[0]}' has missing categories, and categories "
                            "have no mean. Use missing='blank', or leave those records out.")
        return embedding_for(table, float(self.category_weight))

    def _promise(self, columns: tuple[str, ...], stats: Moments, rows: int) -> Guarantee:
        promise = super()._promise(columns, stats, rows)
        return promise if self.withhold is None else left_out(promise, self.withheld_)

    def _kept(self, table: Table, names: tuple[str, ...]) -> Ints | None:
        if self.withhold is None:
            return None
        known = self._known(table.rows)
        records = table.numbers(names)
        if self.missing == "mean":
            records = np.where(np.isnan(records), np.nanmean(records, axis=0), records)
        near = self._chances(records, known) > float(self.withhold)
        near[known] = False
        self.withheld_ = int(near.sum())
        return np.flatnonzero(~near)

    def _known(self, rows: int) -> Ints:
        """Return the rows that an attacker may know; strange wishes are refused."""
        known = np.unique(np.asarray(self.known_rows or (), np.int64))
        if known.size == 0 or known[-1] >= rows:
            raise InputError("Rotation: 'withhold' needs 'known_rows', the rows that an attacker "
                             f"may know, from 0 to {rows - 1}. Got {self.known_rows!r}.")
        if self.standardise:
            raise InputError("Rotation: 'withhold' needs columns as they are: leaving records out "
                             "changes means and deviations. Leave 'standardise' out.")
        if self.embedding_ is not None:
            raise InputError("Rotation: 'withhold' needs numbers alone: the indicators of a column "
                             "add up to one, which an attacker knows beside the rows. Drop the "
                             "categories.")
        return known

    def _chances(self, records: Floats, known: Ints) -> Floats:
        """Return everybody's chance of a breach; a record with a gap goes out blank, and has 0."""
        whole = np.asarray(~np.isnan(records).any(axis=1))
        if not whole[known].all():
            raise DataError("Rotation: records of 'known_rows' must be complete.")
        chances = np.zeros(records.shape[0])
        unknown, ratio = reach_of(records[whole], records[known], translated=bool(self.translation))
        sure = unknown == 1 and self.proper
        chances[whole] = breach_probability(ratio, 0 if sure else unknown, "shrunken")
        return chances
