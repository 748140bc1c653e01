"""What a model predicts: a label, by classification or regression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Label = str | int | float | bool
LONG, LARGE = 1_000, 10_000_000
"""A text array gives every label the room of the longest: from here on labels are objects."""
Task = Literal["classification", "regression"]


def label_array(classes: Sequence[Label]) -> npt.NDArray[Any]:
    """Return class labels as an array that keeps their type."""
    one_type = len({type(label) for label in classes}) == 1
    return np.array(classes, dtype=None if one_type and not _roomy(classes) else object)


def _roomy(classes: Sequence[Label]) -> bool:
    """Return True if an array of texts would be far larger than the texts themselves."""
    longest = max(len(label) if isinstance(label, str) else 0 for label in classes)
    return longest > LONG or longest * len(classes) > LARGE
