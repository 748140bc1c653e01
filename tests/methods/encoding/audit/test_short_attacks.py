"""On census data the audit finds at least as much as an attack of twenty lines."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest

import unspoken
from unspoken.disclosure.adversary import View
from unspoken.disclosure.ground_truth import truths_of
from unspoken.disclosure.knowledge import Knowledge
from unspoken.disclosure.measures import both_shares, is_recovered
from unspoken.methods.encoding.adversaries.monotone_alignment import MonotoneAlignment
from unspoken.methods.encoding.adversaries.quantile_matching import QuantileMatching
from unspoken.protect import PiecewiseEncoder
from unspoken.risk import audit

pytestmark = pytest.mark.slow

NUMBERS = ["age", "education-num", "hours-per-week"]
LABELS = ["workclass", "education", "marital-status", "occupation", "relationship", "race", "sex",
          "native-country"]


@pytest.fixture(scope="module")
def census(shared):
    """Half of the census is released, the other half are outsiders."""
    data = pq.read_table(shared("adult_data.parquet"))
    order = np.random.default_rng(0).permutation(data.num_rows)
    cut = data.num_rows // 2
    inside, outside = data.take(order[:cut]), data.take(order[cut:])
    table = unspoken.read(inside.select([*NUMBERS, *LABELS, "income"]), target="income",
                          show=False)
    release, key = PiecewiseEncoder(random_state=1, categorical="relabel").protect(table)
    return inside, outside, table, release, key


@pytest.fixture(scope="module")
def audited(census):
    _, outside, table, release, key = census
    sample = unspoken.read(outside, target="income", show=False)
    return audit(table, release, key, sample=sample, trials=5, random_state=0, subspaces=1,
                 adversaries=["alignment", "quantile", "category-frequencies", "category-pairs",
                              "singling-out"])


def by_rank_of_frequency(released, outside, labels):
    """Match labels with categories by the rank of their frequencies; return who is hit."""
    seen, counts = np.unique(released, return_counts=True)
    known, often = np.unique(outside, return_counts=True)
    order = zip(seen[np.argsort(-counts)], known[np.argsort(-often)], strict=False)
    return sum(counts[list(seen).index(label)] for label, category in order
               if labels.get(category) == label) / released.size


@pytest.mark.parametrize("name", LABELS)
def test_frequencies_of_labels(census, audited, name):
    _, outside, _, release, key = census
    released = np.array(release.table.arrow([name])[name].to_pylist())
    short = by_rank_of_frequency(released, np.array(outside[name].to_pylist()),
                                 key.secrets["categories"][name]["labels"])
    found = audited.worst(name, "records")
    assert found.value >= short
    assert found.value > found.baseline


@pytest.mark.parametrize("name", NUMBERS)
def test_quantiles_of_codes(census, audited, name):
    inside, outside, _, _, _ = census
    truth = np.sort(inside[name].to_numpy())
    guess = np.quantile(outside[name].to_numpy(), (np.arange(truth.size) + 0.5) / truth.size,
                        method="nearest")
    short = np.mean(guess == truth)
    assert audited.worst(name, "exact records").value >= short


def test_alignment_reads_ages_with_400_outsiders(census):
    _, outside, table, release, key = census
    view = View.of(release)
    truth = truths_of(table, release, view, key).columns["age"]
    drawn = outside["age"].to_numpy()[: 400 * 21].reshape(21, 400).astype(float)
    known = Knowledge("sample", 0.0, (17.0, 90.0), sample=np.sort(drawn, axis=1))
    rng = np.random.default_rng(0)
    exact = {one.name: np.median(both_shares(
                 is_recovered(one.guess(view, "age", known, rng), truth, 0.0), truth)[1])
             for one in (QuantileMatching(), MonotoneAlignment())}
    assert exact["alignment"] >= 0.99
    assert exact["quantile"] < 0.7


def linked_by_ranks(census, people, columns):
    """Link people to the only released record nearest in rank over some columns; return hits."""
    inside, outside, _, release, key = census
    order = key_order(release, key)
    near = np.zeros((people.size, inside.num_rows))
    for name in columns:
        codes = release.table.numbers([name])[:, 0]
        rank = (np.searchsorted(np.sort(codes), codes, "left")
                + np.searchsorted(np.sort(codes), codes, "right")) / 2 / codes.size
        known, facts = np.sort(outside[name].to_numpy()), inside[name].to_numpy()[people]
        wanted = (np.searchsorted(known, facts, "left")
                  + np.searchsorted(known, facts, "right")) / 2 / known.size
        near += np.abs(rank - wanted[:, None])
    best = near.argmin(axis=1)
    alone = (near <= near.min(axis=1, keepdims=True) + 1e-12).sum(axis=1) == 1
    return float(np.mean(alone & (order[best] == people)))


def key_order(release, key):
    from unspoken.methods.encoding.code_book import PiecewiseBook

    return PiecewiseBook.from_key(key).order(release.table.rows)


def test_near_unique_records_are_linked(census, audited):
    people = np.random.default_rng(3).choice(census[0].num_rows, 200, replace=False)
    short = linked_by_ranks(census, people, NUMBERS)
    found = audited.worst(measure="identified")
    assert found.value >= short
    right = audited.worst(measure="claims right")
    assert right.low > 0.5
    out = max(audited.select(measure="singled out"), key=lambda row: row.value)
    assert out.value > out.baseline
    assert "singled out" in audited.summary()
