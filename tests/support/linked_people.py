"""People at two owners who have no common id: names of some frequency, families, typing errors."""

from __future__ import annotations

from functools import cache
from random import Random

import numpy as np

from unspoken.audit.typing_errors import mistyped

LINK = ("first:name", "last:name", "born:date", "postcode:code")
ERRORS = (0.15, 0.15, 0.1, 0.1)
_BEGIN = ["b", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "sch", "st",
          "br", "th", "gr"]
_MIDDLE, _END = ["a", "e", "i", "o", "u", "ie", "au", "ei"], ["", "n", "r", "s", "l", "m", "ck"]


@cache
def names(count, parts):
    """Return different names of one to `parts` syllables."""
    draw, out = Random(parts), {}
    while len(out) < count:
        text = "".join(draw.choice(_BEGIN) + draw.choice(_MIDDLE)
                       for _ in range(draw.randint(1, parts)))
        out[text + draw.choice(_END)] = None
    return np.array(list(out), object)


def shares(count, steepness):
    weights = 1 / np.arange(1, count + 1) ** steepness
    return weights / weights.sum()


def people(count, seed=0, known=(300, 2000)):
    """Return columns of people; three in ten live with the one before them and share its name."""
    draw = np.random.default_rng(seed)
    first = draw.choice(names(known[0], 2), count, p=shares(known[0], 0.9))
    last = draw.choice(names(known[1], 3), count, p=shares(known[1], 0.8))
    born = (np.datetime64("1930-01-01") + draw.integers(0, 29000, count)).astype(str)
    codes = np.array([f"{i:05d}" for i in draw.choice(99999, 1000, replace=False)], object)
    code = draw.choice(codes, count, p=shares(1000, 0.5))
    for place in np.flatnonzero(draw.random(count) < 0.3):
        last[place], code[place] = last[place - 1], code[place - 1]
    return [first, last, born.astype(object), code]


def two_owners(count, seed=0, errors=ERRORS):
    """Return both owners' columns, and whom each row is about: half of the people are common."""
    draw = np.random.default_rng(seed + 1)
    columns = people(count + count // 2, seed)
    here, there = np.arange(count), draw.permutation(np.arange(count // 2, count // 2 + count))
    mine = [column[here].tolist() for column in columns]
    theirs = [mistyped(column[there].tolist(), rate, draw)
              for column, rate in zip(columns, errors, strict=True)]
    return mine, theirs, here, there
