"""A proof that one secret multiplied a whole list: many points, one proof of 128 bytes.

To show that B_i = k A_i for all i, for a k with k G = K, the list is drawn together with random
weights c_i (128 bits, from a hash over both lists): M = sum c_i A_i, N = sum c_i B_i. Then a
proof of equal logarithms (Chaum and Pedersen 1992) for (G, K) and (M, N), made non-interactive by
hashing (Fiat and Shamir). If a single B_i is not k A_i, N = k M with probability 2^-127 only.
  discloses: nothing about k (random oracle).
  cost: a multiplication for each point to prove, two to check.
The arithmetic is libsodium's; the proof is ours and has had no outside review.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import reduce

import numpy as np

from unspoken.joint.mpc import ristretto as group
from unspoken.joint.mpc.ristretto import POINT_BYTES, BadPointError, Points
from unspoken.joint.wire.hollow_arrays import is_dry

PARTS = 4
PROOF_BYTES = PARTS * POINT_BYTES
_WEIGHT_BYTES = 16


@dataclass(frozen=True)
class EqualExponents:
    """K = k G, the two commitments t G and t M, and the answer t + e k."""

    public: bytes
    first: bytes
    second: bytes
    answer: bytes

    def to_bytes(self) -> bytes:
        """Return what travels."""
        return self.public + self.first + self.second + self.answer

    @classmethod
    def from_bytes(cls, raw: bytes) -> EqualExponents:
        """Take the parts of what came."""
        return cls(*(raw[i:i + POINT_BYTES] for i in range(0, PROOF_BYTES, POINT_BYTES)))


def prove(where: bytes, key: bytes, before: Points, after: Points) -> EqualExponents:
    """Prove that every point of `after` is `key` times the one of `before`.

    In a dry run points are no points, and a proof is only as long as one.
    """
    if is_dry():
        return EqualExponents(*[bytes(POINT_BYTES)] * PARTS)
    public = group.base_times(key)
    weights = _weights(where, public, before, after)
    one, other = _combined(before, weights), _combined(after, weights)
    nonce = group.fresh_scalar()
    first, second = group.base_times(nonce), group.point_times(one, nonce)
    challenge = _challenge(where, public, one, other, first, second)
    answer = group.scalar_sum(nonce, group.scalar_product(challenge, key))
    return EqualExponents(public, first, second, answer)


def holds(proof: EqualExponents, where: bytes, before: Points, after: Points) -> bool:
    """Return True if a proof shows that one secret takes `before` to `after`."""
    if len(before) != len(after):
        return False
    if len(before) == 0 or is_dry():
        return True
    try:
        group.check_points(_as_points(proof.public, proof.first, proof.second))
        weights = _weights(where, proof.public, before, after)
        one, other = _combined(before, weights), _combined(after, weights)
        challenge = _challenge(where, proof.public, one, other, proof.first, proof.second)
        return (_shows(group.base_times(proof.answer), proof.first, proof.public, challenge)
                and _shows(group.point_times(one, proof.answer), proof.second, other, challenge))
    except (BadPointError, RuntimeError, ValueError):
        return False


def _shows(left: bytes, commitment: bytes, point: bytes, challenge: bytes) -> bool:
    return left == group.point_sum(commitment, group.point_times(point, challenge))


def _weights(where: bytes, public: bytes, before: Points, after: Points) -> list[bytes]:
    """Return one odd weight of 128 bits for each point; a zero would leave its point out."""
    seed = hashlib.sha256(b"unspoken weights\0" + where + public + before.tobytes()
                          + after.tobytes()).digest()
    raw = hashlib.shake_256(seed).digest(_WEIGHT_BYTES * len(before))
    padding = bytes(POINT_BYTES - _WEIGHT_BYTES)
    return [bytes([raw[i] | 1]) + raw[i + 1:i + _WEIGHT_BYTES] + padding
            for i in range(0, len(raw), _WEIGHT_BYTES)]


def _combined(points: Points, weights: list[bytes]) -> bytes:
    """Return the weighted sum of a list."""
    return reduce(group.point_sum, map(bytes, group.weighted(points, weights)))


def _challenge(where: bytes, *parts: bytes) -> bytes:
    text = b"unspoken equal exponents\0" + where + b"".join(parts)
    return group.reduced(hashlib.sha512(text).digest())


def _as_points(*points: bytes) -> Points:
    return np.frombuffer(b"".join(points), np.uint8).reshape(-1, POINT_BYTES)
