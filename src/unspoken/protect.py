"""Release methods, one file or folder each, with their decode and their guarantee."""

from __future__ import annotations

from unspoken.methods.anonymity.hierarchy_builders import build_hierarchy
from unspoken.methods.anonymity.masking import (
    CellSuppressor,
    DataSwapper,
    Generalizer,
    MondrianAnonymizer,
    SampleReleaser,
    TopBottomCoder,
)
from unspoken.methods.anonymity.perturbing import (
    Anatomizer,
    Condenser,
    IsolationGuard,
    Microaggregator,
    PostRandomizer,
)
from unspoken.methods.anonymity.recoding.optimal_recoding import OptimalRecoder
from unspoken.methods.anonymity.tree_preserving import Growth, TreePreservingAnonymizer
from unspoken.methods.baskets.guided import GuidedPerturbation
from unspoken.methods.baskets.hiding import RuleHider
from unspoken.methods.baskets.operators import CutAndPaste, Mask, SelectASize, UniformOperator
from unspoken.methods.distortion.additive_noise import NoiseAdder
from unspoken.methods.distortion.discretize import Discretizer
from unspoken.methods.distortion.multiplicative_noise import MultiplicativeNoise
from unspoken.methods.distortion.randomized_response import RandomizedResponse
from unspoken.methods.encoding.encoder import PiecewiseEncoder
from unspoken.methods.mixtures.local_mixture import LocalMixture
from unspoken.methods.private.private_offer import private_offer
from unspoken.methods.private.synthetic_rows import PrivateSynthesizer
from unspoken.methods.queries import QueryGuard, column
from unspoken.methods.rotation.pairwise_rotation import PairwiseRotation
from unspoken.methods.rotation.random_projection import RandomProjection
from unspoken.methods.rotation.similarity_outsourcing import SimilarityOutsourcing, Store
from unspoken.methods.rotation.whole_rotation import Rotation
from unspoken.release.decoding import decode

__all__ = ["Anatomizer", "CellSuppressor", "Condenser", "CutAndPaste", "DataSwapper",
           "Discretizer", "Generalizer", "Growth", "GuidedPerturbation", "IsolationGuard",
           "LocalMixture", "Mask", "Microaggregator", "MondrianAnonymizer", "MultiplicativeNoise",
           "NoiseAdder", "OptimalRecoder", "PairwiseRotation", "PiecewiseEncoder", "PostRandomizer",
           "PrivateSynthesizer", "QueryGuard", "RandomProjection", "RandomizedResponse",
           "Rotation", "RuleHider", "SampleReleaser", "SelectASize", "SimilarityOutsourcing",
           "Store", "TopBottomCoder", "TreePreservingAnonymizer", "UniformOperator",
           "build_hierarchy", "column", "decode", "private_offer"]
