"""How many people's categories are read off random labels, adversary by adversary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from unspoken.arrays import Ints
from unspoken.disclosure.adversary import Adversary, View
from unspoken.disclosure.audit_rows import Row
from unspoken.disclosure.ground_truth import Truths
from unspoken.disclosure.knowledge_levels import MAX_RECORDS, Setting
from unspoken.disclosure.measures import estimate
from unspoken.methods.encoding.adversaries.category_frequencies import (
    CategoryRecords,
    LabelOrder,
    filled,
)
from unspoken.methods.encoding.adversaries.release_adversary import LabelAdversary, Labelled
from unspoken.methods.encoding.adversaries.unchanged_values import UnchangedValues
from unspoken.methods.encoding.audit.released_labels import LabelColumn, Records
from unspoken.methods.encoding.audit.similar_records import (
    BINS,
    Similar,
    known_labels,
    samples,
)

FEW = 6
"""Fewer labels drawn at random often stand in sorted order by chance."""
DRAWN = (("sample 1%", 0.01), ("sample 0.1%", 0.001))


def seen_labels(view: View, truths: Truths, labels: Sequence[LabelColumn],
                records: Records) -> Labelled:
    """Return what an adversary sees of all records: labels, and bins of ordered codes."""
    numeric = [t for t in truths.columns.values() if t.values.size]
    binned = []
    for truth, codes in zip(numeric, records.released, strict=False):
        share = np.minimum((view[truth.released].share * BINS).astype(np.int32), BINS - 1)
        binned.append(np.asarray(np.r_[share, -1][codes], np.int32))
    names = [t.name for t in numeric] + [c.name for c in labels]
    return Labelled(tuple(names), (*binned, *(c.rows for c in labels)),
                    (*[BINS] * len(numeric), *(len(c.labels) for c in labels)),
                    (*[True] * len(numeric), *[False] * len(labels)))


def category_rows(labels: Sequence[LabelColumn], seen: Labelled, plain: Similar,
                  similar: Similar | None, chosen: Sequence[Adversary],
                  setting: Setting) -> Iterator[Row]:
    """Yield the rows of every relabelled column."""
    by_label = [one for one in chosen if isinstance(one, LabelAdversary)]
    first = len(seen.names) - len(labels)
    levels = [("sample given", 0.0)] if similar is not None else DRAWN
    for done, (level, share) in enumerate(levels, 1):
        trials = [known_labels(one, seen) for one in samples(plain, similar, setting, share)]
        for adversary in (one for one in by_label if "sample" in one.levels):
            yield from _matched(labels, first, seen, trials, adversary, level)
        if setting.progress is not None:
            setting.progress(done, len(levels) + 1)
    whole = [known_labels(plain, seen)]
    for adversary in (one for one in by_label if "histogram" in one.levels):
        yield from _matched(labels, first, seen, whole, adversary, "histogram")
    for column in labels:
        yield from _without_sample(column, chosen, setting)


def _matched(labels: Sequence[LabelColumn], first: int, seen: Labelled,
             trials: list[tuple[Labelled, dict[int, Ints]]], adversary: LabelAdversary,
             level: str) -> Iterator[Row]:
    """Yield the rows of an adversary who matches all columns at once, over samples."""
    places = tuple(range(first, first + len(labels)))
    answers = [(adversary.match(seen, known, places), held, known) for known, held in trials]
    for place, column in zip(places, labels, strict=True):
        if not any(held[place].size for _, held, _ in answers):
            continue
        shares = [right_shares(column, _named(
            filled(names[place], seen.counts(place), known.counts(place)), held[place]))
                  for names, held, known in answers]
        blind = [_blind(column, held[place], known.counts(place))
                 for _, held, known in answers]
        yield from _rows(adversary.name, level, column.name, shares,
                         float(np.median(blind)), 1.0 / max(len(column.labels), 1))


def _named(names: Ints, held: Ints) -> Ints:
    """Return guesses as numbers of all categories; -1 stays -1."""
    return np.asarray(np.append(held, -1)[names], np.int64)


def right_shares(column: LabelColumn, guesses: Ints) -> tuple[float, float]:
    """Return the shares of labels and of records whose category is guessed.

    Where categories share a label, only the records of the one that is named are guessed rightly.
    """
    known = (guesses >= 0) & (guesses < len(column.categories))
    named, labels = guesses[known], np.flatnonzero(known)
    right = named[column.label_of[named] == labels]
    counts = column.original_counts
    return float((guesses == column.owner).mean()), \
        float(counts[right].sum() / max(int(counts.sum()), 1))


def _blind(column: LabelColumn, held: Ints, counts: Ints) -> float:
    """Return the share of records that the sample's most frequent category has."""
    if held.size == 0:
        return 0.0
    place = int(held[counts.argmax()])
    return float(column.original_shares[place]) if place < len(column.categories) else 0.0


def _rows(adversary: str, level: str, column: str, shares: Sequence[tuple[float, float]],
          by_record: float, by_value: float) -> Iterator[Row]:
    for index, (measure, base) in enumerate((("domain", by_value), ("records", by_record))):
        estimated = estimate(np.array([share[index] for share in shares]))
        yield Row(adversary, level, column, measure, estimated.value, estimated.low,
                  estimated.high, base, estimated.trials)


def _without_sample(column: LabelColumn, chosen: Sequence[Adversary],
                    setting: Setting) -> Iterator[Row]:
    """Yield what known records, sorted names and unchanged labels give away."""
    names = {one.name for one in chosen}
    even = 1.0 / max(len(column.categories), 1)
    if UnchangedValues.name in names:
        same = np.array([label == column.categories[owner] for label, owner
                         in zip(column.labels, column.owner.tolist(), strict=True)])
        shares = right_shares(column, np.where(same, column.owner, -1))
        yield from _rows(UnchangedValues.name, "ignorant", column.name, [shares], even, even)
    if LabelOrder.name in names and (column.in_order or len(column.labels) >= FEW):
        shares = right_shares(column, np.arange(len(column.labels)))
        yield from _rows(LabelOrder.name, "names", column.name, [shares], even, even)
    if CategoryRecords.name in names:
        yield from _rows(CategoryRecords.name, f"records {MAX_RECORDS}", column.name,
                         _known_records(column, setting), _largest(column), even)


def _largest(column: LabelColumn) -> float:
    return float(column.counts.max(initial=0) / max(int(column.counts.sum()), 1))


def _known_records(column: LabelColumn, setting: Setting) -> list[tuple[float, float]]:
    counts = column.counts
    rng = setting.rng("grant", column.name, "records", "labels")
    known = min(MAX_RECORDS, max(2, int(counts.sum()) // 20), int(counts.sum()))
    out = []
    for _ in range(setting.trials):
        drawn = rng.multivariate_hypergeometric(counts, known)
        out.append(right_shares(column, np.where(drawn > 0, column.owner, -1)))
    return out
