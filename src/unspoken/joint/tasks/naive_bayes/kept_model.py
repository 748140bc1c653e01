"""A model that stays on shares between two runs: what each holder keeps, and how it comes back."""

from __future__ import annotations

from typing import Any

import numpy as np

from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.ops.normalise import FRACTION
from unspoken.joint.mpc.ops.sharing import rerandomised
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared
from unspoken.joint.tasks.naive_bayes.class_scoring import (
    MOST_ROOT,
    ONE,
    ROOT,
    SharedTable,
    start_bound,
)
from unspoken.joint.tasks.naive_bayes.score_tables import MOST_LOG
from unspoken.joint.tasks.naive_bayes.site_parts import BayesPart


def kept(party: Party, table: SharedTable) -> tuple[Any, ...]:
    """Return this holder's share of the model, with a fresh share of zero on it."""
    party.begin("keep model")
    if not party.is_holder:
        return ()
    parts = [table.start, table.logs.reshape(table.logs.size),
             table.means.reshape(table.means.size), table.roots.reshape(table.roots.size)]
    # One array: a stream of zeros is handed out once a step.
    every = Shared(party, np.concatenate([p.share for p in parts]), 0, 0)
    cuts = np.cumsum([p.size for p in parts])[:-1]
    return tuple(np.split(rerandomised(party, every), cuts))


def again(party: Party, part: BayesPart) -> SharedTable:
    """Return a kept model as shares of this run."""
    shape, kinds = part.shape, len(part.shape.classes)
    shapes = ((kinds,), (sum(shape.sizes), kinds), (shape.numbers, kinds), (shape.numbers, kinds))
    if part.holders != party.holders or (party.is_holder and len(part.share) != 4):
        raise RefusedError("A split model must be used by the parties that hold its shares. Those "
                           f"are {', '.join(part.holders)}. Run it with the same holders.")
    words = part.share if party.is_holder else tuple(np.zeros(s, np.uint64) for s in shapes)
    start = start_bound(len(shape.sizes), shape.numbers)
    bounds = ((start, FRACTION), (MOST_LOG * ONE, FRACTION), (ONE + 2, FRACTION), (MOST_ROOT, ROOT))
    tables = [Shared(party, np.asarray(w).reshape(s), -b, b, scale)
              for w, s, (b, scale) in zip(words, shapes, bounds, strict=True)]
    return SharedTable(tables[0], tables[1], tables[2], tables[3].within(0, MOST_ROOT),
                       len(shape.sizes))
