"""Guided perturbation: the miner sends each provider the directions that matter (vcz2006 6.1.4).

The miner keeps the leading eigenvectors V of the transactions received so far and hands them to
the next provider. The provider projects her basket on them, t~ = t V V', keeps what reaches
1 - rho_t, and adds every item that is not in her basket with probability rho_m.

Limits. There is no transition matrix, since what happens to an item depends on the whole basket and
on everybody before: supports are counted in the release as they are, with a bias that nobody can
take out. Nothing bounds amplification: an item in the basket that does not fit the guidance is
surely dropped, one outside is never surely added. The miner who gives the guidance must be honest:
a miner who hands out V = I gets every basket as it is, with items added and none dropped. The book
does not say how a stream starts: here the first `start` baskets keep every item with probability
1/2 and gain others with rho_m.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from unspoken.arrays import Bools, Floats
from unspoken.errors import DataError, InputError, explain
from unspoken.methods.baskets.draw_baskets import heads, without
from unspoken.methods.baskets.guarantee import RandomisedBaskets
from unspoken.methods.baskets.method import BASKETS, FORMS
from unspoken.numerics.random import generator
from unspoken.release.distorted import Draws
from unspoken.release.key import Key
from unspoken.release.parameters import check_parameters
from unspoken.release.record_key import keyed
from unspoken.release.release import Release
from unspoken.table.basket_tables import to_table
from unspoken.table.baskets import Baskets

MAX_CELLS = 1 << 26
"""Most numbers in all eigenvectors together."""

@dataclass
class Guidance:
    """The miner's side: leading eigenvectors of everything received, kept up to date.

    `spare` directions more than are handed out are kept, so that one that grows is not missed.
    """

    rank: int
    vectors: Floats
    strengths: Floats
    spare: int = 10

    @classmethod
    def empty(cls, items: int, rank: int) -> Guidance:
        """Return guidance that has seen nothing."""
        if items * (rank + 10) > MAX_CELLS:
            raise InputError(explain("'rank' times the number of items", f"below {MAX_CELLS}",
                                     f"{rank} and {items}"))
        return cls(rank, np.zeros((items, 0)), np.zeros(0))

    def given(self) -> Floats:
        """Return the eigenvectors to hand out, one column each."""
        return self.vectors[:, :self.rank]

    def update(self, received: Bools) -> None:
        """Append received transactions and bring the eigenvectors up to date."""
        whole = np.vstack([self.strengths[:, None] * self.vectors.T, received.astype(np.float64)])
        tall = whole.shape[0] > whole.shape[1]
        squares, axes = np.linalg.eigh(whole.T @ whole if tall else whole @ whole.T)
        kept = np.argsort(-squares)[:self.rank + self.spare]
        kept = kept[squares[kept] > 1e-9 * max(float(squares.max(initial=0.0)), 1e-300)]
        self.strengths = np.sqrt(squares[kept])
        self.vectors = axes[:, kept] if tall else (whole.T @ axes[:, kept]) / self.strengths


def guided(baskets: Bools, vectors: Floats, rho_t: float) -> Bools:
    """Return which items are kept or come in by the guidance alone, before any is added."""
    projected = (baskets @ vectors) @ vectors.T
    return np.asarray(projected >= 1.0 - rho_t)


class GuidedPerturbation(BaseEstimator):  # type: ignore[misc]
    """Baskets in a stream, each perturbed under the guidance that the ones before it gave.

    Parameters
    ----------
    rank : how many eigenvectors are handed out.
    rho_t : items whose projection reaches 1 - rho_t are sent.
    rho_m : probability that an item outside the basket is added.
    start : how many first baskets are randomised without guidance.
    every : after how many baskets the guidance is renewed; 1 in the book.
    items : the list of all items; by default that of the baskets.
    shuffle_rows : release the baskets in a random order; the key says which is which.
    random_state : for tests and experiments only; a release made with it says so.

    Examples
    --------
    >>> release, key = GuidedPerturbation(rank=10).protect(baskets)  # doctest: +SKIP
    """

    name = "guided"

    def __init__(self, rank: int = 10, rho_t: float = 0.5, rho_m: float = 0.02, *,
                 start: int = 1000, every: int = 100, items: Any = None,
                 shuffle_rows: bool = True, random_state: Any = None) -> None:
        self.rank = rank
        self.rho_t = rho_t
        self.rho_m = rho_m
        self.start = start
        self.every = every
        self.items = items
        self.shuffle_rows = shuffle_rows
        self.random_state = random_state

    def perturb(self, basket: Bools, vectors: Floats | None, rng: np.random.Generator) -> Bools:
        """Return what providers send: rows of baskets as flags, with guidance or (None) without."""
        mine = np.atleast_2d(basket)
        sent = mine & (rng.random(mine.shape) < 0.5) if vectors is None \
            else guided(mine, vectors, self.rho_t)
        own = np.flatnonzero(mine)
        added = without(heads(mine.size, self.rho_m, rng), own)
        sent.reshape(-1)[added] = True
        return np.asarray(sent)

    def transform(self, X: Baskets) -> Baskets:
        """Return the stream of perturbed baskets, in the order of the originals."""
        check_parameters("GuidedPerturbation", FORMS[self.name].parameters, self.get_params())
        self.draws_ = getattr(self, "draws_", None) or Draws(self.random_state)
        return self._stream(X, generator(self.draws_.next(), "guided"))

    def _stream(self, baskets: Baskets, rng: np.random.Generator) -> Baskets:
        width, guidance = len(baskets.items), Guidance.empty(len(baskets.items), self.rank)
        rows, codes, at = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
        while at < len(baskets):
            stop = self.start if at == 0 else at + self.every
            part = baskets.take(slice(at, stop))
            flags = np.zeros((len(part), width), np.bool_)
            flags[part.rows, part.codes] = True
            sent = self.perturb(flags, None if at == 0 else guidance.given(), rng)
            guidance.update(sent)
            row, code = np.nonzero(sent)
            rows.append(row + at)
            codes.append(code)
            at += len(part)
        self.guidance_ = guidance
        return Baskets.from_rows(np.concatenate(rows), np.concatenate(codes), len(baskets),
                                 baskets.items)

    def protect(self, baskets: Baskets) -> tuple[Release, Key]:
        """Return the release of the perturbed stream, shuffled, and the key to its order."""
        if not isinstance(baskets, Baskets) or len(baskets) == 0:
            raise DataError("GuidedPerturbation needs Baskets, at least one. Got "
                            f"{type(baskets).__name__}.")
        if self.items is not None:
            from unspoken.table.basket_files import known_items

            baskets = known_items(baskets, self.items)
        sent = self.transform(baskets)
        mechanism = {"name": BASKETS.name, "operator": self.name, "rank": int(self.rank),
                     "rho_t": float(self.rho_t), "rho_m": float(self.rho_m),
                     "start": int(self.start), "every": int(self.every), "public_sizes": False,
                     "items": list(baskets.items)}
        seed = self.draws_.next()
        release = Release(to_table(sent), mechanism, _promise(), generator(
            seed, "id").bytes(16).hex(), {"seeded": self.random_state is not None})
        return keyed(release, to_table(baskets), seed, self.shuffle_rows)


def _promise() -> RandomisedBaskets:
    return RandomisedBaskets(
        "Every basket was projected on published directions and items were added. Nothing bounds "
        "how far the odds of a property of a basket can change.",
        ("the party that gave the guidance was honest",
         "supports cannot be estimated without bias"),
        {"gamma": None, "epsilon": None, "public_sizes": False})
