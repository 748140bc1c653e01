"""ID3 over columns of several sites: the tree of pooled data, in parts that say little."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from support.everywhere import replace_everywhere
from support.near_ties import near
from support.tree_data import LAYOUT, NAMES, WEATHER, spread, tables
from support.watching import opened_and_lengths
from support.weather_sites import SPLIT, weather_sites
from unspoken.errors import DataError, ModelError
from unspoken.joint import SetRules, reveal, run_local, run_outcomes
from unspoken.joint.joint_errors import PartyError, RefusedError
from unspoken.joint.mpc.ops import sharing
from unspoken.joint.tasks.classify.program_columns import ClassifyTogether, ClassifyWalking
from unspoken.joint.tasks.tree import column_steps as vertical_growing
from unspoken.joint.tasks.tree.params import Attribute, TreeLayout, TreeParams
from unspoken.joint.tasks.tree.pooled import pooled
from unspoken.joint.tasks.tree.program_columns import TreeOverColumns, mine_tree_columns
from unspoken.joint.tasks.tree.tree_sites import TreeShape, TreeSite
from unspoken.models.site_tree_part import Asked, TreePart, join_parts

pytestmark = pytest.mark.slow

SHAPE = TreeShape(("no", "yes"), "south", 3, 4, "play")


@pytest.fixture(scope="module")
def weather_parts():
    return mine_tree_columns(weather_sites(), SHAPE)[0]


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize(("mode", "split"), [
    ("dealer", SPLIT), ("three-party", SPLIT), ("two-party", {"north": (0, 3), "south": (1, 2)}),
    ("authenticated", SPLIT)])
def test_the_weather_tree_comes_out_in_parts(mode, split, known):
    if mode == "two-party":
        pytest.importorskip("rbcl")
    shape = TreeShape(("no", "yes"), "south", 2, 3, "play", known)
    parts, _ = mine_tree_columns(weather_sites(split, known=known), shape, mode=mode)
    assert join_parts(list(parts.values()), NAMES[:-1]).same_as(pooled(LAYOUT, WEATHER))


def test_a_site_knows_its_own_questions_and_no_others(weather_parts):
    north, south, east = weather_parts.values()
    assert [a.column for a in north.asked.values()] == ["outlook"]
    assert [a.column for a in south.asked.values()] == ["humidity"]
    assert [a.column for a in east.asked.values()] == ["windy"]
    for part in (north, east):
        assert (part.leaf_class == -1).all()
        assert "humidity" not in json.dumps(part.to_json())
    assert [south.classes[c] for c in south.leaf_class[south.leaf_nodes]] == [
        "yes", "yes", "no", "no", "yes"]
    with pytest.raises(ModelError, match="of all sites"):
        join_parts([north, south], NAMES[:-1])


@settings(max_examples=15)
@given(tables(), st.integers(0, 3), st.integers(1, 5), st.booleans(), st.integers(0, 1))
def test_the_joint_tree_is_the_tree_of_pooled_columns(table, depth, least, known, extra):
    layout, columns, _, owners = table
    sites = min(owners, len(layout.attributes))
    rules = TreeParams(max_depth=depth, min_records=least)
    assume(len(columns["class"]) > 0)
    given_, shape = spread(layout, columns, sites, known, extra)
    # Sites have room to spare, so that setbacks are larger than in the clear.
    assume(not near(layout, columns, rules, sites * shape.slots))
    parts, _ = mine_tree_columns(given_, shape, rules)
    whole = join_parts(list(parts.values()), [a.name for a in layout.attributes])
    assert whole.same_as(pooled(layout, columns, rules))


def test_classifying_together_opens_the_class_alone(weather_parts):
    given_ = [(part, site.columns) for part, site in zip(
        weather_parts.values(), weather_sites().values(), strict=True)]
    outputs = run_local(ClassifyTogether("south", ["east"]), given_, names=list(SPLIT))
    assert [found for found, _ in outputs][:2] == [None, None]
    assert outputs[2][0].tolist() == WEATHER["play"].tolist()
    for _, ledger in outputs:
        assert [o.because for o in ledger.openings] == ["how many records each site has",
                                                        "the predicted class of every record"]


def test_walking_gives_the_class_site_the_same(weather_parts):
    given_ = [(part, site.columns) for part, site in zip(
        weather_parts.values(), weather_sites().values(), strict=True)]
    outputs = run_local(ClassifyWalking("south"), given_, "sums", names=list(SPLIT))
    assert outputs[0][0] is None
    assert outputs[1][0].tolist() == WEATHER["play"].tolist()


def test_parts_of_different_trees_are_refused(weather_parts):
    other, _ = mine_tree_columns(weather_sites(), SHAPE, TreeParams(max_depth=1))
    parts = [other["north"], weather_parts["south"], weather_parts["east"]]
    given_ = [(p, s.columns) for p, s in zip(parts, weather_sites().values(), strict=True)]
    with pytest.raises(DataError, match="parts of one tree"):
        run_local(ClassifyTogether("south"), given_, names=list(SPLIT))


def test_rows_are_aligned_by_ids_first():
    pytest.importorskip("rbcl")
    random = np.random.default_rng(1)
    rows = {name: random.permutation(np.r_[0:14])[:-1] if name == "east" else
            random.permutation(14) for name in SPLIT}
    common = sorted(rows["east"].tolist())
    columns = {name: column[common] for name, column in WEATHER.items()}
    parts, ledgers = mine_tree_columns(weather_sites(rows=rows, ids=True), SHAPE,
                                        align=SetRules(least=5))
    whole = join_parts(list(parts.values()), NAMES[:-1])
    assert whole.same_as(pooled(LAYOUT, columns))
    assert "which records all owners have" in {o.because for o in ledgers["north"].openings}


def test_an_attribute_of_two_sites_is_asked_by_the_first():
    attribute = LAYOUT.attributes[0]
    columns = {attribute.name: WEATHER[attribute.name]}
    for names in (["north", "south"], ["south", "north"]):
        sites = {n: TreeSite((attribute,), columns, WEATHER["play"] if n == "south" else None)
                 for n in names}
        parts, _ = mine_tree_columns(sites, SHAPE)
        assert list(parts[names[0]].asked) == [0]
        assert not parts[names[1]].asked


BAD = {
    "fewer rows": lambda s: s.update(east=TreeSite(s["east"].attributes, {
        "windy": WEATHER["windy"][:9]})),
    "no class": lambda s: s.update(south=TreeSite(s["south"].attributes, s["south"].columns)),
    "a class too many": lambda s: s.update(east=TreeSite(s["east"].attributes, s["east"].columns,
                                                     WEATHER["play"])),
    "too many questions": lambda s: s.update(east=TreeSite(LAYOUT.attributes, WEATHER)),
    "nothing": lambda s: s.update(east=None),
}
WORDS = {"fewer rows": "same records", "no class": "The class", "a class too many": "The class",
         "too many questions": "at most 3 questions", "nothing": "must give its columns"}


@pytest.mark.parametrize("name", BAD)
def test_bad_sites_are_refused_on_all_sides(name):
    sites = weather_sites()
    BAD[name](sites)
    outcomes = run_outcomes(TreeOverColumns(SHAPE, TreeParams(), list(SPLIT)), list(sites.values()),
                            names=list(SPLIT))
    errors = [outcome.error for outcome in outcomes[:3]]
    assert all(error is not None for error in errors)
    own = [error for error in errors if not isinstance(error, PartyError)]
    assert own
    assert all(isinstance(e, DataError | RefusedError) and WORDS[name] in str(e) for e in own)


def test_more_answers_than_there_is_room_for_are_refused_on_all_sides():
    shape = TreeShape(("no", "yes"), "south", 4096, 4096, "play")
    outcomes = run_outcomes(TreeOverColumns(shape, TreeParams(), list(SPLIT)),
                            list(weather_sites().values()), names=list(SPLIT))
    assert all(outcome.error is not None for outcome in outcomes)
    assert any(isinstance(o.error, RefusedError) and "slots" in str(o.error) for o in outcomes)


def test_counts_come_in_blocks(monkeypatch):
    """So few words at a time that every node is a block of its own."""
    monkeypatch.setattr(vertical_growing, "BLOCK", 1)
    parts, _ = mine_tree_columns(weather_sites(), SHAPE)
    assert join_parts(list(parts.values()), NAMES[:-1]).same_as(pooled(LAYOUT, WEATHER))


def test_classes_known_to_all_must_agree():
    sites = weather_sites(known=True)
    turned = np.where(WEATHER["play"] == "yes", "no", "yes").astype(object)
    sites["east"] = TreeSite(sites["east"].attributes, sites["east"].columns, turned)
    shape = TreeShape(("no", "yes"), "south", 3, 4, "play", class_known=True)
    with pytest.raises(DataError, match="same everywhere"):
        mine_tree_columns(sites, shape)


def test_parts_are_saved_and_hostile_ones_refused(weather_parts):
    part = weather_parts["south"]
    data = json.loads(json.dumps(part.to_json()))
    assert part.same_as(TreePart.from_json(data))
    assert "humidity" in part.summary()
    for field, value in (("owner", [0] * 8), ("first_child", [1] * 8), ("children", [9] * 8),
                         ("leaf_class", [7] * 8), ("asked", [{"node": 0}]), ("nodes", 10**12),
                         ("site", 3), ("sites", [1])):
        with pytest.raises(ModelError):
            TreePart.from_json({**data, field: value})
    assert Asked("x", cut=1.5).answers([1.5, 1.6]).tolist() == [0, 1]


# What shows while the tree grows.

HIDDEN = TreeLayout((Attribute("a", ("x", "y")), Attribute("b", ("u", "v"))), ("n", "p"))


def hidden_sites(rows):
    data = np.array(rows, object)
    return [TreeSite((HIDDEN.attributes[0],), {"a": data[:, 0]}),
            TreeSite((HIDDEN.attributes[1],), {"b": data[:, 1]}, data[:, 2])]


# One question and two leaves: pure, or too small, or without gain.
SAME_SHAPE = [[("x", "u", "n")] * 8 + [("y", "v", "p")] * 8,
              [("x", "u", "n")] * 7 + [("x", "v", "n")] * 7 + [("y", "u", "p"), ("y", "v", "n")]]


def shown(rows):
    program = TreeOverColumns(
        TreeShape(("n", "p"), "p1", 2, 2), TreeParams(min_records=3), ["p0", "p1"]
    )
    opened, lengths = opened_and_lengths(program, hidden_sites(rows))
    return [row for row in opened if row[2] != vertical_growing.LEAVES], lengths


def test_all_that_shows_follows_from_the_shape():
    first, second = (shown(rows) for rows in SAME_SHAPE)
    assert first == second


def test_a_count_that_is_opened_is_caught(monkeypatch):
    real = vertical_growing.best_of

    async def leaking(party, first, counts, least, allowed=None):
        await reveal(party, counts[:, -1], because=vertical_growing.SITES)
        return await real(party, first, counts, least, allowed)

    monkeypatch.setattr(vertical_growing, "best_of", leaking)
    first, second = (shown(rows) for rows in SAME_SHAPE)
    assert first != second


def test_a_question_sent_to_all_is_refused(monkeypatch):
    from unspoken.joint.joint_errors import DisclosureError

    real = sharing.reveal

    async def loud(party, value, *, because, to=()):
        wide = () if because == vertical_growing.QUESTION else to
        return await real(party, value, because=because, to=wide)

    replace_everywhere(monkeypatch, real, loud)
    with pytest.raises(DisclosureError):
        mine_tree_columns(weather_sites(), SHAPE)
