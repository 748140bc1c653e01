"""Studies over columns whose trees nobody sees: grown, used, and gone, in one run.

Tasks `tree-columns` with structure=hidden, and `forest-columns`. Records whose class is missing at
the class site are new: trees are grown from the others, stay on shares, and the classes of the new
ones come out, to the receivers. `unspoken.joint.tasks.tree.hidden_program` keeps the shares for
later runs instead. Categories and cut points are those of records with a class, so new ones do
not change the trees.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.sharing import reveal
from unspoken.joint.mpc.party import Party
from unspoken.joint.session.dry_run import Answers
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.classify.program_columns import PREDICTED
from unspoken.joint.tasks.common.aligned_records import ROWS
from unspoken.joint.tasks.common.study_parameters import outlined
from unspoken.joint.tasks.common.unlabelled_rows import NEW, assumed_new, parted
from unspoken.joint.tasks.task import Outlook
from unspoken.joint.tasks.tree.column_steps import shared_answers
from unspoken.joint.tasks.tree.hidden_steps import HiddenGrowing, predicted
from unspoken.joint.tasks.tree.hidden_votes import HiddenForest
from unspoken.joint.tasks.tree.level_growth import TreeParams
from unspoken.joint.tasks.tree.program_columns import OverColumns
from unspoken.joint.tasks.tree.study_layout import rules_of
from unspoken.joint.tasks.tree.tree_sites import TreeShape, TreeSite, own_attributes

NEW_PART = "a tenth"


@dataclass(frozen=True)
class Loaded:
    """A site with all its records, old and new; which columns are numbers, and how to cut them."""

    site: TreeSite
    numeric: tuple[str, ...]
    points: int

    def take_rows(self, places: Ints) -> Loaded:
        """Return the site with some of its records."""
        return replace(self, site=self.site.take_rows(places))

    def answers(self, shape: TreeShape, name: str, old: Ints, new: Ints) -> tuple[Ints, Ints]:
        """Return the answers of old and of new records to the questions that old ones make."""
        columns = {n: np.asarray(c, object) for n, c in self.site.columns.items()}
        known = {n: c[old] for n, c in columns.items()}
        site = TreeSite(own_attributes(known, self.numeric, self.points), known,
                    classes=self._classes(old)).fits(shape, name)
        fresh = [q.answers(columns[q.column][new]) for q in site.questions]
        return site.codes, np.array(fresh, np.int64).reshape(len(fresh), new.size)

    def _classes(self, rows: Ints) -> Ints | None:
        return None if self.site.classes is None else self.site.classes[rows]


class HiddenStudy(OverColumns):
    """The program of a study."""

    def __init__(self, study: Study, shape: TreeShape, forest: HiddenForest | None = None) -> None:
        self.shape, self.forest = shape, forest
        self.rules, self.receivers = rules_of(study.parameters), study.having("receiver")
        self.disclosures = study.disclosures

    async def check_first(self, party: Party, data: Any) -> None:
        """Check a site before its rows are aligned."""
        self._own(party, None if data is None else data.site)

    async def __call__(self, party: Party, data: Loaded | None) -> dict[str, Any] | None:
        """Grow from records with a class and classify the others."""
        site = self._own(party, None if data is None else data.site)
        _, labels, rows = await self._same_rows(party, site)
        old, new = await parted(party, labels, self.shape.class_site, rows)
        codes = fresh = None
        if data is not None:
            codes, fresh = data.answers(self.shape, party.name, old, new)
        growing = HiddenGrowing(party, self.shape, self.rules, old.size, self.forest)
        tree = await growing.grow(codes, None if labels is None else labels[old])
        answers = await shared_answers(party, self.shape, party.roles.owners, fresh, new.size)
        classes = await predicted(party, self.shape, tree, answers)
        opened = await reveal(party, classes, because=PREDICTED, to=self.receivers)
        if opened is None:
            return None
        return {"rows": new.tolist(),
                PREDICTED: np.array(self.shape.classes, object)[opened].tolist()}


def hidden_disclosures(study: Study) -> tuple[Disclosure, ...]:
    """Return what a study discloses."""
    return (Disclosure(PREDICTED, study.having("receiver")), Disclosure(NEW), Disclosure(ROWS))


def hidden_outlook(study: Study, shape: TreeShape, rules: TreeParams, trees: int = 1) -> Outlook:
    """Return who learns what; all but the number of records is known before."""
    return outlined(study, hidden_disclosures(study),
                    ("who learns the classes of many records can copy the tree",),
                    f"of which {NEW_PART} are new, and {trees} full trees of {shape.branches} "
                    f"branches and depth {rules.max_depth}")


def hidden_answers(study: Study, records: int, name: str) -> Answers:
    """Assume that some of the records are new."""
    return {NEW: assumed_new}
