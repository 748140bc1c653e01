"""Which released column is which: by name, by a name spelt alike, and else by content.

A name is not believed where the values are those of another column (`exchanged_names`).

Content is compared by what no relabelling and no increasing code changes: how many distinct values
there are, how often each occurs, and how many are missing. The cheapest assignment of the columns
that are left is taken where it is close.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.audit.people.exchanged_names import exchanged
from unspoken.table.category_codes import coded
from unspoken.table.formats.header_names import plain_name
from unspoken.table.table import Table

PROFILE = 200
CLOSE = 0.15
"""Total variation distance up to which two profiles belong to one column."""


def match_columns(original: Table, release: Table,
                  names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return for every original column the released one and how it was found."""
    out = _by_name(release.schema.names, names)
    out |= {name: (there, "content") for name, there in exchanged(
        original, release, {name: there for name, (there, _) in out.items()}, names).items()}
    owners: dict[str, list[str]] = {}
    for name, (there, _) in sorted(out.items(), key=lambda one: one[1][1] != "content"):
        owners.setdefault(there, []).append(name)
    out = {name: out[name] for name in out if owners[out[name][0]][0] == name}
    left = [name for name in names if name not in out]
    free = [name for name in release.schema.names if name not in owners]
    for name, there in _by_content(original, release, left, free).items():
        out[name] = (there, "content")
    return {name: out[name] for name in names if name in out}


def _by_name(released: Sequence[str], names: Sequence[str]) -> dict[str, tuple[str, str]]:
    free = dict.fromkeys(released)
    out: dict[str, tuple[str, str]] = {}
    for how, spelt in (("name", str), ("spelling", loose_name)):
        places = {spelt(name): name for name in free}
        for name in names:
            if name not in out and (there := places.get(spelt(name))) in free:
                out[name] = (str(there), how)
                del free[str(there)]
    return out


def loose_name(name: str) -> str:
    """Return a name without case, blanks and signs."""
    return re.sub(r"[\W_]+", "", plain_name(name))


def _by_content(original: Table, release: Table, mine: Sequence[str],
                theirs: Sequence[str]) -> Mapping[str, str]:
    if not mine or not theirs:
        return {}
    from scipy.optimize import linear_sum_assignment

    here, there = original.arrow(list(mine)), release.arrow(list(theirs))
    first = [profile(here[name]) for name in mine]
    second = [profile(there[name]) for name in theirs]
    cost = np.array([[np.abs(a - b).sum() / 2 for b in second] for a in first])
    rows, columns = linear_sum_assignment(cost)
    return {mine[i]: theirs[j] for i, j in zip(rows.tolist(), columns.tolist(), strict=True)
            if cost[i, j] <= CLOSE}


def profile(column: Any) -> Floats:
    """Return the share of missing values, then the largest shares of values, and of the rest."""
    codes = coded(column)
    counts = np.bincount(codes.codes, minlength=codes.missing + 1) / max(codes.codes.size, 1)
    shares = np.sort(counts[:-1])[::-1]
    out = np.zeros(PROFILE + 2)
    out[0] = counts[-1]
    out[1:1 + min(PROFILE, shares.size)] = shares[:PROFILE]
    out[-1] = shares[PROFILE:].sum()
    return out
