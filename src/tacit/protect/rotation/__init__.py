"""Distance-preserving releases: rotation, pairs of columns, projection, outsourced search."""

from __future__ import annotations

from tacit.protect.rotation.guarantee import DistancesInExpectation, DistancesPreserved
from tacit.protect.rotation.motion import MECHANISMS, Motion
from tacit.protect.rotation.outsourcing import Answer, SimilarityOutsourcing, Store
from tacit.protect.rotation.pairwise import PairwiseRotation
from tacit.protect.rotation.projection import RandomProjection
from tacit.protect.rotation.rotation import Rotation
from tacit.protect.rotation.verifying import Verification

__all__ = [
    "MECHANISMS", "Answer", "DistancesInExpectation", "DistancesPreserved", "Motion",
    "PairwiseRotation", "RandomProjection", "Rotation", "SimilarityOutsourcing", "Store",
    "Verification",
]
