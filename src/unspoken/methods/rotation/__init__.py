"""Distance-preserving releases: rotation, pairs of columns, projection, outsourced search."""

from __future__ import annotations

from unspoken.methods.rotation.guarantee import DistancesInExpectation, DistancesPreserved
from unspoken.methods.rotation.pairwise_rotation import PairwiseRotation
from unspoken.methods.rotation.random_projection import RandomProjection
from unspoken.methods.rotation.secret_motion import MECHANISMS, Motion
from unspoken.methods.rotation.similarity_outsourcing import (
    Answer,
    SimilarityOutsourcing,
    Store,
)
from unspoken.methods.rotation.verify_distances import Verification
from unspoken.methods.rotation.whole_rotation import Rotation

__all__ = [
    "MECHANISMS", "Answer", "DistancesInExpectation", "DistancesPreserved", "Motion",
    "PairwiseRotation", "RandomProjection", "Rotation", "SimilarityOutsourcing", "Store",
    "Verification",
]
