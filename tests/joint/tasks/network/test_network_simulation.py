"""What sites see while a network is learned follows from it; and networks as studies."""

from __future__ import annotations

import numpy as np
import pytest

from support.distinguisher import SUSPICIOUS
from support.masks import against_uniform, break_masks, broken_masks, masked_views
from support.network_data import dependent, spread
from support.study_people import members_in, saved, stated, study_of, to_all
from support.watching import opened_and_lengths
from unspoken.errors import DataError
from unspoken.joint import less_than, reveal, run_local
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.aligned_records import ROWS
from unspoken.joint.tasks.network import program_columns as k2
from unspoken.joint.tasks.network.params import NetworkSite, Node, Order
from unspoken.joint.tasks.network.pooled import pooled
from unspoken.joint.tasks.network.program_columns import PARENTS, NetworkOverColumns
from unspoken.joint.tasks.task_list import task_of

ORDER = Order((Node("a", "p0", 2), Node("b", "p1", 2), Node("c", "p0", 2)))


def columns(flips):
    """Three columns, b after a and c on its own; how much b follows a does not show."""
    a, c = np.arange(64) % 2, np.arange(64) // 2 % 2
    b = a.copy()
    b[np.random.default_rng(1).permutation(64)[:flips]] ^= 1
    return [NetworkSite(np.array([a, c])), NetworkSite(b[None])]


def watched(flips):
    return opened_and_lengths(NetworkOverColumns(ORDER), columns(flips))


def told_apart():
    first, second = (watched(flips) for flips in (4, 9))
    return first != second


def test_all_that_shows_is_the_network():
    nets = [pooled(dict(zip(("p0", "p1"), columns(flips), strict=True)), ORDER)
            for flips in (4, 9)]
    assert nets[0] == nets[1]
    assert nets[0].parents == ((), ("a",), ())
    assert not told_apart()


@pytest.mark.slow
def test_a_score_that_is_opened_is_caught(monkeypatch):
    real = k2.scores

    async def leaking(party, parts, table):
        found = await real(party, parts, table)
        await reveal(party, found, because=PARENTS)
        return found

    monkeypatch.setattr(k2, "scores", leaking)
    assert told_apart()


@pytest.mark.slow
def test_leaving_out_what_is_empty_is_caught(monkeypatch):
    real = k2.log_factorials

    async def shorter(party, x, table):
        empty = await reveal(party, await less_than(party, x, 1), because=PARENTS)
        share = np.zeros(x.size, np.uint64)
        found = await real(party, x[~empty], table)
        share[~empty] = found.share
        return found.with_share(share)

    monkeypatch.setattr(k2, "log_factorials", shorter)
    nets = [watched(flips) for flips in (0, 4)]
    assert nets[0] != nets[1]


def views():
    return masked_views(NetworkOverColumns(ORDER), columns(4), (16, 64),
                        lambda size: size % 8 == 0 and size >= 8 * 256)


@pytest.mark.slow
def test_masked_words_look_uniform():
    assert against_uniform(views()) > SUSPICIOUS


@pytest.mark.slow
@broken_masks
def test_broken_masks_are_caught(monkeypatch, name):
    break_masks(monkeypatch, name)
    assert against_uniform(views()) < SUSPICIOUS


PARAMETERS = {"order": ["x0", "x1", "x2"], "site.x0": "north", "site.x1": "south",
              "site.x2": "north", "values.x0": 2, "values.x1": 3, "values.x2": 2}


@pytest.fixture(scope="module")
def members(tmp_path_factory):
    return to_all(members_in(tmp_path_factory.mktemp("people")))


@pytest.mark.slow
def test_a_study_gives_the_network(members, tmp_path):
    study, task = study_of(members, "network", PARAMETERS)
    codes = dependent(50, (2, 3, 2), 3)
    sites, order = spread(codes, (2, 3, 2), (0, 1, 0))
    files = saved(tmp_path, [{"x0": codes[0].astype(str), "x2": codes[2].astype(str)},
                             {"x1": codes[1].astype(str)}])
    given = [*(task.load(path, study) for path in files), None]
    outputs = run_local(task.program(study), given, names=["north", "south", "east"])
    assert [net for net, _ in outputs] == [pooled(sites, order)] * 3
    plan = task.plan(study)
    assert plan.learns["east"] == [PARENTS, ROWS]
    assert plan.bytes > 0
    with pytest.raises(DataError, match="'x0' is there"):
        run_local(task.program(study), [given[1], given[0], None],
                  names=["north", "south", "east"])


@pytest.mark.parametrize(("change", "words"), [
    ({"order": ["x0"]}, "two or more"), ({"values.x1": 0}, "1 to 256"), ({"site.x1": 3}, "site.x1"),
    ({"colour": 2}, "no parameter 'colour'"), ({"max_parents": -1}, "max_parents"),
    ({"expected": 0}, "expected"), ({"values.x9": 2}, "values.x9"),
    ({"max_parents.x0": 2}, "no parameter 'max_parents.x0'")])
def test_bad_parameters_are_refused(members, change, words):
    with pytest.raises(StudyError, match=words):
        study_of(members, "network", {**PARAMETERS, **change})


def test_plans_that_cannot_be_kept_are_refused(members, tmp_path):
    chosen = Study("trial", "network", "dealer", members_in(tmp_path),
                   stated("network", PARAMETERS))
    with pytest.raises(StudyError, match="Receivers were chosen: north"):
        task_of(chosen).plan(chosen)
    for mode, change in (("sums", {}), ("dealer", {"site.x0": "dora"})):
        study = Study("trial", "network", mode, members,
                      stated("network", {**PARAMETERS, **change}))
        with pytest.raises(StudyError, match="nodes of"):
            task_of(study).plan(study)
    # East owns data but no node: its ids have nothing to stand for.
    study = Study("trial", "network", "dealer", members, {**PARAMETERS, "ids": "id"})
    with pytest.raises(StudyError, match="'east' has none"):
        task_of(study).plan(study)
