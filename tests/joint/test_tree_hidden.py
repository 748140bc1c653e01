"""A tree over columns that nobody sees: its classes are those of the tree of pooled data."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from test_tree_horizontal import near
from test_tree_vertical import SPLIT, weather_sites
from tree_data import LAYOUT, NAMES, WEATHER, figure_4_1, tables

from tacit.errors import DataError, InputError, ModelError
from tacit.joint import SetRules, run_local, run_outcomes
from tacit.joint.errors import PartyError, RefusedError
from tacit.joint.party import declares
from tacit.joint.protocols.aligned import ROWS
from tacit.joint.protocols.trees import choosing, hidden_growing, vertical_growing
from tacit.joint.protocols.trees.central import central
from tacit.joint.protocols.trees.classifying import PREDICTED, ClassifyTogether
from tacit.joint.protocols.trees.growth import Rules
from tacit.joint.protocols.trees.hidden import (
    ClassifyHidden,
    HiddenTree,
    classify_hidden,
    kept,
    mine_tree_hidden,
)
from tacit.joint.protocols.trees.hidden_growing import Hidden
from tacit.joint.protocols.trees.hidden_part import HiddenPart
from tacit.joint.protocols.trees.layout import Attribute
from tacit.joint.protocols.trees.scores import while_open
from tacit.joint.protocols.trees.sites import Shape, Site
from tacit.joint.protocols.trees.vertical import mine_tree_vertical
from tacit.joint.spu.engine import VARIABLE, spu_python

SHAPE = Shape(("no", "yes"), "south", 3, 4, "play")
EVERY = np.array(list(itertools.product(*(a.categories for a in LAYOUT.attributes))), object)
ALL_WEATHERS = {a.name: EVERY[:, i] for i, a in enumerate(LAYOUT.attributes)}


def own_columns(columns, split=SPLIT):
    return {name: {NAMES[i]: columns[NAMES[i]] for i in places} for name, places in split.items()}


@pytest.fixture(scope="module")
def weather_parts():
    return mine_tree_hidden(weather_sites(), SHAPE, Rules(max_depth=2))[0]


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize(("mode", "split"), [
    ("dealer", SPLIT), ("three-party", SPLIT), ("two-party", {"north": (0, 3), "south": (1, 2)})])
def test_every_weather_has_the_class_of_the_book(mode, split, known):
    if mode == "two-party":
        pytest.importorskip("rbcl")
    shape = Shape(("no", "yes"), "south", 2, 3, "play", known)
    parts, _ = mine_tree_hidden(weather_sites(split, known=known), shape, Rules(max_depth=2), mode)
    found, _ = classify_hidden(parts, own_columns(ALL_WEATHERS, split), mode, receivers=["north"])
    # 14 of these 36 weathers were in training, 22 are new.
    assert found["north"].tolist() == [
        figure_4_1(*(ALL_WEATHERS[n][i] for n in ("outlook", "humidity", "windy")))
        for i in range(36)]
    assert found["south"] is None


@pytest.mark.skipif(spu_python() is None,
                    reason=f"SPU is not installed and {VARIABLE} names no Python that has it")
def test_spu_gives_the_same():
    shape = Shape(("no", "yes"), "south", 2, 3, "play")
    parts, _ = mine_tree_hidden(weather_sites(), shape, Rules(max_depth=2), "spu")
    found, _ = classify_hidden(parts, own_columns(ALL_WEATHERS), "spu")
    assert found["east"].tolist() == central(LAYOUT, WEATHER, Rules(max_depth=2)).predict(
        ALL_WEATHERS).tolist()


def test_classes_are_those_of_the_tree_whose_structure_is_known(weather_parts):
    known, _ = mine_tree_vertical(weather_sites(), SHAPE, Rules(max_depth=2))
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
    rules, sites = Rules(max_depth=depth, min_records=least), min(owners, len(layout.attributes))
    names = [f"p{i}" for i in range(sites)]
    groups = np.array_split(np.arange(len(layout.attributes)), sites)
    given_ = {name: Site(tuple(layout.attributes[i] for i in group), columns,
                         columns["class"] if known or name == names[-1] else None)
              for name, group in zip(names, groups, strict=True)}
    shape = Shape(layout.classes, names[-1],
                  max(1, *(len(s.questions) for s in given_.values())) + extra, 4 + extra,
                  class_known=known)
    assume(not near(layout, columns, rules, sites * shape.slots))
    parts, _ = mine_tree_hidden(given_, shape, rules)
    tree = central(layout, columns, rules)
    for records in (columns, unseen(layout, seed)):
        found, _ = classify_hidden(parts, dict.fromkeys(names, records))
        assert found["p0"].tolist() == tree.predict(records).tolist()


def unseen(layout, seed):
    """Return records of any values; most combinations are in no leaf of training."""
    random = np.random.default_rng(seed)
    return {a.name: np.array(a.categories, object)[random.integers(0, a.cells, 60)]
            if a.categories else random.integers(0, 11, 60).astype(float)
            for a in layout.attributes}


def test_a_branch_without_records_has_the_class_of_the_last_question_above():
    # "a" is asked first, then "b" where a is x. Nobody there has w: its class is that of all with
    # x, "p" by 3 to 2, at any depth; the root has "n" by 10 to 3.
    rows = [("x", "u", "p")] * 3 + [("x", "v", "n")] * 2
    rows += [("y", "u", "n")] * 4 + [("y", "v", "n")] + [("y", "w", "n")] * 3
    data = np.array(rows, object)
    columns = {"a": data[:, 0], "b": data[:, 1]}
    sites = {"p0": Site((Attribute("a", ("x", "y")),), columns),
             "p1": Site((Attribute("b", ("u", "v", "w")),), columns, data[:, 2])}
    new = {"a": np.array(["x", "y", "x"], object), "b": np.array(["w", "u", "v"], object)}
    for depth, expected in enumerate(["nnn", "pnp", "pnn", "pnn", "pnn"]):
        parts, _ = mine_tree_hidden(sites, Shape(("n", "p"), "p1", 2, 3), Rules(max_depth=depth))
        found, _ = classify_hidden(parts, {"p0": new, "p1": new})
        assert "".join(found["p1"]) == expected


def test_a_node_that_stopped_is_never_split_below(monkeypatch):
    # Scores are rounded at random: a question may look better at the next level.
    real, calls = hidden_growing.scored, {"p0": 0, "p1": 0}

    async def unsteady(party, first, counts, allowed=None):
        scores, size = await real(party, first, counts)
        calls[party.name] += 1
        better = np.zeros(scores.shape, np.int64)
        better[:, 1] = (1 << 20) * (calls[party.name] > 1)
        return scores + party.public(better, scores.scale), size

    monkeypatch.setattr(hidden_growing, "scored", unsteady)
    columns = {"a": np.array(["x", "y"] * 8, object), "b": np.array(["u", "v", "v", "u"] * 4)}
    sites = {"p0": Site((Attribute("a", ("x", "y")),), columns),
             "p1": Site((Attribute("b", ("u", "v")),), columns, np.array(["n"] * 16, object))}
    parts, _ = mine_tree_hidden(sites, Shape(("n", "p"), "p1", 1, 2), Rules(max_depth=3))
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
        rules = Rules(max_depth=2, min_records=least)
        parts, _ = mine_tree_hidden(weather_sites(), SHAPE, rules)
        found, _ = classify_hidden(parts, own_columns(ALL_WEATHERS))
        assert found["east"].tolist() == central(LAYOUT, WEATHER, rules).predict(
            ALL_WEATHERS).tolist()


def test_a_closed_node_asks_nothing_whatever_it_would_gain():
    @declares("hot")
    async def program(party, data):
        values = await party.share(data if party.name == "p0" else None, "p0", (3, 4), -9, 9)
        alive = await party.share([1, 0, 1] if party.name == "p1" else None, "p1", (3,), 0, 1)
        hot = await choosing.hot_greatest(party, while_open(values, alive))
        return await party.reveal(hot, because="hot")

    values = np.array([[0, 1, 9, 9], [-9, 1, 9, 9], [9, 9, 9, 8]])
    for found, _ in run_local(program, [values, None]):
        assert found.tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]


def test_the_ledger_has_the_number_of_records_and_the_classes_alone(weather_parts):
    _, ledgers = mine_tree_hidden(weather_sites(), SHAPE, Rules(max_depth=2))
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
                                      Rules(max_depth=2), align=SetRules(least=5))
    found, _ = classify_hidden(parts, own_columns(ALL_WEATHERS))
    assert found["east"].tolist() == central(LAYOUT, columns, Rules(max_depth=2)).predict(
        ALL_WEATHERS).tolist()
    assert "which records all sites have" in {o.because for o in ledgers["north"].openings}


# What a party keeps.

def test_a_part_alone_says_nothing(weather_parts):
    again, _ = mine_tree_hidden(weather_sites(), SHAPE, Rules(max_depth=2))
    assert weather_parts["east"].share.size == 0
    for name in ("north", "south"):
        assert not np.isin(weather_parts[name].share, again[name].share).any()
    whole = [sum(p[n].share for n in ("north", "south")) for p in (weather_parts, again)]
    assert np.array_equal(*whole)
    # Nine questions of all sites in each of 1 + 4 nodes, then 16 classes of leaves.
    assert whole[0].size == 5 * 9 + 16
    assert whole[0][:9].tolist() == [1] + [0] * 8
    for name, part in weather_parts.items():
        text = json.dumps(part.to_json())
        assert ("humidity" in text) == (name == "south")
        assert ("windy" in part.summary()) == (name == "east")
        assert "array" not in repr(part)


def test_kept_shares_have_a_fresh_zero_on_them():
    # Without it a dealer who gets hold of one could solve the last product for its factors.
    @declares()
    async def program(party, data):
        hot = await party.share(data if party.name == "p0" else None, "p0", (2, 3), 0, 1)
        tree = Hidden(hot, hot[0])
        return np.concatenate([tree.hot.share.ravel(), tree.classes.share]), kept(party, tree)

    [(raw, saved), (raw_too, saved_too)] = [
        found for found, _ in run_local(program, [np.eye(2, 3, dtype=int), None])]
    assert not (raw == saved).any()
    assert not (raw_too == saved_too).any()
    assert np.array_equal(raw + raw_too, saved + saved_too)


def test_parts_are_kept_in_private_files(weather_parts, tmp_path):
    for name, part in weather_parts.items():
        part.save(tmp_path / name)
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    loaded = {name: HiddenPart.load(tmp_path / name) for name in SPLIT}
    before, after = (classify_hidden(parts, own_columns(WEATHER))[0]["south"].tolist()
                     for parts in (weather_parts, loaded))
    assert before == after == WEATHER["play"].tolist()


@pytest.mark.parametrize(("field", "value"), [
    ("share", []), ("share", ["00"]), ("share", ["x"]), ("share", [3]), ("depth", 3),
    ("depth", 99), ("slots", 0), ("branches", 2), ("sites", []), ("sites", ["north"]),
    ("questions", [["a", ["x"] * 9, 0.0]]), ("questions", [["a"]]), ("questions", [[3, [], 1.0]]),
    ("questions", [["a", [], "1"]]), ("run", "zz"), ("classes", ["no"]), ("holders", []),
    ("format", "tacit-tree-part"), ("version", 9), ("site", 3)])
def test_hostile_parts_are_refused(weather_parts, field, value):
    data = json.loads(json.dumps(weather_parts["south"].to_json()))
    assert HiddenPart.from_json(data).digest().tolist() == weather_parts["south"].digest().tolist()
    with pytest.raises(ModelError):
        HiddenPart.from_json({**data, field: value})


# Refusals.

BAD = {
    "fewer rows": (lambda s: s.update(east=Site(s["east"].attributes, {
        "windy": WEATHER["windy"][:9]})), "same records"),
    "no class": (lambda s: s.update(south=Site(s["south"].attributes, s["south"].columns)),
                 "The class"),
    "a class too many": (lambda s: s.update(east=Site(s["east"].attributes, s["east"].columns,
                                                      WEATHER["play"])), "The class"),
    "too many questions": (lambda s: s.update(east=Site(LAYOUT.attributes, WEATHER)),
                           "at most 3 questions"),
    "nothing": (lambda s: s.update(east=None), "must give its columns"),
}


def refused(outcomes, words):
    """Check that everybody ended, and who failed said why."""
    errors = [outcome.error for outcome in outcomes[:3]]
    assert all(error is not None for error in errors)
    own = [error for error in errors if not isinstance(error, PartyError)]
    assert own
    assert all(isinstance(e, DataError | RefusedError) and words in str(e) for e in own)


@pytest.mark.parametrize("name", BAD)
def test_bad_sites_are_refused_on_all_sides(name):
    sites = weather_sites()
    spoil, words = BAD[name]
    spoil(sites)
    program = HiddenTree(SHAPE, Rules(max_depth=2), list(SPLIT))
    refused(run_outcomes(program, list(sites.values()), names=list(SPLIT)), words)


def other_run(given_):
    parts, _ = mine_tree_hidden(weather_sites(), SHAPE, Rules(max_depth=2))
    given_["north"] = parts["north"], given_["north"][1]


BAD_RECORDS = {
    "another run": (other_run, "parts of one tree"),
    "another's part": (lambda g: g.update(north=(g["south"][0], g["north"][1])),
                       "that of 'north'"),
    "no part": (lambda g: g.update(east=None), "must give its part"),
    "other lengths": (lambda g: g.update(east=(g["east"][0], {
        "windy": WEATHER["windy"][:5]})), "same records"),
    "uneven columns": (lambda g: g.update(south=(g["south"][0], {
        "humidity": WEATHER["humidity"], "temperature": WEATHER["temperature"][:5]})),
        "of one length"),
    "a column less": (lambda g: g.update(south=(g["south"][0], {
        "humidity": WEATHER["humidity"]})), "'temperature' is there"),
    "no records": (lambda g: g.update({n: (p, {c: v[:0] for c, v in r.items()})
                                       for n, (p, r) in g.items()}), "same records"),
}


@pytest.mark.parametrize("name", BAD_RECORDS)
def test_bad_records_and_parts_are_refused_on_all_sides(name, weather_parts):
    given_ = {n: (weather_parts[n], own_columns(WEATHER)[n]) for n in SPLIT}
    spoil, words = BAD_RECORDS[name]
    spoil(given_)
    refused(run_outcomes(ClassifyHidden(), list(given_.values()), names=list(SPLIT)), words)


def test_others_than_the_holders_cannot_use_a_tree(weather_parts):
    given_ = [(weather_parts[n], own_columns(WEATHER)[n]) for n in SPLIT]
    outcomes = run_outcomes(ClassifyHidden(), given_, names=list(SPLIT),
                            holders=["north", "east"])
    refused(outcomes, "same holders")
    with pytest.raises(DataError, match="used by all sites"):
        run_local(ClassifyHidden(), given_[:2], names=["north", "south"])


def test_trees_too_large_are_refused_before_anything_is_sent(monkeypatch):
    for depth in (7, 10**9):
        with pytest.raises(InputError, match="4,096 leaves"):
            mine_tree_hidden(weather_sites(), SHAPE, Rules(max_depth=depth))
    monkeypatch.setattr(hidden_growing, "MOST_WORDS", 100)
    with pytest.raises(RefusedError, match="at most 100 numbers"):
        mine_tree_hidden(weather_sites(), SHAPE, Rules(max_depth=2))
    with pytest.raises(InputError, match="class site"):
        mine_tree_hidden({"north": weather_sites()["north"]}, SHAPE)


def test_all_sites_may_hold_shares():
    every = list(SPLIT)
    parts, _ = mine_tree_hidden(weather_sites(), SHAPE, Rules(max_depth=2), holders=every)
    found, _ = classify_hidden(parts, own_columns(WEATHER), holders=every)
    assert found["east"].tolist() == WEATHER["play"].tolist()
    assert len({part.share.size for part in parts.values()}) == 1


def test_a_site_without_questions_takes_part():
    sites = weather_sites({"north": (0, 1), "east": (2, 3)}, class_site="nobody")
    sites["south"] = Site((), {}, WEATHER["play"])
    parts, _ = mine_tree_hidden(sites, SHAPE, Rules(max_depth=2))
    records = own_columns(ALL_WEATHERS, {"north": (0, 1), "east": (2, 3)})
    found, _ = classify_hidden(parts, records, receivers=["south"])
    assert found["south"].tolist() == central(LAYOUT, WEATHER, Rules(max_depth=2)).predict(
        ALL_WEATHERS).tolist()
