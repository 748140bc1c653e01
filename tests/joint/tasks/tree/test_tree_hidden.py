"""A tree over columns that nobody sees: its classes are those of the tree of pooled data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from support.near_ties import near
from support.tree_data import LAYOUT, WEATHER, figure_4_1, spread, tables, unseen
from support.weather_sites import ALL_WEATHERS, SHAPE, SPLIT, own_columns, weather_sites
from unspoken.joint import SetRules, public, reveal, run_local, share
from unspoken.joint.mpc.declared import declares
from unspoken.joint.mpc.engines.spu.spu_handle import VARIABLE, spu_python
from unspoken.joint.mpc.ops.fixed_operand_matmul import FixedRight
from unspoken.joint.tasks.classify.program_columns import PREDICTED, ClassifyTogether
from unspoken.joint.tasks.common.aligned_records import ROWS
from unspoken.joint.tasks.tree import (
    column_steps as vertical_growing,
)
from unspoken.joint.tasks.tree import (
    first_greatest as choosing,
)
from unspoken.joint.tasks.tree import (
    hidden_steps as hidden_growing,
)
from unspoken.joint.tasks.tree.hidden_program import classify_hidden, mine_tree_hidden
from unspoken.joint.tasks.tree.params import Attribute, TreeParams
from unspoken.joint.tasks.tree.pooled import pooled
from unspoken.joint.tasks.tree.program_columns import mine_tree_columns
from unspoken.joint.tasks.tree.question_scores import while_open
from unspoken.joint.tasks.tree.tree_sites import TreeShape, TreeSite
from unspoken.joint.wire.hollow_arrays import is_dry

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def weather_parts():
    return mine_tree_hidden(weather_sites(), SHAPE, TreeParams(max_depth=2))[0]


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize(("mode", "split"), [
    ("dealer", SPLIT), ("three-party", SPLIT), ("two-party", {"north": (0, 3), "south": (1, 2)})])
def test_every_weather_has_the_class_of_the_book(mode, split, known):
    if mode == "two-party":
        pytest.importorskip("rbcl")
    shape = TreeShape(("no", "yes"), "south", 2, 3, "play", known)
    parts, _ = mine_tree_hidden(
        weather_sites(split, known=known), shape, TreeParams(max_depth=2), mode
    )
    found, _ = classify_hidden(parts, own_columns(ALL_WEATHERS, split), mode, receivers=["north"])
    # 14 of these 36 weathers were in training, 22 are new.
    assert found["north"].tolist() == [
        figure_4_1(*(ALL_WEATHERS[n][i] for n in ("outlook", "humidity", "windy")))
        for i in range(36)]
    assert found["south"] is None


@pytest.mark.skipif(spu_python() is None,
                    reason=f"SPU is not installed and {VARIABLE} names no Python that has it")
def test_spu_gives_the_same():
    shape = TreeShape(("no", "yes"), "south", 2, 3, "play")
    parts, _ = mine_tree_hidden(weather_sites(), shape, TreeParams(max_depth=2), "spu")
    found, _ = classify_hidden(parts, own_columns(ALL_WEATHERS), "spu")
    assert found["east"].tolist() == pooled(LAYOUT, WEATHER, TreeParams(max_depth=2)).predict(
        ALL_WEATHERS).tolist()


def test_classes_are_those_of_the_tree_whose_structure_is_known(weather_parts):
    known, _ = mine_tree_columns(weather_sites(), SHAPE, TreeParams(max_depth=2))
    given_ = list(zip(known.values(), own_columns(ALL_WEATHERS).values(), strict=True))
    outputs = run_local(ClassifyTogether("south"), given_, names=list(SPLIT))
    found, _ = classify_hidden(weather_parts, own_columns(ALL_WEATHERS))
    for (expected, _), name in zip(outputs, SPLIT, strict=True):
        assert found[name].tolist() == expected.tolist()


@settings(max_examples=25)
@given(tables(), st.integers(0, 3), st.integers(1, 5), st.booleans(), st.integers(0, 1),
       st.integers(0, 2**32 - 1))
def test_predictions_are_those_of_pooled_data(table, depth, least, known, extra, seed):
    layout, columns, _, owners = table
    assume(len(columns["class"]) > 0)
    rules, sites = (
        TreeParams(max_depth=depth, min_records=least),
        min(owners, len(layout.attributes)),
    )
    given_, shape = spread(layout, columns, sites, known, extra)
    assume(not near(layout, columns, rules, sites * shape.slots))
    parts, _ = mine_tree_hidden(given_, shape, rules)
    tree = pooled(layout, columns, rules)
    for records in (columns, unseen(layout, seed)):
        found, _ = classify_hidden(parts, dict.fromkeys(given_, records))
        assert found["p0"].tolist() == tree.predict(records).tolist()


def test_a_branch_without_records_has_the_class_of_the_last_question_above():
    # "a" is asked first, then "b" where a is x. Nobody there has w: its class is that of all with
    # x, "p" by 3 to 2, at any depth; the root has "n" by 10 to 3.
    rows = [("x", "u", "p")] * 3 + [("x", "v", "n")] * 2
    rows += [("y", "u", "n")] * 4 + [("y", "v", "n")] + [("y", "w", "n")] * 3
    data = np.array(rows, object)
    columns = {"a": data[:, 0], "b": data[:, 1]}
    sites = {"p0": TreeSite((Attribute("a", ("x", "y")),), columns),
             "p1": TreeSite((Attribute("b", ("u", "v", "w")),), columns, data[:, 2])}
    new = {"a": np.array(["x", "y", "x"], object), "b": np.array(["w", "u", "v"], object)}
    for depth, expected in enumerate(["nnn", "pnp", "pnn", "pnn", "pnn"]):
        parts, _ = mine_tree_hidden(
            sites, TreeShape(("n", "p"), "p1", 2, 3), TreeParams(max_depth=depth)
        )
        found, _ = classify_hidden(parts, {"p0": new, "p1": new})
        assert "".join(found["p1"]) == expected


def test_a_node_that_stopped_is_never_split_below(monkeypatch):
    # Scores are rounded at random: a question may look better at the next level.
    real, calls = hidden_growing.scored, {"p0": 0, "p1": 0}

    async def unsteady(party, first, counts, allowed=None):
        scores, size = await real(party, first, counts)
        calls[party.name] += not is_dry()
        better = np.zeros(scores.shape, np.int64)
        better[:, 1] = (1 << 20) * (calls[party.name] > 1)
        return scores + public(party, better, scores.scale), size

    monkeypatch.setattr(hidden_growing, "scored", unsteady)
    columns = {"a": np.array(["x", "y"] * 8, object), "b": np.array(["u", "v", "v", "u"] * 4)}
    sites = {"p0": TreeSite((Attribute("a", ("x", "y")),), columns),
             "p1": TreeSite((Attribute("b", ("u", "v")),), columns, np.array(["n"] * 16, object))}
    parts, _ = mine_tree_hidden(sites, TreeShape(("n", "p"), "p1", 1, 2), TreeParams(max_depth=3))
    whole = sum(part.share for part in parts.values())
    assert calls == {"p0": 3, "p1": 3}
    assert whole.tolist() == [0] * (7 * 2 + 8)


@pytest.mark.parametrize("what", ["tournament", "small blocks"])
def test_large_studies_give_the_same(monkeypatch, what, weather_parts):
    if what == "tournament":
        monkeypatch.setattr(choosing, "MOST_PAIRS", 0)
    else:
        monkeypatch.setattr(hidden_growing, "BLOCK", 40)
        monkeypatch.setattr(vertical_growing, "BLOCK", 40)
    for least in (1, 4):
        rules = TreeParams(max_depth=2, min_records=least)
        parts, _ = mine_tree_hidden(weather_sites(), SHAPE, rules)
        found, _ = classify_hidden(parts, own_columns(ALL_WEATHERS))
        assert found["east"].tolist() == pooled(LAYOUT, WEATHER, rules).predict(
            ALL_WEATHERS).tolist()


def test_a_closed_node_asks_nothing_whatever_it_would_gain():
    @declares("hot")
    async def program(party, data):
        values = await share(party, data if party.name == "p0" else None, "p0", (3, 4), -9, 9)
        alive = await share(party, [1, 0, 1] if party.name == "p1" else None, "p1", (3,), 0, 1)
        hot = await choosing.hot_greatest(party, while_open(values, alive))
        return await reveal(party, hot, because="hot")

    values = np.array([[0, 1, 9, 9], [-9, 1, 9, 9], [9, 9, 9, 8]])
    for found, _ in run_local(program, [values, None]):
        assert found.tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]


def test_products_with_a_fixed_operand_may_have_different_rows():
    sizes, random = [1, 3, 2, 1, 4, 2], np.random.default_rng(5)
    lefts = [random.integers(-9, 9, (size, 5)) for size in sizes]
    right = random.integers(-9, 9, (5, 7))

    @declares("found")
    async def program(party, data):
        one = party.name == "p0"
        fixed = FixedRight(party, await share(party, right if one else None, "p0", (5, 7), -9, 9),
                           sizes)
        found = []
        for left in lefts:
            shared = await share(party, left if one else None, "p0", left.shape, -9, 9)
            product = await fixed.product(shared, (-500, 500))
            found.append(await reveal(party, product, because="found"))
        return found

    for found, _ in run_local(program, [None, None]):
        assert all(np.array_equal(f, left @ right) for f, left in zip(found, lefts, strict=True))


def test_the_ledger_has_the_number_of_records_and_the_classes_alone(weather_parts):
    _, ledgers = mine_tree_hidden(weather_sites(), SHAPE, TreeParams(max_depth=2))
    for ledger in ledgers.values():
        assert [(o.because, o.shape) for o in ledger.openings] == [(ROWS, (1,))]
    _, ledgers = classify_hidden(weather_parts, own_columns(ALL_WEATHERS), receivers=["east"])
    for ledger in ledgers.values():
        assert [(o.because, tuple(o.to)) for o in ledger.openings] == [
            (ROWS, tuple(SPLIT)), (PREDICTED, ("east",))]


def test_rows_are_aligned_by_ids_first():
    pytest.importorskip("rbcl")
    random = np.random.default_rng(1)
    rows = {name: random.permutation(np.r_[0:14])[:-1] if name == "east" else
            random.permutation(14) for name in SPLIT}
    common = sorted(rows["east"].tolist())
    columns = {name: column[common] for name, column in WEATHER.items()}
    parts, ledgers = mine_tree_hidden(weather_sites(rows=rows, ids=True), SHAPE,
                                      TreeParams(max_depth=2), align=SetRules(least=5))
    found, _ = classify_hidden(parts, own_columns(ALL_WEATHERS))
    assert found["east"].tolist() == pooled(LAYOUT, columns, TreeParams(max_depth=2)).predict(
        ALL_WEATHERS).tolist()
    assert "which records all owners have" in {o.because for o in ledgers["north"].openings}
