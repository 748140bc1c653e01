"""Release methods, one file or folder each, with their decode and their guarantee."""

from __future__ import annotations

from tacit.protect.anonymize import Growth, TreePreservingAnonymizer
from tacit.protect.baskets import (
    CutAndPaste,
    GuidedPerturbation,
    Mask,
    SelectASize,
    UniformOperator,
)
from tacit.protect.decode import decode
from tacit.protect.discretize import Discretizer
from tacit.protect.hiding import RuleHider
from tacit.protect.masking import (
    CellSuppressor,
    DataSwapper,
    Generalizer,
    MondrianAnonymizer,
    SampleReleaser,
    TopBottomCoder,
)
from tacit.protect.mixture import LocalMixture
from tacit.protect.multiplicative import MultiplicativeNoise
from tacit.protect.noise import NoiseAdder
from tacit.protect.piecewise import PiecewiseEncoder
from tacit.protect.queries import QueryGuard, column
from tacit.protect.response import RandomizedResponse
from tacit.protect.rotation import (
    PairwiseRotation,
    RandomProjection,
    Rotation,
    SimilarityOutsourcing,
    Store,
)

__all__ = ["CellSuppressor", "CutAndPaste", "DataSwapper", "Discretizer", "Generalizer", "Growth",
           "GuidedPerturbation", "LocalMixture", "Mask", "MondrianAnonymizer",
           "MultiplicativeNoise", "NoiseAdder", "PairwiseRotation", "PiecewiseEncoder",
           "QueryGuard", "RandomProjection", "RandomizedResponse", "Rotation", "RuleHider",
           "SampleReleaser", "SelectASize", "SimilarityOutsourcing", "Store", "TopBottomCoder",
           "TreePreservingAnonymizer", "UniformOperator", "column", "decode"]
