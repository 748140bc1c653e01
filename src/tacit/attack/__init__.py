"""Adversaries: one file each, registered by name; they see a View and never a Key.

Every adversary of bu2007 (sections 3.3 and 6) and the stronger ones it leaves out. Each declares
which mechanisms it attacks and what it needs to know, so that those of later mechanisms join the
same audit by registering themselves.
"""

from __future__ import annotations

from tacit.attack.baskets import BasketPosterior, BasketView
from tacit.attack.combination import Combination, Tallies, tallies
from tacit.attack.contract import Adversary, ColumnView, View, adversaries_for, known
from tacit.attack.curves import CurveFitting, Polyline, RegressionLine, Spline
from tacit.attack.deduction import Deduced, Deduction, Inferred, deduce, inferred_rules
from tacit.attack.directions import DifferenceDirections, IndependentComponents
from tacit.attack.families import Family, Gaussian, Uniform, Zipf
from tacit.attack.family import FamilyMatching
from tacit.attack.frequency import FrequencyMatching
from tacit.attack.ignorant import Ignorant, chance
from tacit.attack.informed import InformedMicrodata, KnownOrder, intersected
from tacit.attack.inverse import Knows, Puzzle, Share, disclosure, puzzle
from tacit.attack.inverse_sampling import Sampled, sample_disclosure
from tacit.attack.knowledge import PRESETS, RADII, Histogram, Knowledge, Points
from tacit.attack.known_pairs import KnownPairs
from tacit.attack.known_sample import KnownPairsAndSample, KnownSample
from tacit.attack.linking import NormLinking
from tacit.attack.published import PublishedStatistics
from tacit.attack.quantile import QuantileMatching
from tacit.attack.ranks import RankInterpolation
from tacit.attack.record_linking import (
    BackgroundKnowledge,
    Homogeneity,
    NoisyLinking,
    RecordLinking,
)
from tacit.attack.records import KnownRecords
from tacit.attack.sorting import RangeSorting, RankSorting
from tacit.attack.tables import Matches, TableAdversary, TableKnowledge, TableView
from tacit.attack.together import Ranges, finer, overlaps, ranges
from tacit.attack.traces import Totals, matched_rows, moved_points, published_columns
from tacit.attack.transcript import (
    Equations,
    Recovered,
    equations_of,
    recover,
    solve,
    stacked,
    wendel,
)
from tacit.attack.trilateration import Trilateration
from tacit.attack.turned import RowAdversary, RowGuesses, RowKnowledge, TurnedView

__all__ = [
    "PRESETS", "RADII", "Adversary", "BackgroundKnowledge", "BasketPosterior", "BasketView",
    "ColumnView", "Combination", "CurveFitting", "Deduced", "Deduction", "DifferenceDirections",
    "Equations", "Family", "FamilyMatching", "FrequencyMatching", "Gaussian", "Histogram",
    "Homogeneity", "Ignorant", "IndependentComponents", "Inferred", "InformedMicrodata",
    "Knowledge", "KnownOrder", "KnownPairs", "KnownPairsAndSample", "KnownRecords",
    "KnownSample", "Knows", "Matches", "NoisyLinking", "NormLinking", "Points", "Polyline",
    "PublishedStatistics", "Puzzle", "QuantileMatching", "RangeSorting", "Ranges",
    "RankInterpolation", "RankSorting", "RecordLinking", "Recovered", "RegressionLine",
    "RowAdversary", "RowGuesses", "RowKnowledge", "Sampled", "Share", "Spline",
    "TableAdversary", "TableKnowledge", "TableView", "Tallies", "Totals", "Trilateration",
    "TurnedView", "Uniform", "View", "Zipf", "adversaries_for", "chance", "deduce",
    "disclosure", "equations_of", "finer", "inferred_rules", "intersected", "known",
    "matched_rows", "moved_points", "overlaps", "published_columns", "puzzle", "ranges",
    "recover", "sample_disclosure", "solve", "stacked", "tallies", "wendel",
]
