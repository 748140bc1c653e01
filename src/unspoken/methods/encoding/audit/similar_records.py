"""The similar records that an adversary of a whole release has: drawn, or passed by the caller."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.disclosure.ground_truth import Truths
from unspoken.disclosure.knowledge_levels import Setting, sample_size
from unspoken.methods.encoding.adversaries.release_adversary import Labelled, Rows
from unspoken.methods.encoding.audit.released_labels import LabelColumn, positions
from unspoken.table.arrow_arrays import to_numbers
from unspoken.table.table import Table

BINS = 10
"""Bins between quantiles in which ordered columns keep company with labels."""
TRIALS = 20
"""Samples of whole records that are drawn; they cost more than samples of one column."""


@dataclass(frozen=True)
class Similar:
    """Plain records: numbers by column (missing: NaN), categories by column (missing: -1).

    `names` holds the categories of each column, those of the original first.
    """

    numbers: Mapping[str, Floats]
    labels: Mapping[str, Rows]
    names: Mapping[str, tuple[str, ...]]
    rows: int

    def take(self, chosen: Ints) -> Similar:
        """Return some of the records."""
        return Similar({n: v[chosen] for n, v in self.numbers.items()},
                       {n: v[chosen] for n, v in self.labels.items()}, self.names, chosen.size)


def plain_records(table: Table, truths: Truths, labels: list[LabelColumn]) -> Similar:
    """Return the records of the original table."""
    numbers = {t.name: np.asarray(to_numbers(table.arrow([t.name])[t.name]), np.float64)
               for t in truths.columns.values() if t.values.size}
    return Similar(numbers, {c.name: c.originals for c in labels},
                   {c.name: c.categories for c in labels}, table.rows)


def similar_records(sample: Table, plain: Similar) -> Similar:
    """Return a given sample in the terms of the original; columns that it lacks are left out."""
    numbers = {n: np.asarray(to_numbers(sample.arrow([n])[n]), np.float64)
               for n in plain.numbers if n in sample.schema.names}
    labels, names = {}, {}
    for name, known in plain.names.items():
        if name in sample.schema.names:
            column = sample.arrow([name])[name]
            extra = sorted({str(v) for v in sample.engine.distinct(sample.frame, name)}
                           - set(known))
            names[name] = (*known, *extra)
            labels[name] = positions(column, names[name])
    return Similar(numbers, labels, names, sample.rows)


def samples(plain: Similar, similar: Similar | None, setting: Setting,
            share: float = 0.01) -> Iterator[Similar]:
    """Yield what the adversary has in every trial: the given sample once, or drawn ones."""
    if similar is not None:
        yield similar
        return
    rng = setting.rng("grant", "(records)", f"sample {share:g}")
    size = min(max(2, sample_size(plain.rows, share)), plain.rows)
    for _ in range(min(setting.trials, TRIALS)):
        yield plain.take(np.sort(rng.choice(plain.rows, size, replace=False)))


def bins(values: Floats) -> Rows:
    """Return the bin between quantiles of every value, by the middle of its ties; -1 if missing."""
    held = ~np.isnan(values)
    _, where, counts = np.unique(values[held], return_inverse=True, return_counts=True)
    middle = (np.cumsum(counts) - counts / 2) / max(int(counts.sum()), 1)
    out = np.full(values.size, -1, np.int32)
    out[held] = np.minimum((middle * BINS).astype(np.int32), BINS - 1)[where.reshape(-1)]
    return out


def known_labels(similar: Similar, seen: Labelled) -> tuple[Labelled, dict[int, Ints]]:
    """Return a sample beside the columns of a release, with the categories that it holds.

    Categories that the sample does not hold are unknown, so numbers are those of the ones it
    does; the second part says which of all categories each is.
    """
    rows, sizes, held = [], [], {}
    for column, name in enumerate(seen.names):
        if seen.ordered[column]:
            values = similar.numbers.get(name, np.full(similar.rows, np.nan))
            rows.append(bins(values))
            sizes.append(BINS)
            continue
        labels = similar.labels.get(name, np.full(similar.rows, -1, np.int32))
        held[column], where = np.unique(labels[labels >= 0].astype(np.int64), return_inverse=True)
        compact = np.full(labels.size, -1, np.int32)
        compact[labels >= 0] = where.reshape(-1)
        rows.append(compact)
        sizes.append(int(held[column].size))
    return Labelled(seen.names, tuple(rows), tuple(sizes), seen.ordered), held
