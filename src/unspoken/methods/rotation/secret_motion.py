"""Motion: the secret map of this family, y = M (x - centre) / scale + shift, and its key."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.arrays import Floats, Ints
from unspoken.errors import ForeignKeyError, InputError, explain
from unspoken.methods.rotation.category_embedding import EMBEDDED, Embedding, embedding_of
from unspoken.methods.rotation.method import NAMES, RANDOM_PROJECTION
from unspoken.methods.rotation.streamed_moments import snapped
from unspoken.numerics.random import derive, generator
from unspoken.numerics.shuffle import permutation
from unspoken.release.key import Key
from unspoken.release.release import Release

NOISE_ROWS = 4096


@dataclass(frozen=True)
class Motion:
    """An affine map of records, with what the custodian needs to use it again.

    `decimals`: how the original values were written, for rounding what is mapped back (-1: as
    it is). `fill` replaces missing values where that was asked for. `noise` is its standard
    deviation; a release draws it from `noise_seed`, block by block of rows. `embedding` says which
    features are indicators of categories, if any are.
    """

    mechanism: str
    features: tuple[str, ...]
    matrix: Floats = field(repr=False)
    shift: Floats = field(repr=False)
    centre: Floats = field(repr=False)
    scale: Floats = field(repr=False)
    decimals: Ints = field(repr=False)
    fill: Floats | None = field(default=None, repr=False)
    order_seed: bytes | None = field(default=None, repr=False)
    noise: float = 0.0
    noise_seed: bytes | None = field(default=None, repr=False)
    target: str | None = None
    embedding: Embedding | None = None

    @property
    def inner(self) -> int:
        """Return the number of released columns."""
        return int(self.matrix.shape[0])

    @property
    def moved(self) -> bool:
        """Return True if records are centred or scaled before they are rotated."""
        return bool(np.any(self.centre != 0) or np.any(self.scale != 1))

    def apply(self, records: Floats) -> Floats:
        """Rotate records; a missing value blanks its record, or is filled if that was asked for."""
        data = _matrix(records, len(self.features))
        if self.fill is not None:
            data = np.where(np.isnan(data), self.fill, data)
        if self.moved:
            data = (data - self.centre) / self.scale
        # A missing value times zero is missing: the whole record is blank.
        rotated = data @ self.matrix.T
        if np.any(self.shift != 0):
            rotated += self.shift
        return np.asarray(rotated)

    def released(self, records: Floats, start: int) -> Floats:
        """Rotate records as the release does, noise included; the first is row `start`."""
        rotated = self.apply(records)
        if self.noise and self.noise_seed is not None:
            rotated += self.noise * block_noise(self.noise_seed, start, rotated.shape)
        return rotated

    def invert(self, rotated: Floats, snap: bool = True) -> Floats:
        """Map records back, rounded as the originals were written.

        A projection to fewer columns gives the shortest of all records that fit.
        """
        data = _matrix(rotated, self.inner) - self.shift
        back = (data @ self._backward().T) * self.scale + self.centre
        exact = snap and not self.noise and self.inner >= len(self.features)
        return snapped(back, self.decimals) if exact else np.asarray(back)

    def as_table(self, records: Floats) -> Any:
        """Return plain records as an Arrow table, embedded categories by their names."""
        if self.embedding is not None:
            return self.embedding.restored(records)
        return pa.table({name: pa.array(records[:, place], from_pandas=True)
                         for place, name in enumerate(self.features)})

    def _backward(self) -> Floats:
        if self.mechanism == RANDOM_PROJECTION.name:
            return np.asarray(np.linalg.pinv(self.matrix))
        return self.matrix.T

    def order(self, rows: int) -> Ints:
        """Return the original row of each released row."""
        if self.order_seed is None:
            return np.arange(rows)
        return np.asarray(permutation(self.order_seed, rows), np.int64)

    def to_key(self, fingerprint: str) -> Key:
        """Return the key of a release."""
        secrets: dict[str, Any] = {
            "features": list(self.features), "noise": self.noise,
            "order_seed": None if self.order_seed is None else self.order_seed.hex(),
            "noise_seed": None if self.noise_seed is None else self.noise_seed.hex(),
            "target": None if self.target is None else [self.target, self.target],
        }
        if self.embedding is not None:
            secrets[EMBEDDED] = self.embedding.to_secret()
        arrays = {"matrix": self.matrix, "shift": self.shift, "centre": self.centre,
                  "scale": self.scale, "decimals": self.decimals}
        if self.fill is not None:
            arrays["fill"] = self.fill
        return Key(self.mechanism, fingerprint, secrets, arrays)

    @classmethod
    def from_key(cls, key: Key) -> Motion:
        """Read a motion from its key."""
        if key.mechanism not in NAMES:
            raise ForeignKeyError(f"The key must be of one of {', '.join(NAMES)}. "
                                  f"This key is of '{key.mechanism}'.")
        secrets, arrays = key.secrets, key.arrays
        if "matrix" not in arrays:
            raise ForeignKeyError("The key only says which record is which: the secret map was "
                                  "forgotten (keep_key=False), and nothing can be mapped back.")
        seeds = [None if secrets[name] is None else bytes.fromhex(secrets[name])
                 for name in ("order_seed", "noise_seed")]
        return cls(key.mechanism, tuple(secrets["features"]), arrays["matrix"], arrays["shift"],
                   arrays["centre"], arrays["scale"], arrays["decimals"], arrays.get("fill"),
                   seeds[0], float(secrets["noise"]), seeds[1],
                   secrets["target"][0] if secrets.get("target") else None, embedding_of(key))


def released_names(key: Key, release: Release) -> dict[str, str]:
    """Return the released name of every original column that went out.

    Rotated columns have no names of their own: each original is part of all of them.
    """
    # A key whose secret map was forgotten still has the names.
    embedding = embedding_of(key)
    originals = key.secrets["features"] if embedding is None else embedding.columns
    names = dict.fromkeys(originals, ", ".join(release.schema.features))
    target = key.secrets.get("target")
    return names | ({target[0]: str(release.schema.target)} if target else {})


def _matrix(records: Any, columns: int) -> Floats:
    data = np.asarray(records, np.float64)
    if data.ndim != 2 or data.shape[1] != columns:
        raise InputError(explain("Records", f"an array of shape (records, {columns})",
                                 str(data.shape), "Keep the columns in the order of the key."))
    return data


def block_noise(seed: bytes, start: int, shape: tuple[int, ...]) -> Floats:
    """Return standard normal noise of some rows, the same however the rows are cut up."""
    first, last = start // NOISE_ROWS, (start + shape[0] - 1) // NOISE_ROWS
    blocks = [generator(derive(seed, "block", number)).standard_normal((NOISE_ROWS, shape[1]))
              for number in range(first, last + 1)]
    begin = start - first * NOISE_ROWS
    return np.concatenate(blocks)[begin:begin + shape[0]] if blocks else np.empty(shape)
