"""Release methods, one file or folder each, with their decode and their guarantee."""

from __future__ import annotations

from tacit.protect.decode import decode
from tacit.protect.discretize import Discretizer
from tacit.protect.mixture import LocalMixture
from tacit.protect.multiplicative import MultiplicativeNoise
from tacit.protect.noise import NoiseAdder
from tacit.protect.piecewise import PiecewiseEncoder
from tacit.protect.response import RandomizedResponse
from tacit.protect.rotation import (
    PairwiseRotation,
    RandomProjection,
    Rotation,
    SimilarityOutsourcing,
    Store,
)

__all__ = ["Discretizer", "LocalMixture", "MultiplicativeNoise", "NoiseAdder", "PairwiseRotation",
           "PiecewiseEncoder", "RandomProjection", "RandomizedResponse", "Rotation",
           "SimilarityOutsourcing", "Store", "decode"]
