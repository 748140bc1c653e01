"""Drawing the code of one column (bu2007 sections 5.1 to 5.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError
from unspoken.methods.encoding.code_book import ColumnCode
from unspoken.methods.encoding.draw_codes import (
    CODE_LIMIT,
    FAMILIES,
    draw_codes,
    permute_inside,
    place,
)
from unspoken.methods.encoding.own_codes import OwnCodes
from unspoken.numerics.label_runs import Pieces, choose_bp, choose_max_mp
from unspoken.numerics.random import derive, generator

FEWEST, MOST = 20, 60
"""Between which the number of pieces of a column is drawn, unless it was fixed."""
OWN = OwnCodes()


@dataclass(frozen=True)
class Recipe:
    """How a column is to be encoded; the parameters of the encoder, resolved."""

    mode: str = "strict"
    pieces: str = "random"
    breakpoints: int | None = None
    min_width: int = 2
    families: Sequence[str] = FAMILIES
    per_record: bool = False
    keep_zero: bool = True
    tail: float = 0.5

    @property
    def needs_classes(self) -> bool:
        """Return True if the classes of records matter."""
        return self.mode == "max-mono" or self.pieces == "max-mono"

    def wanted(self, rng: np.random.Generator) -> int:
        """Return the number of pieces of one column, drawn unless it was fixed (section 5.1)."""
        if self.breakpoints is not None:
            return self.breakpoints
        return int(rng.integers(FEWEST, MOST + 1))


def as_float32(name: str, values: Floats, table: Ints) -> tuple[Floats, Ints]:
    """Merge values that are one as float32; refuse what no threshold learner accepts.

    Where nothing has to be merged the values stay as they are, all 64 bits of them.
    """
    if not np.all(np.isfinite(values)):
        raise DataError(
            f"Column '{name}' must be finite. Got an infinity. "
            "Replace it by a missing value or by a number."
        )
    with np.errstate(over="ignore"):
        narrow = values.astype(np.float32)
    if not np.all(np.isfinite(narrow)):
        raise DataError(
            f"Column '{name}' must fit float32, which is what learners use. "
            f"Got {float(values[~np.isfinite(narrow)][0])!r}. Rescale the column."
        )
    starts = np.flatnonzero(np.r_[True, narrow[1:] != narrow[:-1]][: narrow.size])
    if starts.size == values.size:
        return values, table
    return narrow[starts].astype(np.float64), np.add.reduceat(table, starts, axis=0)


def draw_column(
    names: tuple[str, str], values: Floats, table: Ints | None, recipe: Recipe, seed: bytes,
    own: OwnCodes = OWN,
) -> ColumnCode:
    """Draw pieces and codes for the distinct float32 values of one column.

    `own`: a function or a range of the custodian's, in place of what is drawn.
    """
    if values.size > CODE_LIMIT - 2:
        raise DataError(
            f"Column '{names[0]}' must have at most {CODE_LIMIT - 2:,} distinct values, which is "
            f"what float32 distinguishes. Got {values.size:,}. Round the column or leave it out."
        )
    rng = generator(seed, "codes")
    pieces = _choose(values, table, recipe, rng)
    drawn = draw_codes(values, pieces, rng, recipe.families, recipe.tail,
                       own.room(names[0], values.size))
    if own.function is not None and values.size:
        drawn = own.codes(names[0], values, pieces)
    free = pieces.mono if recipe.mode == "max-mono" else np.zeros(pieces.mono.size, np.bool_)
    codes = permute_inside(drawn.codes, pieces, free, rng) if free.any() else drawn.codes
    if recipe.mode == "anti" and codes.size:
        codes = codes[-1] - codes
    placed = _placed(codes, values, recipe, own, rng) if codes.size else codes
    shift = int(placed[0] - codes[0]) if codes.size else 0
    record = free if recipe.per_record else np.zeros(free.size, np.bool_)
    return ColumnCode(names[0], names[1], values, placed, pieces, record, drawn.low + shift,
                      drawn.high + shift, derive(seed, "records"))


def _placed(codes: Ints, values: Floats, recipe: Recipe, own: OwnCodes,
            rng: np.random.Generator) -> Ints:
    """Shift codes to where they are released: those of a function stay, a range has its place."""
    if own.function is not None:
        return codes
    if own.whole is None:
        return place(codes, values, recipe.keep_zero, rng)
    low, high = own.whole
    return np.asarray(codes + low + int(rng.integers(high - low - int(codes.max()) + 1)))


def _choose(
    values: Floats, table: Ints | None, recipe: Recipe, rng: np.random.Generator
) -> Pieces:
    if recipe.pieces == "max-mono" and table is not None:
        return choose_max_mp(table, recipe.wanted(rng), recipe.min_width, rng)
    return choose_bp(table, values.size, recipe.wanted(rng), rng)
