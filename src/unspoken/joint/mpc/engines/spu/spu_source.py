"""Correlated randomness made by SPU, for protocols that ask for it instead of an operation.

Each holder draws its own parts from the operating system; what they have to satisfy together is
computed by SPU on the shares. Discloses nothing; costs what the operations cost.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import numpy as np

from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.bit_planes import bits_of, plane_of, planes_of
from unspoken.joint.mpc.correlated.kinds import Need, Parts
from unspoken.joint.mpc.engines.spu.spu_engine import SpuEngine
from unspoken.joint.mpc.party import Source
from unspoken.joint.mpc.randomness import Stream, fresh_seed


class SpuSource(Source):
    """A holder's source on top of SPU."""

    def __init__(self, engine: SpuEngine) -> None:
        self._engine = engine

    async def draw(self, needs: Sequence[Need]) -> list[Parts]:
        """Return this holder's parts of every wish."""
        return [await self._one(need) for need in needs]

    async def _one(self, need: Need) -> Parts:
        if need.kind not in MAKERS:
            raise RefusedError(f"Mode 'spu' cannot make correlated randomness of kind "
                               f"'{need.kind}'. Use mode 'dealer' or 'three-party' for this task.")
        drawn = need.draw(Stream(fresh_seed()))
        return await MAKERS[need.kind](self._engine, drawn, *need.sizes)


async def _triple(engine: SpuEngine, drawn: Parts, n: int) -> Parts:
    a, b, _ = drawn
    return [a, b, await engine.multiply(a, b)]


async def _matrix(engine: SpuEngine, drawn: Parts, n: int, k: int, m: int) -> Parts:
    a, b, _ = drawn
    return [a, b, (await engine.matmul(a.reshape(n, k), b.reshape(k, m))).ravel()]


async def _edabits(engine: SpuEngine, drawn: Parts, width: int, n: int) -> Parts:
    return [drawn[0], planes_of(await engine.bits(drawn[0]), width).ravel()]


async def _dabits(engine: SpuEngine, drawn: Parts, n: int) -> Parts:
    return [await engine.numbers(bits_of(drawn[1], n)), drawn[1]]


async def _ands(engine: SpuEngine, drawn: Parts, w: int) -> Parts:
    a, b, _ = drawn
    return [a, b, plane_of(await engine.both(bits_of(a, 64 * w), bits_of(b, 64 * w)))]


async def _pairs(engine: SpuEngine, drawn: Parts, w: int) -> Parts:
    a, b, c = drawn[:3]
    twice = await engine.both(np.tile(bits_of(a, 64 * w), 2),
                              np.r_[bits_of(b, 64 * w), bits_of(c, 64 * w)])
    return [a, b, c, plane_of(twice[:64 * w]), plane_of(twice[64 * w:])]


async def _cuts(engine: SpuEngine, drawn: Parts, n: int, f: int) -> Parts:
    r = drawn[0]
    top = await engine.numbers(await engine.below_zero(r))
    # The shift keeps the sign, the wish is for the word without it.
    shifted = await engine.shift(r, f)
    return [r, shifted + (top << np.uint64(64 - f)), top]


MAKERS: dict[str, Callable[..., Awaitable[Parts]]] = {
    "triple": _triple, "matrix": _matrix, "edabits": _edabits, "dabits": _dabits, "ands": _ands,
    "pairs": _pairs, "cuts": _cuts}
