"""Local models vote on records that no owner of a model sees (vcz2006 chapter 4).

Every owner learns a model from its own rows, in the clear, at home. A third party, which may own
nothing else, brings records. Models and records are shared, every model's class is found on shares
(as in task `classify`), the classes are turned into votes and counted, and the class with most
votes is opened. Of equally many votes the class that stands first in the agreed list wins.
  discloses: the class that most models vote for, of every record, to the receivers; to all how
    many records there are. Not: a model, a record, whose model votes for what, how many do.
  what votes give away is given away: who may ask for many records learns the borders between
    classes, and can copy the ensemble. Agree on how many may be asked (`most`).
  safe against: as products and comparisons in the mode.
  error: as task `classify`: scores of naive Bayes that nearly tie may come out either way.
  cost: that of `classify` for every model; a test for equality for each model, class and record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.errors import DataError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.choice import argmax
from unspoken.joint.mpc.ops.less_than import equal
from unspoken.joint.mpc.ops.shared_bits import to_numbers
from unspoken.joint.mpc.ops.sharing import reveal
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, stack
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.classify.params import MOST_RECORDS
from unspoken.joint.tasks.classify.program_bayes import Sides, share_records
from unspoken.joint.tasks.classify.program_tree import (
    FullTree,
    full_tree,
    share_asked,
    share_tree,
    tree_classes,
)
from unspoken.joint.tasks.common.aligned_records import ROWS, same_everywhere
from unspoken.joint.tasks.naive_bayes.class_scoring import classes_of, share_table
from unspoken.joint.tasks.naive_bayes.class_tallies import class_counts
from unspoken.joint.tasks.naive_bayes.params import BayesLayout, BayesParams, Given
from unspoken.joint.tasks.naive_bayes.pooled import two_pass
from unspoken.joint.tasks.naive_bayes.score_tables import Table, learned, table_of
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.categorical_tree import CategoricalTree
from unspoken.models.mixed_bayes import MixedBayes

VOTED = "the class of every record for which most models vote"


def local_table(layout: BayesLayout, columns: Mapping[str, Any]) -> Table:
    """Return the naive Bayes model of one owner's own rows, the class among them, as a table."""
    coded = layout.rows(columns)
    if not coded.rows:
        raise DataError("An owner must have records to learn a model from. This one has none.")
    counts = class_counts(coded, layout).astype(np.float64)
    return learned(counts, layout.sizes, *two_pass(coded, layout), np.zeros(len(layout.numeric)),
                   BayesParams())


class VoteOverRows:
    """The program: `sides.records` gives coded records, each of `models` its own model."""

    def __init__(self, layout: BayesLayout, models: Sequence[str], sides: Sides,
                 depth: int | None = None) -> None:
        self.layout, self.models = layout, tuple(models)
        self.sides, self.depth = sides, depth
        self.disclosures: tuple[Disclosure, ...] = (Disclosure(VOTED, sides.receivers),
                                                    Disclosure(ROWS))

    async def __call__(self, party: Party,
                       data: Table | FullTree | Given | None) -> npt.NDArray[Any] | None:
        """Return the class with most votes of every record to the receivers."""
        self._check(party, data)
        records = data if isinstance(data, Given) and party.name == self.sides.records else None
        rows = self.sides.within(
            await same_everywhere(party, -1 if records is None else records.rows))
        way = self._by_bayes if self.depth is None else self._by_trees
        voted = stack(await way(party, data, records, rows))
        opened = await reveal(party, await self._counted(party, voted), because=VOTED,
                              to=self.sides.receivers)
        return None if opened is None else np.array(self.layout.classes, object)[opened]

    def _check(self, party: Party, data: Any) -> None:
        """Refuse what this party gives before anything is sent."""
        fits = isinstance(data, Table) if self.depth is None else \
            isinstance(data, FullTree) and data.depth == self.depth
        if party.name in self.models and not fits:
            raise DataError("Every owner but the one that asks must give a model of the agreed "
                            "kind, or a table with the class to learn one from.")
        if party.name == self.sides.records and not (
                isinstance(data, Given) and 0 < data.rows <= MOST_RECORDS):
            raise DataError(f"Who asks must give a table of 1 to {MOST_RECORDS:,} records without "
                            "the class. It did not.")

    async def _by_bayes(self, party: Party, data: Any, records: Given | None,
                        rows: int) -> list[Shared]:
        """Return the class of every record by every table of naive Bayes."""
        sizes, numeric = self.layout.sizes, len(self.layout.numeric)
        table = data if isinstance(data, Table) else None
        hot, z = await share_records(party, records, self.sides.records, sizes, numeric, rows)
        return [await classes_of(party, await share_table(
            party, table, owner, sizes, numeric, len(self.layout.classes)), hot, z)
            for owner in self.models]

    async def _by_trees(self, party: Party, data: Any, records: Given | None,
                        rows: int) -> list[Shared]:
        """Return the class of every record by every tree."""
        tree = data if isinstance(data, FullTree) else None
        hot, z = await share_asked(party, records, self.sides.records, self.layout, rows)
        return [await tree_classes(party, await share_tree(
            party, tree, owner, self.layout, self.depth or 1), hot, z) for owner in self.models]

    async def _counted(self, party: Party, voted: Shared) -> Shared:
        """Return the class with most votes; voted is (models, records)."""
        gaps = stack([voted - code for code in range(len(self.layout.classes))])
        votes = (await to_numbers(party, await equal(party, gaps, 0))).sum(1)
        return (await argmax(party, votes.T))[0]


def vote_privately(
    models: Mapping[str, MixedBayes | CategoricalTree],
    records: Mapping[str, Any],
    layout: BayesLayout,
    depth: int | None = None,
    mode: str = "dealer",
    **how: Any,
) -> tuple[npt.NDArray[Any], list[Ledger]]:
    """Let models vote on records of a party 'asks', which alone learns the classes; and ledgers."""
    names = [*models, "asks"]
    given = [full_tree(model, layout, depth or 1) if isinstance(model, CategoricalTree) else
             table_of(model, layout) for model in models.values()]
    program = VoteOverRows(layout, list(models), Sides(names[0], "asks", ("asks",)), depth)
    outputs = run_local(program, [*given, layout.records(records)], mode, names=names, **how)
    return outputs[-1][0], [ledger for _, ledger in outputs]
