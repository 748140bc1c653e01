"""Classifying new records with boosted trees whose questions are spread over sites.

Every site shares the answers of all its nodes for all records, a tree at a time; products along the
paths say which leaf a record reaches, the class site shares the numbers of leaves, and their sums
over all trees are compared with 0. Only the class comes out: the second where a sum is above 0.
  discloses: the class of every record to the receivers, and how many records there are. Nobody
    learns a path, a number or a sum. Who learns the classes of many records can copy the trees.
  safe against: as products and comparisons in the mode.
  cost: a tree takes one round of products for each level and 40 bytes for each record and node,
    16 for each record and leaf; a comparison a record in the end.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Ints
from unspoken.errors import DataError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.products import matmul
from unspoken.joint.mpc.ops.sharing import reveal, share
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.classify.program_columns import PREDICTED, leaves_reached, shared_answers
from unspoken.joint.tasks.common.aligned_records import ROWS, same_digest, same_everywhere
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.boosted_part import BoostedPart
from unspoken.models.site_tree_part import TreePart

SCALE = 12
MOST = 1 << 21
"""The greatest magnitude of a leaf's number, in units of 2^-12."""
PartAndRecords = tuple[BoostedPart, Mapping[str, Any]]


class ClassifyBoosted:
    """The program: every site gives its part of the trees and its columns of the new records."""

    def __init__(self, class_site: str, receivers: Sequence[str] = ()) -> None:
        self.class_site, self.receivers = class_site, tuple(receivers)
        self.disclosures = (Disclosure(PREDICTED, self.receivers), Disclosure(ROWS))

    async def __call__(self, party: Party, data: PartAndRecords | None) -> npt.NDArray[Any] | None:
        """Return the class of every record to the receivers."""
        part, answers, rows = await self._ready(party, data)
        total: Shared | None = None
        for place, tree in enumerate(part.trees):
            own = part.numbers[place] if party.name == self.class_site else None
            reached = await self._numbers(party, tree, answers[place], own, rows)
            total = reached if total is None else total + reached
        assert total is not None
        above = await less_than(party, 0 - total, 0)
        opened = await reveal(party, above, because=PREDICTED, to=self.receivers)
        return None if opened is None else np.array(part.classes, object)[opened.astype(np.int64)]

    async def _numbers(self, party: Party, tree: TreePart, answers: Mapping[int, Ints],
                       own: npt.NDArray[np.float64] | None, rows: int) -> Shared:
        """Return the number of the leaf of a tree that every record reaches."""
        bits = await shared_answers(party, tree, answers, rows)
        inside = await leaves_reached(party, tree, bits, rows)
        units = None if own is None else np.rint(np.ldexp(own, SCALE)).astype(np.int64)
        numbers = await share(party, units, self.class_site, (tree.leaves,), -MOST, MOST)
        reached = await matmul(party, numbers.reshape(1, -1), inside, (-MOST, MOST))
        return replace(reached, scale=SCALE).reshape(-1)

    async def _ready(self, party: Party,
                     data: PartAndRecords | None) -> tuple[BoostedPart, list[dict[int, Ints]], int]:
        """Answer all own questions, and check that all sites have the same trees and records."""
        if data is None:
            raise DataError("Everybody who takes part must give a part of the trees. This one "
                            "gave nothing.")
        part, columns = data
        sizes = {len(x) for x in columns.values()}
        if len(sizes) > 1 or part.site != party.name:
            raise DataError("A site must give its own part of the trees, and columns of one "
                            "length.")
        if self.class_site not in part.sites or (
                party.name == self.class_site and not part.numbers):
            raise DataError(f"The class site must be the one that knows the numbers of leaves. "
                            f"'{self.class_site}' does not.")
        answers = [{node: tree.answers(node, columns) for node in tree.asked}
                   for tree in part.trees]
        party.begin("tree")
        await same_digest(party, party.peers, "tree.shape", _digest(part),
                          "Sites must have parts of the same trees. They have not.")
        return part, answers, await same_everywhere(party, sizes.pop() if sizes else -1)


def _digest(part: BoostedPart) -> npt.NDArray[np.uint8]:
    """Return a digest of what all sites know of the trees."""
    arrays = [a for t in part.trees for a in (np.array([t.nodes]), t.owner, t.first_child)]
    digest = hashlib.sha256(b"boosted" + b"".join(a.astype("<i8").tobytes() for a in arrays))
    return np.frombuffer(digest.digest(), np.uint8)


def classify_boosted(parts: Mapping[str, BoostedPart],
                     records: Mapping[str, Mapping[str, Any]], class_site: str,
                     mode: str = "dealer", *, receivers: Sequence[str] = (),
                     **how: Any) -> tuple[dict[str, Any], dict[str, Ledger]]:
    """Classify new records of which every site has its columns, by boosted trees in parts."""
    names = list(parts)
    inputs = [(parts[name], records[name]) for name in names]
    outputs = run_local(ClassifyBoosted(class_site, receivers), inputs, mode, names=names, **how)
    return ({name: classes for name, (classes, _) in zip(names, outputs, strict=True)},
            {name: ledger for name, (_, ledger) in zip(names, outputs, strict=True)})
