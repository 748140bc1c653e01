"""How a table is encoded: every parameter, and the release that follows from them.

This is what `unspoken protect` needs of the encoder. It loads in a third of the time, as
scikit-learn, which the transformer inherits from, brings scipy and pandas with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unspoken.errors import InputError
from unspoken.methods.encoding.code_book import PiecewiseBook
from unspoken.methods.encoding.conditioning import KEPT, Levels, condition, rows_needed
from unspoken.methods.encoding.draw_codes import FAMILIES
from unspoken.methods.encoding.draw_column import OWN, Recipe, as_float32, draw_column
from unspoken.methods.encoding.encoded_release import make_release
from unspoken.methods.encoding.method import PIECEWISE
from unspoken.methods.encoding.own_codes import own_codes
from unspoken.methods.encoding.threshold_facts import all_of, threshold_facts
from unspoken.numerics.random import derive
from unspoken.release.key import Key
from unspoken.release.release import Release
from unspoken.table.any_table import from_any_table
from unspoken.table.formats.wide_numbers import of_floats
from unspoken.table.table import Table


class PiecewiseSettings:
    """The parameters of `PiecewiseEncoder`, which its docstring explains."""

    book_: PiecewiseBook
    key_: Key
    facts_: Any
    least_rows_: int
    n_features_in_: int
    feature_names_in_: Any

    def __init__(  # noqa: PLR0913
        self,
        mode: str = "strict",
        breakpoints: int | None = None,
        *,
        functions: Any = None,
        looks: Any = None,
        pieces: str | None = None,
        min_width: int = 2,
        families: Any = FAMILIES,
        monochromatic: str = "permutation",
        keep_zero: Any = "auto",
        categorical: str = "relabel",
        rare: int = 1,
        even_labels: int | None = None,
        target: str = "auto",
        clear_target: str | None = None,
        neutral_names: bool = False,
        shuffle_rows: bool = True,
        unseen: str = "error",
        tail: float = 0.5,
        conditioning: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.mode = mode
        self.breakpoints = breakpoints
        self.functions = functions
        self.looks = looks
        self.pieces = pieces
        self.min_width = min_width
        self.families = families
        self.monochromatic = monochromatic
        self.keep_zero = keep_zero
        self.categorical = categorical
        self.rare = rare
        self.even_labels = even_labels
        self.target = target
        self.clear_target = clear_target
        self.neutral_names = neutral_names
        self.shuffle_rows = shuffle_rows
        self.unseen = unseen
        self.tail = tail
        self.conditioning = conditioning
        self.random_state = random_state

    def recipe(self) -> Recipe:
        """Return the checked parameters with every default resolved."""
        PIECEWISE.check(self)
        keep = self.keep_zero is True
        if keep and self.mode != "strict":
            raise InputError(
                "PiecewiseEncoder: 'keep_zero' must be False or 'auto' unless mode is 'strict'. "
                f"Got True with mode '{self.mode}', whose codes do not keep the order throughout."
            )
        if self.functions and self.mode == "anti":
            raise InputError("PiecewiseEncoder: 'functions' increase, and mode 'anti' turns the "
                             "order round. Use mode='strict', or leave 'functions' out.")
        pieces = self.pieces or ("max-mono" if self.mode == "max-mono" else "random")
        wanted = None if self.breakpoints is None else int(self.breakpoints)
        return Recipe(self.mode, pieces, wanted, int(self.min_width),
                      tuple(self.families), self.monochromatic == "record", keep,
                      float(self.tail))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return every parameter."""
        return {name: value for name, value in vars(self).items() if not name.endswith("_")}

    def _draw(self, recipe: Recipe, names: Sequence[str], counted: list[Any], seed: bytes,
              rows: int = 0) -> None:
        columns, facts, fewest = [], [], []
        own = own_codes(self.functions, self.looks, tuple(names))
        least = rows_needed(rows) if self.conditioning == "auto" else 1
        for index, (name, (values, table)) in enumerate(zip(names, counted, strict=True)):
            merged, by_class = as_float32(name, values, table)
            levels = Levels(merged, by_class, np.zeros(0))
            if self.conditioning == "auto":
                levels = condition(merged, by_class, least)
            # A column of which float32 leaves little is not passed off as a rounded one.
            honest = self.conditioning == "auto" and merged.size >= KEPT * values.size
            facts.append(threshold_facts(levels.values if honest else values, recipe.keep_zero))
            fewest.append(int(levels.table.sum(axis=1).min(initial=2**62)))
            drawn = draw_column((name, name), levels.values,
                                levels.table if recipe.needs_classes else None,
                                recipe, derive(seed, "column", index), own.get(name, OWN))
            columns.append(replace(drawn, merged=merged.size < values.size, floor=levels.floor))
        self.book_ = PiecewiseBook(tuple(columns), recipe.mode)
        self.facts_ = all_of(facts)
        self.least_rows_ = min(fewest, default=2**62)

    @from_any_table
    @of_floats
    def protect(self, table: Table) -> tuple[Release, Key]:
        """Fit on a table and return its release and the key to it."""
        PIECEWISE.check(self, table)
        return make_release(self, table)
