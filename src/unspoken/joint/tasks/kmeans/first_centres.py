"""First centres far from each other, on shares (k-means++, Arthur and Vassilvitskii 2007).

Each further centre is a record drawn with a probability in proportion to its squared distance to
the nearest centre so far. The draw is public and the same whatever the data is (`seed`); the
place where it falls among the running sums of the distances stays shared, and so does the record.
Which records are drawn depends on the data and would point at records far from all others: so
this start is refused where assignments or sums are opened on the way.
  discloses: nothing. Safe against whom products and comparisons are.
  cost: for each centre two comparisons and 2 d products a record, about 25 rounds.
"""

from __future__ import annotations

import numpy as np

from unspoken.arrays import Ints
from unspoken.joint.mpc.ops.choice import minimum
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.products import matmul, multiply
from unspoken.joint.mpc.ops.shared_bits import to_numbers
from unspoken.joint.mpc.ops.truncation import truncate
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, concatenate, width_of
from unspoken.joint.tasks.kmeans.params import KMeansParams, first_records

DRAW_BITS = 16


def draws(rules: KMeansParams) -> Ints:
    """Return where each further centre falls, in units of 2^-16 of the sum of distances."""
    rng = np.random.default_rng([rules.seed, 1])
    return np.asarray(rng.integers(0, 1 << DRAW_BITS, rules.k), np.int64)


def spare(columns: int, records: int, rules: KMeansParams) -> int:
    """Return how many bits of squared distances do not fit beside their sums and the draw."""
    bits = width_of(0, columns * (2 * rules.units) ** 2)
    return max(0, bits + records.bit_length() + DRAW_BITS - 61)


def plain_spread(units: Ints, rules: KMeansParams) -> Ints:
    """Return the reference: the records that are drawn; cut distances may differ by one unit."""
    cut, places = spare(units.shape[1], units.shape[0], rules), [first_records(
        rules, units.shape[0])[0]]
    least = np.full(units.shape[0], np.iinfo(np.int64).max)
    for draw in draws(rules)[1:]:
        least = np.minimum(least, ((units - units[places[-1]]) ** 2).sum(axis=1) >> cut)
        sums = [int(value) << DRAW_BITS for value in np.cumsum(least)]
        limit = int(draw) * (sums[-1] >> DRAW_BITS)
        places.append(next((i for i, s in enumerate(sums) if s > limit), len(sums) - 1))
    return np.array(places, np.int64)


async def spread(party: Party, data: Shared, rules: KMeansParams) -> Shared:
    """Return k shared centres out of shared records (records, columns), in units."""
    records = data.shape[0]
    first = int(first_records(rules, records)[0])
    centres = [data[first:first + 1]]
    lengths = (await multiply(party, data, data)).sum(axis=1)
    least: Shared | None = None
    for draw in draws(rules)[1:]:
        distances = await _distances(party, data, lengths, centres[-1], rules)
        least = distances if least is None else await minimum(party, least, distances)
        least = least.within(0, distances.high)
        centres.append(await _drawn(party, data, least, int(draw), rules))
    return concatenate(centres)


async def _distances(party: Party, data: Shared, lengths: Shared, centre: Shared,
                     rules: KMeansParams) -> Shared:
    """Return squared distances to a centre, cut so that their sums leave room for the draw."""
    records, columns = data.shape
    bound = columns * (2 * rules.units) ** 2
    across = await matmul(party, data, centre.T)
    own = (await multiply(party, centre, centre)).sum(axis=1)
    spread_out = own.with_share(np.repeat(own.share, records))
    exact = (lengths + spread_out - across.reshape(records) * 2).within(0, bound)
    cut = spare(columns, records, rules)
    return exact if cut == 0 else (await truncate(party, exact, cut)).within(0, (bound >> cut) + 1)


async def _drawn(
    party: Party, data: Shared, least: Shared, draw: int, rules: KMeansParams
) -> Shared:
    """Return the record where the draw falls among the running sums of the distances."""
    records = least.size
    top = least.high * records
    sums = least.with_share(np.cumsum(least.share, dtype=np.uint64))
    sums = Shared(party, sums.share, 0, top)
    limit = sums[-1:] * draw
    limit = limit.with_share(np.repeat(limit.share, records))
    beyond = await to_numbers(party, await less_than(party, limit, sums * (1 << DRAW_BITS)))
    # The first that lies beyond; the last record if all distances are 0.
    ends = party.engine.public_words(np.ones(1, np.uint64))
    share = np.diff(np.concatenate([beyond.share[:-1], ends]), prepend=np.uint64(0))
    hot = Shared(party, share.reshape(1, records), 0, 1)
    return await matmul(party, hot, data, (-rules.units, rules.units))
