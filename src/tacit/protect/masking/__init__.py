"""Methods that hide people among each other: coarser, cut off, moved or left out."""

from __future__ import annotations

from tacit.protect.masking.coarser import Generalizer, TopBottomCoder
from tacit.protect.masking.common import Anonymous, Masked
from tacit.protect.masking.mondrian import MondrianAnonymizer
from tacit.protect.masking.moved import CellSuppressor, DataSwapper, SampleReleaser

__all__ = ["Anonymous", "CellSuppressor", "DataSwapper", "Generalizer", "Masked",
           "MondrianAnonymizer", "SampleReleaser", "TopBottomCoder"]
