"""Classes by the nearest neighbours: one owner asks, the others have labelled rows.

Built from the distances of outliers over rows (vcz2006 section 7.3.3): records of the asker meet
rows of every other owner in matrix products on shares. Which rows are nearest is found by
tournaments, their classes are counted by a product, and the first most frequent class is opened.

  discloses: how many records each owner has; the class of every record, to the receivers or, if
    nobody is named, to the asker alone. Not: distances, which rows or whose rows were near, votes.
  what classes give away is given away: who may ask for many records learns the borders between
    classes, and with k = 1 where single rows lie. Agree on how many may be asked (`questions`).
  refuses: fewer rows than k, more records than `questions`, values outside `most`, missing values,
    other classes than those agreed on; all before a distance is computed.
  safe against: whom products and comparisons are.
  cost: see `nearest_rows`; distances take columns times as many products. Without a dealer those
    cost 1 kB each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError, InputError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.checkpoints import recalled_shares, remember_shares
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.choice import argmax
from unspoken.joint.mpc.ops.products import matmul
from unspoken.joint.mpc.ops.sharing import reveal, share
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, check_interval, concatenate
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.common.grid_distances import across, reach_of, rounded
from unspoken.joint.tasks.common.nearest_rows import nearest_rows
from unspoken.joint.tasks.common.public_sizes import SIZES, open_sizes
from unspoken.joint.tasks.neighbours.params import NeighbourParams
from unspoken.joint.wire.ledger import Ledger

NEAREST = "the class of every record by its nearest neighbours"
BLOCK = 1 << 20


@dataclass(frozen=True)
class Labelled:
    """An owner's rows, and their classes where it has them."""

    values: Floats
    classes: npt.NDArray[Any] | None = None


@dataclass(frozen=True)
class Own:
    """An owner's checked part: values in units, and for every row 1 at its class."""

    units: Ints
    hot: Ints


