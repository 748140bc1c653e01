"""The nearest centre of every record, on shares (vcz2006 section 7.2.2).

**closest** (the default): a tournament. Neighbours are compared, all records and all pairs of a
level together; the right one wins only if it is strictly less, so that the first centre is taken
among equals. The winner is a row of bits, one a centre, joined by ANDs on the way up.
  discloses: nothing. Safe against whom comparisons are.

**closest_permuted** (the book's way, by name): a party that holds no shares draws an order of
the centres for every record and round and permutes the disguised distances; the two holders
compare them openly and tell that party who won. The book permutes under homomorphic encryption,
one record at a time; here it shares permutation matrices and all records travel together.
  discloses: to the holders, all k - 1 comparisons of each record in an order they do not know;
    to who drew the orders, which centre is nearest (which it may tell everybody).
  not safe against: that party together with a holder: they would rank all centres of a record.
  cost: k^2 products a record in place of k - 2 selections; kept because the book has it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unspoken.arrays import Ints, Words
from unspoken.errors import explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.bit_planes import plane_words
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.products import multiply
from unspoken.joint.mpc.ops.selection import keep
from unspoken.joint.mpc.ops.shared_bits import SharedBits, both, to_numbers
from unspoken.joint.mpc.ops.sharing import reveal, share
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.randomness import fresh_words
from unspoken.joint.mpc.shared import Shared, concatenate, public

COMPARED = "comparisons of distances, centres in an order that the permuting party alone knows"
WON = "the nearest centre of each record in each round"


def aligned(value: Shared) -> Shared:
    """Return values (centres, records) with records filled up to whole words of bits."""
    more = -value.shape[1] % 64
    if not more:
        return value
    return value.with_share(np.pad(value.share, ((0, 0), (0, more)))).within(
        min(0, value.low), max(0, value.high))


@dataclass
class _Entry:
    """A group of centres that already played: its least distance, and who has it."""

    value: Shared
    winners: list[Words]


async def closest(party: Party, value: Shared) -> SharedBits:
    """Return for distances (centres, records) the bits of the nearest centre, in that shape.

    Records must be a multiple of 64 (`aligned`).
    """
    n, words = value.shape[1], plane_words(value.shape[1])
    ones = party.engine.public_bits(np.full(words, ~np.uint64(0)))
    group = [_Entry(value[place:place + 1], [ones]) for place in range(value.shape[0])]
    while len(group) > 1:
        group = await _level(party, group, n)
    share = np.concatenate(group[0].winners)
    return SharedBits(party, share, (value.shape[0], n))


async def _level(party: Party, group: list[_Entry], n: int) -> list[_Entry]:
    """Let neighbours play; a last one without a neighbour goes on."""
    half = len(group) // 2
    left = concatenate([entry.value for entry in group[0:2 * half:2]])
    right = concatenate([entry.value for entry in group[1:2 * half:2]])
    won = await less_than(party, right, left)
    value = left
    if len(group) > 2:
        [kept] = await keep(party, won, [right - left])
        value = replace(left, share=(left + kept).share)
    winners = await _joined(party, group[:2 * half], won.share.reshape(half, -1), n)
    joined = [_Entry(value[i:i + 1], winners[i]) for i in range(half)]
    return joined + group[2 * half:]


async def _joined(party: Party, group: list[_Entry], won: Words, n: int) -> list[list[Words]]:
    """Return who is first in every pair: the left ones where it won, the right ones elsewhere.

    Of each group one row follows from the others, as exactly one centre is the first.
    """
    lost = won ^ party.engine.public_bits(np.full(won.shape, ~np.uint64(0)))
    sides = [(entry, (won if i % 2 else lost)[i // 2]) for i, entry in enumerate(group)]
    asked = [(row, side) for entry, side in sides for row in entry.winners[:-1]]
    answer: list[Words] = []
    if asked:
        one, other = (SharedBits(party, np.concatenate(part), (len(asked), n))
                      for part in zip(*asked, strict=True))
        answer = list((await both(party, one, other)).share.reshape(len(asked), -1))
    winners: list[list[Words]] = []
    for entry, side in sides:
        rows = [answer.pop(0) for _ in entry.winners[:-1]]
        rows.append(np.bitwise_xor.reduce(np.stack([side, *rows])))
        winners.append(rows)
    return [winners[i] + winners[i + 1] for i in range(0, len(winners), 2)]


async def one_hot(party: Party, bits: SharedBits) -> Shared:
    """Return the bits of the nearest centre as numbers; the last row follows from the others."""
    k, n = bits.shape
    head = SharedBits(party, bits.share.reshape(k, -1)[:-1].ravel(), (k - 1, n))
    ones = public(party, np.ones((1, n), np.int64))
    if k == 1:
        return ones
    numbers = await to_numbers(party, head)
    last = ones - numbers.sum(axis=0).reshape(1, n)
    return concatenate([numbers, last.within(0, 1)])


def permuting_owner(party: Party) -> str:
    """Return who draws the orders: a party that holds no shares."""
    for name in party.names:
        if name not in party.holders:
            return name
    raise RefusedError(explain("Permuted comparisons", "done by a party that holds no share, and "
                               "two others who compare (vcz2006 section 7.2.2)",
                               f"{len(party.names)} parties, all of whom hold shares",
                               "Use closest='shares'."))


async def closest_permuted(party: Party, value: Shared) -> Ints:
    """Return the nearest centre of every record, known to everybody afterwards."""
    owner, (k, n) = permuting_owner(party), value.shape
    orders = fresh_orders(n, k) if party.name == owner else None
    permuted = await _permute(party, value, orders, owner)
    place = np.zeros(n, np.int64)
    best, columns = permuted[0], np.arange(n)
    for rival in range(1, k):
        less = await reveal(party, await less_than(party, permuted[rival], best),
                            because=COMPARED, to=party.holders)
        if less is not None:
            place[less] = rival
            best = permuted[place, columns]
    won = await reveal(party, public(party, place if party.is_holder else np.zeros(n, np.int64)
                                    ).within(0, k - 1), because=WON, to=[owner])
    mine = None if orders is None else orders[won, columns]
    centres = await share(party, mine, owner, (n,), 0, k - 1)
    return np.asarray(await reveal(party, centres, because=WON), np.int64)


def fresh_orders(n: int, k: int) -> Ints:
    """Return an order of the centres for every record: row i says which centre stands at i."""
    return np.asarray(np.argsort(fresh_words(n * k).reshape(k, n), axis=0), np.int64)


async def _permute(party: Party, value: Shared, orders: Ints | None, owner: str) -> Shared:
    """Multiply every record's distances with a shared permutation matrix."""
    k, n = value.shape
    matrices = None
    if orders is not None:
        matrices = (orders[:, None, :] == np.arange(k)[None, :, None]).astype(np.int64)
    shared = await share(party, matrices, owner, (k, k, n), 0, 1)
    product = await multiply(party, shared, value.reshape(1, k, n))
    return product.sum(axis=1).within(value.low, value.high)
