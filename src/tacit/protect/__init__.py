"""Release methods, one file or folder each, with their decode and their guarantee."""

from __future__ import annotations

from tacit.protect.decode import decode
from tacit.protect.piecewise import PiecewiseEncoder

__all__ = ["PiecewiseEncoder", "decode"]
