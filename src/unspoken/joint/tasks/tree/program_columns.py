"""ID3 over columns that are spread among sites (vcz2006 section 4.4; Vaidya and Clifton).

Every site has some attributes of the same records, and one of them the class. For every open node
the class of its records is kept as shared numbers, 1 where a record is in the node and in that
class; the counts of all questions come out of one matrix product a level, x ln x and the best
question are found on shares. The site of the best question then shares the answers of its records,
and products make the numbers of the children.

  discloses: to all, how many records there are, and the shape of the tree: which site asks at each
    node, how many answers there are, and which nodes are leaves. What is asked is known to the
    asking site; the class of a leaf to the class site. Aligning shows which ids are in common.
    Not: counts, gains, subset sizes, which records are in a node, how many attributes a site has
    or has left (questions that have run out have no gain, and lose as every other without gain),
    why a node is a leaf. The book shows the class counts of every node and candidate to the class
    site, and sizes of intersections to all.
  safe against: as products and comparisons in the mode.
  an attribute that two sites have counts once: among equals the site that comes first wins.
  class known to all (`class_known`): one product a record instead of one for each class.
  cost: 16 N slots (branches - 1) bytes a site and level, 16 N classes a node for the counts, 40 N
    classes for each child but one that is tested further; then as over rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unspoken.arrays import Ints
from unspoken.errors import DataError, InputError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.sets.encrypted_circle import SetRules
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.common.aligned_records import (
    ROWS,
    same_digest,
    same_everywhere,
)
from unspoken.joint.tasks.common.record_order import InOneOrder
from unspoken.joint.tasks.tree.column_steps import ARITY, LEAVES, QUESTION, SITES, Growing
from unspoken.joint.tasks.tree.params import TreeParams
from unspoken.joint.tasks.tree.tree_sites import TreeShape, TreeSite, digest
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.site_tree_part import TreePart


def disclosures(sites: Sequence[str], shape: TreeShape) -> tuple[Disclosure, ...]:
    """Return everything that growing a tree over columns discloses."""
    return (Disclosure(ROWS), Disclosure(SITES), Disclosure(ARITY),
            *(Disclosure(QUESTION, (site,)) for site in sites),
            Disclosure(LEAVES, (shape.class_site,)))


class OverColumns:
    """What programs over columns begin with: sites are checked, and have as many rows."""

    shape: TreeShape

    async def check_first(self, party: Party, data: TreeSite | None) -> None:
        """Check a site before its rows are aligned."""
        self._own(party, data)

    def _own(self, party: Party, data: TreeSite | None) -> TreeSite | None:
        """Check a site before anything is sent; who owns nothing gives nothing."""
        if self.shape.class_known and not set(party.holders) <= set(party.roles.owners):
            raise RefusedError("Whoever holds shares must know the class if it is known to all "
                               "sites. Somebody without data holds some. Let sites hold them.")
        if party.name not in party.roles.owners:
            return None
        if data is None:
            raise DataError("Every site must give its columns. This one gave nothing.")
        return data.fits(self.shape, party.name)

    async def _same_rows(self, party: Party,
                         site: TreeSite | None) -> tuple[Ints | None, Ints | None, int]:
        """Return answers, classes, and how many records there are, which all sites share."""
        codes, labels = (None, None) if site is None else (site.codes, site.classes)
        rows = await same_everywhere(party, -1 if codes is None else codes.shape[1])
        if self.shape.class_known:
            await same_labels(party, labels)
        return codes, labels, rows


class TreeOverColumns(OverColumns):
    """The program: every site gives a Site, and gets its part of the tree."""

    def __init__(self, shape: TreeShape, rules: TreeParams, sites: Sequence[str]) -> None:
        self.shape, self.rules = shape, rules
        self.disclosures = disclosures(sites, shape)

    async def __call__(self, party: Party, data: TreeSite | None) -> TreePart | None:
        """Grow, and return this site's part."""
        site = self._own(party, data)
        codes, labels, rows = await self._same_rows(party, site)
        growing = Growing(party, self.shape, self.rules, rows, site.questions if site else ())
        await growing.begin(codes, labels)
        while growing.tested():
            await growing.level(codes)
        return await growing.finish()


async def same_labels(party: Party, labels: Ints | None) -> None:
    """Refuse classes that are known to all sites and are not the same everywhere."""
    party.begin("classes")
    if labels is None:
        return
    own, others = digest(labels), [n for n in party.roles.owners if n != party.name]
    await same_digest(party, others, "classes", own,
                      "A class that is known to all sites must be the same everywhere. It is "
                      "not. Correct the tables, or let one site alone have it.")


def mine_tree_columns(
    sites: Mapping[str, TreeSite],
    shape: TreeShape,
    rules: TreeParams | None = None,
    mode: str = "dealer",
    *,
    align: SetRules | None = None,
    **how: Any,
) -> tuple[dict[str, TreePart], dict[str, Ledger]]:
    """Grow one tree over the columns of all sites; return each site's part and ledger.

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
    **how : Any
        Passed on to `run_local`, such as processes=True.

    Returns
    -------
    tuple of (dict of str to TreePart, dict of str to Ledger)
        Each site's part of the tree and its ledger, by site.

    Examples
    --------
    >>> parts, ledgers = mine_tree_columns({'a': a, 'b': b}, shape)  # doctest: +SKIP
    """
    names = list(sites)
    if shape.class_site not in names:
        raise InputError(explain("The class site", "of " + ", ".join(names), shape.class_site))
    for name, site in sites.items():
        site.fits(shape, name)
    program = InOneOrder(TreeOverColumns(shape, rules or TreeParams(), names), names, align)
    outputs = run_local(program, list(sites.values()), mode, names=names, **how)
    return ({name: part for name, (part, _) in zip(names, outputs, strict=True)},
            {name: ledger for name, (_, ledger) in zip(names, outputs, strict=True)})
