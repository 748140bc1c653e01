"""Random labels for categories: no order, no frequency in the label itself (not in bu2007).

Labels hide which category is which, not how often each occurs: who knows the frequencies of a
similar population names the frequent ones (`adversaries.category_frequencies`). Two defences, both
of which put categories together, so that a model can no longer tell them apart: `rare` merges the
rarest, which single people out, under one label; `even_labels` deals all of them out to a few
labels of about the same frequency, each of which stands for a frequent category and some others.
Neither stops who knows records in full, and a category with more than its share of the records
stays frequent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from unspoken.models.category_groups import category_texts
from unspoken.numerics.random import generator
from unspoken.table.column_counts import value_counts
from unspoken.table.table import Table


def random_labels(table: Table, name: str, seed: bytes, rare: int = 1,
                  even: int | None = None) -> dict[str, str]:
    """Return a label for every category; those of fewer than `rare` records share one.

    `even`: the categories share that many labels, which occur about equally often.
    """
    values = table.engine.distinct(table.frame, name)
    texts = sorted(set(category_texts(list(values)).drop_null().to_pylist()))
    counts = _counts(table, name) if rare > 1 or even is not None else Counter()
    merged = _rare(counts, rare) if rare > 1 else set()
    groups = [[text] for text in texts if text not in merged] + [sorted(merged)] * bool(merged)
    if even is not None:
        groups = evened(groups, counts, even, generator(seed, "even labels", name))
    order = generator(seed, "labels", name).permutation(len(groups)).tolist()
    width = len(str(len(groups)))
    return {text: f"c{rank:0{width}d}" for group, rank in zip(groups, order, strict=True)
            for text in group}


def evened(groups: Sequence[Sequence[str]], counts: Mapping[str, int], labels: int,
           rng: np.random.Generator) -> list[list[str]]:
    """Put groups of categories together until so many are left, all of them about as frequent.

    The most frequent stay apart; the others follow in random order, each to where the fewest
    records are, so that counts alone do not say which went where.
    """
    sizes = [sum(counts[text] for text in group) for group in groups]
    order = sorted(range(len(groups)), key=lambda place: -sizes[place])
    dealt = [list(groups[place]) for place in order[:labels]]
    held = [sizes[place] for place in order[:labels]]
    for place in rng.permutation(order[labels:]).astype(int).tolist():
        emptiest = int(np.argmin(held))
        dealt[emptiest] += groups[place]
        held[emptiest] += sizes[place]
    return [sorted(group) for group in dealt]


def _counts(table: Table, name: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    counted = value_counts(table, name)
    values = pa.array(list(counted), table.engine.schema(table.frame).field(name).type)
    for text, count in zip(category_texts(values).to_pylist(), counted.values(), strict=True):
        if text is not None:
            counts[text] += count
    return counts


def _rare(counts: Mapping[str, int], rare: int) -> set[str]:
    """Return the categories to merge: together they have at least `rare` records, if all do."""
    merged: set[str] = set()
    total = 0
    for text, count in sorted(counts.items(), key=lambda pair: (pair[1], pair[0])):
        if count >= rare and (not merged or total >= rare):
            break
        merged.add(text)
        total += count
    return merged
