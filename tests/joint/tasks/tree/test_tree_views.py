"""What shows while trees grow and classify: forests, boosting, cut points, columns; and mutants."""

from __future__ import annotations

import numpy as np
import pytest

from support.distinguisher import SUSPICIOUS
from support.masks import against_uniform, break_masks, broken_masks
from support.mining_views import masked_words, watched
from support.same_tree import LAYOUT, RULES, SAME_TREE
from support.tree_data import parts_of
from unspoken.joint import reveal, run_local, share_sum
from unspoken.joint.tasks.boosted_trees import program_rows as boosting
from unspoken.joint.tasks.boosted_trees.params import Boost
from unspoken.joint.tasks.boosted_trees.program_rows import VALUES, BoostOverRows
from unspoken.joint.tasks.classify import program_columns as classifying
from unspoken.joint.tasks.classify.program_columns import ClassifyTogether, ClassifyWalking
from unspoken.joint.tasks.forest.program_rows import ForestOverRows
from unspoken.joint.tasks.tree import (
    cut_points as cuts,
)
from unspoken.joint.tasks.tree import (
    program_rows as horizontal,
)
from unspoken.joint.tasks.tree import (
    question_scores as scores,
)
from unspoken.joint.tasks.tree.cut_points import Span
from unspoken.joint.tasks.tree.params import Attribute, TreeLayout, TreeParams
from unspoken.joint.tasks.tree.program_columns import TreeOverColumns
from unspoken.joint.tasks.tree.program_rows import SPLITS, Given, TreeOverRows, code_rows
from unspoken.joint.tasks.tree.tree_sites import TreeShape, TreeSite
from unspoken.models.site_tree_part import Asked, TreePart

pytestmark = pytest.mark.slow


def owned(columns, layout=LAYOUT, spans=()):
    """Return the rows of three owners."""
    owner = np.arange(len(columns["class"])) % 3
    return [code_rows(layout, part, dict(spans)) for part in parts_of(columns, owner, 3)]


def same(program, one, other, blur=()):
    """Say whether two inputs of one result look alike: what is opened, and all lengths."""
    return watched(program, one, blur=blur) == watched(program, other, blur=blur)


# A forest whose draws take every row once: the same trees from many rows and from few.

FOREST = ForestOverRows(LAYOUT, RULES, 2, attributes=3, seed=1)


def every_row_once(columns):
    return [Given(g.codes, g.labels, weights=np.ones((2, g.labels.size), np.int64))
            for g in owned(columns)]


def test_of_a_forest_its_trees_show_and_no_more():
    assert same(FOREST, *(every_row_once(columns) for columns in SAME_TREE))


def test_a_count_of_a_forest_is_caught(monkeypatch):
    real = scores.best

    async def leaking(party, layout, histograms, *rest, **options):
        found = await real(party, layout, histograms, *rest, **options)
        await reveal(party, histograms.sum(), because=SPLITS)
        return found

    monkeypatch.setattr(horizontal, "best", leaking)
    assert not same(FOREST, *(every_row_once(columns) for columns in SAME_TREE))


# Twice the records and twice the penalty: the same trees, and the same numbers at leaves.

def boosted(times):
    rows = [("x", "u", 1, "n")] * 20 + [("x", "v", 3, "p")] * 6 + [("y", "u", 5, "p")] * 16
    data = np.array(rows * times, object)
    columns = {name: data[:, i] for i, name in enumerate(("a", "b", "n", "class"))}
    program = BoostOverRows(LAYOUT, TreeParams(max_depth=2, most=256), Boost(2, 0.5, 1.0 * times))
    return watched(program, owned(columns), blur=(VALUES,)), columns, program


def test_of_boosting_trees_and_leaves_show_and_no_more():
    (one, *_), (two, *_) = boosted(1), boosted(2)
    assert one == two
    assert any(SPLITS in row for row in one[0])


def test_numbers_of_leaves_do_not_tell_how_many_records_there_are():
    models = [run_local(program, owned(columns))[0][0]
              for _, columns, program in (boosted(1), boosted(2))]
    for one, two in zip(*(model.trees for model in models), strict=True):
        assert np.array_equal(one.feature, two.feature)
        assert one.value == pytest.approx(two.value, abs=2**-18)


def test_a_count_of_boosting_is_caught(monkeypatch):
    real = boosting.best_worth

    async def leaking(party, layout, histograms, rules, penalty, allowed):
        await reveal(party, histograms.sum(), because=SPLITS)
        return await real(party, layout, histograms, rules, penalty, allowed)

    monkeypatch.setattr(boosting, "best_worth", leaking)
    assert boosted(1)[0] != boosted(2)[0]


# Cut points: the last quarter lies at the end of the range, or beyond it.

NUMBER = TreeLayout((Attribute("n", cuts=(0.0,)),), ("n", "p"))
SPANS = {"n": Span(0, 8, 3, 3)}


