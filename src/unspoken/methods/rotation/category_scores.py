"""How often guesses name the right category, where categories were embedded as indicators."""

from __future__ import annotations

import numpy as np

from unspoken.arrays import Floats
from unspoken.disclosure.record_scores import Scores, by_value
from unspoken.methods.rotation.category_embedding import Embedding


def by_category(scored: Scores, guess: Floats, truth: Floats, embedding: Embedding) -> Scores:
    """Return scores with one line for each column of categories in place of its indicators.

    The guessed category is the one whose indicator is guessed largest.
    """
    indicators = set(embedding.features) - set(embedding.numbers)
    kept = {at: value for at, value in scored.items() if at[0] not in indicators}
    for column, places in embedding.groups().items():
        true = np.argmax(truth[:, places], axis=1)
        hit = np.argmax(guess[:, places], axis=1) == true
        kept[column, "domain"] = by_value(hit, true.astype(np.float64))
        kept[column, "records"] = float(hit.mean())
    return kept


def informed(constant: Floats, truth: Floats, embedding: Embedding) -> Floats:
    """Return a guess without the release that knows how frequent every category is."""
    indicator = np.arange(constant.size) >= len(embedding.numbers)
    return np.where(indicator, truth.mean(axis=0), constant)
