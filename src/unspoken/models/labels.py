"""What a model predicts: a label, by classification or regression."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Label = str | int | float | bool
Task = Literal["classification", "regression"]


def label_array(classes: tuple[Label, ...]) -> npt.NDArray[Any]:
    """Return class labels as an array that keeps their type."""
    one_type = len({type(label) for label in classes}) == 1
    return np.array(classes) if one_type else np.array(classes, dtype=object)
