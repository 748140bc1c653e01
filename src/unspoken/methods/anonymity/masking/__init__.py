"""Methods that hide people among each other: coarser, cut off, moved or left out."""

from __future__ import annotations

from unspoken.methods.anonymity.masking.generalize import Generalizer
from unspoken.methods.anonymity.masking.masking_method import Anonymous, Masked
from unspoken.methods.anonymity.masking.mondrian import MondrianAnonymizer
from unspoken.methods.anonymity.masking.swap_sample_suppress import (
    CellSuppressor,
    DataSwapper,
    SampleReleaser,
)
from unspoken.methods.anonymity.masking.top_bottom import TopBottomCoder

__all__ = ["Anonymous", "CellSuppressor", "DataSwapper", "Generalizer", "Masked",
           "MondrianAnonymizer", "SampleReleaser", "TopBottomCoder"]
