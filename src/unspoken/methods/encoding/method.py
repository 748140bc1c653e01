"""What the toolkit knows about the piecewise encoding (bu2007)."""

from __future__ import annotations

from unspoken.methods.encoding.formulas import Formula
from unspoken.release.lazy_imports import at
from unspoken.release.method import Method
from unspoken.release.parameters import (
    SHUFFLE,
    YES_NO,
    KeysIn,
    OneOf,
    OrNone,
    Parameter,
    PerColumn,
    Range,
    Real,
    Text,
    Whole,
)
from unspoken.release.uses import Use

MODES = ("strict", "max-mono", "anti")
_HERE = "unspoken.methods.encoding"

PIECEWISE = Method(
    name="piecewise",
    streams=True,
    summary="Shows codes in place of values; piece by piece they keep or reverse the order.",
    promise="A tree mined on the codes is decoded to the very tree of the original data.",
    transformer_at=f"{_HERE}.encoder:PiecewiseEncoder",
    quick_at=f"{_HERE}.encoding_settings:PiecewiseSettings",
    uses=(Use(("miner",), ("model",), "nothing", "exactly",
              "Order stays visible: a sample of similar data, or a few known records, undo most of "
              "it, and the decoded model tells its reader more."),),
    needs=("target",),
    parameters={
        "mode": Parameter(
            OneOf(MODES), "strict: the same model for every threshold learner; max-mono: hides "
            "more, same classification trees; anti: an equally good tree only",
            "Use 'strict' unless you know the miner.", "--mode"),
        "breakpoints": Parameter(OrNone(Whole(1)), "least number of pieces of a column; drawn "
                                 "from 20 to 60 for each, and told to nobody, if left out",
                                 "Use 1 for a single piece.", "--breakpoints"),
        "functions": Parameter(
            PerColumn(Formula(), none=True, single=False), "codes by functions of your own, by "
            "column, which must increase; equal whole numbers move up to the next one",
            """Write {"age": "0.9*x + 10"}."""),
        "looks": Parameter(
            PerColumn(Range(), none=True, single=False), "codes drawn from ranges that look real, "
            "by column", """Write {"age": [18, 95]}."""),
        "pieces": Parameter(OneOf((None, "random", "max-mono")),
                            "how a column is cut: at random places, or into the longest pieces "
                            "of one class", "Leave it out to follow the mode."),
        "min_width": Parameter(Whole(1), "distinct values that a piece of one class must have",
                               "Use 2 for what the paper does."),
        "families": Parameter(KeysIn(f"{_HERE}.draw_codes:FAMILIES"),
                              "the functions that mixed pieces are drawn from"),
        "monochromatic": Parameter(OneOf(("permutation", "record")),
                                   "codes in pieces of one class: one per value, or one per "
                                   "record"),
        "keep_zero": Parameter(OneOf(("auto", True, False)),
                               "keep zero and sign, which LightGBM needs and which gives every "
                               "zero away", flag="--keep-zero", switch=True),
        "categorical": Parameter(OneOf(("relabel", "drop", "refuse")),
                                 "what happens to columns of text: random labels, whose splits "
                                 "decode to sets of categories, or nothing of them",
                                 flag="--categorical"),
        "target": Parameter(
            OneOf(("auto", "affine", "scaled", "classes")),
            "what happens to a numeric target: affine: secret unit and secret zero; scaled: secret "
            "unit, which the Poisson criterion bears; classes: its values are labels; auto: affine "
            "for a quantity (fractions, more than 20 values, or with neutral names more than 2)",
            "Use 'auto' unless the numbers are labels.", "--target-code"),
        "clear_target": Parameter(OrNone(Text()), "the numeric target by its name, if it is to be "
                                  "released as it is", "Name the target.", "--clear-target"),
        "rare": Parameter(Whole(1), "categories of fewer records than this share one label",
                          "Use 1 to keep all of them apart.", "--rare"),
        "even_labels": Parameter(
            OrNone(Whole(2)), "put the categories of every column under this many labels of about "
            "the same frequency, which hides them from who knows frequencies, and parts of them "
            "from the miner", "Leave it out to keep them apart.", "--even-labels"),
        "neutral_names": Parameter(YES_NO, "replace the names of columns and classes; numbers "
                                   "stay numbers; the key holds the map",
                                   flag="--neutral-names", switch=True),
        "shuffle_rows": SHUFFLE,
        "unseen": Parameter(OneOf(("error", "nearest")),
                            "what `transform` does with values that were not fitted"),
        "conditioning": Parameter(
            OneOf(("auto", "none")), "whether columns are rounded, as little as it takes, so that "
            "common learners are covered: values within 1e-7, and rare ones above 200,000 rows",
            "Use 'none' to leave all values as they are.", "--conditioning"),
        "tail": Parameter(Real(0.0, 10.0), "how heavy the tails of the widths of codes are",
                          "Use 0.5; lighter tails protect less."),
    },
    guarantees_at=at(f"{_HERE}.guarantee", "SameTree"),
    adversaries_in=f"{_HERE}.adversaries",
    audit_at=f"{_HERE}.audit.audit_codes:audit_codes",
    keyed="always",
    decode_at=f"{_HERE}.decode.from_key:decode_from_key",
    in_released_order_at=f"{_HERE}.decode.from_key:in_released_order",
    released_names_at=f"{_HERE}.code_book:released_names",
    truths_at=f"{_HERE}.audit.encoded_truths:piecewise_truths",
    promise_at=f"{_HERE}.audit.code_promise:broken_codes",
    note="A 1% sample of similar data undoes most of this encoding.",
)
METHODS = (PIECEWISE,)
