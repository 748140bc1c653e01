"""Finding known records among rotated ones: by their length, or by the distances between them.

A rotation keeps every length, so a record that is known in full is found by its own; where several
have it, the distances to other known records decide. A translation hides lengths and keeps
distances: two known records are found by their distance, every further one by its distances.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.methods.rotation.adversaries.rotation_adversary import (
    RotatedView,
    RowAdversary,
    RowGuesses,
    RowKnowledge,
)

CLOSE = 1e-9
"""Lengths and distances that differ by less than this share of the largest are one."""
MAX_ROWS = 2000
"""After a translation distances of all pairs are compared, up to this many records."""
MAX_CHAINS = 20_000
"""Ways to place the known records that are followed at once."""


def linked(view: RotatedView, known: Floats) -> Ints:
    """Return for each known record (in the rotated frame) its row of the view, -1 if ambiguous.

    Rows that fit by length (all, after a translation) are narrowed down by the distances to known
    records that were placed before; several released records that are equal are no ambiguity.
    """
    nobody = np.full(known.shape[0], -1)
    if not view.orthogonal or known.shape[0] == 0:
        return nobody
    close = CLOSE * float(np.linalg.norm(view.records, axis=1).max(initial=1.0))
    places = distinct_rows(view.records, close)
    if view.translated and places.size > MAX_ROWS:
        return nobody
    fits = [places] * known.shape[0] if view.translated else by_norm(view, known, places, close)
    order = np.argsort([part.size for part in fits], kind="stable")
    chains = _chains(view.records, known[order], [fits[i] for i in order], close)
    out = nobody.copy()
    if chains.shape[0]:
        out[order] = np.where((chains == chains[0]).all(axis=0), chains[0], -1)
    return out


def distinct_rows(records: Floats, close: float) -> Ints:
    """Return the first row of every different record."""
    _, first = np.unique(np.round(records / (10 * close)), axis=0, return_index=True)
    return np.sort(first).astype(np.int64)


def by_norm(view: RotatedView, known: Floats, places: Ints, close: float) -> list[Ints]:
    """Return for each known record the rows (of those given) that have its length."""
    lengths = np.linalg.norm(view.records[places], axis=1)
    order = np.argsort(lengths)
    wanted = np.linalg.norm(known, axis=1)
    low = np.searchsorted(lengths[order], wanted - close)
    high = np.searchsorted(lengths[order], wanted + close)
    return [places[order[start:end]] for start, end in zip(low, high, strict=True)]


def _chains(records: Floats, known: Floats, fits: list[Ints], close: float) -> Ints:
    """Return every way to place the known records one by one that keeps all distances.

    A record that fits nowhere is placed at -1: what was known of it was wrong.
    """
    chains = np.empty((1, 0), np.int64)
    for number, rows in enumerate(fits):
        placed = np.flatnonzero((chains >= 0).any(axis=0))
        wanted = np.linalg.norm(known[placed] - known[number], axis=1)
        longer = [np.column_stack([np.tile(chain, (good.size, 1)), good]) for chain in chains
                  if (good := _good(records, rows, chain[placed], wanted, close)).size]
        chains = np.concatenate(longer) if longer else np.column_stack(
            [chains, np.full(chains.shape[0], -1)])
        if chains.shape[0] > MAX_CHAINS:
            return np.empty((0, known.shape[0]), np.int64)
    return chains


def _good(records: Floats, rows: Ints, chain: Ints, wanted: Floats, close: float) -> Ints:
    """Return the rows at the wanted distances from a chain; wrong entries of it are passed over."""
    keep = np.ones(rows.size, np.bool_)
    for row, distance in zip(chain.tolist(), wanted.tolist(), strict=True):
        if row >= 0:
            apart = np.linalg.norm(records[rows] - records[row], axis=1)
            keep &= np.abs(apart - distance) <= 10 * close
    return rows[keep]


class NormLinking(RowAdversary):
    """Finds known records in the release, which shows their target and that they are in it."""

    name: ClassVar[str] = "norm-linking"
    needs: ClassVar[frozenset[str]] = frozenset({"records"})
    gets: ClassVar[str] = "finds records known in full by their length or distances"

    def _attack(self, view: RotatedView, knowledge: RowKnowledge,
                rng: np.random.Generator) -> RowGuesses:
        frame, known = knowledge.frame(view), knowledge.records
        assert known is not None
        if frame is None:
            return self.failed(view, knowledge, "columns were standardised, and neither their "
                               "means and spreads nor a sample are known")
        where = linked(view, (known - frame[0]) / frame[1])
        is_linked = where >= 0
        if not is_linked.any():
            return self.failed(view, knowledge, "no known record has a length or distances that "
                               "only one released record has")
        blind = knowledge.blind()
        guess = np.tile(blind, (view.records.shape[0], 1))
        for number in np.flatnonzero(is_linked):
            # Equal records are one as far as anybody can see: all of them are found.
            apart = np.abs(view.records - view.records[where[number]]).max(axis=1)
            guess[apart <= 1e-9 * np.abs(view.records).max()] = known[number]
        return RowGuesses(self.name, guess, blind, True,
                          f"{int(is_linked.sum())} of {is_linked.size} known records found")
