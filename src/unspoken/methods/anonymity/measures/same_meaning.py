"""Sensitive values that are written differently and say the same count as one.

"Flu", "flu" and "FLU " are one illness, "1", "1.0" and "01" one number: whoever reads a class of
them knows what everybody in it has, so that L must not count them as three (Machanavajjhala et al.
2007 define L over values, not over spellings). Equal are values after NFKC and case
folding, without characters that nobody sees, without blanks at the ends and with one for several
between; numbers by their value, zero without its sign. A text without any sign is no value: a class
of {HIV, "", "", ""} tells of nobody anything but HIV.
"""

from __future__ import annotations

import unicodedata

import numpy as np
import pyarrow as pa

from unspoken.table.arrow_arrays import is_number
from unspoken.table.category_codes import Coded
from unspoken.table.declared_types import number_in


def said_by(value: object) -> str:
    """Return one form of all texts that say the same."""
    text = unicodedata.normalize("NFKC", str(value)).casefold()
    text = " ".join("".join(one for one in text if unicodedata.category(one) != "Cf").split())
    number = number_in(text)
    # Case folding can undo the normal form.
    return unicodedata.normalize("NFKC", text) if number is None else repr(number + 0.0)


def alike(values: Coded) -> Coded:
    """Return a column in which values that say the same have one code, that of the first.

    What says nothing has the code of missing values.
    """
    if is_number(values.labels.type):
        return _of_numbers(values)
    first: dict[str, int] = {}
    own = np.array([first.setdefault(said_by(value), at) for at, value in
                    enumerate(values.values())], np.int64)
    kept = np.unique(own[own != first.get("", -1)])
    place = np.where(own == first.get("", -1), kept.size, np.searchsorted(kept, own))
    return Coded(np.append(place, kept.size)[values.codes], values.labels.take(pa.array(kept)))


def silent(values: Coded) -> int:
    """Return how many distinct values say nothing."""
    return 0 if is_number(values.labels.type) else sum(
        said_by(value) == "" for value in values.values())


def _of_numbers(values: Coded) -> Coded:
    """Return numbers with one code for both zeros, which stand beside each other."""
    if not pa.types.is_floating(values.labels.type):
        return values
    numbers = values.labels.to_numpy(zero_copy_only=False)
    new = np.r_[True, numbers[1:] != numbers[:-1]] if numbers.size else np.zeros(0, np.bool_)
    place = np.append(np.cumsum(new) - 1, int(new.sum()))
    return Coded(place[values.codes], values.labels.filter(pa.array(new)))
