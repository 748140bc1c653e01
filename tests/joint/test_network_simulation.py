"""What sites see while a network is learned follows from it; and networks as studies."""

from __future__ import annotations

import numpy as np
import pytest
from distinguisher import SUSPICIOUS, tell_apart, uniform_like
from study_people import members_in, saved, study_of
from test_networks import dependent, spread
from test_simulation import BROKEN, spoiled
from watching import masked_frames

from tacit.errors import DataError
from tacit.joint import party as party_module
from tacit.joint import run_local, sources
from tacit.joint.errors import StudyError
from tacit.joint.party import Party
from tacit.joint.protocols.aligned import ROWS
from tacit.joint.protocols.networks import k2
from tacit.joint.protocols.networks.central import central
from tacit.joint.protocols.networks.k2 import PARENTS, VerticalNetwork
from tacit.joint.protocols.networks.terms import Node, Order, Site
from tacit.joint.study import Study
from tacit.joint.tasks import task_of

ORDER = Order((Node("a", "p0", 2), Node("b", "p1", 2), Node("c", "p0", 2)))


def columns(flips):
    """Three columns, b after a and c on its own; how much b follows a does not show."""
    a, c = np.arange(64) % 2, np.arange(64) // 2 % 2
    b = a.copy()
    b[np.random.default_rng(1).permutation(64)[:flips]] ^= 1
    return [Site(np.array([a, c])), Site(b[None])]


def watched(monkeypatch, given):
    opened, real = [], Party.reveal

    async def reveal(self, value, **options):
        found = await real(self, value, **options)
        opened.append((self.name, self.count, options["because"], np.asarray(found).tolist()))
        return found

    with monkeypatch.context() as patch:
        patch.setattr(Party, "reveal", reveal)
        _, lengths = masked_frames(VerticalNetwork(ORDER), given, "dealer")
    return sorted(opened), [row for row in lengths if row[2] != "agree"]


def told_apart(monkeypatch):
    first, second = (watched(monkeypatch, columns(flips)) for flips in (4, 9))
    return first != second


def test_all_that_shows_is_the_network(monkeypatch):
    nets = [central(dict(zip(("p0", "p1"), columns(flips), strict=True)), ORDER)
            for flips in (4, 9)]
    assert nets[0] == nets[1]
    assert nets[0].parents == ((), ("a",), ())
    assert not told_apart(monkeypatch)


def test_a_score_that_is_opened_is_caught(monkeypatch):
    real = k2.scores

    async def leaking(party, parts, table):
        found = await real(party, parts, table)
        await party.reveal(found, because=PARENTS)
        return found

    monkeypatch.setattr(k2, "scores", leaking)
    assert told_apart(monkeypatch)


def test_leaving_out_what_is_empty_is_caught(monkeypatch):
    real = k2.log_factorials

    async def shorter(party, x, table):
        empty = await party.reveal(await party.less_than(x, 1), because=PARENTS)
        share = np.zeros(x.size, np.uint64)
        found = await real(party, x[~empty], table)
        share[~empty] = found.share
        return found.with_share(share)

    monkeypatch.setattr(k2, "log_factorials", shorter)
    nets = [watched(monkeypatch, columns(flips)) for flips in (0, 4)]
    assert nets[0] != nets[1]


def views(runs=3):
    found = []
    for _ in range(runs):
        frames, _ = masked_frames(VerticalNetwork(ORDER), columns(4), "dealer")
        words = np.concatenate([np.frombuffer(f, np.uint64) for f in frames if len(f) % 8 == 0
                                and len(f) >= 8 * 256])
        found.append(words[:64 * 16].reshape(16, 64))
    return np.array(found)


def test_masked_words_look_uniform():
    view = views()
    assert tell_apart(view, uniform_like(view)) > SUSPICIOUS


@pytest.mark.parametrize("name", ["left out", "32 bits", "one word for all"])
def test_broken_masks_are_caught(monkeypatch, name):
    for module in (sources, party_module):
        monkeypatch.setattr(module, "Stream", spoiled(BROKEN[name]))
    view = views()
    assert tell_apart(view, uniform_like(view)) < SUSPICIOUS


PARAMETERS = {"order": ["x0", "x1", "x2"], "site.x0": "north", "site.x1": "south",
              "site.x2": "north", "values.x0": 2, "values.x1": 3, "values.x2": 2}


@pytest.fixture(scope="module")
def members(tmp_path_factory):
    return members_in(tmp_path_factory.mktemp("people"))


def test_a_study_gives_the_network(members, tmp_path):
    study, task = study_of(members, "network", PARAMETERS)
    codes = dependent(50, (2, 3, 2), 3)
    sites, order = spread(codes, (2, 3, 2), (0, 1, 0))
    files = saved(tmp_path, [{"x0": codes[0].astype(str), "x2": codes[2].astype(str)},
                             {"x1": codes[1].astype(str)}])
    given = [*(task.load(path, study) for path in files), None]
    outputs = run_local(task.program(study), given, names=["north", "south", "east"])
    assert [net for net, _ in outputs] == [central(sites, order)] * 3
    plan = task.plan(study)
    assert plan.learns["east"] == [PARENTS, ROWS]
    assert plan.bytes > 0
    with pytest.raises(DataError, match="'x0' is there"):
        run_local(task.program(study), [given[1], given[0], None],
                  names=["north", "south", "east"])


@pytest.mark.parametrize(("change", "words"), [
    ({"order": ["x0"]}, "two or more"), ({"values.x1": 0}, "1 to 256"), ({"site.x1": 3}, "site.x1"),
    ({"colour": 2}, "no parameter 'colour'"), ({"max_parents": -1}, "max_parents"),
    ({"expected": 0}, "expected")])
def test_bad_parameters_are_refused(members, change, words):
    with pytest.raises(StudyError, match=words):
        study_of(members, "network", {**PARAMETERS, **change})


def test_plans_that_cannot_be_kept_are_refused(members):
    for mode, change in (("sums", {}), ("dealer", {"site.x0": "dora"})):
        study = Study("trial", "network", mode, members, {**PARAMETERS, **change})
        with pytest.raises(StudyError, match="nodes of"):
            task_of(study).plan(study)
