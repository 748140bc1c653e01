"""Shares of numbers with tags modulo 2^128: what numpy may do with them, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unspoken.joint.mpc.authentic import ring128
from unspoken.joint.mpc.authentic.tagged import LostTagError, Tagged, bare, tag


class TaggedNumbers(Tagged):
    """Shares of numbers: `parts` holds the upper words and both words of the tags."""

    @property
    def long(self) -> ring128.Long:
        """Return the whole share."""
        return bare(self), self.known()[0]

    @property
    def tags(self) -> ring128.Long:
        """Return the shares of the tags."""
        return self.known()[1], self.known()[2]

    def _operations(self) -> dict[tuple[str, str], Callable[..., Any]]:
        return NUMBER_OPERATIONS


def numbers(value: ring128.Long, tags: ring128.Long) -> TaggedNumbers:
    """Return shares of numbers with their tags."""
    tagged: TaggedNumbers = tag(TaggedNumbers, value[0], (value[1], *tags))
    return tagged


def _both(operation: Callable[..., ring128.Long]) -> Callable[..., TaggedNumbers]:
    def on(*values: Any, **_: Any) -> TaggedNumbers:
        if not all(isinstance(value, TaggedNumbers) for value in values):
            raise LostTagError("A public number is added to shares with public_words, because its "
                               "tag belongs to it.")
        return numbers(operation(*(value.long for value in values)),
                       operation(*(value.tags for value in values)))
    return on


def _scaled(one: Any, other: Any, **_: Any) -> TaggedNumbers:
    """Multiply by public words."""
    value, factor = (one, other) if isinstance(one, TaggedNumbers) else (other, one)
    if isinstance(factor, Tagged):
        raise LostTagError("Two shared values are multiplied with: await multiply(party, x, y).")
    words = np.asarray(factor).astype(np.uint64, copy=False)
    return numbers(ring128.times_words(value.long, words), ring128.times_words(value.tags, words))


def _lifted(value: Any, bits: Any, **_: Any) -> TaggedNumbers:
    shift = np.asarray(bits)
    return _scaled(value, np.left_shift(np.ones(shift.shape, np.uint64), shift.astype(np.uint64)))


def _summed(value: TaggedNumbers, axis: Any = None, *, keepdims: Any = False,
            **_: Any) -> TaggedNumbers:
    summed = numbers(ring128.total(value.long, axis), ring128.total(value.tags, axis))
    if keepdims is True:
        kept: TaggedNumbers = np.expand_dims(summed, axis)  # type: ignore[assignment]
        return kept
    return summed


def _in_groups(value: TaggedNumbers, starts: Any, axis: int = 0, **_: Any) -> Any:
    """Return the sums from each start to the next."""
    moved = np.moveaxis(value, axis, 0)
    ends = [*list(starts)[1:], len(moved)]
    rows = [moved[a:max(b, a + 1)].sum(axis=0) for a, b in zip(starts, ends, strict=True)]
    return np.moveaxis(np.stack(rows), 0, axis)


def _matrix(one: Any, other: Any, **_: Any) -> TaggedNumbers:
    """Multiply a matrix or vector of shares by one of public words."""
    left = not isinstance(one, TaggedNumbers)
    value, factor = (other, one) if left else (one, other)
    words = np.asarray(factor).astype(np.uint64, copy=False)
    shape = value.shape if value.ndim == 2 else (-1, 1) if left else (1, -1)
    parts = [(low.reshape(shape), high.reshape(shape)) for low, high in (value.long, value.tags)]
    by = words if words.ndim == 2 else words.reshape((1, -1) if left else (-1, 1))
    products = ring128.matrix(parts, by, left=left)
    rows, columns = products[0][0].shape
    sizes = [size for side, size in ((one, rows), (other, columns)) if side.ndim == 2]
    return numbers(products[0], products[1]).reshape(sizes)  # type: ignore[no-any-return]


NUMBER_OPERATIONS: dict[tuple[str, str], Callable[..., Any]] = {
    ("add", "__call__"): _both(ring128.add), ("subtract", "__call__"): _both(ring128.subtract),
    ("negative", "__call__"): _both(ring128.negative), ("multiply", "__call__"): _scaled,
    ("left_shift", "__call__"): _lifted, ("add", "reduce"): _summed,
    ("add", "reduceat"): _in_groups,
    ("matmul", "__call__"): _matrix}
