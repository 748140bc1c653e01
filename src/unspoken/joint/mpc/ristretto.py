"""The group ristretto255 (RFC 9496), for encryptions that commute.

A point is 32 bytes and a list of them is an array (n, 32). Hashing takes an id to a point that
nobody knows a logarithm of; multiplying by a secret scalar hides it (decisional Diffie-Hellman),
and the order in which several parties multiply does not matter. The arithmetic is libsodium's,
through `rbcl`; nothing of it is ours. It runs in C without the interpreter lock, so long lists
are cut among threads.

From outside come bytes: what is not the one canonical encoding of a point, or is the identity
(which every key leaves as it is), is refused. `is_valid_point` alone accepts the identity.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from unspoken.errors import MissingExtraError
from unspoken.joint.mpc.randomness import fresh_seed, fresh_words
from unspoken.joint.wire.hollow_arrays import is_dry

Points = npt.NDArray[np.uint8]
S = TypeVar("S")
T = TypeVar("T")

POINT_BYTES = 32
# Below this a list is done before threads have started.
THREADED = 2_000


class BadPointError(ValueError):
    """Bytes that are not a point, or are the identity."""


@cache
def _sodium() -> Any:
    """Return rbcl, or say how to get it."""
    try:
        import rbcl
    except ImportError:
        raise MissingExtraError("Commutative encryption needs rbcl, which is not installed. Get "
                                "it with: pip install 'unspoken[joint]'") from None
    _tidy(rbcl)
    return rbcl


def _tidy(rbcl: Any) -> None:
    """Remove the copy of its library that rbcl leaves in the temporary folder at each start."""
    path = str(getattr(rbcl._sodium, "_name", ""))
    if os.name == "posix" and os.path.dirname(path) == tempfile.gettempdir():
        with contextlib.suppress(OSError):
            os.unlink(path)


def fresh_scalar() -> bytes:
    """Return a secret multiplier; 512 bits reduced modulo the order of the group."""
    scalar = bytes(_sodium().crypto_core_ristretto255_scalar_reduce(fresh_seed() + fresh_seed()))
    return scalar if any(scalar) else fresh_scalar()


def inverse(scalar: bytes) -> bytes:
    """Return the multiplier that undoes another."""
    return bytes(_sodium().crypto_core_ristretto255_scalar_invert(scalar))


def reduced(wide: bytes) -> bytes:
    """Return 64 bytes as a scalar."""
    return bytes(_sodium().crypto_core_ristretto255_scalar_reduce(wide))


def scalar_sum(one: bytes, other: bytes) -> bytes:
    """Return the sum of two scalars."""
    return bytes(_sodium().crypto_core_ristretto255_scalar_add(one, other))


def scalar_product(one: bytes, other: bytes) -> bytes:
    """Return the product of two scalars."""
    return bytes(_sodium().crypto_core_ristretto255_scalar_mul(one, other))


def base_times(scalar: bytes) -> bytes:
    """Return a scalar times the base point."""
    return bytes(_sodium().crypto_scalarmult_ristretto255_base(scalar))


def point_times(point: bytes, scalar: bytes) -> bytes:
    """Return one point times a scalar."""
    return bytes(_sodium().crypto_scalarmult_ristretto255(scalar, point))


def point_sum(one: bytes, other: bytes) -> bytes:
    """Return the sum of two points."""
    return bytes(_sodium().crypto_core_ristretto255_add(one, other))


def weighted(points: Points, scalars: Sequence[bytes]) -> Points:
    """Return every point times a scalar of its own."""
    product = _sodium().crypto_scalarmult_ristretto255
    pairs = list(zip(scalars, _rows(points), strict=True))
    rows = _mapped(lambda pair: product(*pair), pairs)
    return np.frombuffer(b"".join(rows), np.uint8).reshape(-1, POINT_BYTES)


def domain(*parts: str | int | bytes) -> bytes:
    """Return 32 bytes that stand for a purpose; parts cannot run into each other."""
    state = hashlib.sha256(b"unspoken joint group")
    for part in parts:
        raw = part if isinstance(part, bytes) else str(part).encode()
        state.update(len(raw).to_bytes(8, "little") + raw)
    return state.digest()


def hash_points(where: bytes, items: Sequence[bytes]) -> Points:
    """Return the points of some ids in one domain: SHA-512, then Elligator twice."""
    if is_dry():
        return _each(lambda item: hashlib.sha256(item).digest(), items)
    to_point = _sodium().crypto_core_ristretto255_from_hash
    start = hashlib.sha512(where)

    def point(item: bytes) -> bytes:
        state = start.copy()
        state.update(item)
        return bytes(to_point(state.digest()))

    return _each(point, items)


def random_points(count: int) -> Points:
    """Return points that belong to no id."""
    if is_dry():
        return _each(lambda seed: seed, [fresh_seed() for _ in range(count)])
    to_point = _sodium().crypto_core_ristretto255_from_hash
    raw = fresh_words(8 * count).tobytes()
    return _each(to_point, [raw[i:i + 64] for i in range(0, len(raw), 64)])


def multiply(points: Points, scalar: bytes) -> Points:
    """Return every point times a scalar; libsodium refuses what is no point and the identity.

    In a dry run points stay as they are, so that equal ids remain equal.
    """
    if is_dry():
        return points
    product = _sodium().crypto_scalarmult_ristretto255
    try:
        return _each(lambda point: product(scalar, point), _rows(points))
    except RuntimeError:
        raise BadPointError("a list has bytes that are no point") from None


def check_points(points: Points) -> None:
    """Refuse what is not the encoding of a point, the identity, and repeated points."""
    if is_dry():
        return
    valid = _sodium().crypto_core_ristretto255_is_valid_point
    if not points.any(axis=1).all() or not all(_mapped(valid, _rows(points))):
        raise BadPointError("a list has bytes that are no point")
    check_different(points)


def check_different(points: Points) -> None:
    """Refuse a list with a repeated point; a set has none."""
    if len(np.unique(as_keys(points))) != len(points):
        raise BadPointError("a list has a point twice")


def shuffled(points: Points) -> Points:
    """Return a list in an order that nobody else can know."""
    return points[fresh_order(len(points))]


def fresh_order(count: int) -> npt.NDArray[np.int64]:
    """Return a uniform permutation from fresh words; numpy's generators can be predicted."""
    return np.argsort(fresh_words(count), kind="stable")


