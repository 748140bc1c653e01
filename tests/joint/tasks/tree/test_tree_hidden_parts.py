"""What is kept of a hidden tree, and what is refused: on all sides, before anything is shared."""

from __future__ import annotations

import json

import numpy as np
import pytest

from support.tree_data import LAYOUT, WEATHER
from support.weather_sites import ALL_WEATHERS, SHAPE, SPLIT, own_columns, weather_sites
from unspoken.errors import DataError, InputError, ModelError
from unspoken.joint import run_local, run_outcomes, share
from unspoken.joint.joint_errors import PartyError, RefusedError
from unspoken.joint.mpc.declared import declares
from unspoken.joint.tasks.tree import hidden_steps as hidden_growing
from unspoken.joint.tasks.tree.hidden_part import HiddenPart
from unspoken.joint.tasks.tree.hidden_program import (
    ClassifyHidden,
    HiddenTree,
    classify_hidden,
    kept,
    mine_tree_hidden,
)
from unspoken.joint.tasks.tree.hidden_steps import Hidden
from unspoken.joint.tasks.tree.params import TreeParams
from unspoken.joint.tasks.tree.pooled import pooled
from unspoken.joint.tasks.tree.tree_sites import TreeSite

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def weather_parts():
    return mine_tree_hidden(weather_sites(), SHAPE, TreeParams(max_depth=2))[0]


def test_a_part_alone_says_nothing(weather_parts):
    again, _ = mine_tree_hidden(weather_sites(), SHAPE, TreeParams(max_depth=2))
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
        hot = await share(party, data if party.name == "p0" else None, "p0", (2, 3), 0, 1)
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
    ("format", "unspoken-tree-part"), ("version", 9), ("site", 3)])
def test_hostile_parts_are_refused(weather_parts, field, value):
    data = json.loads(json.dumps(weather_parts["south"].to_json()))
    assert HiddenPart.from_json(data).digest().tolist() == weather_parts["south"].digest().tolist()
    with pytest.raises(ModelError):
        HiddenPart.from_json({**data, field: value})


# Refusals.

BAD = {
    "fewer rows": (lambda s: s.update(east=TreeSite(s["east"].attributes, {
        "windy": WEATHER["windy"][:9]})), "same records"),
    "no class": (lambda s: s.update(south=TreeSite(s["south"].attributes, s["south"].columns)),
                 "The class"),
    "a class too many": (lambda s: s.update(east=TreeSite(s["east"].attributes, s["east"].columns,
                                                      WEATHER["play"])), "The class"),
    "too many questions": (lambda s: s.update(east=TreeSite(LAYOUT.attributes, WEATHER)),
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
    program = HiddenTree(SHAPE, TreeParams(max_depth=2))
    refused(run_outcomes(program, list(sites.values()), names=list(SPLIT)), words)


def other_run(given_):
    parts, _ = mine_tree_hidden(weather_sites(), SHAPE, TreeParams(max_depth=2))
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
            mine_tree_hidden(weather_sites(), SHAPE, TreeParams(max_depth=depth))
    monkeypatch.setattr(hidden_growing, "MOST_WORDS", 100)
    with pytest.raises(RefusedError, match="at most 100 numbers"):
        mine_tree_hidden(weather_sites(), SHAPE, TreeParams(max_depth=2))
    with pytest.raises(InputError, match="class site"):
        mine_tree_hidden({"north": weather_sites()["north"]}, SHAPE)


def test_all_sites_may_hold_shares():
    every = list(SPLIT)
    parts, _ = mine_tree_hidden(weather_sites(), SHAPE, TreeParams(max_depth=2), holders=every)
    found, _ = classify_hidden(parts, own_columns(WEATHER), holders=every)
    assert found["east"].tolist() == WEATHER["play"].tolist()
    assert len({part.share.size for part in parts.values()}) == 1


def test_a_site_without_questions_takes_part():
    sites = weather_sites({"north": (0, 1), "east": (2, 3)}, class_site="nobody")
    sites["south"] = TreeSite((), {}, WEATHER["play"])
    parts, _ = mine_tree_hidden(sites, SHAPE, TreeParams(max_depth=2))
    records = own_columns(ALL_WEATHERS, {"north": (0, 1), "east": (2, 3)})
    found, _ = classify_hidden(parts, records, receivers=["south"])
    assert found["south"].tolist() == pooled(LAYOUT, WEATHER, TreeParams(max_depth=2)).predict(
        ALL_WEATHERS).tolist()
