"""The experiment on rules in small: choosing baskets with care loses fewer rules."""

from __future__ import annotations

import numpy as np
import pytest

import unspoken
from unspoken_experiments.vcz2006 import rules as experiment

pytestmark = pytest.mark.slow


def shop(people=600):
    rng = np.random.default_rng(3)
    names = (*experiment.SMALL, *experiment.KNOWN)
    rows = []
    for _ in range(people):
        kind = rng.random(3) < 0.5
        odds = np.repeat(0.15, len(names))
        odds[:4] += 0.45 * kind[0]
        odds[4:6] += 0.5 * kind[1]
        odds[6:] += 0.5 * kind[2]
        rows.append([n for n, hit in zip(names, rng.random(len(names)) < odds, strict=True) if hit])
    return unspoken.Baskets.of(rows, names)


def cells(lines):
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines][2:]


def test_hiding_with_care_costs_no_more_cells_and_fewer_rules():
    table = cells(experiment.hiding(shop(), experiment.TARGETS, 0.02, 0.3))
    assert [row[:2] for row in table[:3]] == [["removal", "least harm"], ["removal", "shortest"],
                                              ["removal", "random"]]
    for by in range(0, 9, 3):
        ours, chance = table[by], table[by + 2]
        assert int(ours[2]) > 0
        assert int(ours[2]) <= 1.1 * int(chance[2])
    assert int(table[0][3]) <= int(table[2][3])


def test_compatible_data_sets_grow_with_what_is_left_out():
    lines = list(experiment.shares(shop(), 10, 200))
    table = cells(lines[1:])
    counts = [float(row[1]) for row in table]
    assert counts[0] <= counts[1] <= counts[2]


def test_the_other_tables_are_whole():
    told = list(experiment.risks(shop(), 0.02, 0.3))
    assert "rules disclose something private" in told[1]
    deduced = cells(experiment.deduced(shop(), 0.02, 0.3))
    assert [row[0] for row in deduced] == ["partial", "complete"]
