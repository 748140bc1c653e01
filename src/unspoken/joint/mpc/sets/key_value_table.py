"""A table whose cells sum to a wanted value for each of its keys, and which looks uniform.

An oblivious key-value store: every key has a cell in each third of the table and a subset of 64
more, and the sum (xor) of its cells is its value (Garimella, Pinkas, Rosulek, Trieu and Yanai
2021; the garbled cuckoo table of three hashes). All other cells are random, so whoever does not
know the keys cannot tell them from any others if the values are random. Sums are linear:
decoding a table that was multiplied by a code gives the code of what was put in.

Keys are peeled: one that alone has a cell can be set last, through that cell. This is done in
rounds, all such keys at once. With 1.3 cells per key hardly any remain (never more than eight in
14,000 tables of 20 to 10,000 keys), and those that do are solved by the 64 dense cells: for up to
24 keys that fails with probability below 2^-40. Hashes are fresh in every run, so a failure says
nothing about the keys; the run ends and can be started again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Words
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.randomness import fresh_words
from unspoken.joint.mpc.sets.linear_code import byte_sums, looked_up
from unspoken.joint.wire.hollow_arrays import hollow, is_hollow

HASHES, DENSE = 3, 64
KEY_WORDS = HASHES + 1
"""Words of a hashed key: a cell in each third, and the subset of dense cells."""
Places = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def third_of(keys: int) -> int:
    """Return the cells of each third for that many keys."""
    return int(1.3 * keys) // HASHES + 43


def cells_for(keys: int) -> int:
    """Return the cells of a table for that many keys."""
    return HASHES * third_of(keys) + DENSE


def places_of(hashed: Words, keys: int) -> Places:
    """Return the sparse cells (n, 3) of hashed keys."""
    third = third_of(keys)
    cells = (hashed[:, :HASHES] % np.uint64(third)).astype(np.int64)
    return cells + third * np.arange(HASHES)


def decode(table: Words, hashed: Words, keys: int) -> Words:
    """Return the value of each hashed key; `keys` is the number that the table was made for."""
    if is_hollow(table) or is_hollow(hashed):
        dry: Words = hollow((len(hashed), table.shape[1]))
        return dry
    places = places_of(hashed, keys)
    out = table[places[:, 0]]
    out ^= table[places[:, 1]]
    out ^= table[places[:, 2]]
    out ^= looked_up(hashed[:, HASHES:KEY_WORDS], byte_sums(table[-DENSE:]))
    return out


def encode_table(hashed: Words, values: Words) -> Words:
    """Return a table from which every hashed key decodes to its value."""
    keys, width = values.shape
    if is_hollow(hashed) or is_hollow(values):
        dry: Words = hollow((cells_for(keys), width))
        return dry
    table = fresh_words(cells_for(keys) * width).reshape(-1, width)
    places = places_of(hashed, keys)
    rounds, core = _peeled(places, len(table) - DENSE)
    _set_dense(table, places[core], hashed[core], values[core])
    wanted = values ^ looked_up(hashed[:, HASHES:KEY_WORDS], byte_sums(table[-DENSE:]))
    for peeled in reversed(rounds):
        _set_round(table, places, peeled, wanted)
    return table


@dataclass(frozen=True)
class _Round:
    """Keys that were peeled together, and the cell that each of them sets."""

    keys: Places
    cells: Places


def _peeled(places: Places, cells: int) -> tuple[list[_Round], Places]:
    """Return the rounds in which keys were peeled, and the keys that could not be."""
    degree = np.bincount(places.ravel(), minlength=cells)
    # The sum of the numbers of all keys at a cell is the last one's when one is left.
    number = np.zeros(cells, np.int64)
    np.add.at(number, places.ravel(), np.repeat(np.arange(len(places)), HASHES))
    claimed = np.zeros(max(cells, len(places)), np.int64)
    rounds, left = [], len(places)
    single = np.flatnonzero(degree == 1)
    while single.size:
        first = _first_of(number[single], claimed)
        keys, single = number[single[first]], single[first]
        rounds.append(_Round(keys, single))
        left -= keys.size
        touched = places[keys].ravel()
        np.subtract.at(degree, touched, 1)
        np.subtract.at(number, touched, np.repeat(keys, HASHES))
        touched = touched[degree[touched] == 1]
        single = touched[_first_of(touched, claimed)]
    return rounds, _remaining(rounds, len(places)) if left else np.zeros(0, np.int64)


def _first_of(values: Places, claimed: Places) -> Bools:
    """Mark one place of every value; `claimed` is room to work in."""
    order = np.arange(values.size)
    claimed[values] = order
    return np.asarray(claimed[values] == order)


def _remaining(rounds: list[_Round], keys: int) -> Places:
    there = np.ones(keys, bool)
    for peeled in rounds:
        there[peeled.keys] = False
    return np.flatnonzero(there)


def _set_round(table: Words, places: Places, peeled: _Round, wanted: Words) -> None:
    """Set the cell of every key of a round; no other key of it has that cell."""
    table[peeled.cells] = 0
    own = places[peeled.keys]
    table[peeled.cells] = (wanted[peeled.keys] ^ table[own[:, 0]] ^ table[own[:, 1]]
                           ^ table[own[:, 2]])


def _set_dense(table: Words, places: Places, hashed: Words, values: Words) -> None:
    """Choose the dense cells so that keys which could not be peeled get their values."""
    wanted = values ^ table[places[:, 0]] ^ table[places[:, 1]] ^ table[places[:, 2]]
    rows = [(int(mask), value.copy()) for mask, value in
            zip(hashed[:, HASHES], wanted, strict=True)]
    pivots: list[tuple[int, int, Words]] = []
    for mask, value in rows:
        for bit, other, there in pivots:
            if mask >> bit & 1:
                mask, value = mask ^ other, value ^ there
        if not mask:
            raise RefusedError("The ids could not be put into a table, because the hashes of this "
                               "run met too often, by chance. Start the study again.")
        pivots.append((mask.bit_length() - 1, mask, value))
    dense = table[-DENSE:]
    for bit, mask, value in reversed(pivots):
        dense[bit] = 0
        chosen = [i for i in range(DENSE) if mask >> i & 1 and i != bit]
        dense[bit] = value ^ np.bitwise_xor.reduce(dense[chosen], axis=0)
