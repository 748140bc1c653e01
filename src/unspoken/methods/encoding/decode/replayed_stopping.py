"""Where XGBoost and LightGBM would have stopped on the original, by the rows that a recipe names.

Trees do not depend on the rows that were scored, only their number does. A scored row falls into
the same bins on both sides if each of its values is among those that were learned from, because
bins end between neighbouring values of the column. Where one is not, it may lie on another side of
the middle of two values than its code does; the custodian, who has the originals and the recipe,
then lets the learner stop on the original, and takes that model if it has other rounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import DecodeError
from unspoken.methods.encoding.learner_rules import sketches_draws
from unspoken.methods.encoding.learners.mine_trees import fit
from unspoken.methods.encoding.learners.stop_rounds import options_of
from unspoken.methods.encoding.learners.training_matrix import Matrix, matrix_of
from unspoken.models.recipe import Recipe
from unspoken.release.key import Key
from unspoken.release.method import method_of
from unspoken.table.table import Table

SAMPLED = ("subsample_for_bin", "bin_construct_sample_cnt")
"""LightGBM's names for the number of rows that place its bins."""
DEFAULT_SAMPLE = 200_000


def as_the_original_stops(decoded: Any, recipe: Recipe, key: Key, table: Any) -> Any:
    """Return a decoded model, or the original's if it stops after other rounds; released units."""
    if not isinstance(table, Table):
        raise DecodeError("The model was stopped early, which is replayed on the original. Pass "
                          "the original as a table with its target (data=unspoken.read(...)).")
    ordered = method_of(key.mechanism).in_released_order(key, table)
    numbered = getattr(decoded, "categories", None)
    if _sure(recipe, matrix_of(ordered, numbered)):
        return decoded
    again = fit(ordered, recipe.learner, task=recipe.task, categories=numbered,
                **options_of(recipe))
    same = again.recipe.search["rounds"] == recipe.search.get("rounds")
    return decoded if same else again.model


def grown_on_the_original(mined: Any, recipe: Recipe, key: Key, table: Table,
                          categories: Any) -> Any:
    """Return what the learner of a recipe finds in the original, in released units.

    The first tree has the same questions on both sides; a model of another recipe is refused.
    """
    ordered = method_of(key.mechanism).in_released_order(key, table)
    again = fit(ordered, recipe.learner, task=recipe.task, categories=categories,
                **options_of(recipe)).model
    alike = again.kind == mined.kind and np.array_equal(
        again.trees[0].feature, mined.trees[0].feature)
    if not alike:
        raise DecodeError("The model is not the one that its recipe gives: its first tree asks "
                          "for other columns. Pass the recipe that the miner sent with it.")
    return again


def _sure(recipe: Recipe, matrix: Matrix) -> bool:
    """Return True if every scored row falls into the same bins on both sides."""
    options = options_of(recipe)
    learned, watched = options["stop"].parts(
        np.arange(matrix.data.shape[0]) if recipe.rows is None else np.array(recipe.rows),
        matrix.data.shape[0])
    # Rounds after the best one are not in the file, and may be others on the original, too.
    drawn = recipe.params.get("tree_method") == "exact" or sketches_draws(recipe.params)
    if drawn or learned.size > _sample(recipe):
        return False
    return all(flag or _among(matrix.data[:, place], learned, watched)
               for place, flag in enumerate(matrix.flags))


def _sample(recipe: Recipe) -> float:
    """Return how many rows place bins, at least."""
    known = [recipe.params.get(name, DEFAULT_SAMPLE) for name in SAMPLED]
    return min(each if isinstance(each, int | float) else 0 for each in known)


def _among(column: Floats, learned: Ints, watched: Ints) -> bool:
    """Return True if every value that is scored was learned from, but for missing ones."""
    values = column[watched]
    return bool(np.isin(values[~np.isnan(values)], column[learned]).all())
