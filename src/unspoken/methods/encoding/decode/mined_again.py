"""The same model twice: decoded from what was mined, and mined from the original itself."""

from __future__ import annotations

from typing import Any

from unspoken.methods.encoding.code_book import PiecewiseBook
from unspoken.methods.encoding.learners.mine_trees import fit
from unspoken.methods.encoding.learners.stop_rounds import options_of
from unspoken.methods.encoding.learners.training_matrix import Wanted
from unspoken.models.categorical_tree import CategoricalTree
from unspoken.models.recipe import Recipe
from unspoken.release.decoding import decode
from unspoken.release.key import Key
from unspoken.release.method import method_of
from unspoken.table.table import Table


def decoded_and_mined_again(model: Any, recipe: Recipe, key: Key, table: Table) -> tuple[Any, Any]:
    """Return the decoded model, and what the same learner finds in the original.

    Both are in the units of the release, so that they can be compared bit for bit.
    """
    decoded = decode(model, key, table, recipe=recipe, units="released")
    ordered = method_of(key.mechanism).in_released_order(key, table)
    original = fit(ordered, recipe.learner, task=recipe.task,
                   categories=_numbered(decoded, key), **options_of(recipe))
    return decoded, original


def _numbered(decoded: Any, key: Key) -> Wanted | None:
    """Return the categories in the order in which the miner numbered them."""
    if not isinstance(decoded, CategoricalTree):
        return getattr(decoded, "categories", None)
    book = PiecewiseBook.from_key(key)
    return {name: tuple(book.groups(name).values()) for name in book.categories or ()}
