"""What parties see of a hidden tree follows from public sizes: simulation, and mutants of it."""

from __future__ import annotations

import numpy as np
import pytest

from support.broken_streams import BROKEN, spoiled
from support.distinguisher import SUSPICIOUS, tell_apart, uniform_like
from support.everywhere import replace_everywhere
from support.hidden_tree_sites import NAMES, RULES, SHAPE, sites_of
from support.mining_views import masked_words, watched
from unspoken.joint import reveal, run_local
from unspoken.joint.joint_errors import DisclosureError
from unspoken.joint.mpc import party as party_module
from unspoken.joint.mpc.correlated import sources
from unspoken.joint.mpc.ops import sharing
from unspoken.joint.tasks.classify.program_columns import PREDICTED
from unspoken.joint.tasks.common.aligned_records import ROWS
from unspoken.joint.tasks.tree import (
    column_steps as vertical_growing,
)
from unspoken.joint.tasks.tree import (
    hidden_steps as hidden_growing,
)
from unspoken.joint.tasks.tree.hidden_program import (
    ClassifyHidden,
    HiddenTree,
    mine_tree_hidden,
)
from unspoken.joint.tasks.tree.hidden_steps import HiddenGrowing

pytestmark = pytest.mark.slow

TREE = HiddenTree(SHAPE, RULES)


def told_apart(program=TREE):
    """Say whether two studies of the same public sizes look different to somebody."""
    first, second = (watched(program, sites_of(kind)) for kind in ("pure", "split"))
    return first != second


def test_all_that_shows_follows_from_public_sizes():
    assert not told_apart()
    opened, lengths = watched(TREE, sites_of("split"))
    assert opened == []
    assert lengths


@pytest.mark.parametrize("mode", ["two-party", "three-party"])
def test_in_other_modes_too(mode):
    if mode == "two-party":
        pytest.importorskip("rbcl")
    first, second = (watched(TREE, sites_of(kind), mode) for kind in ("pure", "split"))
    assert first == second


def parts_of(kind):
    sites = dict(zip(NAMES, sites_of(kind), strict=True))
    return mine_tree_hidden(sites, SHAPE, RULES)[0]


def test_classifying_shows_the_class_alone():
    parts = {kind: parts_of(kind) for kind in ("pure", "split")}
    # Two records that both trees take for "n".
    new = {"a": np.array(["x", "x"], object), "b": np.array(["x", "y"], object),
           "c": np.array(["x", "y"], object), "n": np.array([1.0, 30.0])}
    first, second = (watched(ClassifyHidden(["p2"]), [(parts[kind][name], new) for name in NAMES])
                     for kind in ("pure", "split"))
    assert first == second
    assert {(name, because) for name, _, because, shown in first[0] if shown != "None"} == {
        ("p2", PREDICTED)}


# Mutants.

class OnlyGrowing(HiddenTree):
    """Grows as it is told to, and keeps nothing."""

    async def __call__(self, party, data):
        codes, labels, rows = await self._same_rows(party, self._own(party, data))
        await HiddenGrowing(party, self.shape, self.rules, rows).grow(codes, labels)


GROWING = OnlyGrowing(SHAPE, RULES)


def test_a_question_that_is_opened_is_caught(monkeypatch):
    real = hidden_growing.hot_greatest

    async def leaking(party, values, size=None, least=1):
        hot = await real(party, values, size, least)
        await reveal(party, hot, because=ROWS)
        return hot

    monkeypatch.setattr(hidden_growing, "hot_greatest", leaking)
    assert told_apart()


def test_a_stop_that_is_opened_is_caught(monkeypatch):
    real = HiddenGrowing._chosen

    async def leaking(self, counts):
        hot = await real(self, counts)
        await reveal(self.party, self.alive[-1], because=ROWS)
        return hot

    monkeypatch.setattr(HiddenGrowing, "_chosen", leaking)
    assert told_apart()


@pytest.mark.parametrize("because", ["the class of every leaf", PREDICTED])
def test_what_was_not_declared_is_not_opened(monkeypatch, because):
    real = hidden_growing.classes

    async def leaking(party, counts, parents):
        found = await real(party, counts, parents)
        await reveal(party, found, because=because)
        return found

    monkeypatch.setattr(hidden_growing, "classes", leaking)
    with pytest.raises(DisclosureError):
        run_local(TREE, sites_of("split"), names=NAMES)


def test_sharing_only_the_questions_that_are_used_is_caught(monkeypatch):
    real = HiddenGrowing.begin

    def used_in(kind):
        async def begin(self, codes, labels):
            await real(self, codes, labels)
            used = [slot for place, site in enumerate(sites_of(kind))
                    for slot in range(2 * place, 2 * place + len(site.questions))]
            self.answers = self.answers[used]
            self.first = np.arange(len(used) + 1) * 2

        return begin

    views = []
    for kind in ("pure", "split"):
        monkeypatch.setattr(HiddenGrowing, "begin", used_in(kind))
        views.append(watched(GROWING, sites_of(kind)))
    assert views[0][0] == views[1][0]
    assert views[0][1] != views[1][1]


def test_leaving_out_levels_without_records_is_caught(monkeypatch):
    # A short cut: where the class site sees one class only, nothing is tested.
    def tested(self):
        return real(self) and not (pure and self.depth)

    real = vertical_growing.Growing.tested
    monkeypatch.setattr(HiddenGrowing, "tested", tested)
    views = []
    for pure in (True, False):
        views.append(watched(GROWING, sites_of("pure" if pure else "split")))
    assert views[0] != views[1]
    monkeypatch.undo()
    assert not told_apart(GROWING)


def test_a_class_sent_to_all_is_refused(monkeypatch):
    real, parts = sharing.reveal, parts_of("split")

    async def loud(party, value, *, because, to=()):
        return await real(party, value, because=because)

    replace_everywhere(monkeypatch, real, loud)
    records = sites_of("split")[0].columns
    with pytest.raises(DisclosureError):
        run_local(ClassifyHidden(["p2"]), [(parts[name], records) for name in NAMES], names=NAMES)


# Masked words.

def views():
    return masked_words(TREE, sites_of("split"), 16, 60)


def test_masked_words_look_uniform():
    view = views()
    assert tell_apart(view, uniform_like(view)) > SUSPICIOUS


@pytest.mark.parametrize("name", ["left out", "32 bits", "one word for all"])
def test_broken_masks_are_caught(monkeypatch, name):
    for module in (sources, party_module):
        monkeypatch.setattr(module, "Stream", spoiled(BROKEN[name]))
    view = views()
    assert tell_apart(view, uniform_like(view)) < SUSPICIOUS
