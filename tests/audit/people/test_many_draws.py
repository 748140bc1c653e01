"""The short attacks on other draws and other tables: the audit finds at least as much in each."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from support.coded_tables import TABLES, coded
from unspoken.audit.people.facts import Attacked
from unspoken.audit.people.linking import linking, person_risks
from unspoken.audit.people.read_columns import read_tables
from unspoken.table.read import read

pytestmark = pytest.mark.slow

DRAWS = [("farms", 9, 1500), ("farms", 22, 400), ("farms", 28, 400), ("patients", 1, 400),
         ("patients", 25, 400), ("patients", 21, 1500), ("cars", 1, 400), ("cars", 6, 1500),
         ("cars", 10, 400), ("cars", 26, 3000)]


def ranks(values, known):
    known = np.sort(known)
    return (np.searchsorted(known, values, "left") + np.searchsorted(known, values, "right")) / (
        2 * known.size)


def drawn(name, seed, rows):
    inside, outside = (TABLES[name](rows, 10 * seed + one) for one in (1, 2))
    release, order, falling = coded(inside, seed)
    reading = read_tables(*(read(pa.table(one), show=False) for one in (inside, release, outside)))
    return inside, outside, release, order, falling, reading


@pytest.fixture(scope="module", params=DRAWS, ids=lambda one: f"{one[0]}-{one[1]}")
def draw(request):
    return drawn(*request.param)


@pytest.mark.parametrize("with_parish", [False, True])
def test_joint_ranks_and_near_unique_rows(draw, with_parish):
    """Who knows all numbers, and in which direction codes run, links by ranks."""
    inside, outside, release, order, falling, reading = draw
    numbers = [n for n, v in inside.items() if v.dtype.kind in "if" and n != "parish"]
    known = (*numbers, *(["parish"] if with_parish else []))
    attacked = Attacked(reading, known, reading.names, 0.02, b"s" * 32, 200)
    persons = person_risks(attacked)
    people = persons.records
    near = np.where(release["parish"] == inside["parish"][people][:, None], 0.0, 9.0) \
        if with_parish else np.zeros((people.size, order.size))
    for name in numbers:
        sign = -1 if name in falling else 1
        near += np.abs(ranks(sign * release[name], sign * release[name])
                       - ranks(inside[name][people], outside[name])[:, None])
    short = float(np.mean(order[near.argmin(axis=1)] == people))
    assert short > 0.1
    assert max(one.value for one in linking(attacked, persons)) >= short


def test_frequencies_of_labels(draw):
    """Where it succeeds; of equally frequent makes frequencies tell nothing but by luck."""
    inside, outside, release, order, _, reading = draw
    name = next(n for n, values in inside.items() if values.dtype.kind not in "if")
    seen, counts = np.unique(release[name], return_counts=True)
    there, often = np.unique(outside[name], return_counts=True)
    named = dict(zip(seen[np.argsort(-counts, kind="stable")],
                     there[np.argsort(-often, kind="stable")], strict=True))
    short = np.mean([named[label] == value
                     for label, value in zip(release[name], inside[name][order], strict=True)])
    reads = reading.scales[name].reads[reading.release.columns[name].codes]
    assert name == "make" or short > 0.5
    assert short < 0.5 or np.mean(reads == reading.original.columns[name].codes[order]) >= short


def test_every_direction_is_found(draw):
    *_, falling, reading = draw
    ways = {name: how for name, how in reading.how.items() if how.startswith("by rank")}
    assert {name for name, how in ways.items() if "falling" in how} == set(falling)
