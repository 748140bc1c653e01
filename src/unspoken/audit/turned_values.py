"""Columns whose values are those of another column, hashed or written in another way.

A digest without a secret hides nothing: whoever can list the values hashes them all and looks the
digests up (Article 29 Working Party, Opinion 05/2014 on anonymisation techniques, section 4: hash
functions; a cut digest only makes the list shorter). The same holds for base 64, for hexadecimal
and for words spelt backwards. Sets of values are compared, so no records need to be paired.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.arrays import Floats, Ints
from unspoken.audit.value_spellings import REVERSIBLE, digests_like, plain_keys, spellings
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.category_codes import Coded, coded
from unspoken.table.table import Table

HELD = 0.8
"""Share of the released values that must be some of the original."""
NEARER = 0.1
"""By how much nearer the two distributions must come when a form is taken away."""
DENSE = 0.2
"""Share of a column that is among the original's values as it is, from which on chance counts."""
CLEAR = 0.2
"""Distance of two distributions at which no other column is tried."""
SOME = 200
TRIED = 64
"""Values of an original column that are hashed before all of them are."""
LISTED = 300_000
"""Different values of a column that are hashed."""
OTHERWISE = "in another spelling"


@dataclass(frozen=True)
class Turned:
    """A released column, the original one that it holds, how, and its values as they were."""

    name: str
    form: str
    values: Any
    distinct: int
    off: float


TurnedColumns = Mapping[str, Turned]
"""The released columns that hold an original one in another form."""


def turned_columns(original: Table, release: Table) -> dict[str, Turned]:
    """Return the released columns that hold the values of an original one in another form."""
    mine, theirs = ([c.name for c in t.schema.columns if c.kind != "basket"]
                    for t in (original, release))
    here, there = original.arrow(mine), release.arrow(theirs)
    known = {name: Domain(coded(here[name])) for name in mine}
    out = {}
    for name in theirs:
        column = Domain(coded(there[name]))
        first = {name: known[name]} if name in known else {}
        best = _best(column, first if first and column.plain_number else {**first, **known})
        if best is not None:
            out[name] = best
    return out


