"""Boosted trees over columns: those of plain numpy, what shows of them, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from support.boosted_reference import follow, number_column, random_table, sites_of
from support.distinguisher import SUSPICIOUS
from support.joint_commands import tried, write
from support.masks import against_uniform, break_masks
from support.mining_views import masked_words, watched
from support.study_cases import study_case
from unspoken.errors import DataError, InputError, ModelError
from unspoken.joint import reveal, run_local, share
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.declared import declares
from unspoken.joint.mpc.ops import fixed_operand_matmul
from unspoken.joint.mpc.sets.encrypted_circle import SetRules
from unspoken.joint.tasks.boosted_trees import column_growth
from unspoken.joint.tasks.boosted_trees.boost_sites import BoostSite, own_questions
from unspoken.joint.tasks.boosted_trees.column_growth import NUMBERS
from unspoken.joint.tasks.boosted_trees.packed_slopes import MOST_ALIGNED, Bits
from unspoken.joint.tasks.boosted_trees.params import Boost
from unspoken.joint.tasks.boosted_trees.pooled_columns import pooled_boost_columns
from unspoken.joint.tasks.boosted_trees.program_columns import (
    BoostOverColumns,
    mine_boost_columns,
)
from unspoken.joint.tasks.classify.program_boosted import PREDICTED, classify_boosted
from unspoken.joint.tasks.common.aligned_records import ROWS
from unspoken.joint.tasks.tree import first_greatest
from unspoken.joint.tasks.tree.column_steps import QUESTION, SITES
from unspoken.joint.tasks.tree.params import TreeParams
from unspoken.joint.tasks.tree.tree_sites import TreeShape
from unspoken.models.asked_question import Asked
from unspoken.models.boosted_part import BoostedPart

NAMES = ("north", "south")
SHAPE = TreeShape(("no", "yes"), "north", 24, 2)


def mined(spread, labels, rules, boost, mode="dealer"):
    sites = sites_of(spread, labels, NAMES, "north")
    return mine_boost_columns(sites, SHAPE, rules, boost, mode)


@pytest.mark.parametrize(("seed", "rows", "depth", "rounds"), [
    (1, 60, 2, 2), pytest.param(2, 40, 3, 3, marks=pytest.mark.slow),
    pytest.param(3, 7, 3, 2, marks=pytest.mark.slow),
    pytest.param(4, 200, 2, 4, marks=pytest.mark.slow),
    pytest.param(5, 33, 4, 2, marks=pytest.mark.slow)])
def test_trees_are_those_of_plain_numpy(seed, rows, depth, rounds):
    spread, labels = random_table(seed, rows)
    rules, boost = TreeParams(max_depth=depth, min_records=1 + seed % 3), Boost(rounds, 0.4, 0.5)
    parts, _ = mined(spread, labels, rules, boost)
    odds = follow(parts, spread, labels, "north", rules, boost)
    assert ((odds > 0) == (labels == "yes")).mean() >= 0.6


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["authenticated", "two-party"])
def test_other_engines_grow_the_same_trees(mode):
    spread, labels = random_table(6, 30)
    rules, boost = TreeParams(max_depth=2), Boost(2, 0.4, 0.5)
    parts, _ = mined(spread, labels, rules, boost, mode)
    follow(parts, spread, labels, "north", rules, boost)


@pytest.mark.slow
@pytest.mark.parametrize("only", ["no", "yes"])
def test_one_class_alone_gives_one_leaf(only):
    spread, labels = random_table(7, 20)
    labels[:] = only
    rules, boost = TreeParams(max_depth=2), Boost(2, 0.3, 1.0)
    parts, _ = mined(spread, labels, rules, boost)
    odds = follow(parts, spread, labels, "north", rules, boost)
    assert all(tree.nodes == 1 for tree in parts["south"].trees)
    assert (odds > 0).all() == (only == "yes")


def test_a_copy_of_a_column_loses_to_the_first_and_constants_ask_nothing():
    values = np.array([1.0, 2.0, 3.0, 4.0] * 6)
    labels = np.where(values > 2, "yes", "no").astype(object)
    column = number_column("a", values, [2.0])
    constant = number_column("k", np.full(24, 5.0), [5.0])
    parts, _ = mined([{"k": constant, "a": column}, {"a": column}], labels,
                     TreeParams(max_depth=2), Boost(1))
    assert parts["north"].trees[0].owner.tolist() == [0, -1, -1]
    assert parts["north"].trees[0].asked == {0: Asked("a", cut=2.0)}
    assert parts["south"].trees[0].asked == {}


@pytest.mark.slow
def test_the_side_of_missing_values_is_learned():
    values = np.array([1.0, 5.0, np.nan, 9.0] * 8)
    column = number_column("a", values, [3.0, 7.0])
    for yes, first in (({1.0}, False), ({1.0, None}, True)):
        labels = np.array(["yes" if (None if np.isnan(v) else v) in yes else "no"
                           for v in values], object)
        parts, _ = mined([{}, {"a": column}], labels, TreeParams(max_depth=1), Boost(1))
        assert parts["south"].trees[0].asked == {0: Asked("a", cut=3.0, missing_first=first)}


@pytest.mark.slow
def test_pooled_columns_give_the_first_tree_exactly_and_the_same_parts():
    spread, labels = random_table(8, 50)
    rules, boost = TreeParams(max_depth=3), Boost(1, 0.4, 0.5)
    parts, _ = mined(spread, labels, rules, boost)
    pooled = pooled_boost_columns(sites_of(spread, labels, NAMES, "north"), SHAPE, rules, boost)
    for name in NAMES:
        assert parts[name].trees[0].same_as(pooled[name].trees[0])
    assert np.abs(parts["north"].numbers[0] - pooled["north"].numbers[0]).max() <= 2.0**-12


@pytest.mark.slow
def test_new_records_are_classified_without_a_path():
    spread, labels = random_table(9, 60)
    parts, _ = mined(spread, labels, TreeParams(max_depth=2), Boost(2, 0.4, 0.5))
    fresh = [{n: np.roll(c.values, 7) for n, c in columns.items()} for columns in spread]
    fresh[1]["c1"][:2] = ["never seen", None]
    fresh[0]["n0"][:3] = np.nan
    classes, ledgers = classify_boosted(parts, dict(zip(NAMES, fresh, strict=True)), "north",
                                        receivers=["south"])
    odds = sum(walked(parts, dict(zip(NAMES, fresh, strict=True)), place) for place in range(2))
    assert classes["north"] is None
    assert classes["south"].tolist() == np.where(odds > 0, "yes", "no").tolist()
    assert {o.because for o in ledgers["north"].learned()} == {ROWS}
    assert {o.because for o in ledgers["south"].learned()} == {ROWS, PREDICTED}


def walked(parts, columns, place):
    """Return the numbers that records reach in one tree, node by node."""
    tree, rows = parts["north"].trees[place], len(columns["north"]["n0"])
    node = np.zeros(rows, int)
    for each in range(tree.nodes):
        if tree.owner[each] >= 0:
            name = NAMES[tree.owner[each]]
            asked = parts[name].trees[place].asked[each]
            answers = [said(asked, value) for value in columns[name][asked.column]]
            here = node == each
            node[here] = tree.first_child[each] + np.array(answers)[here]
    numbers = dict(zip(tree.leaf_nodes.tolist(), parts["north"].numbers[place], strict=True))
    return np.array([numbers[leaf] for leaf in node.tolist()])


def said(asked, value):
    """Return the answer of one value, in plain words of Python."""
    gone = value is None or value != value
    if asked.alone:
        return 0 if (gone if asked.categories[0] is None else value == asked.categories[0]) else 1
    if gone:
        return 0 if asked.missing_first else 1
    return 0 if value <= asked.cut else 1


def test_what_each_party_learns_is_what_was_declared():
    spread, labels = random_table(10, 40)
    _, ledgers = mined(spread, labels, TreeParams(max_depth=2), Boost(1))
    for name, others in (("north", {NUMBERS}), ("south", set())):
        reasons = {o.because for o in ledgers[name].learned()}
        assert {ROWS, SITES} <= reasons <= {ROWS, SITES, QUESTION} | others
        assert (NUMBERS in reasons) == (name == "north")
    for ledger in ledgers.values():
        assert all(len(o.to) == 1 for o in ledger.openings if o.because in (QUESTION, NUMBERS))


def program_and_sites(order):
    spread, labels = random_table(11, 48)
    turned = [{n: replace(c, values=c.values[order], firsts=[f[order] for f in c.firsts])
               for n, c in columns.items()} for columns in spread]
    shape = replace(SHAPE, class_site="p0")
    program = BoostOverColumns(shape, TreeParams(max_depth=2), Boost(1), ("p0", "p1"))
    return program, list(sites_of(turned, labels[order], ("p0", "p1"), "p0").values())


def views():
    orders = np.arange(48), np.arange(48)[::-1]
    return [watched(*program_and_sites(order), blur=(NUMBERS,)) for order in orders]


@pytest.mark.slow
def test_which_record_is_which_does_not_show():
    first, second = views()
    assert first == second


@pytest.mark.slow
def test_an_opened_record_is_caught(monkeypatch):
    real = column_growth.best_questions

    async def leaking(party, sums, size, *rest):
        await reveal(party, size, because=SITES)
        return await real(party, sums, size, *rest)

    monkeypatch.setattr(column_growth, "best_questions", leaking)
    shown = views()[0][0]
    monkeypatch.undo()
    assert shown != views()[0][0]


@pytest.mark.slow
def test_masked_words_look_uniform_and_broken_masks_do_not(monkeypatch):
    program, sites = program_and_sites(np.arange(48))
    assert against_uniform(masked_words(program, sites, 48, 24)) > SUSPICIOUS
    break_masks(monkeypatch, "32 bits")
    assert against_uniform(masked_words(program, sites, 48, 24)) < SUSPICIOUS


def test_rows_are_aligned_by_ids():
    pytest.importorskip("rbcl")
    spread, labels = random_table(12, 30)
    order = np.random.default_rng(0).permutation(30)
    north, south = sites_of(spread, labels, NAMES, "north").values()
    ids = np.array([f"r{i:02}" for i in range(30)], object)
    rules, boost = TreeParams(max_depth=2), Boost(1)
    turned = replace(south.take_rows(order), ids=ids[order].tolist())
    parts, _ = mine_boost_columns({"north": replace(north, ids=ids.tolist()), "south": turned},
                                  SHAPE, rules, boost, align=SetRules(least=5))
    follow(parts, spread, labels, "north", rules, boost)


def test_own_questions_are_quantiles_categories_and_missing_values():
    columns = {"n": np.array([1.0, 2.0, np.nan, 4.0]), "c": np.array(["u", "v", "u", None], object),
               "two": np.array(["x", "y", "x", "y"], object), "k": np.full(4, 3.0)}
    asked = own_questions(columns, ("n", "k"), 1)
    assert [q for q in asked if q.column == "n"] == [
        Asked("n", cut=3.0), Asked("n", cut=3.0, missing_first=True),
        Asked("n", (None,), alone=True)]
    assert [q.categories for q in asked if q.column == "c"] == [("u",), ("v",), (None,)]
    assert [q.categories for q in asked if q.column == "two"] == [("x",)]
    assert [q.cut for q in asked if q.column == "k"] == [3.0]
    assert asked[1].answers([1.0, 3.0, 3.5, None]).tolist() == [0, 0, 1, 0]
    assert asked[2].answers([1.0, None, np.nan]).tolist() == [1, 0, 0]


@pytest.mark.parametrize("rows", [1, 2, 63, 64, 1000, 100_000, 284_807, 1 << 19, MOST_ALIGNED])
def test_numbers_stay_below_what_words_hold(rows):
    bits = Bits(rows)
    # Curvatures of all records, rounded up, do not reach the gradients above them.
    assert rows * ((1 << (bits.fine - 2)) + 1) < 1 << bits.shift
    assert bits.most_word < 1 << 60
    assert (rows * 512) << (bits.fine + bits.ratio) <= 1 << 60
    # The least curvature, at log-odds of 6, keeps every ratio below 512.
    likely = 1 / (1 + np.exp(6.0))
    least = int(likely * (1 - likely) * 2**bits.fine)
    assert (1 << bits.fine) * (1 - likely) <= 512 * least


def test_parts_are_saved_and_wrong_ones_are_refused(tmp_path):
    spread, labels = random_table(13, 20)
    parts, _ = mined(spread, labels, TreeParams(max_depth=1), Boost(1))
    for name, part in parts.items():
        part.save(tmp_path / name)
        assert BoostedPart.load(tmp_path / name).same_as(part)
    data = parts["north"].to_json()
    for change in ({"numbers": [[0.5] * 9]}, {"trees": []}, {"numbers": "x"}):
        with pytest.raises(ModelError):
            BoostedPart.from_json({**data, **change})
    records = {name: {n: c.values for n, c in columns.items()}
               for name, columns in zip(NAMES, spread, strict=True)}
    with pytest.raises(DataError, match="knows the numbers of leaves"):
        classify_boosted(parts, records, "south")


def test_what_does_not_fit_is_refused_before_anything_is_sent():
    spread, labels = random_table(14, 20)
    sites = sites_of(spread, labels, NAMES, "north")
    with pytest.raises(InputError, match="two classes"):
        BoostOverColumns(TreeShape(("a", "b", "c"), "north", 4, 2), TreeParams(), Boost(), NAMES)
    with pytest.raises(InputError, match="max_depth"):
        BoostOverColumns(SHAPE, TreeParams(max_depth=13), Boost(), NAMES)
    with pytest.raises(RefusedError, match="at most 3 questions"):
        mine_boost_columns(sites, replace(SHAPE, slots=3))
    with pytest.raises(RefusedError, match="'south' alone"):
        mine_boost_columns(sites, replace(SHAPE, class_site="south"))
    with pytest.raises(DataError, match="two answers"):
        BoostSite((Asked("a", ("u", "v", "w")),), {"a": ["u"]})
    program = BoostOverColumns(SHAPE, TreeParams(max_depth=12), Boost(), NAMES)
    with pytest.raises(RefusedError, match="max_depth"):
        program._check_size(1 << 19)
    with pytest.raises(RefusedError, match="at most 1,048,575 records"):
        program._check_size(MOST_ALIGNED + 1)
    with pytest.raises(DataError, match="gave nothing"):
        run_local(program, [None, sites["south"]], names=list(NAMES))


@pytest.mark.slow
def test_the_command_line_boosts_and_classifies(folder, capsys):
    random = np.random.default_rng(15)
    age, town = random.integers(20, 60, 40), random.choice(["a", "b", "c"], 40)
    dose = np.where(random.random(40) < 0.2, "", random.integers(0, 9, 40).astype(str))
    play = np.where((age > 40) ^ (town == "b"), "yes", "no")
    write(folder / "north.csv", {"age": age, "play": play})
    write(folder / "south.csv", {"town": town})
    write(folder / "east.csv", {"dose": dose})
    parts = tried(folder, "boosted-trees-columns", [
        "target=play", 'classes=["no", "yes"]', "class_site=north", "slots=8", "cut_points=3",
        "rounds=2", "max_depth=2"], capsys)
    assert parts["south"]["numbers"] == []
    for name, part in parts.items():
        (folder / f"{name}.part.json").write_text(json.dumps(part))
    write(folder / "north.csv", {"age": age})
    (folder / "study.toml").unlink()
    (folder / "out.json").unlink()
    found = tried(folder, "classify-columns", ["class_site=north", "trees=2", "depth=2"], capsys)
    assert (np.array(found["east"][PREDICTED]) == play).mean() > 0.85


@pytest.mark.parametrize(("block", "pool"), [(1 << 22, 3), (14, 3), (7, 100)])
def test_products_with_a_fixed_operand_take_masks_as_they_need_them(monkeypatch, block, pool):
    monkeypatch.setattr(fixed_operand_matmul, "MOST_BLOCK", block)
    random = np.random.default_rng(5)
    lefts = [random.integers(-9, 9, (size, 5)) for size in (1, 2, 4, 1, 1)]
    right = random.integers(-9, 9, (5, 7))

    @declares("products")
    async def program(party, data):
        one = party.name == "p0"
        fixed = fixed_operand_matmul.PooledBlocks(
            party, await share(party, right if one else None, "p0", (5, 7), -9, 9), pool)
        products = []
        for left in lefts:
            shared = await share(party, left if one else None, "p0", left.shape, -9, 9)
            product = await fixed.product(shared, (-500, 500))
            products.append(await reveal(party, product, because="products"))
        return products

    for products, _ in run_local(program, [None, None]):
        assert all(np.array_equal(p, left @ right) for p, left in zip(products, lefts, strict=True))


def test_many_questions_play_in_groups(monkeypatch):
    monkeypatch.setattr(first_greatest, "MOST_PAIRS", 0)
    spread, labels = random_table(16, 40)
    rules, boost = TreeParams(max_depth=2), Boost(1, 0.4, 0.5)
    parts, _ = mined(spread, labels, rules, boost)
    follow(parts, spread, labels, "north", rules, boost)


@pytest.mark.parametrize(("records", "slots"), [
    (100_000, 64), pytest.param(MOST_ALIGNED, 32, marks=pytest.mark.slow)])
def test_a_plan_of_many_records_and_questions_fits_into_words(records, slots):
    study, task, _ = study_case("boosted-trees-columns", "dealer", slots=slots)
    plan = task.plan(study, records)
    assert plan.bytes > 1000 * records
    assert "2 full trees of depth 2" in plan.text()
    assert NUMBERS in plan.learns["north"]
    assert NUMBERS not in plan.learns["south"]
