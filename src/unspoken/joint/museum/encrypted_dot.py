"""A scalar product of two owners' vectors under homomorphic encryption, as shares.

The first owner encrypts its vector with a fresh key of its own (Paillier) and sends it. The
second raises, multiplies, adds a mask and re-randomises; the first decrypts the masked product.
Both have additive shares of it then, which they hand to the holders (Goethals, Laur, Lipmaa and
Mielikainen 2004; vcz2006 sections 5.2.1 and 7.3.3, whose scalar products by linear algebra are
broken: from few attributes a party can solve for the other's values). Needs no dealer.
  discloses: nothing: neither vector nor the product, for vectors of any length, also of one.
  safe against: either owner (decisional composite residuosity; the mask is as wide as the key, so
    that it hides whatever the first has encrypted, in bounds or not), all holders but one.
  breaks if: a reply is not re-randomised (the first tests guesses of the weights), or the mask is
    narrower than the key: with 104 bits a first owner that encrypts 2^(112 + 64 i) in the place of
    x_i reads every weight. A key or ciphertext that is none is refused; a key made in bad faith is
    not noticed, nor are values out of bounds, which give a wrong product: semi-honest only.
  cost: 2 rounds and 1 to share; n encryptions, n short powers for each column, one decryption for
    each column; 768 bytes for each element and each column at 3072 bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Words
from unspoken.errors import explain
from unspoken.joint.joint_errors import RefusedError, RingError
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.randomness import fresh_words
from unspoken.joint.mpc.shared import Shared, check_interval, to_ring
from unspoken.joint.museum import paillier
from unspoken.joint.museum.paillier import BadCiphertextError, Raw, Scheme
from unspoken.joint.wire.frames import Purpose, wire_bytes

SPARE_BITS = 64
"""How many more bits a mask is drawn from than the modulus has: it is uniform up to 2^-64."""


def plain_dot(one: Any, other: Any) -> Any:
    """Return the reference."""
    return np.asarray(one) @ np.asarray(other)


def plan_dot(length: int, columns: int, key_bits: int = paillier.KEY_BITS) -> dict[str, int]:
    """Return rounds and bytes between two owners that hold the shares themselves."""
    width = key_bits // 4
    return {"rounds": 2, "bytes": wire_bytes("|u1", (key_bits // 8,))
            + wire_bytes("|u1", (length, width)) + wire_bytes("|u1", (columns, width))}


async def dot_encrypted(party: Party, values: Any, owners: Sequence[str], shape: tuple[int, ...],
                        low: int, high: int, scale: int = 0, key_bits: int = 3072) -> Shared:
    """Return x y as shares: x of length n at the first owner, y of `shape` (n,) or (n, m)."""
    party.begin("dot encrypted")
    bounds = low, high, scale
    n, m = _sizes(party, owners, shape)
    paillier.check_bits(key_bits)
    most = n * max(abs(low), abs(high)) ** 2
    check_interval(-most, most, "A scalar product")
    part = np.zeros(m, np.uint64)
    if party.name == owners[0]:
        part = await _encrypting(party, _own(values, (n,), bounds), owners[1], (m, key_bits))
    elif party.name == owners[1]:
        weights = _own(values, shape, bounds).reshape(n, m)
        part = await _weighing(party, weights, owners[0], key_bits)
    share = await _spread(party, part, owners)
    return Shared(party, share.reshape(shape[1:]), -most, most, 2 * scale)


def _sizes(party: Party, owners: Sequence[str], shape: tuple[int, ...]) -> tuple[int, int]:
    if len(owners) != 2 or owners[0] == owners[1] or not set(owners) <= set(party.names):
        raise RefusedError("An encrypted scalar product needs two different owners among "
                           f"{', '.join(party.names)}. Got {', '.join(owners)}.")
    if len(shape) not in (1, 2) or not all(shape):
        raise RingError(explain("The second owner's values", "of shape (n,) or (n, m)", shape))
    if not party.holders:
        raise RefusedError("Shares need holders. Mode 'sums' has none. Use another mode.")
    return shape[0], shape[1] if len(shape) == 2 else 1


def _own(values: Any, shape: tuple[int, ...], bounds: tuple[int, int, int]) -> Words:
    words = to_ring(values, *bounds, "Values of an encrypted scalar product")
    if words.shape != tuple(shape):
        raise RingError(explain("Values of an encrypted scalar product", f"of shape {shape}",
                                words.shape))
    return words


async def _encrypting(party: Party, words: Words, other: str,
                      sizes: tuple[int, int]) -> Words:
    """The first owner: encrypt, send, and decrypt the masked products."""
    m, bits = sizes
    scheme = paillier.fresh_scheme(bits)
    numbers = words.ravel().view(np.int64).tolist()
    await send_encrypted(party, other, scheme, numbers)
    reply = await party.receive(other, "paillier.reply", "|u1", (m, scheme.width),
                                Purpose.ENCRYPTED)
    return as_words(decrypted(party, scheme, reply, other))


async def _weighing(party: Party, weights: Words, other: str, bits: int) -> Words:
    """The second owner: weigh, mask, re-randomise, send."""
    scheme, ciphertexts = await receive_encrypted(party, other, weights.shape[0], bits)
    masks = fresh_masks(weights.shape[1], scheme.n)
    signed = weights.view(np.int64)
    replies = [scheme.weighted(ciphertexts, signed[:, j].tolist(), mask)
               for j, mask in enumerate(masks)]
    await party.send(other, "paillier.reply", scheme.pack(replies), Purpose.ENCRYPTED)
    return np.negative(as_words(masks))


def fresh_masks(count: int, modulus: int) -> list[int]:
    """Return uniform numbers below a modulus that nobody else can know.

    A sum of bounded values with one of them wraps with a probability that keys of 2048 bits make
    less than 2^-1900; the share of the ring is then wrong.
    """
    words = -(-(modulus.bit_length() + SPARE_BITS) // 64)
    rows = fresh_words(count * words).reshape(count, words)
    return [int.from_bytes(row.tobytes(), "little") % modulus for row in rows]


def as_words(numbers: Sequence[int]) -> Words:
    """Return numbers modulo 2^64."""
    return np.array([number % (1 << 64) for number in numbers], np.uint64)


async def send_encrypted(party: Party, to: str, scheme: Scheme, numbers: Sequence[int]) -> None:
    """Send a public key and numbers encrypted under it."""
    await party.send(to, "paillier.key", paillier.public_bytes(scheme), Purpose.CONTROL)
    rows = scheme.pack(scheme.encrypt(number) for number in numbers)
    await party.send(to, "paillier.values", rows, Purpose.ENCRYPTED)


async def receive_encrypted(party: Party, source: str, count: int,
                            bits: int) -> tuple[Scheme, list[int]]:
    """Return a peer's public key and its ciphertexts, all checked."""
    raw = await party.receive(source, "paillier.key", "|u1", (bits // 8,), Purpose.CONTROL)
    rows = await party.receive(source, "paillier.values", "|u1", (count, bits // 4),
                               Purpose.ENCRYPTED)
    try:
        scheme = paillier.public_scheme(raw, bits)
        return scheme, scheme.unpack(rows)
    except BadCiphertextError as error:
        party._end(source, f"sent {error}")
        raise


def decrypted(party: Party, scheme: Scheme, rows: Raw, source: str) -> list[int]:
    """Return what a reply says; one that is no ciphertext ends the run."""
    try:
        return [scheme.decrypt(ciphertext) for ciphertext in scheme.unpack(rows)]
    except BadCiphertextError as error:
        party._end(source, f"sent {error}")
        raise


async def _spread(party: Party, part: Words, owners: Sequence[str]) -> Words:
    """Return this party's share of the sum of two owners' parts."""
    share = np.zeros(part.size, np.uint64)
    for owner in owners:
        share = share + await _share_of(party, part, owner)
    return share


async def _share_of(party: Party, part: Words, owner: str) -> Words:
    """Hand one owner's part to the holders; an owner that is one keeps it, masked."""
    nothing = np.zeros(part.size, np.uint64)
    if owner in party.holders:
        return part if party.name == owner else nothing
    last = party.holders[-1]
    if party.name == owner:
        for holder in party.holders[:-1]:
            part = part - party.stream_with(holder, f"part {owner}").words(part.size)
        await party.send(last, "part", part, Purpose.SHARE)
    elif party.name == last:
        return await party.receive(owner, "part", "<u8", (part.size,), Purpose.SHARE)
    elif party.is_holder:
        return party.stream_with(owner, f"part {owner}").words(part.size)
    return nothing
