"""All categories of columns, and the outermost ends of numbers, without showing whose they are.

Categories: every owner shares its tables of hashed places (`hashed_places`). Of every place the
first owner's category that has one is kept: acc + (1 - have) * next, one round of products for each
owner. All places are opened at once, most of them empty.
  discloses: to the receivers the union of every column. Whose a category is does not show, but for
    two owners: each knows what it lacks itself. Where two categories fall onto one place, the one
    that is shown there belongs to an owner no later in the list; one place in 32 is taken at most.
  error: a category that stands behind another one in all four tables is lost (with 64 categories in
    6 of 100,000 runs); a receiver notices that for its own, and refuses.

Ends: every owner moves its lowest and highest value outwards to a round number, and the least and
the greatest of all owners are found by comparisons on shares (`argmin`).
  discloses: to the receivers two numbers a column, each a round number beyond somebody's values.
  safe against: as products and comparisons in the mode. An owner can bring made-up categories or
    ends, which everybody then sees.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unspoken.errors import DataError
from unspoken.joint.mpc.ops.argmin import argmin
from unspoken.joint.mpc.ops.products import multiply
from unspoken.joint.mpc.ops.sharing import reveal, share
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, stack
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.column_schema.hashed_places import TOP, read, shape_of, written
from unspoken.joint.tasks.column_schema.params import (
    BOUND,
    OwnSchema,
    SchemaParams,
    shown_ends,
)
from unspoken.joint.wire.hollow_arrays import is_dry

UNION = "all categories of each column, and not whose they are"
ENDS = "the lowest and the highest end of each column, widened to round numbers"


class SchemaOverRows:
    """The categories and ranges that a later study needs."""

    def __init__(self, study: Study) -> None:
        self.params = SchemaParams.of(study.parameters)
        self.receivers = study.having("receiver")
        self.disclosures = study.disclosures

    async def __call__(self, party: Party, data: OwnSchema | None) -> dict[str, Any] | None:
        """Return categories and ranges to the receivers."""
        table = await self._union(party, data) if self.params.categories_of else None
        ends = await self._ends(party, data) if self.params.numbers else None
        if party.name not in self.receivers or is_dry():
            return None
        united = {} if table is None else read(self.params, table)
        self._all_there(united, data)
        ranges = {} if ends is None else shown_ends(self.params.numbers, ends)
        return {"categories": united, "range": ranges}

    def _all_there(self, united: dict[str, list[str]], data: OwnSchema | None) -> None:
        for name, words in united.items():
            if data is not None and not set(data.categories[name]) <= set(words):
                raise DataError(f"A category of column '{name}' fell onto the same places as "
                                "another one. Propose the study again with another 'salt'.")

    async def _union(self, party: Party, data: OwnSchema | None) -> Any:
        party.begin("schema categories")
        own = None if data is None else written(self.params, data.categories)
        kept, have = await self._shared(party, own, party.roles.owners[0])
        for owner in party.roles.owners[1:]:
            more, there = await self._shared(party, own, owner)
            free = (1 - have).within(0, 1)
            kept = (kept + await multiply(party, free.reshape(-1, 1), more, (0, TOP))
                    ).within(0, TOP)
            have = (have + await multiply(party, free, there, (0, 1))).within(0, 1)
        return await reveal(party, kept, because=UNION, to=self.receivers)

    async def _shared(self, party: Party, own: Any, owner: str) -> tuple[Shared, Shared]:
        """Return an owner's places as shares, and which of them are taken."""
        shape, mine = shape_of(self.params), own if party.name == owner else None
        taken = None if mine is None else mine.any(axis=1).astype(np.int64)
        return (await share(party, mine, owner, shape, 0, TOP),
                await share(party, taken, owner, shape[:1], 0, 1))

    async def _ends(self, party: Party, data: OwnSchema | None) -> Any:
        """Return the least low end and the greatest high one of every column."""
        party.begin("schema ends")
        size = 2 * len(self.params.numbers)
        signed = None if data is None else (data.ends * np.array([1, -1])).ravel()
        parts = [await share(party, signed if party.name == owner else None, owner, (size,),
                             -BOUND, BOUND) for owner in party.roles.owners]
        _, least = await argmin(party, stack(parts).T)
        opened = await reveal(party, least, because=ENDS, to=self.receivers)
        return None if opened is None else opened.reshape(-1, 2) * np.array([1, -1])
