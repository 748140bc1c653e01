"""Values as they are mistyped: a letter wrong, missing, doubled or in its neighbour's place.

For measuring how well records are linked (`linkage_quality`): a table is linked with a copy of
itself that has such errors.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

import numpy as np

AGAIN = 1 / 3
"""How often a value that has an error has a second one."""


def mistyped(values: Sequence[Any], rate: float, draw: np.random.Generator) -> list[Any]:
    """Return values of which a share has a typing error, and some of these a second one."""
    out = list(values)
    for share in (rate, rate * AGAIN):
        for place in np.flatnonzero(draw.random(len(out)) < share):
            if out[place] not in (None, ""):
                out[place] = one_error(str(out[place]), draw)
    return out


def one_error(text: str, draw: np.random.Generator) -> str:
    """Return a text with one typing error; a digit is mistaken for a digit."""
    place = int(draw.integers(len(text)))
    letters = string.digits if text[place].isdigit() else string.ascii_lowercase
    other = letters[int(draw.integers(len(letters)))]
    before, here, after = text[:place], text[place], text[place + 1:]
    return (before + other + after, before + after, before + other + here + after,
            before + after[:1] + here + after[1:])[int(draw.integers(4))]
