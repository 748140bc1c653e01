"""Columns whose values were exchanged for one another: they are read by frequency, not by order.

Where every value stands for another one, each as often as before, neither the values nor their
order say anything, and the frequencies say all. Numbers under such pseudonyms would be misread by
rank, and categories that were exchanged among themselves taken at their word.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.audit.people.comparable import Labels, Numbers, People, Values, parts_of, values_of
from unspoken.audit.people.read_codes import REPEATED, by_rank
from unspoken.audit.people.spelt_numbers import EVERYTHING
from unspoken.table.arrow_arrays import is_number
from unspoken.table.table import Table

IN_ORDER, BY_FREQUENCY = "in order", "by frequency"
UNREAD = 0.05
"""Share of a column that may be written so that nobody here can read it."""
SAME = 0.02
"""Distance up to which two lists of frequencies are those of the same people."""
FITS = 0.15
"""Distance up to which texts that stand for numbers may be read by frequency."""
KNOWN, APART = 0.5, 0.5
"""Share of known texts below which, and distance from which on, frequencies tell nothing."""
DRAWS = 20
TWICE = 2
"""How often values must occur on average before frequencies tell them apart."""


def readable(original: Table, here: People, release: Table, matched: Mapping[str, tuple[str, str]]
             ) -> tuple[People, dict[str, tuple[str, str]]]:
    """Return the original with those numbers as labels that only frequencies tell.

    What cannot be read at all is left out, and so is not assessed: it must not look suppressed.
    """
    rows = release.arrow([there for there, _ in matched.values()])
    columns: dict[str, Values] = {}
    for name, (there, _) in matched.items():
        way = _way(rows[there], here.columns[name])
        if way is not None:
            columns[name] = here.columns[name] if way == IN_ORDER else \
                values_of(original.arrow([name])[name], False)
    return People(columns, here.rows), {n: at for n, at in matched.items() if n in columns}


def _way(column: Any, mine: Values) -> str | None:
    """Return how a released column can be compared with an original one, None if it cannot.

    Endless numbers are texts such as "32e3738" that whoever read the file took for numbers.
    """
    if isinstance(mine, Labels):
        return None if _says_more(values_of(column, False), mine) else IN_ORDER
    found = values_of(column, True)
    assert isinstance(found, Numbers)
    if is_number(column.type) and np.isinf(found.low).mean() > UNREAD + np.isinf(mine.low).mean():
        return None
    if np.isnan(found.low).mean() - column.null_count / max(len(column), 1) > UNREAD \
            and not is_number(column.type):
        words = values_of(column, False)
        return BY_FREQUENCY if by_frequency_alone(words, mine) else None
    return BY_FREQUENCY if found.plain and out_of_order(found, mine) else IN_ORDER


def _says_more(found: Values, mine: Labels) -> bool:
    """Return True for unknown texts that differ far more often than what they stand for.

    Several columns in one, or a cipher that never repeats: frequencies do not tell what they hold.
    """
    assert isinstance(found, Labels)
    if len(found.names) <= len(mine.names):
        return False
    names = {*mine.names, *EVERYTHING}
    whole = [name in names or names.issuperset(parts_of(name)) for name in found.names]
    known = np.array([*whole, True], np.bool_)[found.codes]
    return bool(known.mean() < KNOWN and _sorted_off(*_both(found, mine)) > APART)


def strange_cells(column: Any, found: Values, mine: Values) -> int:
    """Return how many cells say neither a value of the original nor a declared word.

    Numbers may be any; a text in their place, or a category that nobody has, is read by nobody.
    """
    if isinstance(found, Labels) and isinstance(mine, Labels):
        names = {*mine.names, *EVERYTHING}
        known = [name in names or name.strip().lower() in EVERYTHING
                 or names.issuperset(parts_of(name)) for name in found.names]
        return int((~np.array([*known, True], np.bool_)[found.codes]).sum())
    assert isinstance(found, Numbers)
    return 0 if is_number(column.type) else int(np.isnan(found.low).sum()) - column.null_count


def out_of_order(found: Values, mine: Values) -> bool:
    """Return True if a column has the original's frequencies, but at other values."""
    shown, held = _both(found, mine)
    if not shown.size or not held.size or not _repeat(shown) or not _repeat(held):
        return False
    if (least := _sorted_off(shown, held)) > SAME:
        return False
    mixed = _mixed(shown, held)
    read = [shown]
    if not isinstance(found, Labels):
        read += [by_rank(shown, held), by_rank(-shown, held)]
    return mixed - least > SAME and min(_off(one, held) for one in read) > (least + mixed) / 2


def _repeat(values: Floats) -> bool:
    """Return False where most values occur once: their frequencies tell nothing about them."""
    return bool(values.size >= TWICE * np.unique(values).size)


def by_frequency_alone(found: Values, mine: Values) -> bool:
    """Return True if unread texts occur as often as the original's values, each several times."""
    assert isinstance(found, Labels)
    assert isinstance(mine, Numbers)
    shown, held = found.codes[found.codes >= 0].astype(np.float64), mine.low
    return bool(shown.size >= REPEATED * np.unique(shown).size
                and _sorted_off(shown, held[np.isfinite(held)]) <= FITS)


def _both(found: Values, mine: Values) -> tuple[Floats, Floats]:
    """Return the values that are there; labels by their place in one list."""
    if isinstance(found, Numbers) and isinstance(mine, Numbers):
        return found.low[np.isfinite(found.low)], mine.low[np.isfinite(mine.low)]
    assert isinstance(found, Labels)
    assert isinstance(mine, Labels)
    place = {name: at for at, name in enumerate(dict.fromkeys((*mine.names, *found.names)))}
    first, second = (np.array([place[name] for name in one.names] or [0], np.float64)[
        one.codes[one.codes >= 0]] for one in (found, mine))
    return first, second


def _shares(values: Floats) -> Floats:
    return np.sort(np.unique(values, return_counts=True)[1] / max(values.size, 1))[::-1]


def _sorted_off(one: Floats, other: Floats) -> float:
    """Return the distance of two lists of frequencies, whatever they are of."""
    size = max(np.unique(one).size, np.unique(other).size)
    first, second = (np.pad(_shares(v), (0, size - np.unique(v).size)) for v in (one, other))
    return float(np.abs(first - second).sum() / 2)


def _off(one: Floats, other: Floats) -> float:
    """Return the total variation distance of two columns."""
    both = np.unique(np.concatenate([one, other]), return_inverse=True)[1].reshape(-1)
    shares = [np.bincount(part, minlength=int(both.max()) + 1) / max(part.size, 1)
              for part in (both[:one.size], both[one.size:])]
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


def _mixed(one: Floats, other: Floats) -> float:
    """Return the distance that frequencies have once they are put to values at random."""
    size = max(np.unique(one).size, np.unique(other).size)
    first, second = (np.pad(_shares(v), (0, size - np.unique(v).size)) for v in (one, other))
    rng = np.random.default_rng(0)
    return float(np.mean([np.abs(rng.permutation(first) - second).sum() / 2
                          for _ in range(DRAWS)]))
