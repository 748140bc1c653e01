"""Train a learner on originals and on codes, decode, and compare: the one walk of these tests."""

from __future__ import annotations

import numpy as np

from support.toybook import make_book, random_table
from unspoken.errors import DecodeError
from unspoken.methods.encoding.decode import decode_with
from unspoken.models.verify import verify


def labels_for(rng, rows, task):
    if task == "regression":
        return rng.normal(size=rows)
    return np.r_[0, 1, rng.integers(0, int(rng.integers(2, 5)), rows)][:rows]


def weights_for(rng, rows, kind):
    if kind is None:
        return None
    if kind == "zero":
        return np.r_[1.0, 1.0, rng.integers(0, 3, rows)][:rows]
    if kind == "fraction":
        return rng.integers(1, 4, rows) * 0.37
    return rng.integers(1, 4, rows).astype(float)


class Case:
    """One random table with its book, and the models that a fit function gives on it."""

    def __init__(self, fit, seed, *, task="classification", missing=True, weight=None, rows=None,
                 data=None, features=None, **book):
        rng = np.random.default_rng(seed)
        self.X = random_table(rng, rows, features, missing) if data is None else data(rng)
        self.y = labels_for(rng, len(self.X), task)
        self.weight = weights_for(rng, len(self.X), weight)
        self.book = make_book(self.X, rng, **book)
        order = self.book.permutation
        order = np.arange(len(self.X)) if order is None else order
        moved = None if self.weight is None else self.weight[order]
        seed = int(rng.integers(1000))
        self.codes = self.book.encode(self.X)[order]
        self.original = fit(self.X[order], self.y[order], moved, seed)
        self.mined = fit(self.codes, self.y[order], moved, seed)
        self.unseen = random_table(rng, 50, self.X.shape[1], missing)

    def decode(self, key_only=False, **options):
        X = None if key_only else self.X
        return decode_with(self.mined, self.book, X, self.y, self.weight, **options)

    def check(self, **options):
        decoded = self.decode(**options)
        found = verify(self.original, decoded)
        assert found, str(found)
        return decoded

    def outcome(self, words):
        """Say "same", or "refused" if the refusal has these words; anything else fails."""
        try:
            self.check()
        except DecodeError as error:
            refusal = str(error)
        else:
            return "same"
        assert words in refusal
        return "refused"
