"""Membership: is a person in the release at all?

A person is taken to be in it if the nearest released record is nearer than usual. What is usual is
learned from one half of the people and of the control group and tried on the other half; so is
which of two scores serves better: the distance itself, or the distance less that to the nearest of
other outsiders, which takes out how crowded the place is (van Breugel et al. 2023).
Without a control group a person counts as recognised if the nearest released record is nearer than
the nearest other person; by chance that is half of them.
"""

from __future__ import annotations

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.audit.people.comparable import People
from unspoken.audit.people.facts import Attacked
from unspoken.audit.people.nearest import blocks, find_nearest
from unspoken.disclosure.people_risk import MEMBER, Risk

EVERYBODY = "(people)"
KNOWS = "whole records of people"
MOST_FALSE = 0.5
"""Share of outsiders that may be taken for members."""


def membership(attacked: Attacked) -> list[Risk]:
    """Return the risk of being recognised as somebody in the release."""
    reading = attacked.reading
    passes = 2 * len(reading.names)
    members = attacked.drawn(reading.original, passes, "members")
    near = _nearest(attacked, reading.original, members)
    if reading.control is None:
        others = _apart_from_others(attacked, members)
        return [Risk(MEMBER, EVERYBODY, "distance", KNOWS, int((near < others - 1e-6).sum()),
                     members.size, 0.5)]
    outside = attacked.drawn(reading.control, passes, "outsiders")
    away = _nearest(attacked, reading.control, outside)
    crowded = [_to_outsiders(attacked, group, rows, outside) for group, rows in
               ((reading.original, members), (reading.control, outside))]
    return [threshold_risk({"distance": (-near, -away),
                            "relative distance": (crowded[0] - near, crowded[1] - away)}, KNOWS)]


def _nearest(attacked: Attacked, group: People, rows: Ints) -> Floats:
    return find_nearest(attacked.reading, group, rows, attacked.reading.names,
                        attacked.rng("membership")).distance


def _to_outsiders(attacked: Attacked, group: People, rows: Ints, outside: Ints) -> Floats:
    """Return the distance to the nearest other outsider."""
    assert attacked.reading.control is not None
    others = attacked.reading.control.take(outside)
    return _least(attacked, group, rows, others, outside if group is attacked.reading.control
                  else None)


def _apart_from_others(attacked: Attacked, rows: Ints) -> Floats:
    """Return the distance to the nearest other person of the original."""
    original = attacked.reading.original
    return _least(attacked, original, rows, original, np.arange(original.rows))


def _least(attacked: Attacked, group: People, rows: Ints, others: People,
           owners: Ints | None) -> Floats:
    """Return the distance to the nearest of others, leaving a person's own record out."""
    out = [np.empty(0)]
    scales = {name: type(one)(one.width, one.zero) for name, one in attacked.reading.scales.items()}
    for block in blocks(rows, others.rows):
        near = np.zeros((block.size, others.rows), np.float32)
        for name in attacked.reading.names:
            near += scales[name].apart(group.columns[name], block, others.columns[name])
        if owners is not None:
            near[block[:, None] == owners[None, :]] = np.inf
        out.append(near.min(axis=1).astype(np.float64))
    return np.concatenate(out)


def threshold_risk(scores: dict[str, tuple[Floats, Floats]], knows: str) -> Risk:
    """Return the risk of the score and threshold that are best on every second person."""
    best = max(scores, key=lambda name: _advantage(*(s[::2] for s in scores[name]))[0])
    members, outside = scores[best]
    cut = _advantage(members[::2], outside[::2])[1]
    tried, control = members[1::2], outside[1::2]
    hits, false = int((tried >= cut).sum()), int((control >= cut).sum())
    return Risk(MEMBER, EVERYBODY, best, knows, hits, tried.size,
                false / max(control.size, 1), false, control.size)


def _advantage(members: Floats, outside: Floats) -> tuple[float, float]:
    """Return the largest difference of recognised shares, and the score from which on it is."""
    cuts = np.unique(np.concatenate([members, outside]))
    more = 1 - np.searchsorted(np.sort(members), cuts, side="left") / max(members.size, 1)
    less = 1 - np.searchsorted(np.sort(outside), cuts, side="left") / max(outside.size, 1)
    # An adversary who takes most outsiders for members convinces nobody.
    gain = np.where(less <= MOST_FALSE, more - less, -1.0)
    at = int(np.argmax(gain))
    return float(gain[at]), float(cuts[at])


__all__ = ["membership", "threshold_risk"]
