"""A function with a secret key that one party computes on its ids, without showing them.

The holder of the key can compute it on any id, the asker on those that it put into its table, and
it looks random everywhere else (Pinkas, Rosulek, Trieu and Yanai 2020, "PSI from PaXoS").

    asker    a table D (`key_value_table`) from which each of its ids x decodes to h(x);
             rows t and t' of 640 bits per cell;    sends  u = t + t' + C(D)
    holder   a secret s of 640 bits, t where s is 0 and t' where it is 1 (transfers of 640 keys)
             q = that + u s  =  t + C(D) s,         bit by bit

Decoding is linear: decode(q, x) + C(h(x)) s = decode(t, x) for the asker's ids, and its hash is
the function's value. For every other id the code words C(h(x)) and C(decode(D, x)) differ in at
least 128 places, so that the asker does not know 128 bits of what is hashed.

An asker that sends rows which are no code words could learn s place by place. So it shows the
sums of random subsets of its rows, chosen by the holder after they came, hidden by 40 rows of
nothing: rows that are no code words pass with probability 2^-40, or by guessing the bits of s in
which they differ from code words (Orru, Orsini and Scholl 2017; Keller, Orsini and Scholl 2015).
  discloses: to the holder the size of the asker's table; to the asker nothing but the function at
    its ids.
  safe against: a curious party of either side, and an asker that deviates. It can put more ids
    into its table than it announced: a table of m cells has room for about m, up to 2 m if 2^64
    hashes can be computed.
  breaks if: the holder deviates, only for itself: it gets wrong values for its own ids.
  base transfers: the asker offers the keys. Whatever it computes, what the holder sends there is
    uniform, and keys are derived on both sides, never sent: no choice can be made to fail.
  rests on: Diffie-Hellman in ristretto255 (libsodium), AES and BLAKE2b as random functions.
  cost: 80 bytes per cell, 1.3 cells per id; 5 rounds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Words
from unspoken.joint.mpc.bit_planes import bits_of, words_of
from unspoken.joint.mpc.correlated.oblivious_transfer import choose_keys, offer_keys
from unspoken.joint.mpc.randomness import Stream, derive, fresh_seed, fresh_words
from unspoken.joint.mpc.sets.key_value_table import (
    KEY_WORDS,
    cells_for,
    decode,
    encode_table,
)
from unspoken.joint.mpc.sets.linear_code import LENGTH, MESSAGE, encode
from unspoken.joint.wire.frames import Purpose
from unspoken.joint.wire.hollow_arrays import hollow, is_dry

if TYPE_CHECKING:
    from unspoken.joint.mpc.party import Party

CHECKS = 40
"""How many sums of rows are shown; as many rows of nothing hide them."""
BLOCK = 1 << 16
VALUE_BYTES = 32
Octets = npt.NDArray[np.uint8]


async def ask_function(party: Party, holder: str, ids: Sequence[bytes]) -> Octets:
    """Return the function at the own ids, 32 bytes each; the holder learns their number."""
    hashed, wanted = hashed_ids(_domain(party), ids)
    rows = _row_count(len(ids))
    messages = np.concatenate([encode_table(hashed, wanted),
                               _random_messages(rows - cells_for(len(ids)))])
    pairs = await offer_keys(party, holder, 64 * LENGTH)
    own = [Expanded([pair[side] for pair in pairs]) for side in (0, 1)]
    table = _room(rows)
    for start, stop in _blocks(rows):
        one, other = (side.rows(stop - start) for side in own)
        table[start:stop] = one
        await party.send(holder, "set.rows", one ^ other ^ encode(messages[start:stop]),
                         Purpose.MASKED)
    await _show_sums(party, holder, table, messages)
    return finished(ids, decode(table[:cells_for(len(ids))], hashed, len(ids)))


async def hold_function(party: Party, asker: str, size: int, ids: Sequence[bytes]) -> Octets:
    """Return the function at the own ids, under a key that was drawn with the asker's table."""
    secret = fresh_words(LENGTH)
    keys = await choose_keys(party, asker, bits_of(secret, 64 * LENGTH).astype(np.uint8))
    own, rows = Expanded(keys), _row_count(size)
    table = _room(rows)
    for start, stop in _blocks(rows):
        came = await party.receive(asker, "set.rows", "<u8", (stop - start, LENGTH),
                                   Purpose.MASKED)
        table[start:stop] = own.rows(stop - start) ^ (came & secret)
    await _check_sums(party, asker, table, secret)
    hashed, wanted = hashed_ids(_domain(party), ids)
    decoded = decode(table[:cells_for(size)], hashed, size)
    return finished(ids, decoded ^ (encode(wanted) & secret))


def _domain(party: Party) -> bytes:
    """Return what makes the hashes of this step of this run its own."""
    where = f"{party.ledger.study}\0{party.count}\0".encode() + party.seam.session
    return hashlib.sha256(b"unspoken joint oblivious function\0" + where).digest()


