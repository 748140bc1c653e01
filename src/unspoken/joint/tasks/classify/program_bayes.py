"""Private classification: one side has the model, another the records, and the class comes out.

Both sides agree on the columns, categories and ranges (`Layout`). The owner of the model shares
its table, the owner of the records one place a category and its scaled numbers; see `scoring`.

  discloses: the class of every record, to the receivers (all if nobody is named); how many
    records there are, to all. Not: the records, the parameters, scores, how sure the class is.
  what classes give away is given away: who may ask for many records learns the borders between
    classes, and can copy the model. Agree on how many may be asked (`most`).
  safe against: as products and comparisons in the mode.
  error: as `scoring`; a model with deviations below 1/256 of half the range is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.errors import DataError, InputError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.normalise import FRACTION
from unspoken.joint.mpc.ops.sharing import reveal, share
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.classify.params import MOST_RECORDS
from unspoken.joint.tasks.common.aligned_records import ROWS, same_everywhere
from unspoken.joint.tasks.naive_bayes.class_scoring import ONE, classes_of, share_table
from unspoken.joint.tasks.naive_bayes.class_tallies import one_hot
from unspoken.joint.tasks.naive_bayes.params import BayesLayout, Given
from unspoken.joint.tasks.naive_bayes.score_tables import Table, table_of
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.mixed_bayes import MixedBayes

PREDICTED = "the predicted class of every record"


@dataclass(frozen=True)
class Sides:
    """Who has the model, who has the records, and who learns classes (all if nobody is named)."""

    model: str
    records: str
    receivers: tuple[str, ...] = ()
    most: int | None = None

    def __post_init__(self) -> None:
        if self.model == self.records:
            raise InputError(explain("The owners of model and records", "two different parties",
                                     self.model))

    def within(self, rows: int) -> int:
        """Return the number of records; more than was agreed are refused by every party."""
        if self.most is not None and rows > self.most:
            raise RefusedError(f"At most {self.most:,} records may be classified in this study. "
                               f"'{self.records}' has {rows:,}.")
        return rows


class ClassifyPrivately:
    """The program: the model's owner gives a Table, the records' owner coded records."""

    def __init__(self, layout: BayesLayout, sides: Sides) -> None:
        self.layout, self.sides = layout, sides
        self.disclosures: tuple[Disclosure, ...] = (Disclosure(PREDICTED, sides.receivers),
                                                    Disclosure(ROWS))

    async def __call__(self, party: Party,
                       data: Table | Given | None) -> npt.NDArray[Any] | None:
        """Return the class of every record to the receivers."""
        table, records = self._own(party, data)
        rows = self.sides.within(
            await same_everywhere(party, -1 if records is None else records.rows))
        sizes, numeric = self.layout.sizes, len(self.layout.numeric)
        model = await share_table(party, table, self.sides.model, sizes, numeric,
                                  len(self.layout.classes))
        hot, z = await share_records(party, records, self.sides.records, sizes, numeric, rows)
        classes = await classes_of(party, model, hot, z)
        opened = await reveal(party, classes, because=PREDICTED, to=self.sides.receivers)
        return None if opened is None else np.array(self.layout.classes, object)[opened]

    def _own(self, party: Party,
             data: Table | Given | None) -> tuple[Table | None, Given | None]:
        """Check what this party gives before anything is sent."""
        if party.name == self.sides.model and not isinstance(data, Table):
            raise DataError("The owner of the model must give a table of it. It gave none.")
        if party.name != self.sides.records:
            return (data if isinstance(data, Table) else None), None
        if not isinstance(data, Given) or not 0 < data.rows <= MOST_RECORDS:
            raise DataError(f"The owner of the records must give 1 to {MOST_RECORDS:,}. It did "
                            "not.")
        return None, data


async def share_records(party: Party, records: Given | None, owner: str, sizes: tuple[int, ...],
                        numeric: int, rows: int) -> tuple[Shared, Shared]:
    """Return an owner's records as shares: places of categories, and numbers with 30 bits."""
    mine = None if records is None or party.name != owner else records
    places = None if mine is None else one_hot(mine.codes, sizes)
    hot = await share(party, places, owner, (rows, sum(sizes)), 0, 1)
    scaled = None if mine is None else np.ascontiguousarray(mine.numbers.T)
    return hot, await share(party, scaled, owner, (rows, numeric), -ONE, ONE, FRACTION)


def classify_privately(model: MixedBayes, records: Mapping[str, Any], layout: BayesLayout,
                       mode: str = "dealer", *, names: Sequence[str] = ("model", "records"),
                       receivers: Sequence[str] = (),
                       **how: Any) -> tuple[list[npt.NDArray[Any] | None], list[Ledger]]:
    """Classify the second party's records with the first party's model.

    Further names are parties without either (mode three-party needs one). Returns each party's
    classes, None to those who are no receivers, and ledgers.
    """
    sides = Sides(names[0], names[1], tuple(receivers))
    inputs = [table_of(model, layout), layout.records(records), *[None] * (len(names) - 2)]
    outputs = run_local(ClassifyPrivately(layout, sides), inputs, mode, names=list(names), **how)
    return [classes for classes, _ in outputs], [ledger for _, ledger in outputs]
