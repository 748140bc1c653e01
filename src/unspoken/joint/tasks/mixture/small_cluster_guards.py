"""Before an iteration is opened: is every cluster, and every change, one of enough members?

Parameters of a cluster with one or two members are those members. Parameters of two iterations
differ by what the moved members add; one or two movers can be solved for (the book says that two
have infinitely many solutions; sums and squares determine both). So, on shares, for all members
and for all members but those of any one owner, because an owner takes off its own part:

  size: the memberships of each cluster add up to `least` or more (none at all is no harm to
    anybody else);
  change: with d the change of a membership since the last opening, (sum |d|)^2 / sum d^2 is at
    least `moved`. That is the number of movers if all move alike, and less if a few stand out.
    It is tested at seven scales, of which the one that fits counts, so that small changes of few
    members are found too; changes below 2^-40 in all are below what opened sums show.

  discloses: one bit an iteration, whether anything failed; never which cluster.
  limits: only neighbouring iterations are compared, and only single owners, not coalitions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Floats
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.products import multiply
from unspoken.joint.mpc.ops.shared_bits import to_numbers
from unspoken.joint.mpc.ops.sharing import reveal, share
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, concatenate, stack
from unspoken.joint.tasks.mixture.params import MixtureParams

SCALES = (0, 8, 16, 24, 32, 40, 48)
LOW, HIGH = 1 << 6, 1 << 20
SMALL = "whether a cluster, or its change, has fewer members than agreed"


@dataclass(frozen=True)
class Measures:
    """An owner's own part: sizes (k), and changes (2, scales, k), clipped whole numbers."""

    sizes: Floats
    changes: np.ndarray[tuple[int, ...], np.dtype[np.int64]]


def measured(members: Floats, before: Floats | None) -> Measures:
    """Return sizes and changes of an owner's memberships."""
    k = members.shape[1]
    changes = np.zeros((2, len(SCALES), k), np.int64)
    if before is not None and members.shape[0]:
        moved = np.abs(members - before)
        for at, scale in enumerate(SCALES):
            changes[0, at] = np.rint(np.minimum(moved.sum(axis=0) * 2.0**scale, HIGH))
            squares = (moved**2).sum(axis=0) * 4.0**scale
            changes[1, at] = np.rint(np.minimum(squares, float(HIGH) ** 2))
    return Measures(members.sum(axis=0), changes)


def plain_small(parts: list[Measures], rules: MixtureParams, first: bool) -> bool:
    """Return the reference: the same test in one place."""
    for without in (None, *range(len(parts))):
        kept = [part for place, part in enumerate(parts) if place != without]
        sizes = np.sum([part.sizes for part in kept], axis=0)
        floor = 0.0 if without is None else 2.0 ** -(size_scale(rules, len(parts)) + 1)
        if np.any((sizes < rules.least) & ((sizes > floor) | (without is None))):
            return True
        one, square = np.sum([part.changes for part in kept], axis=0)
        fits = (one >= LOW) & (one < HIGH)
        if not first and np.any(fits & (one**2 < rules.moved * square)):
            return True
    return False


def size_scale(rules: MixtureParams, owners: int) -> int:
    """Return the fractional bits of sizes."""
    return min(40, 58 - (rules.most * owners).bit_length())


async def too_small(party: Party, own: Measures, rules: MixtureParams, first: bool) -> bool:
    """Open one bit: whether some cluster, or some change, has too few members."""
    bad = [await _small_sizes(party, own, rules)]
    if not first:
        bad.append(await _small_changes(party, own, rules))
    count = concatenate([part.reshape(part.size) for part in bad]).sum()
    any_small = await less_than(party, (-count).reshape(1), 0)
    return bool((await reveal(party, any_small, because=SMALL))[0])


async def _leave_one_out(party: Party, values: Floats, bound: int, scale: int) -> Shared:
    """Return the total of all owners, then that without each owner's own part."""
    owners = party.roles.owners
    parts = [await share(party, values if party.name == owner else None, owner, values.shape, 0,
                         bound, scale) for owner in owners]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return stack([total, *(total - part for part in parts)]).within(0, total.high)


async def _small_sizes(party: Party, own: Measures, rules: MixtureParams) -> Shared:
    scale = size_scale(rules, len(party.roles.owners))
    every = await _leave_one_out(party, own.sizes, rules.most << scale, scale)
    few = await to_numbers(party, await less_than(party, stack([
        every - (rules.least << scale), every - 1]), 0))
    # Nothing at all is no harm, but a cluster must not be empty for everybody.
    return concatenate([few[0, :1], few[0, 1:] - few[1, 1:]]).within(0, 1)


async def _small_changes(party: Party, own: Measures, rules: MixtureParams) -> Shared:
    every = await _leave_one_out(party, own.changes.astype(np.float64), HIGH**2, 0)
    one = every[:, 0].within(0, HIGH * len(party.roles.owners))
    gap = await multiply(party, one, one) - every[:, 1] * rules.moved
    bits = await less_than(party, stack([gap, one - LOW, one - HIGH]), 0)
    few = await to_numbers(party, bits)
    fits = (few[2] - few[1]).within(0, 1)
    return (await multiply(party, few[0], fits)).within(0, 1)
