"""Categories as numbers on hashed places, so that a union needs no list of what is possible.

Every owner writes a category onto one place of each of four public tables, as eight numbers of four
bytes. Two categories that fall onto one place in one table hardly do so in all four.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from unspoken.arrays import Ints
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.tasks.column_schema.params import MOST_BYTES, SchemaParams

TABLES = 4
LIMBS = MOST_BYTES // 4
TOP = (1 << 32) - 1
_ROOM = 32


def places_of(params: SchemaParams) -> int:
    """Return how many places one table of one column has."""
    return 1 << (_ROOM * params.most - 1).bit_length()


def shape_of(params: SchemaParams) -> tuple[int, int]:
    """Return the shape of all tables of all columns, one place a row."""
    return len(params.categories_of) * TABLES * places_of(params), LIMBS


def written(params: SchemaParams, categories: Mapping[str, Sequence[str]]) -> Ints:
    """Return an owner's tables; of its own categories on one place the first is there."""
    table, size = np.zeros(shape_of(params), np.int64), places_of(params)
    for column, name in enumerate(params.categories_of):
        for word in sorted(categories[name], reverse=True):
            for turn in range(TABLES):
                start = (column * TABLES + turn) * size
                table[start + _place(params.salt, turn, name, word, size)] = _limbs(word)
    return table


def read(params: SchemaParams, table: Ints) -> dict[str, list[str]]:
    """Return the categories of every column that stand on any place."""
    size, united = TABLES * places_of(params), {}
    for column, name in enumerate(params.categories_of):
        rows = table[column * size:(column + 1) * size]
        rows = np.unique(rows[rows.any(axis=1)], axis=0)
        united[name] = sorted(_word(name, row) for row in rows.tolist())
    return united


def _place(salt: int, turn: int, name: str, word: str, size: int) -> int:
    parts = f"{salt}\0{turn}\0{name}\0{word}".encode()
    return int.from_bytes(hashlib.blake2b(parts, digest_size=8).digest(), "big") % size


def _limbs(word: str) -> list[int]:
    raw = word.encode().ljust(MOST_BYTES, b"\0")
    return [int.from_bytes(raw[start:start + 4], "big") for start in range(0, MOST_BYTES, 4)]


def _word(name: str, limbs: Iterable[int]) -> str:
    try:
        return b"".join(limb.to_bytes(4, "big") for limb in limbs).rstrip(b"\0").decode()
    except (ValueError, OverflowError):
        raise StudyError(f"A category of column '{name}' that somebody brought is no text.") \
            from None