class NeighboursOverRows:
    """The program: the asker gives records, every other owner rows with their classes."""

    def __init__(self, rules: NeighbourParams, columns: int, classes: Sequence[str], asks: str,
                 owners: Sequence[str], receivers: Sequence[str] = (), block: int = BLOCK) -> None:
        if asks not in owners or len(owners) < 2:
            raise InputError(f"Who asks for neighbours must be one of two owners or more. "
                             f"'{asks}' asks, and the owners are {', '.join(owners)}.")
        self.rules, self.columns, self.classes, self.block = rules, columns, tuple(classes), block
        self.asks, self.having = asks, tuple(name for name in owners if name != asks)
        self.receivers = tuple(receivers) or (asks,)
        # Rows that were taken are put beyond all others.
        check_interval(0, 4 * reach_of(rules, columns), "A distance to the power of its order")
        self.disclosures = (Disclosure(SIZES), Disclosure(NEAREST, self.receivers))

    async def __call__(self, party: Party, data: Labelled | None) -> npt.NDArray[Any] | None:
        """Return the class of every record to those who may know it."""
        own = self._own(party, data)
        asked, *rows = (await open_sizes(party, len(own.units), [self.asks, *self.having])).tolist()
        self._check(asked, sum(rows))
        hot = await self._classes(party, own, rows)
        places = [await self._block(party, own, block, rows, hot)
                  for block in self._blocks(asked, sum(rows))]
        codes = await reveal(party, concatenate(places), because=NEAREST, to=self.receivers)
        return None if codes is None else np.array(self.classes, object)[codes]

    def _own(self, party: Party, data: Labelled | None) -> Own:
        """Check what this party gives before anything is sent."""
        nothing = Own(np.zeros((0, self.columns), np.int64), np.zeros((0, 0), np.int64))
        if party.name != self.asks and party.name not in self.having:
            return nothing
        if not isinstance(data, Labelled):
            raise DataError(f"'{party.name}' must give its records. It gave none.")
        units = rounded(data.values, self.rules)
        if units.shape[1] != self.columns:
            raise InputError(explain(f"The columns of '{party.name}'", f"{self.columns}, as agreed",
                                     units.shape[1]))
        return Own(units, nothing.hot if party.name == self.asks else self._hot(data))

    def _hot(self, data: Labelled) -> Ints:
        """Return for every row 1 at its class; other classes are refused."""
        given = np.array([] if data.classes is None else data.classes, object)
        hot = np.array([[label is not None and str(label) == name for name in self.classes]
                        for label in given.tolist()], np.int64).reshape(-1, len(self.classes))
        if len(hot) != len(data.values) or not hot.any(axis=1).all():
            raise DataError("Every row must have one of the agreed classes: "
                            f"{', '.join(self.classes)}. Some of this owner's do not.")
        return hot

    def _check(self, asked: int, rows: int) -> None:
        """Refuse too few rows and too many records."""
        if rows < self.rules.k:
            raise RefusedError(f"There must be {self.rules.k} rows with a class or more. There are "
                               f"{rows} in all. Agree on a smaller 'k'.")
        if self.rules.questions is not None and asked > self.rules.questions:
            raise RefusedError(f"At most {self.rules.questions:,} records may be asked for in this "
                               f"study. '{self.asks}' has {asked:,}.")

    async def _classes(self, party: Party, own: Own, rows: Sequence[int]) -> Shared:
        """Return the classes of all owners' rows, one column a class, as shares."""
        return concatenate([
            await share(party, own.hot if party.name == name else None, name,
                        (count, len(self.classes)), 0, 1)
            for name, count in zip(self.having, rows, strict=True)])

    def _blocks(self, asked: int, rows: int) -> Iterator[slice]:
        """Yield records, with at most `block` distances together unless one has more."""
        step = max(1, self.block // rows)
        for start in range(0, asked, step):
            yield slice(start, min(asked, start + step))

    async def _block(self, party: Party, own: Own, block: slice, rows: Sequence[int],
                     hot: Shared) -> Shared:
        """Return the places of the classes of some records."""
        known = recalled_shares(party, "a batch of records", [Shared(
            party, np.zeros(0, np.uint64), 0, len(self.classes) - 1)])
        if known is not None:
            return known[0]
        distances = await self.distances(party, own, block, rows)
        near, _kth = await nearest_rows(party, distances, self.rules.k)
        votes = (await matmul(party, near, hot)).within(0, self.rules.k)
        place, _votes = await argmax(party, votes)
        await remember_shares(party, "a batch of records", [place])
        return place

    async def distances(self, party: Party, own: Own, block: slice,
                        rows: Sequence[int]) -> Shared:
        """Return the powers of the distances of some records to all rows, owner by owner."""
        asked = own.units[block] if party.name == self.asks else None
        return concatenate([
            await across(party, self.rules, (self.asks, name),
                         (asked, own.units if party.name == name else None),
                         (block.stop - block.start, count, self.columns))
            for name, count in zip(self.having, rows, strict=True)], 1)


def neighbours_rows(asked: Any, parts: Sequence[tuple[Any, Sequence[Any]]],
                    classes: Sequence[str], rules: NeighbourParams, mode: str = "dealer", *,
                    names: Sequence[str] | None = None, receivers: Sequence[str] = (),
                    block: int = BLOCK, **how: Any
                    ) -> tuple[list[npt.NDArray[Any] | None], list[Ledger]]:
    """Classify the first party's records by their nearest rows, which the other parties have.

    Parameters
    ----------
    asked : array-like
        The records to classify (records, columns).
    parts : sequence of pairs
        The rows of every other owner (rows, columns), and their classes.
    classes : sequence of str
        All classes; among equally frequent ones the first is taken.
    rules : NeighbourParams
        How many neighbours decide, and how distances are measured.
    mode : str, default 'dealer'
        Who holds shares and who deals, as in `run_local`.
    names : sequence of str, optional
        The owners' names, who asks first. Default: p0, p1, and so on.
    receivers : sequence of str, default ()
        Who learns the classes; if nobody is named, who asks.
    block : int, default 2**20
        Distances that are computed together, at most.
    **how : Any
        Passed on to `run_local`, such as processes=True.

    Returns
    -------
    tuple of (list of array or None, list of Ledger)
        The classes to who may know them, and ledgers, in the order of owners.
    """
    named = list(names) if names is not None else [f"p{i}" for i in range(1 + len(parts))]
    values = [Labelled(np.asarray(asked)),
              *(Labelled(np.asarray(rows), np.array(labels, object)) for rows, labels in parts)]
    columns = np.shape(asked)[1] if np.ndim(asked) == 2 else 0
    program = NeighboursOverRows(rules, columns, classes, named[0], named, receivers, block)
    outputs = run_local(program, values, mode, names=named, **how)
    return [output for output, _ in outputs], [ledger for _, ledger in outputs]
