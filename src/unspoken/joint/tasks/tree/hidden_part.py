"""What one party keeps of a tree that nobody sees: its own questions, and a share of the rest."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Ints, Words
from unspoken.errors import DataError, InputError, explain
from unspoken.joint.tasks.tree.tree_sites import TreeShape
from unspoken.models.comparison import SAME, Comparison, compare_scalars, first_difference
from unspoken.models.hostile_json import DEFAULT_LIMITS, Fields, Limits, refuse
from unspoken.models.model import TreeLike
from unspoken.models.site_tree_part import Asked
from unspoken.models.tree import check_format
from unspoken.table.atomic_files import named_path, write_file

FORMAT = "unspoken-hidden-tree-part"
VERSION = 1
MOST_LEAVES = 4096


@dataclass(frozen=True, eq=False)
class HiddenPart(TreeLike):
    """One party's part: of use only with those of all the others, in another run.

    `share` is a secret: with the other holders' it is the tree. `run` names the run it comes from.
    """

    format = FORMAT

    shape: TreeShape
    depth: int
    sites: tuple[str, ...]
    site: str
    questions: tuple[Asked, ...]
    run: bytes
    holders: tuple[str, ...]
    share: Words
    trees: int = 1

    def __post_init__(self) -> None:
        """Refuse what is no part of a full tree."""
        leaves(self.shape, self.depth, self.trees)
        if not self.sites or self.shape.class_site not in self.sites:
            refuse("sites", f"such that '{self.shape.class_site}' is there", self.sites)
        widest = max([q.branches for q in self.questions], default=0)
        if len(self.questions) > self.shape.slots or widest > self.shape.branches:
            refuse("questions", f"at most {self.shape.slots} of at most {self.shape.branches} "
                   "answers", f"{len(self.questions)} of up to {widest}")
        wanted = self.words if self.site in self.holders else 0
        if self.share.shape != (wanted,):
            refuse("share", f"{wanted} words", self.share.size)

    @property
    def nodes(self) -> int:
        """Return how many nodes the full trees have, leaves included."""
        return self.asking + self.leaves

    @property
    def asking(self) -> int:
        """Return how many nodes the full trees have that may ask."""
        return self.trees * sum(int(self.shape.branches**level) for level in range(self.depth))

    @property
    def leaves(self) -> int:
        """Return how many leaves the full trees have."""
        return leaves(self.shape, self.depth, self.trees)

    @property
    def words(self) -> int:
        """Return how many numbers the tree is: questions of all nodes, and classes of leaves."""
        return (self.asking * len(self.sites) * self.shape.slots
                + leaves(self.shape, self.depth, self.trees))

    def codes(self, columns: Mapping[str, Any]) -> tuple[Ints | None, int]:
        """Return the answers to all own questions, and how many records there are (-1: unsaid)."""
        sizes = {len(values) for values in columns.values()}
        missing = next((q.column for q in self.questions if q.column not in columns), None)
        if missing is not None or len(sizes) > 1:
            raise DataError(explain(
                "The columns of a site", "of one length" if missing is None else
                f"such that '{missing}' is there", ", ".join(map(str, columns)) or "none"))
        rows = sizes.pop() if sizes else -1
        if self.site not in self.sites:
            return None, rows
        answers = [q.answers(columns[q.column]) for q in self.questions]
        return np.array(answers, np.int64).reshape(len(answers), max(0, rows)), rows

    def digest(self) -> Any:
        """Return what must be the same at all parties."""
        public = [asdict(self.shape), self.depth, self.trees, self.sites, self.holders,
                  self.run.hex()]
        return np.frombuffer(hashlib.sha256(json.dumps(public).encode()).digest(), np.uint8)

    def _compare(self, other: HiddenPart) -> Comparison:
        """Compare with another part; of shares it says that they differ, never what they are."""
        mine, theirs = ({k: v for k, v in part.to_json().items() if k != "share"}
                        for part in (self, other))
        return first_difference(
            *(lambda n=name: compare_scalars(n, mine[n], theirs[n]) for name in mine),
            lambda: SAME if np.array_equal(self.share, other.share) else Comparison(
                "share: other words"))

    def _lines(self, full: bool) -> list[str]:
        """Return what is public, and what this site could ask; never a share."""
        return [
            f"part of '{self.site}' in {self.trees} hidden tree{'s' * (self.trees > 1)} of depth "
            f"{self.depth} over {', '.join(self.sites)}",
            f"shares are held by {', '.join(self.holders)}",
            *(f"  may ask: {q.column} {' | '.join(map(str, q.categories)) or f'<= {q.cut:.9g}'}"
              for q in self.questions)]

    def __repr__(self) -> str:
        return f"HiddenPart({self.site!r}, one of {', '.join(self.sites)}, depth {self.depth})"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file that nobody else can read: the share is a secret."""
        write_file(named_path(path), json.dumps(self.to_json(), allow_nan=False).encode(), 0o600)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready object that `from_json` reads back; words are kept as one text."""
        return {"format": FORMAT, "version": VERSION, "site": self.site,
                "sites": list(self.sites), "depth": self.depth, "trees": self.trees,
                "run": self.run.hex(),
                "holders": list(self.holders), "classes": list(self.shape.classes),
                "class_site": self.shape.class_site, "target": self.shape.target,
                "class_known": int(self.shape.class_known), "slots": self.shape.slots,
                "branches": self.shape.branches,
                "questions": [[q.column, list(q.categories), q.cut] for q in self.questions],
                "share": [self.share.astype("<u8").tobytes().hex()]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> HiddenPart:
        """Read `to_json`'s object; anything malformed is a ModelError naming the field."""
        fields = Fields(data, limits=limits)
        check_format(fields, FORMAT)
        try:
            shape = TreeShape(fields.texts("classes", 4096), fields.text("class_site"),
                          fields.whole("slots", 1, 4096), fields.whole("branches", 2, 4096),
                          fields.text("target"), bool(fields.whole("class_known", 0, 1)))
            [words] = fields.items("share", 1)
            share = np.frombuffer(bytes.fromhex(words), "<u8").astype(np.uint64)
            run = bytes.fromhex(fields.text("run"))
            questions = tuple(_question(*each) for each in fields.items("questions", 4096))
            return cls(shape, fields.whole("depth", 0, 12), fields.texts("sites", 1000),
                       fields.text("site"), questions, run, fields.texts("holders", 64), share,
                       fields.whole("trees", 1, MOST_LEAVES))
        except (TypeError, ValueError, InputError) as error:
            refuse("part", "a part as it was saved", str(error))


def _question(column: Any, categories: Any, cut: Any) -> Asked:
    known = isinstance(column, str) and isinstance(categories, list) and all(
        c is None or isinstance(c, str) for c in categories)
    if not known or type(cut) not in (int, float) or not np.isfinite(cut):
        raise ValueError("a question that is none")
    return Asked(column, tuple(categories), float(cut))


def leaves(shape: TreeShape, depth: int, trees: int = 1) -> int:
    """Return how many leaves full trees have; too many are refused."""
    number = trees * int(shape.branches ** min(depth, MOST_LEAVES.bit_length()))
    if number > MOST_LEAVES:
        raise InputError(f"Hidden trees must have at most {MOST_LEAVES:,} leaves in all. They are "
                         f"full, so {trees} of {shape.branches} branches and depth {depth} have "
                         "more. Lower 'max_depth', 'branches' or 'trees'.")
    return number
