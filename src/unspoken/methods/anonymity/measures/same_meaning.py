"""Sensitive values that are written differently and say the same count as one.

"Flu", "flu" and "FLU " are one illness, "1", "1.0" and "01" one number: whoever reads a class of
them knows what everybody in it has, so that L must not count them as three (Machanavajjhala et al.
2007 define L over values, not over spellings). Equal are values after NFKC and case
folding, without blanks at the ends and characters that nobody sees; numbers by their value.
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
    text = "".join(one for one in text if unicodedata.category(one) != "Cf").strip()
    number = number_in(text)
    # Case folding can undo the normal form.
    return unicodedata.normalize("NFKC", text) if number is None else repr(number + 0.0)


def alike(values: Coded) -> Coded:
    """Return a column in which values that say the same have one code, that of the first."""
    if is_number(values.labels.type):
        return values
    first: dict[str, int] = {}
    own = [first.setdefault(said_by(value), at) for at, value in enumerate(values.values())]
    kept = np.unique(np.array(own, np.int64))
    place = np.append(np.searchsorted(kept, own), kept.size)
    return Coded(place[values.codes], values.labels.take(pa.array(kept)))
