"""The permutation protocol (vcz2006 section 7.2.2; Du and Atallah): add and permute, encrypted.

One party has a vector x, another a vector v and a permutation that it draws for this call. The
first gets the permuted sum and neither v nor the order; the second gets nothing. x is encrypted
under a fresh key of the first; the second adds fresh encryptions of v (which re-randomises every
ciphertext, so that none can be followed to its place), permutes, and sends them back.
Sums are modulo 2^64, the field of the book. v is uniform words unless it is given, and the second
adds a random multiple of 2^64, as wide as the key, so that no carry shows, and nothing of what a
first party has encrypted out of bounds to find its place again (with 40 bits it would).
  discloses: to the first the permuted sums: with v uniform and secret they are uniform words. If
    v is given and small, they show the sorted sums: that is the caller's affair, like opening;
    and a first party that encrypts half of its own key's modulus sees then which sums wrapped.
  safe against: either of the two (decisional composite residuosity). The order must not be used
    twice: over several points and rounds the same order shows cluster sizes, so every call has
    its own and there is no way to give one.
  cost: 2 rounds, 2 n ciphertexts of 768 bytes at 3072 bits; 2 n encryptions and n decryptions, a
    quarter of a second each: only for short vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Words
from unspoken.errors import explain
from unspoken.joint.joint_errors import RefusedError, RingError
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.randomness import fresh_words
from unspoken.joint.mpc.ristretto import fresh_order
from unspoken.joint.mpc.shared import LIMIT, to_ring
from unspoken.joint.museum import paillier
from unspoken.joint.museum.encrypted_dot import (
    as_words,
    decrypted,
    fresh_masks,
    receive_encrypted,
    send_encrypted,
)
from unspoken.joint.wire.frames import Purpose


@dataclass(frozen=True, repr=False)
class Permuted:
    """What one side knows afterwards: the first the sums, the second the order and the vector.

    sums[i] belongs to place order[i] of x and v.
    """

    sums: Words | None = None
    order: npt.NDArray[np.int64] | None = None
    added: Words | None = None

    def __repr__(self) -> str:
        return f"Permuted({'sums' if self.order is None else 'order'})"


def plain_permuted(x: Any, added: Words, order: Any) -> Words:
    """Return the reference: x + v modulo 2^64 in the given order."""
    return np.asarray((np.asarray(x, np.int64).view(np.uint64) + added)[order])


async def permuted_sum(party: Party, values: Any, *, owner: str, adder: str, length: int,
                       key_bits: int = 3072) -> Permuted | None:
    """Return the permuted sums to the owner, the order to the adder, None to the others.

    `values` is x at the owner and v at the adder, which may pass None for uniform words.
    """
    party.begin("permute")
    if owner == adder or not {owner, adder} <= set(party.names):
        raise RefusedError("A permuted sum needs two different parties among "
                           f"{', '.join(party.names)}. Got {owner} and {adder}.")
    paillier.check_bits(key_bits)
    if party.name == owner:
        return await _owner(party, _words(values, length), adder, key_bits)
    if party.name == adder:
        words = fresh_words(length) if values is None else _words(values, length)
        return await _adder(party, words, owner, key_bits)
    return None


def _words(values: Any, length: int) -> Words:
    array = np.asarray(values)
    words = array if array.dtype == np.uint64 else to_ring(
        array, -LIMIT + 1, LIMIT - 1, 0, "Values of a permuted sum")
    if words.shape != (length,):
        raise RingError(explain("Values of a permuted sum", f"of shape ({length},)", words.shape))
    return words


async def _owner(party: Party, words: Words, adder: str, bits: int) -> Permuted:
    scheme = paillier.fresh_scheme(bits)
    await send_encrypted(party, adder, scheme, words.tolist())
    reply = await party.receive(adder, "paillier.permuted", "|u1", (words.size, scheme.width),
                                Purpose.ENCRYPTED)
    return Permuted(sums=as_words(decrypted(party, scheme, reply, adder)))


async def _adder(party: Party, words: Words, owner: str, bits: int) -> Permuted:
    scheme, ciphertexts = await receive_encrypted(party, owner, words.size, bits)
    order = fresh_order(words.size)
    # Only the part above the ring is taken of these: v itself is the mask below.
    carries = [mask << 64 for mask in fresh_masks(words.size, scheme.n >> 64)]
    sums = [scheme.weighted([c], [1], v + carry)
            for c, v, carry in zip(ciphertexts, words.tolist(), carries, strict=True)]
    rows = scheme.pack(sums[place] for place in order.tolist())
    await party.send(owner, "paillier.permuted", rows, Purpose.ENCRYPTED)
    return Permuted(order=order, added=words)
