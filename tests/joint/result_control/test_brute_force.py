"""The verdicts of the control are those of trying all tiny data sets, for every task."""

from __future__ import annotations

import pytest

from support.brute_force import agrees, computed, tried
from support.tiny_benchmarks import BENCHMARK_WORLDS
from support.tiny_columns import COLUMN_WORLDS
from support.tiny_rows import ROWS_WORLDS
from unspoken.joint.tasks.task_list import all_tasks

WORLDS = {**ROWS_WORLDS, **{f"columns: {name}": world for name, world in COLUMN_WORLDS.items()},
          **BENCHMARK_WORLDS}


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_the_verdict_is_that_of_brute_force(name):
    world = WORLDS[name]
    verdicts, found = computed(world), tried(world)
    assert found
    for quantity, certainty in found.items():
        assert quantity in verdicts, f"no verdict on {quantity}"
        assert agrees(verdicts[quantity], certainty), (verdicts[quantity], certainty)


def test_every_task_is_tried():
    assert {world.task for world in WORLDS.values()} == set(all_tasks())


@pytest.mark.slow
@pytest.mark.parametrize("name", all_tasks())
def test_every_task_says_what_it_opens(name):
    assert all_tasks()[name].opens is not None
    worlds = [world for world in WORLDS.values() if world.task == name]
    assert any(computed(world) for world in worlds)
