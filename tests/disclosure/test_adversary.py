"""What an adversary sees: the release and nothing behind it."""

from __future__ import annotations

import gc

import numpy as np
import pyarrow.parquet as pq
import pytest

import unspoken
from support.people import people, release_of
from unspoken.attack import (
    Adversary,
    ColumnView,
    Knowledge,
    Points,
    View,
    adversaries_for,
    known,
)
from unspoken.errors import InputError, SchemaError
from unspoken.methods.encoding.code_book import ColumnCode, PiecewiseBook
from unspoken.methods.encoding.encoded_release import RowEncoder
from unspoken.release.key import Key
from unspoken.release.method import adversary_classes
from unspoken.risk import audit
from unspoken.table.table import Table

SECRET = (Key, PiecewiseBook, ColumnCode, RowEncoder, Table)


def reachable(start):
    """Everything that can be reached from an object without going through modules or classes."""
    seen, todo = {}, [start]
    while todo:
        thing = todo.pop()
        if id(thing) in seen or isinstance(thing, type) or type(thing).__name__ == "module":
            continue
        seen[id(thing)] = thing
        if not callable(thing):
            todo += gc.get_referents(thing)
    return seen.values()


@pytest.fixture(scope="module")
def lazy(tmp_path_factory):
    """A release that was not written yet: its frame still leads to the original and the key."""
    path = tmp_path_factory.mktemp("lazy") / "people.parquet"
    pq.write_table(people().arrow(), path)
    table = unspoken.read(path, target="group", lazy=True, show=False)
    release, key = release_of(table)
    assert any(isinstance(thing, RowEncoder) for thing in (release.table.frame.fn,))
    return table, release, key


@pytest.mark.slow
@pytest.mark.parametrize("rows", [False, True])
def test_a_view_of_an_unwritten_release_leads_to_no_secret(lazy, rows):
    _, release, _ = lazy
    view = View.of(release, rows=rows)
    assert not [thing for thing in reachable(view) if isinstance(thing, SECRET)]


class Spy(Adversary):
    name = "spy"
    needs = frozenset({"points"})

    def __init__(self):
        self.seen = []

    def guess(self, view, column, knowledge, rng):
        self.seen.append((view, column, knowledge, rng))
        return np.zeros((1, view[column].codes.size))


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["strict", "max-mono", "anti"])
def test_no_adversary_receives_a_key_or_the_original(mode):
    table = people()
    release, key = release_of(table, mode=mode)
    spy = Spy()
    audit(table, release, key, trials=3, random_state=0, adversaries=[spy])
    assert spy.seen
    for handed in spy.seen:
        assert not [thing for thing in reachable(handed) if isinstance(thing, SECRET)]
    values = {v for view, *_ in spy.seen for c in view.columns.values() for v in c.codes.tolist()}
    assert not values & set(table.numbers()[:, 2].tolist())


def test_every_listed_adversary_has_a_name_words_and_known_needs():
    from dataclasses import fields

    from unspoken.attack import TableAdversary, TableKnowledge
    from unspoken.disclosure.knowledge import FIELDS

    of_people = {field.name for field in fields(TableKnowledge)}
    for name in adversary_classes():
        one = known(name)
        assert one.name == name
        assert one.gets
        assert one.needs <= (of_people if isinstance(one, TableAdversary) else set(FIELDS))


def test_a_method_lists_its_adversaries_and_refuses_others():
    release, _ = release_of(people())
    assert {one.name for one in adversaries_for(release)} >= {
        "line", "polyline", "spline", "combination", "rank", "range", "quantile", "frequency",
        "records", "family", "published", "ignorant"}

    class Elsewhere(Spy):
        name = "elsewhere"

        def applies(self, release):
            return False

    with pytest.raises(InputError, match=r"'elsewhere' does not attack this release.*polyline"):
        adversaries_for(release, [Elsewhere()])
    with pytest.raises(InputError, match=r"An adversary must be one of.*Got known-pairs"):
        adversaries_for(release, ["known-pairs"])


def test_an_unknown_adversary_is_refused_by_name():
    with pytest.raises(InputError, match=r"polyline.*Got polylin\. Did you mean 'polyline'"):
        known("polylin")


def test_an_unknown_column_is_refused_by_name():
    release, _ = release_of(people())
    with pytest.raises(SchemaError, match=r"age.*Got height"):
        View.of(release)["height"]


def test_monochromatic_runs_of_a_max_mono_release_are_one_group():
    table = np.array([[1, 0], [2, 0], [0, 1], [1, 1], [1, 1], [0, 2], [0, 1]])
    from unspoken.disclosure.adversary import _cells

    found = _cells(table, {"mode": "max-mono"}, "y")
    assert found.tolist() == [0, 0, 1, 2, 3, 4, 4]
    assert _cells(table, {"mode": "strict"}, "y").tolist() == list(range(7))
    assert _cells(table, {"mode": "anti"}, "y").tolist() == list(range(6, -1, -1))


def test_ranks_and_shares_are_those_of_the_group_middles():
    table = np.array([[3], [1], [4], [2]])
    seen = ColumnView("x", np.arange(4.0), table, np.array([0, 1, 1, 2]))
    assert seen.rank.tolist() == [0.0, 1.5, 1.5, 3.0]
    assert seen.last_rank == 3.0
    np.testing.assert_allclose(seen.share, [0.15, 0.55, 0.55, 0.9])


def test_codes_per_record_do_not_count_as_values():
    table = np.r_[np.full((4, 1), 10), np.ones((30, 1), int), np.full((4, 1), 10)]
    cells = np.r_[np.arange(4), np.full(30, 4), np.arange(5, 9)]
    seen = ColumnView("x", np.arange(38.0), table, cells, per_record=True)
    assert seen.cell_values[4] == 3.0
    assert seen.last_rank == 10.0


def test_points_are_sorted_by_code_in_every_trial():
    found = Points(np.array([[3.0, 1.0], [2.0, 5.0]]), np.array([[30.0, 10.0], [20.0, 50.0]]))
    assert found.codes.tolist() == [[1.0, 3.0], [2.0, 5.0]]
    assert found.values.tolist() == [[10.0, 30.0], [20.0, 50.0]]


@pytest.mark.parametrize(("codes", "values"), [
    ([[1.0, 1.0]], [[1.0, 2.0]]), ([1.0], [1.0]), ([[1.0, 2.0]], [[1.0]]),
])
def test_impossible_points_are_refused(codes, values):
    with pytest.raises(InputError, match=r"Knowledge points must be|Two knowledge points"):
        Points(np.array(codes), np.array(values))


def test_knowledge_says_what_was_granted():
    told = Knowledge("x", 1.0, (0.0, 9.0), bounds=(0.0, 9.0), sample=np.zeros((3, 5)))
    assert told.granted == {"bounds", "sample"}
    assert told.trials == 3
    assert told.only(slice(0, 2)).trials == 2
    assert Knowledge("nothing", 1.0, (0.0, 9.0), draws=7).trials == 7
