"""The same classes from model and records in one place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt


def pooled(model: Any, columns: Mapping[str, Any]) -> npt.NDArray[Any]:
    """Return the class that a model gives every record."""
    labels: npt.NDArray[Any] = model.predict(columns)
    return labels
