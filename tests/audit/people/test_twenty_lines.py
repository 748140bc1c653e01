"""Where an attack of twenty lines succeeds on a table of another tool, the audit finds as much."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from support.coded_tables import CROPS, farms
from unspoken.audit.people.audit_people import audit_table
from unspoken.audit.people.read_columns import read_tables
from unspoken.disclosure.people_risk import LINKED
from unspoken.table.read import read


@pytest.fixture(scope="module")
def released():
    """Return inside, outside, and a release: codes that rise or fall, labels, another order."""
    inside, outside = farms(1500, 1), farms(1500, 2)
    order = np.random.default_rng(3).permutation(1500)
    names = np.random.default_rng(4).permutation(len(CROPS))
    codes = {"area": np.sqrt(inside["area"]) + 40, "cows": -2.5 * inside["cows"] - 7,
             "tons": inside["tons"] ** 1.7, "parish": inside["parish"],
             "crop": np.array([f"k{names[CROPS.index(crop)]}" for crop in inside["crop"]])}
    return inside, outside, {name: values[order] for name, values in codes.items()}, order


@pytest.fixture(scope="module")
def audited(released):
    inside, outside, release, _ = released
    return audit_table(*(read(pa.table(one), show=False) for one in (release, inside, outside)),
                       known=["area", "cows", "tons", "parish"], people=300, random_state=0)


def test_frequency_matching_with_a_disjoint_sample(released):
    inside, outside, release, order = released
    seen, counts = np.unique(release["crop"], return_counts=True)
    known, often = np.unique(outside["crop"], return_counts=True)
    named = dict(zip(seen[np.argsort(-counts)], known[np.argsort(-often)], strict=True))
    short = np.mean([named[label] == crop for label, crop in
                     zip(release["crop"], inside["crop"][order], strict=True)])
    reading = read_tables(*(read(pa.table(one), show=False)
                            for one in (inside, release, outside)))
    reads = reading.scales["crop"].reads[reading.release.columns["crop"].codes]
    audit = np.mean(reads == reading.original.columns["crop"].codes[order])
    assert short > 0.5
    assert audit >= short


def ranks(values, known):
    """Return the place of values among known ones, between 0 and 1."""
    known = np.sort(known)
    return (np.searchsorted(known, values, "left") + np.searchsorted(known, values, "right")) / (
        2 * known.size)


def linked(released, people, columns, turned=()):
    """Link people by ranks over some columns; return the share found."""
    inside, outside, release, order = released
    near = np.zeros((people.size, order.size))
    for name in columns:
        there = ranks(release[name], release[name])
        there = 1 - there if name in turned else there
        near += np.abs(there - ranks(inside[name][people], outside[name])[:, None])
    return float(np.mean(order[near.argmin(axis=1)] == people))


@pytest.mark.slow
def test_joint_rank_matching(released, audited):
    people = np.random.default_rng(5).choice(1500, 300, replace=False)
    short = linked(released, people, ["area", "cows", "tons"], turned=("cows",))
    found = audited.people.worst(LINKED)
    assert audited.people.read["cows"] == "by rank, falling"
    assert short > 0.05
    assert found.value >= short


@pytest.mark.slow
def test_linking_of_near_unique_rows(released, audited):
    """Parish is kept as it is: whoever knows it beside three ranks finds nearly everybody."""
    inside, outside, release, order = released
    people = audited.people.persons.records
    near = np.where(release["parish"] == inside["parish"][people][:, None], 0.0, 9.0)
    for name, sign in (("area", 1), ("cows", -1), ("tons", 1)):
        near += np.abs(ranks(sign * release[name], sign * release[name])
                       - ranks(inside[name][people], outside[name])[:, None])
    short = np.mean(order[near.argmin(axis=1)] == people)
    found = audited.people.worst(LINKED)
    assert short > 0.5
    assert found.value >= short
