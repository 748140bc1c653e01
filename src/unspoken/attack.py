"""Adversaries: one file each, beside the methods that they attack; they see a View, never a Key.

Every adversary of bu2007 (sections 3.3 and 6) and the stronger ones it leaves out. Each declares
what it needs to know; a method lists those that attack its releases, and the audit runs them.
"""

from __future__ import annotations

from unspoken.disclosure.adversary import Adversary, ColumnView, View, adversaries_for, known
from unspoken.disclosure.knowledge import PRESETS, RADII, Histogram, Knowledge, Points
from unspoken.disclosure.value_distributions import Family, Gaussian, Uniform, Zipf
from unspoken.methods.anonymity.adversaries.informed_microdata import (
    InformedMicrodata,
    KnownOrder,
    intersected,
)
from unspoken.methods.anonymity.adversaries.record_linking import (
    BackgroundKnowledge,
    Homogeneity,
    NoisyLinking,
    RecordLinking,
)
from unspoken.methods.anonymity.adversaries.table_adversary import (
    Matches,
    TableAdversary,
    TableKnowledge,
    TableView,
)
from unspoken.methods.baskets.adversaries.inverse_mining import (
    Knows,
    Puzzle,
    Share,
    disclosure,
    puzzle,
)
from unspoken.methods.baskets.adversaries.inverse_sampling import Sampled, sample_disclosure
from unspoken.methods.baskets.adversaries.item_posterior import BasketPosterior, BasketView
from unspoken.methods.baskets.adversaries.itemset_deduction import (
    Deduced,
    Deduction,
    Inferred,
    deduce,
    inferred_rules,
)
from unspoken.methods.encoding.adversaries.category_frequencies import CategoryFrequencies
from unspoken.methods.encoding.adversaries.category_pairs import CategoryPairs
from unspoken.methods.encoding.adversaries.curve_combination import (
    Combination,
    Tallies,
    tallies,
)
from unspoken.methods.encoding.adversaries.curve_fitting import (
    CurveFitting,
    Polyline,
    RegressionLine,
    Spline,
)
from unspoken.methods.encoding.adversaries.distribution_matching import FamilyMatching
from unspoken.methods.encoding.adversaries.frequency_matching import FrequencyMatching
from unspoken.methods.encoding.adversaries.ignorant import Ignorant, chance
from unspoken.methods.encoding.adversaries.known_ranks import RankInterpolation
from unspoken.methods.encoding.adversaries.known_records import KnownRecords
from unspoken.methods.encoding.adversaries.monotone_alignment import MonotoneAlignment
from unspoken.methods.encoding.adversaries.published_statistics import PublishedStatistics
from unspoken.methods.encoding.adversaries.quantile_matching import QuantileMatching
from unspoken.methods.encoding.adversaries.record_singling_out import RecordSinglingOut
from unspoken.methods.encoding.adversaries.sorting_attack import RangeSorting, RankSorting
from unspoken.methods.encoding.adversaries.two_releases import Ranges, finer, overlaps, ranges
from unspoken.methods.encoding.adversaries.unchanged_values import UnchangedValues
from unspoken.methods.rotation.adversaries.axis_directions import (
    DifferenceDirections,
    IndependentComponents,
)
from unspoken.methods.rotation.adversaries.find_known_records import NormLinking
from unspoken.methods.rotation.adversaries.known_pairs import KnownPairs
from unspoken.methods.rotation.adversaries.known_sample import KnownPairsAndSample, KnownSample
from unspoken.methods.rotation.adversaries.rotation_adversary import (
    RotatedView,
    RowAdversary,
    RowGuesses,
    RowKnowledge,
)
from unspoken.methods.rotation.adversaries.trilateration import Trilateration

__all__ = [
    "PRESETS",
    "RADII",
    "Adversary",
    "BackgroundKnowledge",
    "BasketPosterior",
    "BasketView",
    "CategoryFrequencies",
    "CategoryPairs",
    "ColumnView",
    "Combination",
    "CurveFitting",
    "Deduced",
    "Deduction",
    "DifferenceDirections",
    "Family",
    "FamilyMatching",
    "FrequencyMatching",
    "Gaussian",
    "Histogram",
    "Homogeneity",
    "Ignorant",
    "IndependentComponents",
    "Inferred",
    "InformedMicrodata",
    "Knowledge",
    "KnownOrder",
    "KnownPairs",
    "KnownPairsAndSample",
    "KnownRecords",
    "KnownSample",
    "Knows",
    "Matches",
    "MonotoneAlignment",
    "NoisyLinking",
    "NormLinking",
    "Points",
    "Polyline",
    "PublishedStatistics",
    "Puzzle",
    "QuantileMatching",
    "RangeSorting",
    "Ranges",
    "RankInterpolation",
    "RankSorting",
    "RecordLinking",
    "RecordSinglingOut",
    "RegressionLine",
    "RotatedView",
    "RowAdversary",
    "RowGuesses",
    "RowKnowledge",
    "Sampled",
    "Share",
    "Spline",
    "TableAdversary",
    "TableKnowledge",
    "TableView",
    "Tallies",
    "Trilateration",
    "UnchangedValues",
    "Uniform",
    "View",
    "Zipf",
    "adversaries_for",
    "chance",
    "deduce",
    "disclosure",
    "finer",
    "inferred_rules",
    "intersected",
    "known",
    "overlaps",
    "puzzle",
    "ranges",
    "sample_disclosure",
    "tallies",
]