def as_keys(rows: Points) -> npt.NDArray[np.void]:
    """Return every row of bytes, such as a point, as one item that can be sorted and compared."""
    flat = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1])))
    return flat.reshape(len(rows))


async def in_threads(function: Callable[..., Points], *arguments: Any) -> Points:
    """Run long work beside the event loop, so that others of this process go on."""
    if max(len(argument) for argument in arguments) < THREADED:
        return function(*arguments)
    return await asyncio.to_thread(function, *arguments)


def _rows(points: Points) -> list[bytes]:
    raw = np.ascontiguousarray(points).tobytes()
    return [raw[i:i + POINT_BYTES] for i in range(0, len(raw), POINT_BYTES)]


def _each(function: Callable[[bytes], bytes], items: Sequence[bytes]) -> Points:
    """Return the points that a function makes of items."""
    return np.frombuffer(b"".join(_mapped(function, items)), np.uint8).reshape(-1, POINT_BYTES)


def _mapped(function: Callable[[S], T], items: Sequence[S]) -> list[T]:
    """Map a function over items, long lists in threads."""
    workers = _workers()
    if len(items) < THREADED or workers == 1:
        return list(map(function, items))
    size = -(-len(items) // (4 * workers))
    pieces = [items[i:i + size] for i in range(0, len(items), size)]
    with ThreadPoolExecutor(workers) as pool:
        return [one for piece in pool.map(lambda piece: list(map(function, piece)), pieces)
                for one in piece]


def _workers() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
