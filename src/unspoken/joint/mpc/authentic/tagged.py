"""Shares that carry tags, as arrays: linear operations of numpy keep value and tag together.

**Numbers.** A value is shared modulo 2^128, of which the lower 64 bits are meant, and its tag is
the value times a key modulo 2^128, shared as well (SPDZ2k, Cramer and others 2018). Nobody knows
the key, of which every holder has a share. The array itself holds the lower words of this
holder's share; beside it lie the upper words and both words of its share of the tag.

**Bits.** Each of the 64 shared bits of a word has a tag, the bit times a key of 40 bits. Tags lie
in planes: word k of a tag holds bit k of the tags of all 64 bits, so that a public word chooses
among the tags as it chooses among the bits. The 40 words lie together as one item, so that whatever
moves words moves their tags.

Adding shares adds tags; a public factor multiplies both. A public number has a tag too, so that it
is added with `Engine.public_words` and not by one holder alone. Anything else raises: an operation
that would lose the tag cannot happen silently.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unspoken.joint.mpc.authentic import ring128

TAG_WORDS = 40
TAGS = np.dtype((np.void, 8 * TAG_WORDS))
MOVES = {np.concatenate, np.stack, np.vstack, np.hstack, np.broadcast_to, np.repeat, np.transpose,
         np.reshape, np.ravel, np.take, np.moveaxis, np.swapaxes, np.squeeze, np.zeros_like,
         np.empty_like, np.expand_dims, np.tile, np.roll, np.flip, np.delete, np.copy,
         np.atleast_1d, np.atleast_2d, np.full_like}
SPLITS = {np.split, np.array_split, np.broadcast_arrays, np.hsplit, np.vsplit}


class LostTagError(TypeError):
    """An operation would have separated a share from its tag."""


def bare(array: Any) -> np.ndarray[Any, Any]:
    """Return the words alone."""
    return np.asarray(array).view(np.ndarray)


class Tagged(np.ndarray[Any, Any]):
    """This holder's shares of values, with its shares of their tags in `parts`."""

    parts: tuple[np.ndarray[Any, Any], ...]

    def __array_finalize__(self, source: Any) -> None:
        self.parts = ()

    def with_parts(self, words: Any, parts: Any) -> Any:
        """Return other words of the same kind."""
        return tag(type(self), words, parts)

    def known(self) -> tuple[np.ndarray[Any, Any], ...]:
        """Return the parts, or say that they were lost."""
        if not self.parts:
            raise LostTagError("A share was separated from its tag. Use operations of "
                               "unspoken.joint on Shared values only.")
        return self.parts

    def _each(self, move: Callable[[Any], Any]) -> Any:
        return self.with_parts(move(bare(self)), [move(part) for part in self.known()])

    def __getitem__(self, index: Any) -> Any:
        return self._each(lambda words: np.asarray(words[index]))

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(value, type(self)):
            raise LostTagError("A share with a tag cannot be replaced by one without.")
        bare(self)[index] = bare(value)
        for part, new in zip(self.known(), value.known(), strict=True):
            part[index] = new

    def reshape(self, *shape: Any, **options: Any) -> Any:
        """Return the same values in another shape."""
        return self._each(lambda words: words.reshape(*shape, **options))

    def ravel(self, *order: Any) -> Any:
        """Return the values along one axis."""
        return self._each(lambda words: words.ravel())

    def transpose(self, *axes: Any) -> Any:
        """Return the values with axes exchanged."""
        return self._each(lambda words: words.transpose(*axes))

    @property
    def T(self) -> Any:
        """Return the transposed array."""
        return self._each(lambda words: words.T)

    def copy(self, order: Any = "C") -> Any:
        """Return a copy."""
        return self._each(lambda words: words.copy())

    def astype(self, dtype: Any, *_: Any, **__: Any) -> Any:
        """Return the values themselves; no other type can carry the tags."""
        if np.dtype(dtype) != self.dtype:
            raise LostTagError(f"A share with a tag cannot become {np.dtype(dtype)}.")
        return self

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None, **options: Any) -> Any:
        """Return the sum along an axis."""
        return np.add.reduce(self, axis=axis, **options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        _check_all(args if function is np.broadcast_arrays else
                   args[0] if args and isinstance(args[0], list | tuple) else ())
        if function in MOVES:
            return self._moved(function, args, options)
        if function in SPLITS:
            return self._split(function, args, options)
        other = OTHERS.get(function)
        if other is None:
            raise LostTagError(f"numpy.{function.__name__} would separate shares from their tags.")
        return other(*args, **options)

    def _moved(self, function: Any, args: Any, options: Any) -> Any:
        others = {name: value for name, value in options.items() if name != "dtype"}
        return self.with_parts(function(*_without(args, -1), **options),
                               [function(*_without(args, i), **others)
                                for i in range(len(self.known()))])

    def _split(self, function: Any, args: Any, options: Any) -> Any:
        words = function(*_without(args, -1), **options)
        parts = [function(*_without(args, i), **options) for i in range(len(self.known()))]
        return [self.with_parts(one, list(rest)) for one, *rest in zip(words, *parts, strict=True)]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        out = options.pop("out", None)
        known = self._operations()
        if (ufunc.__name__, method) not in known:
            raise LostTagError(f"numpy.{ufunc.__name__} is not linear on shares.")
        result = known[ufunc.__name__, method](*inputs, **options)
        if out is None:
            return result
        out[0][...] = result
        return out[0]

    def _operations(self) -> dict[tuple[str, str], Callable[..., Any]]:
        raise NotImplementedError


def _without(args: Any, part: int) -> Any:
    """Return arguments with one part in the place of shares, -1 for the words."""
    if isinstance(args, Tagged):
        return bare(args) if part < 0 else args.known()[part]
    if isinstance(args, list | tuple):
        return type(args)(_without(each, part) for each in args)
    return args


def _check_all(arrays: Any) -> None:
    """Refuse to join or to spread shares with tags together with arrays without."""
    kinds = {type(each) for each in arrays}
    if any(issubclass(kind, Tagged) for kind in kinds) and np.ndarray in kinds:
        raise LostTagError("Shares with tags cannot be joined with shares without.")


def tag(kind: type[Any], words: Any, parts: Any) -> Any:
    """Return words with the parts of their tags."""
    out = np.asarray(words).view(kind)
    out.parts = tuple(parts)
    return out


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


class TaggedBits(Tagged):
    """Shares of bits, 64 a word: `parts` holds the planes of their tags as one item."""

    def _operations(self) -> dict[tuple[str, str], Callable[..., Any]]:
        return BIT_OPERATIONS


def tag_words(items: Any) -> np.ndarray[Any, Any]:
    """Return tags as words, their planes along a new last axis."""
    whole = np.ascontiguousarray(items)
    return whole.view(np.uint64).reshape(*items.shape, TAG_WORDS)


def tag_items(words: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return planes of tags, along the last axis, as one item for each word of bits."""
    return np.ascontiguousarray(words).view(TAGS).reshape(words.shape[:-1])


def bits(words: Any, tags: np.ndarray[Any, Any]) -> TaggedBits:
    """Return shares of bits with the planes of their tags along the last axis."""
    tagged: TaggedBits = tag(TaggedBits, words, (tag_items(tags),))
    return tagged


def _xored(one: Any, other: Any, **_: Any) -> TaggedBits:
    if not (isinstance(one, TaggedBits) and isinstance(other, TaggedBits)):
        raise LostTagError("Public bits are added to shares with public_bits, because their tags "
                           "belong to them.")
    return bits(bare(one) ^ bare(other), tag_words(one.known()[0]) ^ tag_words(other.known()[0]))


def _chosen(one: Any, other: Any, **_: Any) -> TaggedBits:
    value, words = (one, other) if isinstance(one, TaggedBits) else (other, one)
    if isinstance(words, Tagged):
        raise LostTagError("Two shared bits are joined with: await both(party, x, y).")
    return bits(bare(value) & words, tag_words(value.known()[0]) & np.asarray(words)[..., None])


def _joined(value: TaggedBits, axis: int = 0, **_: Any) -> TaggedBits:
    place = axis % value.ndim
    return bits(np.bitwise_xor.reduce(bare(value), axis=place),
                np.bitwise_xor.reduce(tag_words(value.known()[0]), axis=place))


BIT_OPERATIONS: dict[tuple[str, str], Callable[..., Any]] = {
    ("bitwise_xor", "__call__"): _xored, ("bitwise_and", "__call__"): _chosen,
    ("bitwise_xor", "reduce"): _joined}


def _sum(value: Any, axis: Any = None, **_: Any) -> Any:
    return np.add.reduce(value, axis=axis)


def _pad(value: Any, widths: Any, *_: Any, **__: Any) -> Any:
    """Pad with zeros, whose tags are zero."""
    pairs = np.broadcast_to(np.asarray(widths), (value.ndim, 2))
    shape = tuple(int(n + a + b) for n, (a, b) in zip(value.shape, pairs, strict=True))
    out = np.zeros_like(value, shape=shape)
    out[tuple(slice(int(a), int(a) + n) for n, (a, _) in zip(value.shape, pairs,
                                                             strict=True))] = value
    return out


def _diff(value: Any, n: int = 1, axis: int = -1, prepend: Any = None, **_: Any) -> Any:
    if prepend is not None:
        value = np.concatenate([np.zeros_like(value, shape=(1,)), value])
    return value[1:] - value[:-1]


def _running(value: Any, axis: int | None = None, **_: Any) -> Any:
    """Return running sums: doubling steps, so that long axes take few of them."""
    axis = 0 if axis is None else axis
    moved = np.moveaxis(value, axis, 0).copy()
    step = 1
    while step < len(moved):
        moved[step:] = moved[step:] + moved[:-step]
        step *= 2
    return np.moveaxis(moved, 0, axis)


OTHERS: dict[Any, Callable[..., Any]] = {np.sum: _sum, np.pad: _pad, np.diff: _diff,
                                         np.cumsum: _running}
