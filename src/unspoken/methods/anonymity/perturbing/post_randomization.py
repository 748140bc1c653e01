"""PostRandomizer: categories exchanged by an invariant matrix (PRAM; Gouweleeuw et al. 1998).

Every value is replaced at random, by a matrix of chances that is published. The matrix is made
invariant: expected frequencies of the release are those of the original, so that a miner counts
without undoing anything. From a matrix P and the shares t of the values, Q[l, k] = P[k, l] t[k] /
(t P)[l] turns t P back into t, and R = P Q keeps t.

Who learns what. Of a single record nothing is certain; how likely its value is true is at most
the largest posterior, which the guarantee states per column. The matrix depends on the shares of
the values, so that these are disclosed. Columns are moved independently: what ties them weakens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError, InputError, explain
from unspoken.methods.anonymity.masking.masking_method import Masked, made, roles_of
from unspoken.methods.anonymity.masking.refuse_unchanged import refuse_unchanged
from unspoken.methods.anonymity.method import POST_RANDOMIZATION
from unspoken.numerics.random import generator, seed_from
from unspoken.release.distorted import chosen_columns
from unspoken.release.key import Key
from unspoken.release.record_key import keyed
from unspoken.release.release import Release
from unspoken.table.any_table import from_any_table
from unspoken.table.category_codes import coded
from unspoken.table.table import Table

OWNER = "PostRandomizer"
MAX_VALUES = 1000


def invariant(shares: Floats, stay: float) -> Floats:
    """Return a matrix R with shares @ R = shares, from one that keeps a value with `stay`."""
    size = shares.size
    other = (1.0 - stay) / max(size - 1, 1)
    plain = np.full((size, size), other)
    np.fill_diagonal(plain, stay)
    joint = plain * shares[:, None]
    back = (joint / np.maximum(joint.sum(axis=0), 1e-300)).T
    return np.asarray(plain @ back)


def exchanged(codes: Ints, matrix: Floats, rng: np.random.Generator) -> Ints:
    """Replace every code by chance."""
    reach = np.cumsum(matrix, axis=1)
    draws = rng.random(codes.size) * reach[codes, -1]
    out = np.empty(codes.size, np.int64)
    for code in np.unique(codes):
        mine = codes == code
        out[mine] = np.searchsorted(reach[code], draws[mine], side="right")
    return np.asarray(np.minimum(out, matrix.shape[0] - 1))


def _statement(moved: Mapping[str, float], certain: Sequence[str]) -> str:
    """Say what was exchanged, by column; one of one value has nothing to exchange it for."""
    shares = ", ".join(f"{share:.1%} of '{name}'" for name, share in moved.items())
    whole = ("Values were exchanged at random by a published matrix that keeps expected "
             f"frequencies; expected to become another value: {shares or 'none'}")
    if not certain:
        return f"{whole}."
    names = ", ".join(f"'{name}'" for name in certain)
    return f"{whole}, but for columns of one value, which are certain: {names}."


def _refuse_undone(name: str, stay: float, values: int) -> None:
    """Refuse a first step that leaves a value so surely that the second step brings it back."""
    if stay * values < 1.0 - 1e-12:
        raise InputError(explain(
            f"'stay' of {OWNER}", f"at least 1/{values} for '{name}', which has {values} values: "
            "with less, the second step brings back what the first has moved", stay,
            f"Use {1 / values:.3g}, which hides most, or more."))


class PostRandomizer(BaseEstimator):  # type: ignore[misc]
    """Exchange categories at random so that their frequencies stay (PRAM).

    Parameters
    ----------
    stay : the chance that the first of the two steps keeps a value: at least one over the number
        of values of every column, where a value says nothing about the original one.
    columns : the columns that are changed; None for all categorical features.
    others : "refuse", "keep" or "drop" the other features.
    shuffle_rows : release the rows in a random order.
    random_state : for tests and experiments only; a release made with it says so.

    Attributes
    ----------
    matrices_ : by column the invariant matrix, values in their order.

    Examples
    --------
    >>> release, _ = PostRandomizer(stay=0.7).protect(table)  # doctest: +SKIP
    """

    def __init__(self, stay: float = 0.8, *, columns: Any = None, others: str = "refuse",
                 shuffle_rows: bool = True, random_state: Any = None) -> None:
        self.stay = stay
        self.columns = columns
        self.others = others
        self.shuffle_rows = shuffle_rows
        self.random_state = random_state

    @from_any_table
    def protect(self, table: Table) -> tuple[Release, Key]:
        """Return the release of a table, and the key that says which record is which."""
        POST_RANDOMIZATION.check(self, table)
        names = chosen_columns(OWNER, table.schema, ("categorical", "ordinal"), self.columns)
        secret = [name for name in table.schema.with_role("sensitive") if name not in names]
        roles = roles_of(OWNER, table, names, secret, self.others)
        seed = seed_from(self.random_state)
        self.matrices_: dict[str, Floats] = {}
        changed, about, facts, moved = {}, {}, {}, {}
        for name in names:
            changed[name], about[name] = self._column(name, table.arrow([name])[name], seed)
            facts[name] = about[name].pop("most_certain")
            if name in self.matrices_:
                moved[name] = about[name].pop("moved")
        refuse_unchanged(OWNER, table, changed, table.rows, "Use a smaller 'stay'.")
        promise = Masked(
            _statement(moved, [name for name in names if name not in self.matrices_]),
            ("which values were exchanged is not published",
             "one release of these people: several releases average the chance out"),
            {"stay": float(self.stay), "most_certain": facts, "expected_moved": moved})
        release = made(table, roles, changed, None,
                       {"name": POST_RANDOMIZATION.name, "stay": float(self.stay),
                        "columns": about}, promise, seed, self.random_state is not None)
        return keyed(release, table, seed, self.shuffle_rows)

    def _column(self, name: str, column: Any, seed: bytes) -> tuple[Any, dict[str, Any]]:
        values = coded(column)
        if values.missing > MAX_VALUES:
            raise DataError(f"{OWNER}: '{name}' has {values.missing:,} values, and at most "
                            f"{MAX_VALUES:,} are exchanged. Merge some, or leave it out.")
        known = values.codes != values.missing
        if values.missing < 2:
            return column, {"form": "value", "most_certain": 1.0}
        shares = np.bincount(values.codes[known], minlength=values.missing) / max(known.sum(), 1)
        _refuse_undone(name, float(self.stay), values.missing)
        matrix = invariant(shares, float(self.stay))
        self.matrices_[name] = matrix
        moved = values.codes.copy()
        moved[known] = exchanged(values.codes[known], matrix, generator(seed, "pram", name))
        taken = values.labels.take(pa.array(np.where(known, moved, 0)))
        texts = pa.array(taken.to_pylist(), values.labels.type, mask=~known)
        posterior = matrix * shares[:, None] / np.maximum(shares @ matrix, 1e-300)
        labels = [str(value) for value in values.values()]
        return texts, {"form": "value", "labels": labels, "matrix": matrix.round(12).tolist(),
                       "most_certain": float(posterior.max()),
                       "moved": float(1.0 - shares @ np.diag(matrix))}