def beyond(top):
    """Return rows whose last cut point is the end of the range, wherever the others lie."""
    numbers = np.array([1.0] * 4 + [3.0] * 4 + [5.0] * 4 + [top] * 12)
    columns = {"n": numbers, "class": np.array(["n", "p"] * 12, object)}
    return owned(columns, NUMBER, SPANS)


def cut_views():
    program = TreeOverRows(NUMBER, TreeParams(max_depth=0, most=64), spans=SPANS)
    return [watched(program, beyond(top)) for top in (8.0, 1000.0)]


def test_of_cut_points_nothing_shows_but_them():
    first, second = cut_views()
    assert first == second


def test_a_count_below_a_cut_point_is_caught(monkeypatch):
    real = cuts.agree_cuts

    async def leaking(party, spans, values, most):
        below = np.array([int((v > 100).sum()) for v in values.values()])
        total = await share_sum(party, below, (1,), 0, most)
        await reveal(party, total, because=cuts.CUTS)
        return await real(party, spans, values, most)

    monkeypatch.setattr(horizontal, "agree_cuts", leaking)
    first, second = cut_views()
    assert first != second


# Columns: masked words, and classes that come out without the path.

SHAPE = TreeShape(("n", "p"), "p1", 2, 2)


def column_sites(rows=96):
    random = np.random.default_rng(5)
    a, b = (np.array(["x", "y"], object)[random.integers(0, 2, rows)] for _ in range(2))
    label = np.where((a == "x") & (b == "y"), "p", "n").astype(object)
    one, other = Attribute("a", ("x", "y")), Attribute("b", ("x", "y"))
    return [TreeSite((one,), {"a": a}), TreeSite((other,), {"b": b}, label),
            TreeSite((Attribute("c", ("x", "y")),), {"c": b[::-1]})]


def column_words():
    program = TreeOverColumns(SHAPE, TreeParams(max_depth=2), ["p0", "p1", "p2"])
    return masked_words(program, column_sites(), 96, 24)


def forest_words():
    return masked_words(FOREST, every_row_once(SAME_TREE[0]), 36, 24)


def boosted_words():
    program = BoostOverRows(LAYOUT, RULES, Boost(2))
    return masked_words(program, owned(SAME_TREE[0]), 36, 24)


def together_words():
    one, other = two_level_parts()
    a, b = (np.array(["x", "y"] * 40, object) for _ in range(2))
    return masked_words(ClassifyTogether("p1"), [(one, {"a": a}), (other, {"b": b})], 40, 8)


WORDS = [column_words, forest_words, boosted_words, together_words]


@pytest.mark.parametrize("words", WORDS)
def test_masked_words_look_uniform(words):
    assert against_uniform(words()) > SUSPICIOUS


@pytest.mark.parametrize("words", WORDS)
@broken_masks
def test_broken_masks_are_caught(monkeypatch, name, words):
    break_masks(monkeypatch, name)
    assert against_uniform(words()) < SUSPICIOUS


def two_level_parts():
    """p0 asks first; on one side p1 asks. Leaves: n, then n and p."""
    shared = {"sites": ("p0", "p1"), "classes": ("n", "p"),
              "owner": np.array([0, -1, 1, -1, -1]), "first_child": np.array([1, -1, 3, -1, -1]),
              "children": np.array([2, 0, 2, 0, 0])}
    hidden, known = np.full(5, -1), np.array([-1, 0, -1, 0, 1])
    return (TreePart("p0", **shared, leaf_class=hidden, asked={0: Asked("a", ("x", "y"))}),
            TreePart("p1", **shared, leaf_class=known, asked={2: Asked("b", ("x", "y"))}))


# Records of one class by other paths.
PATHS = [("x", "x", "y", "x"), ("y", "y", "y", "x")], [("y", "x", "y", "x"), ("x", "x", "y", "y")]


def walked(program, a, b):
    one, other = two_level_parts()
    given = [(one, {"a": np.array(a, object)}), (other, {"b": np.array(b, object)})]
    return watched(program, given)


def test_classifying_together_shows_no_path():
    first, second = (walked(ClassifyTogether("p1"), *each) for each in PATHS)
    assert first == second
    assert any("[0, 0, 1, 0]" in row[3] for row in first[0])


def test_a_path_that_is_opened_is_caught(monkeypatch):
    real = classifying.leaves_reached

    async def leaking(party, part, bits, rows):
        inside = await real(party, part, bits, rows)
        await reveal(party, inside[0], because=classifying.PREDICTED)
        return inside

    monkeypatch.setattr(classifying, "leaves_reached", leaking)
    first, second = (walked(ClassifyTogether("p1"), *each) for each in PATHS)
    assert first != second


def test_walking_says_in_the_ledger_that_paths_show():
    one, other = two_level_parts()
    a, b = (np.array(each, object) for each in PATHS[0])
    outputs = run_local(ClassifyWalking("p1"), [(one, {"a": a}), (other, {"b": b})], "sums",
                        names=["p0", "p1"])
    for _, ledger in outputs:
        opened = [(o.because, o.to, o.shape) for o in ledger.openings]
        assert opened[1:] == [(classifying.PATHS, ("p0", "p1"), (4,))] * 2
