"""Arrays for dry runs: a shape and a dtype, and zero in place of all values.

A dry run carries a program out with hollow arrays where shares and masks would be, so that it
costs neither memory nor randomness. All cells of a hollow array are one cell (its strides are 0).
Arithmetic gives hollow arrays of the right shape; what numpy knows no shape rule for here is
computed in full, which is slower and no less right. `dry_run` turns the sources of randomness and
the group hollow as well, for the tasks that are started inside of it alone.

A hollow array never leaves the process: frames refuse it, so that masks which were not drawn
cannot hide anything that is sent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

Plain = npt.NDArray[Any]
FEW = 1 << 12
_ZERO = bytes(32)
_DRY: ContextVar[bool] = ContextVar("dry_run", default=False)


@contextmanager
def dry_running() -> Iterator[None]:
    """Draw hollow masks inside of this, and in the tasks that are started in it."""
    token = _DRY.set(True)
    try:
        yield
    finally:
        _DRY.reset(token)


def is_dry() -> bool:
    """Return True inside of a dry run."""
    return _DRY.get()


class Hollow(np.ndarray[Any, Any]):
    """An array of which only shape and dtype count."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None,
                        **kwargs: Any) -> Any:
        if out is not None:
            # What stands in it is nobody's concern, and writing would take memory.
            return out[0] if len(out) == 1 else out
        if method == "at":
            return None
        shape = _UFUNC_SHAPES[method](ufunc, inputs, kwargs)
        kinds = tuple(getattr(value, "dtype", None) or _kind_of(value) for value in inputs)
        types = _types(ufunc, method, kinds, kwargs.get("dtype"))
        return _zeros(shape, types[0]) if len(types) == 1 else tuple(
            _zeros(shape, kind) for kind in types)

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any,
                           kwargs: Any) -> Any:
        rule = _FUNCTIONS.get(func.__name__)
        if rule is not None:
            return rule(*args, **kwargs)
        return func(*_filled(args), **{name: _filled(value) for name, value in kwargs.items()})

    def __getitem__(self, index: Any) -> Any:
        part = super().__getitem__(index)
        if not isinstance(part, np.ndarray) or not any(part.strides):
            return part
        return hollow(part.shape, self.dtype)

    def __setitem__(self, index: Any, value: Any) -> None:
        """Take a value and forget it."""

    def ravel(self, *_: Any, **__: Any) -> Any:
        """Return the same in one dimension."""
        return hollow((self.size,), self.dtype)

    def flatten(self, *_: Any, **__: Any) -> Any:
        """Return the same in one dimension."""
        return hollow((self.size,), self.dtype)

    def copy(self, *_: Any, **__: Any) -> Any:
        """Return the array itself, which nothing changes."""
        return self

    def reshape(self, *shape: Any, **_: Any) -> Any:
        """Return the same in another shape."""
        wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
        return hollow(_reshaped(self.size, wanted), self.dtype)

    def astype(self, dtype: Any, *_: Any, **__: Any) -> Any:
        """Return the same in another type."""
        return hollow(self.shape, dtype)

    def view(self, *kinds: Any, **_: Any) -> Any:
        """Return the same bytes as another type; as the plain class, an array of stride 0."""
        if not kinds or (isinstance(kinds[0], type) and issubclass(kinds[0], np.ndarray)):
            return super().view(*kinds)
        kind = np.dtype(kinds[0])
        shape = self.shape if kind.itemsize == self.itemsize else (
            *self.shape[:-1], self.shape[-1] * self.itemsize // kind.itemsize)
        return hollow(shape, kind)

    def cumsum(self, axis: Any = None, dtype: Any = None, *_: Any, **__: Any) -> Any:
        """Return running sums."""
        return hollow(self.shape if axis is not None else (self.size,), dtype or self.dtype)

    def repeat(self, repeats: Any, axis: Any = None) -> Any:
        """Return repeated values."""
        return _repeat(self, repeats, axis)


def hollow(shape: int | Sequence[int], dtype: Any = np.uint64) -> Any:
    """Return an array that has a shape and a type, and zero in all places."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    return Hollow(shape, dtype, buffer=_ZERO, strides=(0,) * len(shape))


def blank_words(count: int) -> Any:
    """Return words in place of drawn ones: zeros while they are few, which is faster."""
    return np.zeros(count, np.uint64) if count <= FEW else hollow(count)


def is_hollow(array: Any) -> bool:
    """Return True for an array of a dry run."""
    return isinstance(array, Hollow)


def _kind_of(value: Any) -> Any:
    return type(value) if np.ndim(value) == 0 else np.asarray(value).dtype


@lru_cache(4096)
def _types(ufunc: np.ufunc, method: str, kinds: tuple[Any, ...], dtype: Any) -> tuple[Any, ...]:
    """Return the types that a ufunc gives, by trying it on zeros."""
    cells = [np.zeros(1, kind) if isinstance(kind, np.dtype) else kind(0) for kind in kinds]
    if ufunc is np.matmul:
        return (np.result_type(*cells),)
    more = {} if dtype is None else {"dtype": dtype}
    with np.errstate(all="ignore"):
        results = ufunc(*cells, **more) if method == "__call__" else (
            ufunc.outer(*cells, **more) if method == "outer" else ufunc.reduce(cells[0], **more))
    return tuple(np.asarray(part).dtype for part in (
        results if isinstance(results, tuple) else (results,)))


def _zeros(shape: tuple[int, ...], dtype: Any) -> Any:
    return dtype.type(0) if shape == () else hollow(shape, dtype)


def _reshaped(size: int, shape: Sequence[int]) -> tuple[int, ...]:
    known = math.prod(int(n) for n in shape if n != -1)
    full = tuple(size // max(1, known) if n == -1 else int(n) for n in shape)
    if math.prod(full) != size:
        raise ValueError(f"cannot reshape an array of {size} values into {tuple(shape)}")
    return full


def _filled(value: Any) -> Any:
    """Return plain arrays in place of hollow ones, in lists as well."""
    if isinstance(value, Hollow):
        return value.view(np.ndarray)
    return type(value)(map(_filled, value)) if type(value) in (list, tuple) else value


def _called(ufunc: np.ufunc, inputs: Any, _: Any) -> tuple[int, ...]:
    if ufunc is np.matmul:
        one, other = (np.shape(value) for value in inputs)
        return (*one[:-1], *other[:-2], other[-1]) if len(other) > 1 else one[:-1]
    return np.broadcast_shapes(*(np.shape(value) for value in inputs))


def _reduced(_: np.ufunc, inputs: Any, kwargs: Any) -> tuple[int, ...]:
    shape, axis = np.shape(inputs[0]), kwargs.get("axis", 0)
    axes = range(len(shape)) if axis is None else [axis] if isinstance(axis, int) else axis
    gone = {a % len(shape) for a in axes} if shape else set()
    if kwargs.get("keepdims"):
        return tuple(1 if place in gone else n for place, n in enumerate(shape))
    return tuple(n for place, n in enumerate(shape) if place not in gone)


def _reduced_at(_: np.ufunc, inputs: Any, kwargs: Any) -> tuple[int, ...]:
    shape = list(np.shape(inputs[0]))
    shape[kwargs.get("axis", 0)] = len(inputs[1])
    return tuple(shape)


_UFUNC_SHAPES: dict[str, Callable[..., tuple[int, ...]]] = {
    "__call__": _called, "reduce": _reduced, "reduceat": _reduced_at,
    "accumulate": lambda _, inputs, __: np.shape(inputs[0]),
    "outer": lambda _, inputs, __: (*np.shape(inputs[0]), *np.shape(inputs[1]))}


def _concatenate(arrays: Sequence[Any], axis: int = 0, **_: Any) -> Any:
    shapes = [np.shape(array) for array in arrays]
    place = axis % len(shapes[0])
    if any(s[:place] != shapes[0][:place] or s[place + 1:] != shapes[0][place + 1:]
           for s in shapes):
        raise ValueError(f"cannot concatenate arrays of shapes {shapes}")
    shape = (*shapes[0][:place], sum(s[place] for s in shapes), *shapes[0][place + 1:])
    return hollow(shape, np.result_type(*(np.asanyarray(array).dtype for array in arrays)))


def _where(condition: Any, one: Any, other: Any) -> Any:
    shape = np.broadcast_shapes(*(np.shape(value) for value in (condition, one, other)))
    return _zeros(shape, np.result_type(one, other))


def _repeat(array: Any, repeats: Any, axis: Any = None) -> Any:
    shape = list(np.shape(array)) if axis is not None else [np.size(array)]
    place = axis if axis is not None else 0
    shape[place] = shape[place] * int(repeats) if np.ndim(repeats) == 0 else int(np.sum(repeats))
    return hollow(shape, array.dtype)


def _unpackbits(array: Any, axis: Any = None, count: Any = None, **_: Any) -> Any:
    shape = [array.size] if axis is None else list(array.shape)
    place = 0 if axis is None else axis
    shape[place] = 8 * shape[place] if count is None else int(count)
    return hollow(shape, np.uint8)


def _packbits(array: Any, axis: Any = None, **_: Any) -> Any:
    shape = (array.size,) if axis is None else list(array.shape)
    place = 0 if axis is None else axis
    return hollow([-(-n // 8) if i == place % len(shape) else n for i, n in enumerate(shape)],
                  np.uint8)


def _like(array: Any, *_: Any, dtype: Any = None, shape: Any = None, **__: Any) -> Any:
    return hollow(np.shape(array) if shape is None else shape, dtype or array.dtype)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "concatenate": _concatenate, "where": _where, "repeat": _repeat, "unpackbits": _unpackbits,
    "packbits": _packbits, "zeros_like": _like, "empty_like": _like, "ones_like": _like,
    "full_like": _like,
    "broadcast_to": lambda array, shape, **_: hollow(shape, array.dtype),
    "cumsum": lambda array, axis=None, dtype=None, **_: array.cumsum(axis, dtype),
    "shape": lambda array: np.ndarray.shape.__get__(array),
    "copyto": lambda *_, **__: None,
    **{name: (lambda implementation: lambda *a, **k: implementation(*a, **k))(
        getattr(np, name).__wrapped__) for name in
       ("stack", "hstack", "vstack", "column_stack", "tile", "ravel", "reshape", "sum", "diff",
        "transpose", "size", "ndim", "take_along_axis", "split", "array_split", "moveaxis",
        "expand_dims", "atleast_1d", "atleast_2d", "swapaxes", "squeeze")
       if hasattr(getattr(np, name), "__wrapped__")}}
