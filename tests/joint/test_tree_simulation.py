"""What parties see while a tree grows follows from the tree: simulation, and mutants of it."""

from __future__ import annotations

import numpy as np
import pytest
from distinguisher import SUSPICIOUS
from masks import against_uniform, break_masks, broken_masks, masked_views
from tree_data import parts_of
from watching import opened_and_lengths

from tacit.joint.protocols.trees import horizontal, scores
from tacit.joint.protocols.trees.growth import Rules, Sapling
from tacit.joint.protocols.trees.horizontal import HorizontalTree, code_rows
from tacit.joint.protocols.trees.layout import Attribute, Layout

LAYOUT = Layout((Attribute("a", ("x", "y")), Attribute("b", ("u", "v")),
                 Attribute("n", cuts=(2.0, 4.0))), ("n", "p"))
RULES = Rules(max_depth=2, min_records=4, most=4096)


def table(times_x, times_y):
    """A tree with one question, a; the leaf y is pure, or too small to be split."""
    rows = [("x", "u", 1, "n"), ("x", "v", 3, "n")] * times_x + [("x", "u", 5, "n")]
    rows += [("y", "u", 1, "p")] * times_y[0] + [("y", "v", 5, "n")] * times_y[1]
    data = np.array(rows, object)
    return {name: data[:, i] for i, name in enumerate(("a", "b", "n", "class"))}


# The same tree for different reasons: many records and a pure leaf, few and a small one.
SAME_TREE = [table(300, (50, 0)), table(5, (2, 1))]


def given_for(columns):
    owner = np.arange(len(columns["class"])) % 3
    return [code_rows(LAYOUT, part, {}) for part in parts_of(columns, owner, 3)]


def told_apart():
    """Say whether two tables with one tree look different to somebody."""
    first, second = (opened_and_lengths(HorizontalTree(LAYOUT, RULES), given_for(columns))
                     for columns in SAME_TREE)
    return first != second


def test_all_that_shows_follows_from_the_tree():
    assert not told_apart()


def test_a_count_that_is_opened_is_caught(monkeypatch):
    real = scores.best

    async def leaking(party, layout, histograms, *rest, **options):
        found = await real(party, layout, histograms, *rest, **options)
        await party.reveal(histograms.sum(), because=horizontal.SPLITS)
        return found

    monkeypatch.setattr(horizontal, "best", leaking)
    assert told_apart()


def test_the_reason_of_a_leaf_is_caught(monkeypatch):
    real = scores.first_greatest

    async def telling(party, values, size=None, least=1):
        kept = await real(party, values, size, least)
        if size is None:
            return kept
        small = await party.to_numbers(await party.less_than(size, least))
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
    return masked_views(HorizontalTree(LAYOUT, RULES), given_for(SAME_TREE[0]), (12, 64),
                        lambda size: size in (8 * 64, 16 * 64), runs=4)


def test_masked_words_look_uniform():
    assert against_uniform(views()) > SUSPICIOUS


@broken_masks
def test_broken_masks_are_caught(monkeypatch, name):
    break_masks(monkeypatch, name)
    assert against_uniform(views()) < SUSPICIOUS
