"""Building hierarchies from the values of a column, where nobody wrote one down.

    steps       numbers in bands of a round width, each level a multiple of the one before
    quantiles   numbers in bands of about equally many records, merged two by two
    prefixes    texts without their last characters, one more on each level (postcodes)
    masked      texts whose first characters are hidden, one more on each level
    dates       day, month, year, decade
    frequency   categories merged rarest first
    target      categories merged that are alike in the target
    flat        the value, or *

Each ends with `*` for all. Quantiles, frequency and target look at the data, so that the labels
themselves tell something about it; the others do not.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.arrays import Floats
from unspoken.errors import DataError, InputError, explain, unknown
from unspoken.methods.anonymity.exact_bands import (
    band_label,
    band_starts,
    exact,
    exact_numbers,
    plain,
)
from unspoken.methods.anonymity.hierarchy import ALL, Hierarchy
from unspoken.release.parameters import Whole, check
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.category_codes import coded

WAYS = ("steps", "quantiles", "prefixes", "masked", "dates", "frequency", "target", "flat")
_BANDS = 16
_MOST = 64


def build_hierarchy(column: Any, how: str | None = None, *, steps: Sequence[float] | None = None,
                    bands: int = _BANDS, target: Any = None) -> Hierarchy:
    """Build the hierarchy of a column.

    Parameters
    ----------
    column : the values, an Arrow column or a sequence; missing ones are passed over.
    how : one of "steps", "quantiles", "prefixes", "masked", "dates", "frequency", "target",
        "flat"; None chooses by the type of the column and whether there is a target.
    steps : the widths of bands, each a multiple of the one before; None chooses round ones.
    bands : how many bands the first level of "quantiles" has.
    target : what categories are compared by, a value per record.

    Returns
    -------
    Hierarchy : `summary()` shows it, `to_csv(path)` saves it.
    """
    check("A hierarchy", {"bands": (Whole(1), f"Use {_BANDS}.")}, {"bands": bands})
    array = column if isinstance(column, pa.Array | pa.ChunkedArray) else pa.array(list(column))
    way = how or _default(array, target)
    if way not in WAYS:
        raise InputError(unknown("The way in which a hierarchy is built", way, WAYS))
    values = coded(array)
    if values.missing == 0:
        raise DataError("A hierarchy needs at least one value. The column has none.")
    texts = [str(value) for value in values.values()]
    counts = np.bincount(values.codes, minlength=values.missing + 1)[:values.missing]
    if way in ("steps", "quantiles"):
        _refuse_texts(array)
        numbers = exact_numbers(values.labels)
        levels = _by_steps(numbers, steps) if way == "steps" else _by_quantiles(
            numbers, counts, bands)
    elif way == "target":
        levels = _clusters(_rates(values.codes, counts, target), counts, texts)
    elif way == "frequency":
        levels = _clusters(np.zeros((counts.size, 1)), counts, texts)
    else:
        levels = _TEXTS[way](values.values())
    return _checked(texts, levels)


def _default(array: Any, target: Any) -> str:
    # A date counts as a number of days elsewhere; people read months and years.
    if pa.types.is_date(array.type) or pa.types.is_timestamp(array.type):
        return "dates"
    if is_number(array.type) and not pa.types.is_boolean(array.type):
        return "steps"
    return "frequency" if target is None else "target"


def _refuse_texts(array: Any) -> None:
    if not is_number(array.type):
        raise InputError(f"Bands are for numbers. The column holds {array.type}. Use "
                         "how='prefixes', 'frequency' or 'target'.")


def _checked(texts: Sequence[str], levels: Sequence[Sequence[str]]) -> Hierarchy:
    """Put `*` on top and leave out levels that tell what the level below tells."""
    rows: list[Sequence[str]] = [texts]
    for level in levels:
        if 1 < len(set(level)) < len(set(rows[-1])):
            rows.append(level)
    # Nothing is stripped: values that differ by a blank alone are two values of the column.
    return Hierarchy(tuple(zip(*rows, [ALL] * len(texts), strict=True)))


def _by_steps(numbers: Sequence[Fraction], steps: Sequence[float] | None) -> list[list[str]]:
    widths = _round_steps(numbers) if steps is None else _widths(steps)
    return [[band_label(low, width) for low in band_starts(numbers, width)] for width in widths]


def _widths(steps: Sequence[float]) -> list[Fraction]:
    """Return widths as they are written; others than positive multiples are refused."""
    fine = all(math.isfinite(width) and width > 0 for width in steps)
    widths = [exact(width) for width in steps] if fine else []
    if not fine or any((after / before).denominator > 1
                       for before, after in itertools.pairwise(widths)):
        raise InputError(explain("'steps'", "positive, each a multiple of the one before",
                                 list(steps)))
    return widths


def _round_steps(numbers: Sequence[Fraction]) -> list[Fraction]:
    """Return 1, 2 or 5 times a power of ten that makes about 16 bands, and its doubles."""
    spread = max(numbers) - min(numbers)
    if spread == 0:
        return []
    wanted = spread / _BANDS
    digits = math.log10(wanted.numerator) - math.log10(wanted.denominator)
    power = Fraction(10) ** math.floor(digits)
    # The logarithm is rounded: one power more is at hand.
    widths = [next(unit * power for unit in (1, 2, 5, 10, 20) if unit * power >= wanted)]
    while widths[-1] < spread:
        widths.append(widths[-1] * 2)
    return widths


def _by_quantiles(numbers: Sequence[Fraction], counts: Any, bands: int) -> list[list[str]]:
    below = np.cumsum(counts) - counts / 2
    place = np.minimum((below / counts.sum() * bands).astype(np.int64), bands - 1)
    levels = []
    while place.max() > 0:
        # The numbers stand in their order, so that a band has its ends first and last.
        ends = {int(band): np.flatnonzero(place == band)[[0, -1]] for band in np.unique(place)}
        names = {band: _closed(numbers[low], numbers[high]) for band, (low, high) in ends.items()}
        levels.append([names[int(band)] for band in place])
        place = place // 2
    return levels


def _closed(low: Fraction, high: Fraction) -> str:
    return plain(low) if low == high else f"[{plain(low)}, {plain(high)}]"


def _prefixes(values: Sequence[Any]) -> list[list[str]]:
    texts = [str(value) for value in values]
    longest = _length(texts)
    return [[text[:max(longest - cut, 0)] + ALL * len(text[max(longest - cut, 0):])
             for text in texts] for cut in range(1, longest)]


def _masked(values: Sequence[Any]) -> list[list[str]]:
    texts = [str(value) for value in values]
    return [[ALL * min(cut, len(text)) + text[cut:] for text in texts]
            for cut in range(1, _length(texts))]


def _length(texts: Sequence[str]) -> int:
    longest = max(len(text) for text in texts)
    if longest > _MOST - 2:
        raise InputError(f"Texts of at most {_MOST - 2} characters are masked one by one. The "
                         f"longest has {longest}. Use how='frequency'.")
    return longest


def _dates(values: Sequence[Any]) -> list[list[str]]:
    texts = [str(value)[:10] for value in values]
    if any(len(text) < 10 or text[4] != "-" for text in texts):
        raise InputError("how='dates' needs dates like 2024-05-31. Use another way.")
    return [texts, [text[:7] for text in texts], [text[:4] for text in texts],
            [f"{text[:3]}0s" for text in texts]]


def _flat(values: Sequence[Any]) -> list[list[str]]:
    return []


_TEXTS: dict[str, Callable[[Sequence[Any]], list[list[str]]]] = {
    "prefixes": _prefixes, "masked": _masked, "dates": _dates, "flat": _flat}


def _rates(codes: Any, counts: Any, target: Any) -> Floats:
    """Return how the target is distributed at each category; numbers by their mean."""
    if target is None:
        raise InputError("how='target' needs a target, a value per record. Pass it (target=...).")
    array = target if isinstance(target, pa.Array | pa.ChunkedArray) else pa.array(list(target))
    if len(array) != codes.size:
        raise InputError(explain("'target'", f"{codes.size} values, one per record", len(array)))
    known = coded(array)
    if is_number(array.type) and known.missing > _MOST:
        numbers = np.nan_to_num(np.asarray(to_numbers(array), np.float64))
        sums = np.bincount(codes, numbers, counts.size + 1)[:counts.size]
        return np.asarray((sums / np.maximum(counts, 1))[:, None])
    rates = np.zeros((counts.size + 1, known.missing + 1))
    np.add.at(rates, (codes, known.codes), 1.0)
    return np.asarray(rates[:counts.size] / np.maximum(counts, 1)[:, None])


def _clusters(rates: Floats, counts: Any, texts: Sequence[str]) -> list[list[str]]:
    """Merge the two groups whose union costs least (Ward), and note when they have halved."""
    groups = [[at] for at in range(counts.size)]
    centres, weights = rates.copy(), counts.astype(np.float64)
    levels, wanted = [], math.ceil(len(groups) / 2)
    while len(groups) > 2:
        a, b = _cheapest(centres, weights)
        centres[a] = np.average(centres[[a, b]], axis=0, weights=weights[[a, b]])
        weights[a] += weights[b]
        groups[a] += groups.pop(b)
        centres, weights = np.delete(centres, b, axis=0), np.delete(weights, b)
        if len(groups) == max(wanted, 2):
            levels.append(names_of_groups(groups, counts, texts))
            wanted = math.ceil(wanted / 2)
    return levels


def _cheapest(centres: Floats, weights: Floats) -> tuple[int, int]:
    apart = ((centres[:, None] - centres[None]) ** 2).sum(axis=2)
    harmonic = weights[:, None] * weights[None] / (weights[:, None] + weights[None])
    # Between equally alike groups the smaller ones are merged.
    cost = apart * harmonic + 1e-9 * (weights[:, None] + weights[None]) / weights.sum()
    cost[np.diag_indices(weights.size)] = np.inf
    first, second = np.unravel_index(int(np.argmin(cost)), cost.shape)
    return min(int(first), int(second)), max(int(first), int(second))


def names_of_groups(groups: Sequence[Sequence[int]], counts: Any,
                    texts: Sequence[str]) -> list[str]:
    """Name every group by its members, or by its commonest one if they are many."""
    out = list(texts)
    for group in groups:
        label = " | ".join(texts[at] for at in sorted(group))
        if len(label) > _MOST:
            often = max(group, key=lambda at: (int(counts[at]), -at))
            label = f"{texts[often]} and {len(group) - 1} others"
        for at in group:
            out[at] = label
    return out