def hashed_ids(domain: bytes, ids: Sequence[bytes]) -> tuple[Words, Words]:
    """Return the places of ids in a table, and the message that each of them stands for."""
    if is_dry():
        return hollow((len(ids), KEY_WORDS)), hollow((len(ids), MESSAGE))
    size = 8 * (KEY_WORDS + MESSAGE)
    raw = b"".join(hashlib.blake2b(i, digest_size=size, key=domain).digest() for i in ids)
    words = _octets(raw, size).view("<u8").astype(np.uint64, copy=False)
    return words[:, :KEY_WORDS], words[:, KEY_WORDS:]


def finished(ids: Sequence[bytes], decoded: Words) -> Octets:
    """Return the hashes of decoded rows with their ids, which are the function's values."""
    if is_dry():
        dry: Octets = hollow((len(ids), VALUE_BYTES), np.uint8)
        return dry
    raw = np.ascontiguousarray(decoded, "<u8").tobytes()
    wide = 8 * LENGTH
    out = b"".join(hashlib.blake2b(raw[wide * i:wide * (i + 1)] + name,
                                   digest_size=VALUE_BYTES).digest()
                   for i, name in enumerate(ids))
    return _octets(out, VALUE_BYTES)


def _octets(raw: bytes, wide: int) -> Octets:
    """Return bytes as rows; numpy makes no array of an empty buffer."""
    flat = np.frombuffer(raw, np.uint8) if raw else np.zeros(0, np.uint8)
    return flat.reshape(-1, wide)


class Expanded:
    """640 streams, one per column, read as rows of 640 bits."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._streams = [Stream(derive(key, "rows")) for key in keys]

    def rows(self, count: int) -> Words:
        """Return the next rows, shape (count, 10); their number is a multiple of 64."""
        if is_dry():
            dry: Words = hollow((count, LENGTH))
            return dry
        out = np.empty((count, LENGTH), np.uint64)
        planes = np.empty((64, count // 64), np.uint64)
        for word in range(LENGTH):
            for plane, stream in zip(planes, self._streams[64 * word:64 * (word + 1)],
                                     strict=True):
                stream.fill(plane)
            out[:, word] = words_of(planes)
        return out


def _row_count(ids: int) -> int:
    """Return the rows that travel: the table's cells and those that hide sums, filled up."""
    return -(-(cells_for(ids) + CHECKS) // 64) * 64


def _room(rows: int) -> Words:
    """Return room for the rows of a table, which is filled as they come."""
    if is_dry():
        dry: Words = hollow((rows, LENGTH))
        return dry
    return np.empty((rows, LENGTH), np.uint64)


def _blocks(rows: int) -> list[tuple[int, int]]:
    return [(start, min(start + BLOCK, rows)) for start in range(0, rows, BLOCK)]


def _random_messages(count: int) -> Words:
    return fresh_words(count * MESSAGE).reshape(-1, MESSAGE)


async def _show_sums(party: Party, holder: str, table: Words, messages: Words) -> None:
    """Send the sums of the rows and messages that the holder chooses."""
    seed = await party.receive(holder, "set.check", "|u1", (32,), Purpose.CONTROL)
    sums = np.concatenate([chosen_sums(seed.tobytes(), part) for part in (table, messages)],
                          axis=1)
    await party.send(holder, "set.sums", sums, Purpose.MASKED)


async def _check_sums(party: Party, asker: str, table: Words, secret: Words) -> None:
    """End the run if the asker's rows are no code words."""
    seed = fresh_seed()
    await party.send(asker, "set.check", np.frombuffer(seed, np.uint8), Purpose.CONTROL)
    came = await party.receive(asker, "set.sums", "<u8", (CHECKS, LENGTH + MESSAGE),
                               Purpose.MASKED)
    right = came[:, :LENGTH] ^ (encode(came[:, LENGTH:].astype(np.uint64)) & secret)
    if not is_dry() and not np.array_equal(right, chosen_sums(seed, table)):
        party._end(asker, "sent rows that are no words of the code")


def chosen_sums(seed: bytes, rows: Words) -> Words:
    """Return 40 sums of rows, each of a random half of all but the last 40 and of one of these."""
    if is_dry():
        dry: Words = hollow((CHECKS, rows.shape[1]))
        return dry
    count = len(rows) - CHECKS
    stream, sums = Stream(derive(seed, "sums")), rows[count:].copy()
    for start, stop in _blocks(count):
        choices = stream.words(stop - start).view(np.uint8).reshape(stop - start, -1)
        for place in range(CHECKS // 8):
            sums[8 * place:8 * place + 8] ^= _eight_sums(choices[:, place], rows[start:stop])
    return sums


def _eight_sums(choices: Octets, rows: Words) -> Words:
    """Return eight sums of rows: bit b of a row's choice says whether it is in sum b."""
    order = np.argsort(choices, kind="stable")
    numbers, starts = np.unique(choices[order], return_index=True)
    by_choice = np.bitwise_xor.reduceat(rows[order], starts, axis=0)
    return np.array([np.bitwise_xor.reduce(by_choice[numbers >> bit & 1 == 1], axis=0)
                     for bit in range(8)])
