"""What anonymising cost: statistics that were kept, and loss metrics.

Everything is measured from the two tables alone, row by row: what a released value stands for is
the original values that became it. So intervals, sets, levels of a hierarchy and representative
numbers are judged alike. A released value that covers v of the d distinct originals of a
category, or a stretch w of the range r of numbers, loses

    NCP   w / r for numbers; v / d for categories, nothing if v is 1 (Xu et al. 2006)
    LM    w / r for numbers; (v - 1) / (d - 1) for categories (Iyengar 2002)

GCP is the mean of NCP over all cells. A value that is missing only in the release loses 1.
Univariate statistics are means, deviations and frequencies, covariate ones are correlations
(vcz2006 section 2.1: "preservation of univariate and covariate statistics"). Intervals count as
their middles, since a miner cannot do better without more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.errors import DataError
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.category_codes import Coded, coded
from unspoken.table.table import Table

_NUMBER = r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_INTERVAL = re.compile(rf"^[\[\(]?\s*({_NUMBER})(?:\s*(?:,|\.\.|-)\s*({_NUMBER}))?\s*[\]\)]?$")


@dataclass(frozen=True)
class Kept:
    """One column before and after.

    `mean_shift` is in standard deviations of the original, `spread` the ratio of deviations;
    `frequencies` the total variation distance of how often values occur. None does not apply.
    """

    column: str
    ncp: float
    lm: float
    mean_shift: float | None
    spread: float | None
    frequencies: float | None


@dataclass(frozen=True)
class Utility:
    """What a release kept; `correlation` is the largest change of a correlation."""

    columns: tuple[Kept, ...]
    gcp: float
    lm: float
    correlation: float | None
    suppressed: float

    def summary(self) -> str:
        """Return the losses in plain words."""
        head = (f"Global certainty penalty {self.gcp:.3f}, loss metric {self.lm:.3f} "
                f"(0 keeps everything, 1 nothing); {self.suppressed:.2%} of the records left out.")
        change = [] if self.correlation is None else [
            f"No correlation changed by more than {self.correlation:.3f}."]
        return "\n".join([head, *change, *map(_line, self.columns)])

    def __str__(self) -> str:
        return self.summary()


def utility(original: Table, released: Table, columns: Sequence[str] | None = None,
            rows: npt.ArrayLike | None = None) -> Utility:
    """Compare a table with what became of it.

    `rows`: the original row of every released one, needed if records were left out.
    """
    names = tuple(columns) if columns is not None else tuple(
        name for name in released.schema.features if name in original.schema.names)
    before, after = original.arrow(names), released.arrow(names)
    where = np.arange(released.rows) if rows is None else np.asarray(rows, np.int64)
    if where.shape != (released.rows,) or (rows is None and original.rows != released.rows):
        raise DataError(f"The original has {original.rows:,} records and the release "
                        f"{released.rows:,}. Pass 'rows', the original row of every released one.")
    left = 1.0 - where.size / original.rows
    kept = tuple(_kept(name, before[name], after[name], where) for name in names)
    ncp = float(np.mean([one.ncp for one in kept])) * (1 - left) + left
    lm = float(np.mean([one.lm for one in kept])) * (1 - left) + left
    return Utility(kept, ncp, lm, _correlations(names, before, after), left)


def _kept(name: str, before: Any, after: Any, where: Any) -> Kept:
    numeric = is_number(before.type)
    was, now = coded(before), coded(after)
    ncp, lm = _loss(before, was, now, where, numeric)
    first, second = (numbers_of(before), numbers_of(after)) if numeric else (None, None)
    if first is None or second is None or np.isnan(second).all():
        return Kept(name, ncp, lm, None, None, _frequencies(was, now))
    spread = float(np.nanstd(first))
    return Kept(name, ncp, lm, abs(float(np.nanmean(second) - np.nanmean(first))) / (spread or 1.0),
                float(np.nanstd(second)) / (spread or 1.0), None)


def _loss(before: Any, was: Coded, now: Coded, where: Any, numeric: bool) -> tuple[float, float]:
    """Return the mean NCP and LM over the released records."""
    origin = was.codes[where]
    both = origin != was.missing
    gone = both & (now.codes == now.missing)
    held = both & ~gone
    ncp, lm = np.zeros(origin.size), np.zeros(origin.size)
    ncp[gone] = lm[gone] = 1.0
    if numeric:
        values = np.asarray(to_numbers(was.labels), np.float64)
        whole = float(np.ptp(values)) if values.size else 0.0
        low = np.full(now.missing + 1, np.inf)
        high = np.full(now.missing + 1, -np.inf)
        np.minimum.at(low, now.codes[held], values[origin[held]])
        np.maximum.at(high, now.codes[held], values[origin[held]])
        ncp[held] = lm[held] = ((high - low)[now.codes[held]]) / (whole or 1.0)
    else:
        pairs = np.unique(now.codes[held] * (was.missing + 1) + origin[held])
        covered = np.bincount(pairs // (was.missing + 1), minlength=now.missing + 1)
        loss, size = covered[now.codes[held]], was.missing
        ncp[held] = np.where(loss > 1, loss / max(size, 1), 0.0)
        lm[held] = (loss - 1) / max(size - 1, 1)
    return float(ncp.mean()), float(lm.mean())


def numbers_of(column: Any) -> Floats | None:
    """Return a column as numbers, intervals as their middles; None where some are neither.

    Truths are 0 and 1, as they are in the original.
    """
    if is_number(column.type):
        return np.asarray(to_numbers(column), np.float64)
    values = coded(column)
    middles = np.full(values.missing + 1, np.nan)
    for place, label in enumerate(values.values()):
        match = _INTERVAL.match(str(label).replace("False", "0").replace("True", "1"))
        if match is None:
            return None
        low = float(match[1])
        middles[place] = low if match[2] is None else (low + float(match[2])) / 2
    return middles[values.codes]


def _frequencies(was: Coded, now: Coded) -> float | None:
    """Return the total variation distance, None if the release has values of its own."""
    if not set(now.values()) <= set(was.values()):
        return None
    place = {value: at for at, value in enumerate(was.values())}
    shares = np.bincount(was.codes, minlength=was.missing + 1) / max(was.codes.size, 1)
    to = np.array([place[value] for value in now.values()] + [was.missing])
    after = np.bincount(to[now.codes], minlength=shares.size) / max(now.codes.size, 1)
    return float(0.5 * np.abs(shares - after).sum())


def _correlations(names: Sequence[str], before: Any, after: Any) -> float | None:
    usable = [(a, b) for name in names if is_number(before[name].type)
              if (a := numbers_of(before[name])) is not None
              and (b := numbers_of(after[name])) is not None]
    if len(usable) < 2:
        return None
    first, second = (_correlation([pair[side] for pair in usable]) for side in (0, 1))
    return float(np.abs(first - second).max())


def _correlation(columns: list[Floats]) -> Floats:
    data = np.column_stack(columns)
    data = data[~np.isnan(data).any(axis=1)]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.nan_to_num(np.corrcoef(data, rowvar=False)))


def _line(one: Kept) -> str:
    if one.mean_shift is None or one.spread is None:
        moved = "" if one.frequencies is None else f"; frequencies moved by {one.frequencies:.3f}"
    else:
        moved = f"; mean moved by {one.mean_shift:.3f} deviations, spread x {one.spread:.3f}"
    return f"'{one.column}': NCP {one.ncp:.3f}, LM {one.lm:.3f}{moved}"
