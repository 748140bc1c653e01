"""What the toolkit knows about hiding people among each other (fu2010, vcz2006 section 2.1)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from unspoken.methods.anonymity.anonymity_parameters import (
    ForSensitive,
    HierarchyRule,
    TableRule,
    Trees,
)
from unspoken.release.lazy_imports import at
from unspoken.release.method import Method
from unspoken.release.parameters import (
    OTHERS,
    SHUFFLE,
    YES_NO,
    Names,
    OneOf,
    OrNone,
    Parameter,
    PerColumn,
    Real,
    Share,
    Whole,
)
from unspoken.release.uses import Use

_HERE = "unspoken.methods.anonymity"
SAFE, MIN_BLOCK, LEAF_MERGE = RECODINGS = ("safe", "min-block", "leaf-merge")
DISTINCT, ENTROPY, RECURSIVE, STRONG = DIVERSITIES = ("distinct", "entropy", "recursive",
                                                      "strong")
TREE_DIVERSITIES = (DISTINCT, ENTROPY, STRONG)
LOSSES = ("loss", "entropy", "discernibility", "class")

_LEAST_K = "fewest records that look alike"
_LEAST_L = "least diversity of the sensitive columns in each class"
_OTHERS = Parameter(OTHERS, "what happens to other features")
_FEATURES = Parameter(Names(), "the columns that are changed",
                      "Leave it out for all numeric features.")
_CLASSES: Mapping[str, Parameter] = {
    "k": Parameter(Whole(1), _LEAST_K, "Use 5 or more.", "--k"),
    "l": Parameter(OrNone(Real(0.0)), _LEAST_L, "Leave it out for no demand on sensitive values.",
                   "--l"),
    "diversity": Parameter(OneOf(DIVERSITIES), "how diversity is counted"),
    "c": Parameter(Real(0.0), "the factor of recursive diversity", "Use 3."),
    "t": Parameter(OrNone(Real(0.0)), "largest distance of a class's sensitive values from the "
                   "table's", "Use 0.2, or leave it out."),
    "suppression": Parameter(Share(), "the share of records that may be left out",
                             "Use 0 to leave nobody out."),
    "columns": Parameter(Names(), "the quasi-identifiers",
                         "Leave it out for the quasi-identifiers of the schema."),
    "sensitive": Parameter(Names(), "the sensitive columns",
                           "Leave it out for the sensitive columns of the schema."),
    "others": _OTHERS,
    "shuffle_rows": SHUFFLE,
}
_HIERARCHIES = Parameter(PerColumn(HierarchyRule(), none=True, single=False),
                         "hierarchies of columns, as paths of files")
_BREAKS = ("Columns that somebody can look up but that were not declared quasi-identifiers, and "
           "knowledge of whole records.")
TREE_PRESERVING = Method(
    name="tree-preserving",
    summary="Merges values as far as a tree, learned from either table, stays the same.",
    promise="The published trees are those of the original, and K, L and t hold.",
    transformer_at=f"{_HERE}.tree_preserving.anonymizer:TreePreservingAnonymizer",
    uses=(Use(("public", "miner"), ("model",), "facts", "exactly", _BREAKS),),
    needs=("target", "quasi"),
    advised={"k": 10},
    parameters={
        "k": Parameter(Whole(1), _LEAST_K, "Use 10, or what your policy asks for.", "--k"),
        "l": Parameter(ForSensitive(Real(0.999), none=True), _LEAST_L,
                       "Use 2 or more; None asks for nothing.", "--l"),
        "tree": Parameter(Trees(), "how the trees that are kept are grown",
                          "Leave it out for a tree of the table's target."),
        "rule": Parameter(OneOf(RECODINGS), "how much is merged; all keep the tree",
                          flag="--rule"),
        "diversity": Parameter(OneOf(TREE_DIVERSITIES), "how diversity is counted"),
        "t": Parameter(ForSensitive(Real(0.0, 1.0000001), none=True), "largest distance of a "
                       "class's sensitive values from the table's",
                       "Leave it out to ask for nothing."),
        "response_quasi": Parameter(YES_NO, "count the targets among the quasi-identifiers"),
        "sensitive": Parameter(OneOf(("keep", "suppress")), "keep sensitive columns as they are, "
                               "or leave them out"),
        "refine": Parameter(YES_NO, "keep more columns than the trees ask about, as far as K "
                            "allows"),
        "others": _OTHERS,
        "shuffle_rows": SHUFFLE,
    },
    guarantees_at=at(f"{_HERE}.tree_preserving.guarantee", "TreePreserved"),
    adversaries_in=f"{_HERE}.adversaries",
    audit_at=f"{_HERE}.audit:audit_published",
    promise_at=f"{_HERE}.table_promise:broken_table",
    together_at=f"{_HERE}.audit:intersection",
)
MONDRIAN = replace(
    TREE_PRESERVING,
    name="mondrian",
    summary="Cuts the records into classes and releases each class's ranges.",
    promise="Everybody shares the published quasi-identifiers with at least k - 1 others.",
    transformer_at=f"{_HERE}.masking.mondrian:MondrianAnonymizer",
    uses=(Use(("public", "miner"), ("prediction", "statistics", "anything"), "facts", "nearly",
              _BREAKS),),
    needs=("quasi",),
    advised={"k": 10, "others": "drop"},
    parameters={
        **_CLASSES,
        "cuts": Parameter(OneOf(("median", "gain")), "cut at the median, or where the target "
                          "gains most"),
        "mode": Parameter(OneOf(("strict", "relaxed")), "strict: equal values stay together; "
                          "relaxed: they may be divided", flag="--mode"),
        "hierarchies": _HIERARCHIES,
        "publish": Parameter(OneOf(("interval", "mean")), "numbers as the interval or the mean "
                             "of their class"),
    },
    guarantees_at=at(f"{_HERE}.masking.masking_method", "Anonymous"),
    partial=True,
)
GENERALIZE = replace(
    MONDRIAN,
    name="generalize",
    summary="Brings every value of a column to one level of a hierarchy, or into bands.",
    promise="Where k is asked for, everybody looks like at least k - 1 others.",
    transformer_at=f"{_HERE}.masking.generalize:Generalizer",
    uses=(),
    parameters={
        **_CLASSES,
        "k": Parameter(OrNone(Whole(1)), _LEAST_K, "Leave it out to keep classes of any size.",
                       "--k"),
        "hierarchies": _HIERARCHIES,
        "levels": Parameter(PerColumn(Whole(0), none=True), "the level of a column's hierarchy",
                            "Use 1 for the first level of every hierarchy."),
        "widths": Parameter(PerColumn(Real(0.0), none=True), "the width of a column's bands",
                            "Use {'age': 10} for bands of ten years."),
    },
    guarantees_at=at(f"{_HERE}.masking.masking_method", "Anonymous", "Masked"),
)
OPTIMAL = replace(
    MONDRIAN,
    name="optimal-recoding",
    summary="Finds the levels of hierarchies that lose least, and proves that none lose less.",
    transformer_at=f"{_HERE}.recoding.optimal_recoding:OptimalRecoder",
    uses=(),
    parameters={
        **_CLASSES,
        "hierarchies": replace(_HIERARCHIES, advice="Leave it out to have them built."),
        "loss": Parameter(OneOf(LOSSES), "what is made small: the range that labels cover, bits, "
                          "discernibility, or records misjudged by their class", flag="--loss"),
        "local": Parameter(YES_NO, "cut classes further afterwards, each on its own",
                           flag="--local", switch=True),
        "population": Parameter(TableRule(), "the table that the records were drawn from",
                                "Leave it out if nothing is asked about the population."),
        "k_map": Parameter(Whole(1), "fewest people of the population that a record could be"),
        "delta": Parameter(Real(0.0, 1.0 + 1e-9), "largest chance that a person of the population "
                           "is in the table"),
        "shuffle_rows": SHUFFLE,
    },
)
TOP_BOTTOM = replace(
    MONDRIAN,
    name="top-bottom",
    summary="Replaces values beyond a top or a bottom by that limit.",
    promise="Extreme values are hidden; no size of a group is promised.",
    transformer_at=f"{_HERE}.masking.top_bottom:TopBottomCoder",
    uses=(),
    parameters={
        "top": Parameter(PerColumn(Real(-math.inf), none=True), "the top, for all or by column",
                         "Leave it out for no top."),
        "bottom": Parameter(PerColumn(Real(-math.inf), none=True), "the bottom, for all or by "
                            "column", "Leave it out for no bottom."),
        "share": Parameter(OrNone(Real(0.0, 0.5)), "without limits: the share of records beyond "
                           "each", "Use 0.02 to code the outer 2% on each side."),
        "columns": _FEATURES,
        "others": _OTHERS,
        "shuffle_rows": SHUFFLE,
    },
    guarantees_at=at(f"{_HERE}.masking.masking_method", "Masked"),
    partial=False,
)
SUPPRESS_CELLS = replace(
    MONDRIAN,
    name="suppress-cells",
    summary="Leaves cells blank until nobody stands out.",
    transformer_at=f"{_HERE}.masking.swap_sample_suppress:CellSuppressor",
    uses=(),
    parameters=_CLASSES,
)
SWAP = replace(
    TOP_BOTTOM,
    name="swap",
    summary="Swaps the values of columns between records, each column on its own.",
    promise="Every column keeps its distribution; who was swapped is not published.",
    transformer_at=f"{_HERE}.masking.swap_sample_suppress:DataSwapper",
    parameters={
        "share": Parameter(Real(0.0, 1.0 + 1e-9), "the share of records whose value is swapped",
                           "Use 0.1."),
        "within": Parameter(OrNone(Real(0.0, 1.0 + 1e-9)), "how far partners may lie apart, as a "
                            "share of the ranks", "Use 0.05 for partners within 5% of the ranks."),
        "columns": replace(_FEATURES, advice="Leave it out for all features."),
        "others": _OTHERS,
        "shuffle_rows": SHUFFLE,
    },
)
SAMPLE = replace(
    TOP_BOTTOM,
    name="sample",
    summary="Releases a random sample of the records, as they are.",
    promise="Most people are not in the release, and who is in it is not disclosed.",
    transformer_at=f"{_HERE}.masking.swap_sample_suppress:SampleReleaser",
    parameters={
        "share": Parameter(Real(0.0, 1.0), "the share of the records that is released",
                           "Use 0.05."),
        "others": _OTHERS,
        "shuffle_rows": SHUFFLE,
    },
    partial=True,
)
MICROAGGREGATION = replace(
    MONDRIAN,
    name="microaggregation",
    summary="Publishes groups of k alike records as their means.",
    transformer_at=f"{_HERE}.perturbing.microaggregation:Microaggregator",
    uses=(),
    parameters={
        "k": _CLASSES["k"],
        "form": Parameter(OneOf(("mdav", "univariate")), "group records by all quasi-identifiers "
                          "together, or each column on its own", flag="--form"),
        "columns": _CLASSES["columns"],
        "target_weight": Parameter(Share(), "univariate: how much groups look at the target",
                                   "Use 0 for values alone, 0.5 for both alike."),
        "sensitive": _CLASSES["sensitive"],
        "others": _OTHERS,
        "shuffle_rows": SHUFFLE,
    },
    guarantees_at=at(f"{_HERE}.masking.masking_method", "Anonymous", "Masked"),
)
CONDENSATION = replace(
    TOP_BOTTOM,
    name="condensation",
    summary="Replaces groups of k alike records by draws with their means and covariances.",
    promise="Numbers are drawn from means and covariances of at least k known values.",
    transformer_at=f"{_HERE}.perturbing.condensation:Condenser",
    parameters={
        "k": _CLASSES["k"],
        "columns": _CLASSES["columns"],
        "sensitive": _CLASSES["sensitive"],
        "others": _OTHERS,
        "shuffle_rows": SHUFFLE,
    },
)
ISOLATION_GUARD = replace(
    MONDRIAN,
    name="isolation-guard",
    summary="Publishes groups of alike records as points that isolate nobody.",
    promise="No released row (c, t)-isolates anybody, and at least t records share it.",
    transformer_at=f"{_HERE}.perturbing.isolation_guard:IsolationGuard",
    uses=(),
    parameters={
        "c": Parameter(Real(1.0), "how many times as far as a record that is guessed others may "
                       "lie", "Use 4."),
        "t": Parameter(Whole(2), "how many records must lie that near", "Use 5."),
        "columns": _CLASSES["columns"],
        "sensitive": _CLASSES["sensitive"],
        "others": _OTHERS,
        "shuffle_rows": SHUFFLE,
    },
)
POST_RANDOMIZATION = replace(
    TOP_BOTTOM,
    name="post-randomization",
    summary="Exchanges categories at random by a matrix that keeps their frequencies (PRAM).",
    promise="No single value is certain, and expected frequencies stay.",
    transformer_at=f"{_HERE}.perturbing.post_randomization:PostRandomizer",
    parameters={
        "stay": Parameter(Real(0.0, 1.0), "the chance that the first of two steps keeps a value",
                          "Use 0.8."),
        "columns": replace(_FEATURES, advice="Leave it out for all categorical features."),
        "others": _OTHERS,
        "shuffle_rows": SHUFFLE,
    },
)
ANATOMY = replace(
    TOP_BOTTOM,
    name="anatomy",
    summary="Releases quasi-identifiers as they are, and sensitive values mixed within groups.",
    promise="A sensitive value is one of at least l of its group, each equally likely.",
    transformer_at=f"{_HERE}.perturbing.anatomy:Anatomizer",
    parameters={
        "l": Parameter(Whole(2), "how many sensitive values every group holds", "Use 3.", "--l"),
        "columns": _CLASSES["columns"],
        "sensitive": _CLASSES["sensitive"],
        "others": _OTHERS,
        "shuffle_rows": SHUFFLE,
    },
)
METHODS = (TREE_PRESERVING, MONDRIAN, GENERALIZE, OPTIMAL, TOP_BOTTOM, SUPPRESS_CELLS, SWAP,
           SAMPLE, MICROAGGREGATION, CONDENSATION, ISOLATION_GUARD, POST_RANDOMIZATION, ANATOMY)
