"""ID3 over columns whose tree nobody sees: its structure is hidden too (vcz2006 section 4.4).

The book's variant shows all sites which of them asks at each node. Here the sites grow a full tree
of public depth and arity, and everything about it stays on shares: which site asks, what it asks,
how many answers there are, which nodes are leaves, and their classes. The best question of a node
is a shared row with one 1; a matrix product with the shared answers of all questions says where
records go, and a node that asks nothing sends them all to its last child. The tree is of use for
one thing only: classifying new records together, on shares, where the class alone comes out.

What comes out is the class that the tree of `central` gives, for records of training and for new
ones, with the same rule for ties and for branches without records.

  discloses: to all, how many records there are. Aligning shows which ids are in common.
    Classifying: how many new records there are, and their classes, to the receivers.
    Not: anything about the tree. Depth, branches, slots and classes are public before.
  what classes give away is given away: who learns those of many records can copy the tree.
  safe against: as products and comparisons in the mode. The kept shares of all holders together
    are the tree; they are of use to the same holders only.
  cost: nothing depends on the data. N records, a level of n nodes: 16 N n classes bytes for the
    counts, then as over rows; 40 N n (branches - 1) classes for the children of all levels but
    the last. Answers, slots (branches - 1) a site, are opened under masks twice in four levels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Words
from unspoken.errors import DataError, InputError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.sharing import rerandomised, reveal
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.sets.encrypted_circle import SetRules
from unspoken.joint.mpc.shared import Shared
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.classify.program_columns import PREDICTED
from unspoken.joint.tasks.common.aligned_records import (
    ROWS,
    same_digest,
    same_everywhere,
)
from unspoken.joint.tasks.common.record_order import InOneOrder
from unspoken.joint.tasks.tree.column_steps import shared_answers
from unspoken.joint.tasks.tree.hidden_part import HiddenPart, leaves
from unspoken.joint.tasks.tree.hidden_steps import Hidden, HiddenGrowing, predicted
from unspoken.joint.tasks.tree.hidden_votes import HiddenForest
from unspoken.joint.tasks.tree.level_growth import TreeParams
from unspoken.joint.tasks.tree.program_columns import OverColumns
from unspoken.joint.tasks.tree.tree_sites import TreeShape, TreeSite
from unspoken.joint.wire.ledger import Ledger

Records = tuple[HiddenPart, Mapping[str, Any]]


class HiddenTree(OverColumns):
    """The program that grows: every site gives a Site, and gets its part of the tree."""

    def __init__(
        self, shape: TreeShape, rules: TreeParams, forest: HiddenForest | None = None
    ) -> None:
        leaves(shape, rules.max_depth, 1 if forest is None else forest.trees)
        self.shape, self.rules, self.forest = shape, rules, forest
        self.disclosures = (Disclosure(ROWS),)

    async def __call__(self, party: Party, data: TreeSite | None) -> HiddenPart:
        """Grow, and return this party's part."""
        site = self._own(party, data)
        codes, labels, rows = await self._same_rows(party, site)
        growing = HiddenGrowing(party, self.shape, self.rules, rows, self.forest)
        tree = await growing.grow(codes, labels)
        return HiddenPart(self.shape, self.rules.max_depth, party.roles.owners, party.name,
                          () if site is None else site.questions, party.seam.session,
                          party.holders, kept(party, tree), tree.trees)


def kept(party: Party, tree: Hidden) -> Words:
    """Return this holder's share of the tree, with a fresh share of zero on it."""
    party.begin("keep tree")
    if not party.is_holder:
        return np.zeros(0, np.uint64)
    words = np.concatenate([tree.hot.share.ravel(), tree.classes.share])
    return rerandomised(party, Shared(party, words, 0, 0))


def again(party: Party, part: HiddenPart) -> Hidden:
    """Return a kept tree as shares of this run."""
    questions = len(part.sites) * part.shape.slots
    words = part.share if party.is_holder else np.zeros(part.words, np.uint64)
    cut = part.asking * questions
    return Hidden(Shared(party, words[:cut].reshape(part.asking, questions), 0, 1),
                  Shared(party, words[cut:], 0, len(part.shape.classes) - 1), part.trees)


class ClassifyHidden:
    """The program that classifies: every party gives its part, and sites their new records."""

    def __init__(self, receivers: Sequence[str] = ()) -> None:
        self.receivers = tuple(receivers)
        self.disclosures = (Disclosure(PREDICTED, self.receivers), Disclosure(ROWS))

    async def __call__(self, party: Party, data: Records) -> npt.NDArray[Any] | None:
        """Return the class of every record to the receivers."""
        part, codes, own = _checked(party, data)
        await _same_tree(party, part)
        rows = await same_everywhere(party, own)
        if codes is not None and own < 0:
            codes = np.zeros((0, rows), np.int64)
        answers = await shared_answers(party, part.shape, part.sites, codes, rows)
        classes = await predicted(party, part.shape, again(party, part), answers)
        opened = await reveal(party, classes, because=PREDICTED, to=self.receivers)
        return None if opened is None else np.array(part.shape.classes, object)[opened]


