"""What a linkage unit can guess from keyed encodings of records: two adversaries, measured.

Both know what the study says (columns, kinds, encoding), and how frequent values are, from people
who are not in the data; neither has the key.

**patterns**: a piece of a name that many people have sets the same bits in all of their Bloom
    filters. Groups of bits that are set together more often than others show such pieces, and how
    often they are set says which (Christen, Ranbaduge, Vatsalan and Schnell 2018; here groups are
    found by their correlations).
**known people**: the unit knows some people in the data, and which encodings are theirs. From these
    it learns how bits tell pieces (ridge regression), and reads everybody else's.

Guesses are values of one column; they are right if the value is, and the rate stands beside that of
somebody who always guesses the most frequent value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.joint.mpc.linkage.field_tokens import KINDS, LinkColumn
from unspoken.joint.mpc.linkage.record_encodings import HASHES

Floats = npt.NDArray[np.float32]
MOST_VALUES = 3000
"""Candidates for a column: its most frequent values."""
MOST_GROUPS = 150
RIDGE = 30.0
ERROR = 0.02
CHANCE = 2.0
"""Standard errors within which two shares count as the same."""
ALIKE = 3
"""Pieces that are equally frequent, among which the nearest is guessed."""


@dataclass(frozen=True)
class Guessed:
    """How often one adversary guesses a column, and how often the most frequent value is right."""

    adversary: str
    encoding: str
    column: str
    right: float
    guessing: float


def pieces_of(column: LinkColumn, value: Any) -> list[str]:
    """Return the pieces of a value, as the encoding takes them."""
    return list(dict.fromkeys(KINDS[column.kind](value)))


@dataclass(frozen=True)
class Candidates:
    """The values of a column that may be guessed: how frequent they are, and their pieces."""

    values: list[Any]
    log_share: Floats
    pieces: list[str]
    has: Floats

    @classmethod
    def of(cls, column: LinkColumn, values: Sequence[Any]) -> Candidates:
        """Return the most frequent values of people who are not in the data."""
        counts = Counter(value for value in values if value not in (None, ""))
        listed = counts.most_common(MOST_VALUES)
        runs = [pieces_of(column, value) for value, _ in listed]
        pieces = list(dict.fromkeys(piece for run in runs for piece in run))
        places = {piece: place for place, piece in enumerate(pieces)}
        has = np.zeros((len(listed), len(pieces)), np.float32)
        for row, run in zip(has, runs, strict=True):
            row[[places[piece] for piece in run]] = 1
        share = np.array([count for _, count in listed], np.float32) / max(1, len(values))
        return cls([value for value, _ in listed], np.log(share), pieces, has)

    @property
    def shares(self) -> Floats:
        """Return in which share of the records each piece occurs."""
        return np.asarray(np.exp(self.log_share) @ self.has)


def bits_of_rows(encodings: npt.NDArray[np.uint64]) -> Floats:
    """Return encodings as rows of 0 and 1."""
    octets = np.ascontiguousarray(encodings).view(np.uint8)
    return np.unpackbits(octets, axis=1).astype(np.float32)


def by_known_people(column: LinkColumn, candidates: Candidates, bits: Floats,
                    known: Sequence[Any]) -> list[Any]:
    """Return a guess for every encoding; the first `len(known)` are those of people it knows."""
    places = {piece: place for place, piece in enumerate(candidates.pieces)}
    there = np.zeros((len(known), len(places)), np.float32)
    for row, value in zip(there, known, strict=True):
        row[[places[piece] for piece in pieces_of(column, value) if piece in places]] = 1
    mean, base = bits[:len(known)].mean(axis=0), there.mean(axis=0)
    own = bits[:len(known)] - mean
    # In the dual form: there are fewer people than bits.
    weights = np.linalg.solve(own @ own.T + RIDGE * np.eye(len(own), dtype=np.float32),
                              there - base)
    scores = ((bits - mean) @ own.T) @ weights + base
    # The nearest value in pieces; what is as near is as likely as it is frequent.
    fits = 2 * scores @ candidates.has.T - candidates.has.sum(axis=1) + 0.05 * candidates.log_share
    return [candidates.values[best] for best in fits.argmax(axis=1)]


@dataclass(frozen=True)
class Pattern:
    """A group of bits that are set together, in which records they are, and what it stands for."""

    set_in: npt.NDArray[np.bool_]
    column: int
    piece: int


def by_patterns(candidates: Candidates, patterns: Sequence[Pattern], records: int) -> list[Any]:
    """Return a guess for every encoding, from the patterns that stand for pieces of a column."""
    fits = np.repeat(candidates.log_share[None, :], records, axis=0)
    for pattern in patterns:
        has = candidates.has[:, pattern.piece]
        often = np.clip(pattern.set_in.mean(), ERROR, 1 - ERROR)
        one = np.where(has, np.log(1 - ERROR), np.log(ERROR * often))
        none = np.where(has, np.log(ERROR), np.log(1 - ERROR * often))
        fits += np.where(pattern.set_in[:, None], one, none).astype(np.float32)
    return [candidates.values[best] for best in fits.argmax(axis=1)]


def named_patterns(bits: Floats, columns: Sequence[Candidates]) -> list[Pattern]:
    """Return the patterns that are as frequent as one piece of a name or date, and as no other."""
    where = [(column, piece) for column, each in enumerate(columns)
             for piece in range(len(each.pieces))]
    shares = np.concatenate([each.shares for each in columns])
    out: dict[tuple[int, int], Pattern] = {}
    for group in groups_of_bits(bits):
        set_in = np.asarray(bits[:, group].all(axis=1))
        named = _named(float(set_in.mean()), shares, len(bits))
        if named is not None and where[named] not in out:
            out[where[named]] = Pattern(set_in, *where[named])
    return list(out.values())


def _named(often: float, shares: Floats, records: int) -> int | None:
    """Return the one piece whose share is that of a pattern, up to chance; None if several are."""
    chance = CHANCE * np.sqrt(2 * max(often * (1 - often), 1e-6) / records)
    near = np.flatnonzero(np.abs(shares - often) <= chance)
    return int(near[np.abs(shares[near] - often).argmin()]) if 0 < len(near) <= ALIKE else None


def groups_of_bits(bits: Floats) -> list[npt.NDArray[np.int64]]:
    """Return groups of bits that are set together, the most correlated first."""
    # A bit that is set in all records has no spread, and is correlated with none.
    centred = (bits - bits.mean(axis=0)) / np.maximum(bits.std(axis=0), 1e-3)
    alike = centred.T @ centred / np.float32(len(bits))
    np.fill_diagonal(alike, 0)
    groups: list[npt.NDArray[np.int64]] = []
    for _ in range(MOST_GROUPS):
        seed = np.array(np.unravel_index(alike.argmax(), alike.shape))
        group = _grown(alike, seed)
        if len(group) >= HASHES // 2:
            groups.append(group)
        alike[np.ix_(group, group)] = 0
    return groups


def _grown(alike: Floats, seed: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the bits that are about as correlated with all of a group as its first two are."""
    group, least = list(seed), alike[tuple(seed)] / 2
    weakest = alike[group].min(axis=0)
    while len(group) < 3 * HASHES and weakest.max() > least:
        group.append(int(weakest.argmax()))
        weakest = np.minimum(weakest, alike[group[-1]])
    return np.array(group)


def guess_values(columns: Sequence[LinkColumn], data: tuple[Sequence[Sequence[Any]], Any],
                 others: Sequence[Sequence[Any]], encoding: str, known: int) -> list[Guessed]:
    """Attack the encodings of `data` (values, encodings), knowing the values of other people."""
    values, encodings = data
    bits = bits_of_rows(encodings)
    every = [Candidates.of(column, other) for column, other in zip(columns, others, strict=True)]
    patterns = named_patterns(bits, every)
    out = []
    for place, (column, own) in enumerate(zip(columns, values, strict=True)):
        candidates = every[place]
        of_column = [each for each in patterns if each.column == place]
        rest = list(own)[known:]
        guessing = _share_right([candidates.values[0]] * len(rest), rest)
        for name, guesses in (("patterns", by_patterns(candidates, of_column, len(bits))),
                              (f"{known} known people",
                               by_known_people(column, candidates, bits, list(own)[:known]))):
            right = _share_right(guesses[known:], rest)
            out.append(Guessed(name, encoding, column.name, right, guessing))
    return out


def _share_right(guesses: Sequence[Any], truth: Sequence[Any]) -> float:
    return float(np.mean([one == other for one, other in zip(guesses, truth, strict=True)]))
