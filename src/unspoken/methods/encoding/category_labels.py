"""Random labels for categories: no order, no frequency in the label itself (not in bu2007).

Labels hide which category is which, not how often each occurs: who knows the frequencies of a
similar population names the frequent ones (`adversaries.category_frequencies`). Merging rare
categories under one label takes the rarest, which single people out, from that attacker.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pyarrow.compute as pc

from unspoken.models.category_groups import category_texts
from unspoken.numerics.random import generator
from unspoken.table.table import Table


def random_labels(table: Table, name: str, seed: bytes, rare: int = 1) -> dict[str, str]:
    """Return a label for every category; those of fewer than `rare` records share one."""
    values = table.engine.distinct(table.frame, name)
    texts = sorted(set(category_texts(list(values)).drop_null().to_pylist()))
    merged = _rare(_counts(table, name), rare) if rare > 1 else set()
    kept = [text for text in texts if text not in merged]
    size = len(kept) + bool(merged)
    order = generator(seed, "labels", name).permutation(size).tolist()
    width = len(str(size))
    labels = {text: f"c{rank:0{width}d}" for text, rank in zip(kept, order, strict=False)}
    return labels | {text: f"c{order[-1]:0{width}d}" for text in sorted(merged)}


def _counts(table: Table, name: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for batch in table.batches([name]):
        for entry in pc.value_counts(category_texts(batch.column(name))).to_pylist():
            if entry["values"] is not None:
                counts[entry["values"]] += entry["counts"]
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
