"""How many people are singled out by a few plain facts, how many correctly, beside outsiders.

People are drawn from the original; each is known by the facts that distinguish people best: numbers
with few values (an age, a grade) exactly, others within half the radius. Outsiders are those of a
given sample, or else people whose own record is taken out of the release first: whatever is
claimed about them is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unspoken.arrays import Ints
from unspoken.disclosure.adversary import Adversary, View
from unspoken.disclosure.audit_rows import Row
from unspoken.disclosure.ground_truth import Truth, Truths
from unspoken.disclosure.knowledge import Knowledge
from unspoken.disclosure.knowledge_levels import Setting
from unspoken.methods.encoding.adversaries.category_pairs import CategoryPairs
from unspoken.methods.encoding.adversaries.monotone_alignment import MonotoneAlignment
from unspoken.methods.encoding.adversaries.record_singling_out import (
    ReadColumn,
    RecordSinglingOut,
)
from unspoken.methods.encoding.adversaries.release_adversary import Labelled
from unspoken.methods.encoding.audit.released_labels import LabelColumn, Records
from unspoken.methods.encoding.audit.similar_records import (
    Similar,
    known_labels,
    samples,
)
from unspoken.numerics.exact_interval import exact_interval

FACTS = (3, 6)
PLAIN = 100
"""A column of at most this many numbers is known exactly, as an age in years is."""
PEOPLE = 200
EVERYBODY = "(people)"


@dataclass(frozen=True)
class Search:
    """The release as the adversary reads it, and people to look for."""

    columns: Mapping[str, ReadColumn]
    plain: Similar
    truths: Truths
    setting: Setting

    def facts(self, person: int, source: Similar, size: int,
              rng: np.random.Generator) -> dict[str, float]:
        """Draw what is known of a person: some columns, numbers with an error."""
        names = [n for n in self.telling if not np.isnan(_value(source, n, person))][:size]
        return {name: self._with_error(name, _value(source, name, person), rng)
                for name in names}

    @cached_property
    def telling(self) -> tuple[str, ...]:
        """Return the columns, those that distinguish people best first."""
        return tuple(sorted(self.columns, key=lambda name: -self.columns[name].entropy()))

    def _with_error(self, name: str, value: float, rng: np.random.Generator) -> float:
        reach = self.columns[name].reach
        if reach is None or self.truths.columns[name].values.size <= PLAIN:
            return value
        return value + rng.uniform(-reach, reach)


def _value(source: Similar, name: str, person: int) -> float:
    if name in source.numbers:
        return float(source.numbers[name][person])
    code = int(source.labels[name][person]) if name in source.labels else -1
    return float(code) if code >= 0 else np.nan


def read_release(view: View, truths: Truths, labels: Sequence[LabelColumn], seen: Labelled,
                 records: Records, similar: Similar, setting: Setting) -> dict[str, ReadColumn]:
    """Return every column as an adversary with one sample reads it."""
    rng = setting.rng("guess", RecordSinglingOut.name)
    numeric = [t for t in truths.columns.values() if t.values.size]
    out = {}
    for index, truth in enumerate(numeric):
        drawn = np.sort(similar.numbers.get(truth.name, np.empty(0)))
        drawn = drawn[~np.isnan(drawn)]
        if drawn.size == 0:
            continue
        radius = setting.radius * truth.width
        knowledge = Knowledge("sample", radius, (float(drawn[0]), float(drawn[-1])),
                              sample=drawn[None, :])
        reads = MonotoneAlignment().guess(view, truth.released, knowledge, rng)[0]
        out[truth.name] = ReadColumn(records.released[index], reads, _reach(truth, radius))
    known, held = known_labels(similar, seen)
    places = tuple(range(len(numeric), len(numeric) + len(labels)))
    matched = CategoryPairs().match(seen, known, places) if places else {}
    for place, column in zip(places, labels, strict=True):
        reads = np.r_[held[place], -1][matched[place]].astype(np.float64)
        out[column.name] = ReadColumn(column.rows, reads, None)
    return out


def _reach(truth: Truth, radius: float) -> float:
    """Return how far a known number may be off: hardly, where it is known exactly."""
    if truth.values.size > PLAIN:
        return radius / 2
    return 0.3 * float(np.diff(truth.values).min(initial=np.inf)) if truth.values.size > 1 else 1.0


def singling_out_rows(search: Search, records: Records, similar: Similar | None,
                      adversary: RecordSinglingOut) -> Iterator[Row]:
    """Yield shares of people singled out, of claims that are right, and of claimed outsiders."""
    for size in dict.fromkeys(min(size, len(search.columns)) for size in FACTS):
        rng = search.setting.rng("grant", EVERYBODY, f"facts {size}")
        people = _drawn(search.plain.rows, rng)
        claims = np.array([adversary.claim(search.columns,
                                           search.facts(p, search.plain, size, rng))
                           for p in people.tolist()])
        right = sum(records.same(claim, person) for claim, person
                    in zip(claims.tolist(), people.tolist(), strict=True) if claim >= 0)
        outside = _outsiders(search, records, similar, adversary, size, rng)
        yield from _rows(f"facts {size}", people.size, int((claims >= 0).sum()), right,
                         outside, records.rows)


def _drawn(rows: int, rng: np.random.Generator) -> Ints:
    return np.asarray(rng.choice(rows, min(PEOPLE, rows), replace=False))


def _outsiders(search: Search, records: Records, similar: Similar | None,
               adversary: RecordSinglingOut, size: int, rng: np.random.Generator) -> float:
    """Return the share of people who are not in the release and yet claimed."""
    source = search.plain if similar is None else similar
    away: Callable[[int], int | None] = records.find if similar is None else lambda person: None
    people = _drawn(source.rows, rng)
    claims = [adversary.claim(search.columns, search.facts(p, source, size, rng), away(p))
              for p in people.tolist()]
    return float(np.mean(np.array(claims) >= 0))


def _rows(level: str, people: int, claimed: int, right: int, outside: float,
          rows: int) -> Iterator[Row]:
    name = RecordSinglingOut.name
    chance = 1.0 / max(rows, 1)
    yield Row(name, level, EVERYBODY, "identified", right / people, *_interval(right, people),
              chance, 1)
    yield Row(name, level, EVERYBODY, "singled out", claimed / people,
              *_interval(claimed, people), outside, 1)
    if claimed:
        yield Row(name, level, EVERYBODY, "claims right", right / claimed,
                  *_interval(right, claimed), 0.0, 1)


def _interval(hits: int, of: int) -> tuple[float, float]:
    low, high = exact_interval(hits, of)
    return float(low), float(high)


def single_out(view: View, truths: Truths, labels: Sequence[LabelColumn], seen: Labelled,
               records: Records, people: tuple[Similar, Similar | None],
               chosen: Sequence[Adversary], setting: Setting) -> Iterator[Row]:
    """Yield the rows of singling out, where it is among the chosen adversaries."""
    adversary = next((one for one in chosen if isinstance(one, RecordSinglingOut)), None)
    if adversary is None or not records.rows:
        return
    plain, others = people
    known, outsiders = _halves(others) if others is not None else (None, None)
    similar = next(iter(samples(plain, known, setting)))
    columns = read_release(view, truths, labels, seen, records, similar, setting)
    if columns:
        search = Search(columns, plain, truths, setting)
        yield from singling_out_rows(search, records, outsiders, adversary)


def _halves(similar: Similar) -> tuple[Similar, Similar]:
    """Split a given sample: one half to read the release with, the other are outsiders."""
    even = np.arange(similar.rows) % 2 == 0
    return similar.take(np.flatnonzero(even)), similar.take(np.flatnonzero(~even))
