"""What shows of naive Bayes over columns and of private classification by a tree; and mutants."""

from __future__ import annotations

import numpy as np
import pytest

from support.bayes_data import CLASSES, LAYOUT, WEATHER_LAYOUT, parts_of, table
from support.distinguisher import SUSPICIOUS
from support.masks import against_uniform, break_masks, broken_masks
from support.mining_views import masked_words, watched
from support.tree_data import LAYOUT as QUESTIONS
from support.tree_data import WEATHER
from unspoken.joint import reveal
from unspoken.joint.tasks.classify import program_tree as private_tree
from unspoken.joint.tasks.classify.program_bayes import PREDICTED, Sides
from unspoken.joint.tasks.classify.program_tree import ClassifyByTree, full_tree
from unspoken.joint.tasks.common.aligned_records import ROWS
from unspoken.joint.tasks.naive_bayes import (
    class_scoring as scoring,
)
from unspoken.joint.tasks.naive_bayes import (
    program_columns as vertical,
)
from unspoken.joint.tasks.naive_bayes.program_columns import BayesOverColumns
from unspoken.joint.tasks.naive_bayes.program_rows import BayesOverRows
from unspoken.joint.tasks.naive_bayes.site_parts import BayesShape, BayesSite, Part, coding_of
from unspoken.joint.tasks.tree.params import TreeParams
from unspoken.joint.tasks.tree.pooled import pooled

pytestmark = pytest.mark.slow

SPLIT = {"p0": ("a", "h"), "p1": ("b",), "p2": ("w",)}


def learning(seed, known=False, rows=48):
    """Return the program that learns over three sites, and what they give."""
    columns, sites, parts = table(rows, seed), [], []
    for name, own in SPLIT.items():
        mine = {n: columns[n] for n in own}
        coding = coding_of(mine, [n for n in own if n in ("h", "w")])
        labels = columns["class"] if known or name == "p1" else None
        sites.append(BayesSite(coding, mine, labels))
        parts.append(Part(name, coding.sizes, len(coding.numeric)))
    return BayesOverColumns(BayesShape(tuple(parts), CLASSES, "p1", class_known=known)), sites


@pytest.mark.parametrize("known", [False, True])
def test_while_a_split_model_is_learned_nothing_shows(known):
    one, other = (watched(*learning(seed, known)) for seed in (1, 2))
    assert one == other
    assert one[0] == []


def test_a_count_that_is_opened_is_caught(monkeypatch):
    real = scoring.learn_table

    async def leaking(party, counts, *rest):
        await reveal(party, counts[0], because=ROWS)
        return await real(party, counts, *rest)

    monkeypatch.setattr(vertical, "learn_table", leaking)
    one, other = (watched(*learning(seed)) for seed in (1, 2))
    assert one != other


def learning_words():
    return masked_words(*learning(1), 48, 24)


def row_words():
    given = [LAYOUT.rows(part) for part in parts_of(table(60, 1), np.arange(60) % 3, 3)]
    return masked_words(BayesOverRows(LAYOUT), given, 30, 24)


# Private classification by a tree: two trees that give these records one class.

RECORDS = WEATHER_LAYOUT.records({name: column[[2, 6, 11, 12]] for name, column in WEATHER.items()})


def asked(depth):
    """Return a tree of a depth, all of whose leaves for these records say yes."""
    tree = pooled(QUESTIONS, WEATHER, TreeParams(most=64, max_depth=depth))
    program = ClassifyByTree(WEATHER_LAYOUT, Sides("p0", "p1"), 4)
    return program, [full_tree(tree, WEATHER_LAYOUT, 4), RECORDS]


def test_of_a_private_tree_nothing_shows_but_classes():
    one, other = watched(*asked(0)), watched(*asked(5))
    assert one == other
    assert any("[1, 1, 1, 1]" in row[3] for row in one[0])


def test_a_path_that_is_opened_is_caught(monkeypatch):
    real = private_tree._paths

    async def leaking(party, left, depth):
        inside = await real(party, left, depth)
        await reveal(party, inside, because=PREDICTED)
        return inside

    monkeypatch.setattr(private_tree, "_paths", leaking)
    assert watched(*asked(0)) != watched(*asked(5))


def tree_words():
    return masked_words(*asked(5), 60, 8)


WORDS = [learning_words, row_words, tree_words]


@pytest.mark.parametrize("words", WORDS)
def test_masked_words_look_uniform(words):
    assert against_uniform(words()) > SUSPICIOUS


@pytest.mark.parametrize("words", WORDS)
@broken_masks
def test_broken_masks_are_caught(monkeypatch, name, words):
    break_masks(monkeypatch, name)
    assert against_uniform(words()) < SUSPICIOUS