def _checked(party: Party, data: Records | None) -> tuple[HiddenPart, Any, int]:
    """Return what a party gave, if it is good, before anything is sent."""
    if not isinstance(data, tuple) or not isinstance(data[0], HiddenPart):
        raise DataError("Every party must give its part of the tree. This one gave none.")
    part, columns = data
    if part.site != party.name or not set(part.sites) <= set(party.names):
        raise DataError(explain("The part of a tree", f"that of '{party.name}', used by all sites",
                                f"that of '{part.site}', of {', '.join(part.sites)}"))
    if part.holders != party.holders:
        raise RefusedError("A hidden tree must be used by the parties that hold its shares. Those "
                           f"are {', '.join(part.holders)}. Run it with the same holders.")
    return part, *part.codes(columns)


async def _same_tree(party: Party, part: HiddenPart) -> None:
    party.begin("tree")
    await same_digest(party, party.peers, "tree", part.digest(),
                      "Sites must have parts of one tree. They have not. Give those that came "
                      "out of one run.")


def mine_tree_hidden(
    sites: Mapping[str, TreeSite],
    shape: TreeShape,
    rules: TreeParams | None = None,
    mode: str = "dealer",
    *,
    align: SetRules | None = None,
    forest: HiddenForest | None = None,
    **how: Any,
) -> tuple[dict[str, HiddenPart], dict[str, Ledger]]:
    """Grow a tree that nobody sees over the columns of all sites; return the parts and ledgers.

    Parameters
    ----------
    sites : mapping of str to TreeSite
        Each site's attributes and rows, by its name.
    shape : TreeShape
        What is public: classes, the class site, room for questions.
    rules : TreeParams, optional
        What everybody agreed on. Default: `TreeParams()`.
    mode : str, default 'dealer'
        Who holds shares and who deals, as in `run_local`.
    align : SetRules, optional
        Rules for aligning rows by ids. Default: same records in the same order everywhere.
    forest : HiddenForest, optional
        With it many trees grow together and vote. Default: one tree.
    **how : Any
        Passed on to `run_local`, such as processes=True.

    Returns
    -------
    tuple of (dict of str to HiddenPart, dict of str to Ledger)
        Each party's part of the tree and its ledger, by name.

    Examples
    --------
    >>> parts, ledgers = mine_tree_hidden({'a': a, 'b': b}, shape)  # doctest: +SKIP
    """
    names = list(sites)
    if shape.class_site not in names:
        raise InputError(explain("The class site", "of " + ", ".join(names), shape.class_site))
    program = InOneOrder(HiddenTree(shape, rules or TreeParams(), forest), names, align)
    for name, site in sites.items():
        site.fits(shape, name)
    return _by_name(names, run_local(program, list(sites.values()), mode, names=names, **how))


def classify_hidden(parts: Mapping[str, HiddenPart], records: Mapping[str, Mapping[str, Any]],
                    mode: str = "dealer", *, receivers: Sequence[str] = (),
                    **how: Any) -> tuple[dict[str, Any], dict[str, Ledger]]:
    """Classify new records of which every site has its columns; classes go to the receivers.

    Parameters
    ----------
    parts : mapping of str to HiddenPart
        Each party's part of the tree, by its name.
    records : mapping of str to mapping
        Each site's columns of the new records, by the site's name.
    mode : str, default 'dealer'
        Who holds shares and who deals, as in `run_local`.
    receivers : sequence of str, default ()
        Who learns the classes (all if nobody is named).
    **how : Any
        Passed on to `run_local`, such as processes=True.

    Returns
    -------
    tuple of (dict of str to array or None, dict of str to Ledger)
        The classes of all records (None for who is no receiver) and the ledger, by party.
    """
    names = list(parts)
    inputs = [(parts[name], records.get(name, {})) for name in names]
    return _by_name(names, run_local(ClassifyHidden(receivers), inputs, mode, names=names, **how))


def _by_name(names: Sequence[str],
             outputs: Sequence[tuple[Any, Ledger]]) -> tuple[dict[str, Any], dict[str, Ledger]]:
    return ({name: output for name, (output, _) in zip(names, outputs, strict=True)},
            {name: ledger for name, (_, ledger) in zip(names, outputs, strict=True)})
