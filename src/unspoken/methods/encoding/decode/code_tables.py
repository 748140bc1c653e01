"""Code tables of whole columns, for learners that place thresholds between column values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.errors import DecodeError
from unspoken.methods.encoding.decode.decoder_protocol import Codebook
from unspoken.methods.encoding.decode.training_rows import Rows


@dataclass(frozen=True)
class Table:
    """The distinct codes of one column, increasing, and the original value of each."""

    name: str
    codes: Floats
    values: Floats

    def position(self, wanted: Floats) -> tuple[Ints, Bools]:
        """Return where each wanted number stands among the codes, and whether it is one."""
        if self.codes.size == 0:
            return np.zeros(wanted.size, np.int64), np.zeros(wanted.size, np.bool_)
        at = np.minimum(np.searchsorted(self.codes, wanted), self.codes.size - 1)
        return at, np.asarray(self.codes[at] == wanted)


def check_float64(book: Codebook, learner: str) -> None:
    """Refuse key-only decoding for learners that see float64, if the key has float32 only.

    A book says by `float64_values` that its values are the original ones to the last bit.
    """
    if not getattr(book, "float64_values", False):
        raise DecodeError(f"{learner} sees values in float64, and this key holds them as float32 "
                          "only. Pass the training data.")


def key_table(book: Codebook, column: int) -> Table:
    """Return the table of one column from the key alone."""
    values, codes = book.column(column)
    return _checked(book, book.features[column], codes.astype(np.float64),
                    values.astype(np.float64))


def data_table(
    rows: Rows, column: int, chosen: Ints | None = None, name: str | None = None
) -> Table:
    """Return the table of one column from the training rows, in full float64.

    Learners that see float64 distinguish values that share a float32, and so a code; that is
    refused. `chosen` restricts it to some rows.
    """
    if rows.ranks is not None:
        return _checked(rows.book, name or rows.book.features[column],
                        *rows.ranks.seen(column, chosen))
    part = slice(None) if chosen is None else chosen
    codes, values = rows.codes[part, column], rows.values[part, column]
    known = ~np.isnan(values)
    codes, first, group = np.unique(codes[known], return_index=True, return_inverse=True)
    if np.any(values[known] != values[known][first][group]):
        raise DecodeError(
            f"feature '{name or rows.book.features[column]}' has different values that share a "
            "code, because they are equal in float32; this learner sees float64 and distinguishes "
            "them. Round the column to float32 before protecting it."
        )
    return _checked(rows.book, name or rows.book.features[column], codes, values[known][first])


def _checked(book: Codebook, name: str, codes: Floats, values: Floats) -> Table:
    if not book.increasing:
        raise DecodeError(
            f"feature '{name}': codes are reversed (mode 'anti'). Only scikit-learn's decision "
            "trees, forests and gradient boosting can be decoded then. Protect with "
            "mode='strict'."
        )
    if np.any(values[1:] <= values[:-1]) or np.any(codes[1:] <= codes[:-1]):
        raise DecodeError(
            f"feature '{name}': codes do not increase with the values (permuted pieces), and "
            "boosting on them is not what it would have been on the original. Protect with "
            "mode='strict'."
        )
    return Table(name, codes, values)


def unexplained(where: str, feature: str, threshold: float, learner: str) -> DecodeError:
    """Return the error for a threshold that this learner cannot have put there."""
    return DecodeError(
        f"{where}: {learner} cannot have put a threshold at {threshold} on feature '{feature}' "
        "of this release. It was mined from other data, or from a sample of the rows. Pass the "
        "training data if you decoded with the key alone, or decode with the right key."
    )
