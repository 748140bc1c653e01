"""What parties see while a tree grows follows from the tree: simulation, and mutants of it."""

from __future__ import annotations

import numpy as np
import pytest

from support.distinguisher import SUSPICIOUS
from support.masks import against_uniform, break_masks, broken_masks, masked_views
from support.same_tree import LAYOUT, RULES, SAME_TREE
from support.tree_data import parts_of
from support.watching import opened_and_lengths
from unspoken.joint import less_than, reveal, to_numbers
from unspoken.joint.tasks.tree import program_rows as horizontal
from unspoken.joint.tasks.tree import question_scores as scores
from unspoken.joint.tasks.tree.level_growth import Sapling
from unspoken.joint.tasks.tree.program_rows import TreeOverRows, code_rows

pytestmark = pytest.mark.slow


def given_for(columns):
    owner = np.arange(len(columns["class"])) % 3
    return [code_rows(LAYOUT, part, {}) for part in parts_of(columns, owner, 3)]


def told_apart():
    """Say whether two tables with one tree look different to somebody."""
    first, second = (opened_and_lengths(TreeOverRows(LAYOUT, RULES), given_for(columns))
                     for columns in SAME_TREE)
    return first != second


def test_all_that_shows_follows_from_the_tree():
    assert not told_apart()


def test_a_count_that_is_opened_is_caught(monkeypatch):
    real = scores.best

    async def leaking(party, layout, histograms, *rest, **options):
        found = await real(party, layout, histograms, *rest, **options)
        await reveal(party, histograms.sum(), because=horizontal.SPLITS)
        return found

    monkeypatch.setattr(horizontal, "best", leaking)
    assert told_apart()


def test_the_reason_of_a_leaf_is_caught(monkeypatch):
    real = scores.first_greatest

    async def telling(party, values, size=None, least=1):
        kept = await real(party, values, size, least)
        if size is None:
            return kept
        small = await to_numbers(party, await less_than(party, size, least))
        return (kept + small * 9).within(0, 20)

    monkeypatch.setattr(scores, "first_greatest", telling)
    monkeypatch.setattr(Sapling, "split", _reading_reasons(Sapling.split))
    assert told_apart()


def _reading_reasons(split):
    def patched(self, nodes, places):
        split(self, nodes, np.where(places >= 9, 0, places))

    return patched


def test_stopping_early_where_nothing_is_left_is_caught(monkeypatch):
    real = horizontal.Rows.histograms

    def shorter(self, nodes):
        found = real(self, nodes)
        return found if found.sum() > 20 else found[:, :1]

    monkeypatch.setattr(horizontal.Rows, "histograms", shorter)
    with pytest.raises(AssertionError):
        told_apart()


def views():
    return masked_views(TreeOverRows(LAYOUT, RULES), given_for(SAME_TREE[0]), (12, 64),
                        lambda size: size in (8 * 64, 16 * 64), runs=4)


def test_masked_words_look_uniform():
    assert against_uniform(views()) > SUSPICIOUS


@broken_masks
def test_broken_masks_are_caught(monkeypatch, name):
    break_masks(monkeypatch, name)
    assert against_uniform(views()) < SUSPICIOUS
