"""Oblivious transfer between two: one side offers two keys, the other gets the one it chooses.

**Base transfers** (Naor and Pinkas 2001; Chou and Orlandi 2015) on ristretto255, whose arithmetic
is libsodium's. The offerer sends A = aG, the chooser B = bG + cA; the keys are hashes of aB and
aB - aA, of which the chooser can compute one. 128 of them take some 30 ms and are made once a run.
  discloses: to the offerer nothing, whatever it computes (B is uniform); to the chooser one key
    of each pair (decisional Diffie-Hellman, SHA-256 as a random function).
  breaks if: a side deviates; a point that is no point, or the identity, ends the run.

**All but one**: from four pairs of keys for each of 32 places. The offerer has sixteen leaves at
each place, the chooser gets fifteen of them, and the offerer does not learn which one is missing:
leaf x is sent under the key of each bit of x, and the chooser has the keys of the bits in which
the missing one differs. `ot_extension` makes millions of transfers of these.
  cost: 2 rounds, 4 KiB of points and 64 KiB of leaves.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from unspoken.errors import MissingExtraError
from unspoken.joint.mpc import ristretto as group
from unspoken.joint.mpc.randomness import SEED_BYTES, Stream, derive, fresh_seed
from unspoken.joint.wire.frames import Purpose

if TYPE_CHECKING:
    from unspoken.joint.mpc.party import Party

PLACES, BITS = 32, 4
LEAVES = 1 << BITS
BASE = PLACES * BITS
Keys = list[list[bytes]]


def need_group() -> Any:
    """Return the library of the group, or say how to get it."""
    try:
        return group._sodium()
    except MissingExtraError:
        raise MissingExtraError("Two holders without a dealer need oblivious transfer, and that "
                                "needs rbcl, which is not installed. Get it with: pip install "
                                "'unspoken[joint]', or use mode='dealer'.") from None


async def offer_keys(party: Party, peer: str, count: int = BASE) -> list[tuple[bytes, bytes]]:
    """Offer pairs of fresh keys; the peer gets one of each."""
    sodium, secret = need_group(), group.fresh_scalar()
    public = sodium.crypto_scalarmult_ristretto255_base(secret)
    await party.send(peer, "ot.base", np.frombuffer(public, np.uint8), Purpose.CONTROL)
    points = await _points(party, peer, "ot.choice", count)
    both = sodium.crypto_scalarmult_ristretto255(secret, public)
    pairs = []
    for place, point in enumerate(points):
        shared = _product(party, peer, secret, point)
        other = sodium.crypto_core_ristretto255_sub(shared, both)
        name = party.seam.session, place, public, point
        pairs.append((_key(*name, shared), _key(*name, other)))
    return pairs


async def choose_keys(party: Party, peer: str, choices: npt.NDArray[np.uint8]) -> list[bytes]:
    """Return the key that each choice names, of the pairs that the peer offers."""
    sodium = need_group()
    [public] = await _points(party, peer, "ot.base", None)
    secrets = [group.fresh_scalar() for _ in choices]
    plain = [sodium.crypto_scalarmult_ristretto255_base(secret) for secret in secrets]
    moved = [sodium.crypto_core_ristretto255_add(point, public) for point in plain]
    points = [bytes(pair[choice]) for choice, *pair in zip(choices, plain, moved, strict=True)]
    sent = np.frombuffer(b"".join(points), np.uint8).reshape(len(points), -1)
    await party.send(peer, "ot.choice", sent, Purpose.ENCRYPTED)
    return [_key(party.seam.session, place, public, point, _product(party, peer, secret, public))
            for place, (secret, point) in enumerate(zip(secrets, points, strict=True))]


async def _points(party: Party, peer: str, label: str, count: int | None) -> list[bytes]:
    """Receive one point or several, and refuse bytes that are no point."""
    shape = (group.POINT_BYTES,) if count is None else (count, group.POINT_BYTES)
    purpose = Purpose.CONTROL if count is None else Purpose.ENCRYPTED
    got = (await party.receive(peer, label, "|u1", shape, purpose)).reshape(-1, group.POINT_BYTES)
    try:
        group.check_points(got)
    except group.BadPointError:
        party.refuse(peer, "sent bytes that are no point of the group")
    return [row.tobytes() for row in got]


def _product(party: Party, peer: str, secret: bytes, point: bytes) -> bytes:
    try:
        return bytes(need_group().crypto_scalarmult_ristretto255(secret, point))
    except RuntimeError:
        party.refuse(peer, "sent a point that cannot be used")


def _key(session: bytes, place: int, public: bytes, point: bytes, shared: bytes) -> bytes:
    """Return the key of one transfer; every part but the session has a fixed length."""
    state = hashlib.sha256(b"unspoken joint base transfer")
    for part in (place.to_bytes(4, "little"), public, point, shared, session):
        state.update(part)
    return state.digest()


async def offer_leaves(party: Party, peer: str) -> Keys:
    """Make sixteen fresh leaves at every place and send all but one of each."""
    leaves = [[fresh_seed() for _ in range(LEAVES)] for _ in range(PLACES)]
    pairs = await offer_keys(party, peer)
    sealed = np.empty((PLACES, BITS, 2, LEAVES // 2, SEED_BYTES), np.uint8)
    for place, bit, value in np.ndindex(PLACES, BITS, 2):
        own = [leaves[place][x] for x in range(LEAVES) if x >> bit & 1 == value]
        sealed[place, bit, value] = _sealed(pairs[place * BITS + bit][value], own)
    await party.send(peer, "ot.leaves", sealed.reshape(BASE, 2, -1), Purpose.ENCRYPTED)
    return leaves


async def choose_leaves(party: Party, peer: str, missing: npt.NDArray[np.uint8]) -> Keys:
    """Return all leaves but the missing one of every place, which is left empty."""
    bits = (missing[:, None] >> np.arange(BITS)) & 1
    keys = await choose_keys(party, peer, (1 - bits).ravel().astype(np.uint8))
    got = await party.receive(peer, "ot.leaves", "|u1", (BASE, 2, LEAVES // 2 * SEED_BYTES),
                              Purpose.ENCRYPTED)
    sealed = got.reshape(PLACES, BITS, 2, LEAVES // 2, SEED_BYTES)
    leaves: Keys = [[b""] * LEAVES for _ in range(PLACES)]
    for place, bit in np.ndindex(PLACES, BITS):
        value = 1 - int(bits[place, bit])
        rows = _sealed(keys[place * BITS + bit], list(sealed[place, bit, value]))
        which = [x for x in range(LEAVES) if x >> bit & 1 == value]
        for x, row in zip(which, rows, strict=True):
            leaves[place][x] = row.tobytes()
    return leaves


def _sealed(key: bytes, leaves: list[Any]) -> npt.NDArray[np.uint8]:
    """Encrypt leaves under a key that is used for nothing else, or decrypt them."""
    mask = Stream(derive(key, "leaf")).words(len(leaves) * SEED_BYTES // 8).view(np.uint8)
    plain = np.frombuffer(b"".join(bytes(leaf) for leaf in leaves), np.uint8)
    return np.asarray((plain ^ mask).reshape(len(leaves), SEED_BYTES))
