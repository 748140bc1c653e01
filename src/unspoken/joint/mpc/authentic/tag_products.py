"""Products of shares with tags by triples, as `masked_products` has them without.

A product is c + d (b + e) + e a for opened d = x - a and e = y - b. A holder's share of the tag of
the public e is what the check of that opening has computed anyway: its share of the key times e.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unspoken.joint.mpc.authentic.guarded import Guarded
from unspoken.joint.mpc.authentic.ring128 import Long
from unspoken.joint.mpc.authentic.tagged_numbers import TaggedNumbers, numbers
from unspoken.joint.mpc.shared import times


async def tagged_products(guarded: Guarded, x: Any, y: Any, triple: list[Any]) -> Any:
    """Return shares of products, element by element, of flat arrays."""
    a, b, c = triple
    masked: Any = np.concatenate([x - a, y - b])
    value, tags = await guarded.open_long("multiply.open", masked)
    d, e = value[0][:a.size], value[0][a.size:]
    return (b + _public(guarded, value, tags, slice(a.size, None))) * d + a * e + c


async def tagged_matrix(guarded: Guarded, one: Any, other: Any, triple: list[Any]) -> Any:
    """Return shares of the product of two matrices."""
    (n, k), m = one.shape, other.shape[1]
    a, b, c = triple[0].reshape(n, k), triple[1].reshape(k, m), triple[2].reshape(n, m)
    masked: Any = np.concatenate([one.ravel() - triple[0], other.ravel() - triple[1]])
    value, tags = await guarded.open_long("matmul.open", masked)
    d, e = value[0][:n * k].reshape(n, k), value[0][n * k:].reshape(k, m)
    right = b + _public(guarded, value, tags, slice(n * k, None)).reshape(k, m)
    return c + times(d, right) + times(a, e)


def _public(guarded: Guarded, value: Long, tags: Long, span: slice) -> TaggedNumbers:
    """Return a share of numbers that all holders have opened."""
    low, high = value[0][span], value[1][span]
    if not guarded.party.adds_public:
        low, high = np.zeros_like(low), np.zeros_like(high)
    return numbers((low, high), (tags[0][span], tags[1][span]))
