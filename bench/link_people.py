"""People at two owners: names of unequal frequency, families, typing errors."""

from __future__ import annotations

from random import Random

import numpy as np

from unspoken.audit.typing_errors import mistyped

LINK = ("first:name", "last:name", "born:date", "postcode:code")
ERRORS = (0.15, 0.15, 0.1, 0.1)
BEGIN = ["b", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "sch", "st",
         "br", "th", "gr"]
MIDDLE, END = ["a", "e", "i", "o", "u", "ie", "au", "ei"], ["", "n", "r", "s", "l", "m", "ck"]


def names(count: int, parts: int) -> np.ndarray:
    """Return different names of one to `parts` syllables."""
    draw, out = Random(parts), dict[str, None]()
    while len(out) < count:
        text = "".join(draw.choice(BEGIN) + draw.choice(MIDDLE)
                       for _ in range(draw.randint(1, parts)))
        out[text + draw.choice(END)] = None
    return np.array(list(out), object)


def shares(count: int, steepness: float) -> np.ndarray:
    """Return frequencies that fall with the rank."""
    weights = 1 / np.arange(1, count + 1) ** steepness
    return weights / weights.sum()


def people(count: int, draw: np.random.Generator) -> list[np.ndarray]:
    """Return columns of people; three in ten live with the one before them and share its name."""
    first = draw.choice(names(1000, 2), count, p=shares(1000, 0.9))
    last = draw.choice(names(8000, 3), count, p=shares(8000, 0.8))
    born = (np.datetime64("1930-01-01") + draw.integers(0, 29000, count)).astype(str)
    codes = np.array([f"{i:05d}" for i in draw.choice(99999, 3000, replace=False)], object)
    code = draw.choice(codes, count, p=shares(3000, 0.5))
    for place in np.flatnonzero(draw.random(count) < 0.3):
        last[place], code[place] = last[place - 1], code[place - 1]
    return [first, last, born.astype(object), code]


def owners(count: int, seed: int = 1) -> tuple[list, list, np.ndarray, np.ndarray]:
    """Return both owners' columns, and whom each row is about: half of the people are common."""
    draw = np.random.default_rng(seed)
    columns = people(count + count // 2, draw)
    here, there = np.arange(count), draw.permutation(np.arange(count // 2, count // 2 + count))
    mine = [column[here].tolist() for column in columns]
    theirs = [mistyped(column[there].tolist(), rate, draw)
              for column, rate in zip(columns, ERRORS, strict=True)]
    return mine, theirs, here, there
