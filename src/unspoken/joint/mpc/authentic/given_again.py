"""What an owner gives in the course of a run, against what it gave before: tested on shares.

A site that asks at a node of a tree shares which of its questions that is, and the answers of its
records to it, although it has shared the answers to all questions before. **Sums** of shares that
have to be zero are opened as they are. **Rows** have to be those of a table that a shared row of
one 1 and zeros chooses: the holders, who toss a coin after owners are bound, add up every row with
random factors of 40 bits, multiply the sums of the table by the choice, and open what is left. A
row of zeros and ones that differs anywhere passes with probability 2^-40.
  discloses: nothing of owners that give the same again; of one that does not, by how much.
  safe against: all holders but one, with any owners, whatever they do; never the dealer with one.
  cost: a product per place of a choice, and an opening of 16 bytes per sum and row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unspoken.arrays import Ints, Words
from unspoken.joint.mpc.authentic.input_bounds import judge
from unspoken.joint.mpc.randomness import Stream, derive
from unspoken.joint.wire.hollow_arrays import is_dry

if TYPE_CHECKING:
    from unspoken.joint.mpc.authentic.guarded import Guarded

LABEL = "again.open"
FACTOR_BITS = 40


@dataclass(frozen=True)
class Zeros:
    """Shares that are zero if an owner kept to what it gave."""

    owner: str
    words: Any


@dataclass(frozen=True)
class Rows:
    """Rows that an owner gave again: row i is the one of table[index[i]] that choice[i] chooses."""

    owner: str
    rows: Any
    choice: Any
    table: Any
    index: Ints


async def check_given_again(guarded: Guarded) -> None:
    """Test what was given again since the last time; refuse whoever gave something else."""
    claims = guarded.given_again()
    if not claims:
        return
    guarded.party.begin("given again")
    zeros = [each for each in claims if isinstance(each, Zeros)]
    rows = [each for each in claims if isinstance(each, Rows)]
    if rows:
        zeros += await _differences(guarded, rows)
    opened = await guarded.open_clear(LABEL, np.concatenate([each.words for each in zeros]))
    places = np.repeat(range(len(zeros)), [each.words.size for each in zeros])
    await judge(guarded, opened, places, zeros, "gave something else than before")


async def _differences(guarded: Guarded, claims: Sequence[Rows]) -> list[Zeros]:
    """Return what is left of every row, under factors that nobody knew when it was given."""
    # See check_bounds: a coin compares what was opened before.
    await guarded.engine.prove()
    seed = b"" if guarded.check is None else await guarded.check.toss()
    sums = [(_summed(guarded, each.rows, derive(seed, "rows", place)),
             _summed(guarded, each.table, derive(seed, "rows", place))[each.index])
            for place, each in enumerate(claims)]
    product = await guarded.engine.multiply(
        np.concatenate([each.choice.ravel() for each in claims]),
        np.concatenate([table.ravel() for _, table in sums]))
    out, at = [], 0
    for each, (own, table) in zip(claims, sums, strict=True):
        part = product[at:at + table.size].reshape(table.shape)
        out.append(Zeros(each.owner, part.sum(axis=1) - own))
        at += table.size
    return out


def _summed(guarded: Guarded, rows: Any, seed: bytes) -> Any:
    """Return the sum of every row with random factors."""
    if guarded.check is None:
        return np.zeros(len(rows), np.uint64)
    if is_dry():
        return rows[:, 0]
    factors: Words = Stream(seed).words(rows.shape[1]) >> np.uint64(64 - FACTOR_BITS)
    return rows @ factors
