"""Growing a tree that splits numbers and categories, by a rule that another party can follow.

From a release that keeps trees (fu2010) the published tree is grown again: learner, criterion,
order, ties and number of steps come from the manifest, and groups of categories are written out
as their members. A miner learns what the release shows; growing adds nothing to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unspoken.errors import InputError, ReleaseError, explain
from unspoken.models.categorical_tree import CategoricalTree
from unspoken.models.relearn_tree import groups_of, relearn
from unspoken.models.tree import Tree
from unspoken.models.tree_from_growth import learn
from unspoken.models.tree_growth_rule import Growth
from unspoken.release.release import Release
from unspoken.table.table import Table


def grow(source: Release | Table, growth: Growth | Mapping[str, Any] | None = None, *,
         index: int = 0, steps: int | None = None) -> Tree | CategoricalTree:
    """Grow a tree from a table, or the published tree from a release that keeps trees.

    From a release that keeps trees (fu2010) this gives exactly the published tree.

    Parameters
    ----------
    source : Release or Table
        What the tree is grown from.
    growth : Growth or mapping of its fields, optional
        How it is grown, if not by the stopping rule of the release.
    index : int, default 0
        Which of the published trees, if the release keeps several.
    steps : int, optional
        The number of expansions; None stops at the growth's `max_leaves`.

    Returns
    -------
    Tree or CategoricalTree

    Examples
    --------
    >>> tree = unspoken.mine.grow(unspoken.Release.load("release"))  # doctest: +SKIP
    """
    if isinstance(source, Release) and growth is None and source.guarantee.facts.get(
            "stopping_rules"):
        return _published(source, index)
    table = source.table if isinstance(source, Release) else source
    groups = groups_of(source.mechanism) if isinstance(source, Release) else {}
    return learn(table, Growth.of(growth), steps, groups=groups)


def _published(release: Release, index: int) -> Tree | CategoricalTree:
    facts = release.guarantee.facts
    rules, names = facts.get("stopping_rules"), facts.get("predictors")
    if not isinstance(rules, list) or not isinstance(names, list):
        raise ReleaseError("The guarantee of this release lacks 'stopping_rules' or "
                           "'predictors'.")
    if not 0 <= index < len(rules):
        raise InputError(explain("'index'", f"from 0 to {len(rules) - 1}", index))
    return relearn(release.table, rules[index], [str(n) for n in names],
                   groups_of(release.mechanism))