@dataclass(frozen=True)
class Domain:
    """The different values of a column and how often each occurs."""

    found: Coded

    @cached_property
    def values(self) -> list[Any]:
        """Return the different values."""
        return self.found.values()

    @cached_property
    def shares(self) -> Floats:
        """Return how often each occurs, missing left out."""
        counts = np.bincount(self.found.codes, minlength=len(self.found.labels) + 1)[:-1]
        return np.asarray(counts / max(counts.sum(), 1))

    @cached_property
    def texts(self) -> list[str]:
        """Return the values as they are written."""
        return [str(value).strip() for value in self.values]

    @cached_property
    def number(self) -> bool:
        """Return True for a column of numbers or dates."""
        return is_number(self.found.labels.type)

    @cached_property
    def spelt(self) -> dict[str, int]:
        """Return the place of every value by each of its spellings."""
        out: dict[str, int] = {}
        for place, text in self.spellings():
            out.setdefault(text.lower(), place)
        return out

    @cached_property
    def ways(self) -> list[list[str]]:
        """Return every value in its usual spellings."""
        return [spellings(value) for value in self.values]

    @cached_property
    def shown(self) -> dict[str, int]:
        """Return the place of every value as it is written, in small letters."""
        return {text.lower(): place for place, text in enumerate(self.texts)}

    @cached_property
    def digests(self) -> list[tuple[str, Callable[[str], str]]]:
        """Return the digests that the values may be, by their look."""
        return list(digests_like(self.texts))

    @cached_property
    def some_turned_back(self) -> dict[str, list[str | None]]:
        """Return some of the values as they were before each form; those that can be read."""
        some = self.texts[::max(1, len(self.texts) // SOME)]
        back = {form: [undo(text) for text in some] for form, undo in REVERSIBLE.items()}
        return {form: texts for form, texts in back.items()
                if sum(text is not None for text in texts) >= HELD * len(texts)}

    def spellings(self) -> Iterator[tuple[int, str]]:
        """Yield places and spellings, the most exact ones of all values first."""
        for rank in range(max(map(len, self.ways), default=0)):
            yield from ((place, texts[rank]) for place, texts in enumerate(self.ways)
                        if rank < len(texts))

    def by_spelling(self, step: int) -> Iterator[list[str]]:
        """Yield some of the values in one spelling, in the next one, and so on."""
        some = self.ways[::step]
        for rank in range(max(map(len, some), default=0)):
            yield [texts[rank] for texts in some if rank < len(texts)]

    @cached_property
    def plain_number(self) -> bool:
        """Return True for a column of numbers that are no dates."""
        return self.number and not pa.types.is_temporal(self.found.labels.type)

    def look_up(self, texts: Sequence[str | None]) -> Ints:
        """Return the places of texts among the values, -1 for what is none of them."""
        if self.plain_number:
            return self._place(np.array([_float(text) for text in texts], np.float64))
        return np.array([-1 if text is None else self.spelt.get(text.strip().lower(), -1)
                         for text in texts], np.int64)

    def _place(self, numbers: Floats) -> Ints:
        held = np.asarray(to_numbers(self.found.labels), np.float64)
        near = np.searchsorted(held, numbers * (1 - 1e-12)).clip(0, held.size - 1)
        return np.where(np.isclose(held[near], numbers, rtol=1e-12, atol=0), near, -1)

    def nearest_of(self, values: int) -> float:
        """Return the least distance that a column with this many different values can have."""
        return 1.0 - float(self._commonest[min(values, self._commonest.size) - 1])

    @cached_property
    def _commonest(self) -> Floats:
        """Return the share of the commonest value, of the two commonest, and so on."""
        return np.cumsum(np.sort(self.shares)[::-1])

    @cached_property
    def keys(self) -> list[Sequence[Hashable] | None]:
        """Return what the values say as words, as numbers and as days."""
        return list(plain_keys(self.texts))

    def off(self, places: Ints, shares: Floats) -> float:
        """Return the total variation distance to values at some places."""
        found = np.bincount(places[places >= 0], shares[places >= 0], minlength=len(self.values))
        return 1.0 - float(np.minimum(found, self.shares).sum())


def _float(text: str | None) -> float:
    try:
        return np.nan if text is None else float(text)
    except ValueError:
        return np.nan


def _best(column: Domain, known: Mapping[str, Domain]) -> Turned | None:
    """Return the original column that a released one holds in the clearest way."""
    best: Turned | None = None
    for name, domain in known.items():
        if not _may_hold(column, domain):
            continue
        for form, places in _forms(column, domain):
            off = domain.off(places, column.shares)
            if best is None or off < best.off - NEARER / 2:
                best = Turned(name, form, _taken(column, domain, places), len(domain.values), off)
            if best.off < CLEAR:
                return best
    return best


def _may_hold(column: Domain, domain: Domain) -> bool:
    """Return True where a column of few values is not asked for one of very many, or for blanks."""
    return len(column.values) > 1 and 1 < len(domain.values) <= LISTED \
        and len(column.values) <= LISTED


def _taken(column: Domain, domain: Domain, places: Ints) -> Any:
    """Return the original values of a released column."""
    rows = np.append(places, -1)[column.found.codes]
    return domain.found.labels.take(pa.array(rows, mask=rows < 0))


def _forms(column: Domain, domain: Domain) -> Iterator[tuple[str, Ints]]:
    """Yield each form in which a column holds the values of another, and their places."""
    as_is = domain.look_up(column.texts)
    plain = domain.off(as_is, column.shares)
    # Where values as they are lie among the original's, those of another form may by chance.
    dense = column.shares[as_is >= 0].sum() > DENSE
    most = plain / 2 if dense else plain - NEARER
    worth = plain >= NEARER and domain.nearest_of(len(column.values)) < most
    for form, places in _candidates(column, domain) if worth else ():
        if column.shares[places >= 0].sum() >= HELD and domain.off(places, column.shares) < most:
            yield form, places


def _candidates(column: Domain, domain: Domain) -> Iterator[tuple[str, Ints]]:
    for form, texts in column.some_turned_back.items():
        if _held(domain, texts) >= HELD:
            yield form, domain.look_up([REVERSIBLE[form](text) for text in column.texts])
    if not domain.number:
        yield OTHERWISE, _otherwise(column, domain)
    # Each original value has one digest in each of its spellings, and no more.
    enough = 1.0 - column.nearest_of(sum(map(len, domain.ways))) >= HELD
    for form, digest in column.digests if enough else ():
        places = _hashed(column, domain, digest)
        if places is not None:
            yield form, places


def _held(domain: Domain, texts: Sequence[str | None]) -> float:
    """Return the share of some texts that are values."""
    return float(np.mean(domain.look_up(texts) >= 0))


def _hashed(column: Domain, domain: Domain,
            digest: Callable[[str], str]) -> Ints | None:
    """Return the places of digests, once some of the original's values are among them."""
    shown = column.shown
    if not _often_held(column, domain, digest):
        return None
    places = np.full(len(column.values), -1, np.int64)
    for place, text in domain.spellings():
        at = shown.get(digest(text).lower())
        if at is not None and places[at] < 0:
            places[at] = place
    return places


def _often_held(column: Domain, domain: Domain, digest: Callable[[str], str]) -> bool:
    """Return whether digests of some original values are shown as often as all of them must be.

    A digest that was cut to few characters is shown by chance now and then.
    """
    ratio = len(column.values) / len(domain.values)
    step = max(1, len(domain.values) // max(TRIED, int(20 / ratio)))
    for texts in domain.by_spelling(step):
        held = sum(digest(text).lower() in column.shown for text in texts)
        if held >= max(1, HELD / 2 * min(ratio, 1) * len(texts)):
            return True
    return False


def _otherwise(column: Domain, domain: Domain) -> Ints:
    """Return the places of words, dates or numbers that are written in another way."""
    best = np.full(len(column.values), -1, np.int64)
    for mine, theirs in zip(domain.keys, column.keys, strict=True):
        if mine is None or theirs is None:
            continue
        place = {key: at for at, key in enumerate(mine) if key is not None}
        found = np.array([place.get(key, -1) if key is not None else -1 for key in theirs],
                         np.int64)
        if column.shares[found >= 0].sum() > column.shares[best >= 0].sum():
            best = found
    return best
