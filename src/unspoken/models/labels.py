"""What a model predicts: a label, by classification or regression."""

from __future__ import annotations

from typing import Literal

Label = str | int | float | bool
Task = Literal["classification", "regression"]
