"""The same vote from all models and the records in one place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


def pooled(models: Sequence[Any], columns: Mapping[str, Any],
           classes: Sequence[str]) -> npt.NDArray[Any]:
    """Return the class for which most models vote, of equally many the first in the list."""
    votes = np.array([model.predict(columns) for model in models], object)
    counts = np.array([(votes == name).sum(axis=0) for name in classes])
    winners: npt.NDArray[Any] = np.array(classes, object)[counts.argmax(axis=0)]
    return winners
