"""Exact mining against counting every subset, and against two other programs."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unspoken
from unspoken.numerics import (
    frequent_sets as frequent,
)
from unspoken.numerics import (
    packed_bits as bitmaps,
)
from unspoken.numerics import (
    pair_counting as pairs,
)


def by_hand(lists, least, longest):
    found = Counter(one for basket in lists for k in range(1, longest + 1)
                    for one in itertools.combinations(sorted(basket), k))
    return {one: n for one, n in found.items() if n >= least}


def mined(lists, least, longest, items=12):
    baskets = unspoken.Baskets.of(lists, items=range(items))
    levels = frequent.frequent(baskets.offsets, baskets.codes, items, least, longest)
    for sets, _ in levels:
        assert sets.tolist() == sorted(sets.tolist())
    return {tuple(one): n for sets, counts in levels
            for one, n in zip(sets.tolist(), counts.tolist(), strict=True)}


@pytest.mark.slow
@given(st.lists(st.sets(st.integers(0, 11), max_size=8), max_size=40), st.integers(1, 6),
       st.integers(1, 6), st.sampled_from([0.0, 0.5, 1e9]), st.booleans())
def test_all_ways_of_counting_give_all_frequent_sets(lists, least, longest, cost, small):
    saved = frequent.WORD_COST, frequent.PAIR_COST, frequent.BLOCK, frequent.ENTRIES, pairs.DENSE
    frequent.WORD_COST = frequent.PAIR_COST = cost
    if small:
        frequent.BLOCK, frequent.ENTRIES, pairs.DENSE = 3, 16, 0
    try:
        assert mined(lists, least, longest) == by_hand(lists, least, longest)
    finally:
        (frequent.WORD_COST, frequent.PAIR_COST, frequent.BLOCK, frequent.ENTRIES,
         pairs.DENSE) = saved


@pytest.mark.parametrize("cost", [0.0, 1e9])
def test_deep_levels_with_rare_sets_between_frequent_ones(monkeypatch, cost):
    rng = np.random.default_rng(5)
    lists = [np.flatnonzero(rng.random(11) < 0.6).tolist() for _ in range(200)]
    monkeypatch.setattr(frequent, "WORD_COST", cost)
    true = by_hand(lists, 25, 11)
    assert max(len(one) for one in true) >= 4
    assert len(true) < sum(len(list(itertools.combinations(range(11), k))) for k in (1, 2, 3, 4))
    assert mined(lists, 25, 11, 11) == true


def test_bits_are_counted_alike_by_table_and_by_instruction():
    words = np.random.default_rng(0).integers(0, 2**63, (5, 7), dtype=np.uint64)
    true = [sum(bin(int(w)).count("1") for w in row) for row in words]
    assert bitmaps._by_table(words).tolist() == true
    assert bitmaps.bit_counts(words).tolist() == true


def test_pairs_are_counted_alike_by_keys_and_by_bits():
    rng = np.random.default_rng(2)
    baskets = unspoken.Baskets.of([rng.choice(9, rng.integers(0, 8), replace=False).tolist()
                                for _ in range(200)], items=range(9))
    keys, counts = pairs.count_pairs(baskets.offsets, baskets.codes, 9)
    table = pairs.pairs_by_bits(baskets.bitmaps())
    assert table[keys // 9, keys % 9].tolist() == counts.tolist()
    assert np.triu(table, 1).sum() == counts.sum()
    assert np.diag(table).tolist() == baskets.frequencies().tolist()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "support", "count"), [
    ("retail.dat.gz", 0.001, 7589), ("T10I4D100K.dat.gz", 0.001, 27532)])
def test_known_numbers_of_itemsets(shared, name, support, count):
    """Counted once with mlxtend 0.25 (fpgrowth) and efficient-apriori 2.0.6 (max_length=20)."""
    found = unspoken.mine.itemsets(unspoken.read_baskets(shared(name)), support)
    assert len(found) == count
    assert found.supports.min() >= support


@pytest.mark.slow
def test_groceries_agree_with_two_other_programs(shared):
    efficient_apriori = pytest.importorskip("efficient_apriori")
    frequent_patterns = pytest.importorskip("mlxtend.frequent_patterns")
    pandas = pytest.importorskip("pandas")
    baskets = unspoken.read_baskets(shared("groceries.csv.gz"))
    found = {tuple(sorted(names)): support for names, support in unspoken.mine.itemsets(baskets,
                                                                                        0.01)}
    theirs, _ = efficient_apriori.itemsets_from_transactions(
        [tuple(one) for one in baskets.lists()], 0.01)
    apriori = {tuple(sorted(one)): n / len(baskets) for level in theirs.values()
               for one, n in level.items()}
    flags = np.zeros((len(baskets), len(baskets.items)), bool)
    flags[baskets.rows, baskets.codes] = True
    frame = pandas.DataFrame(flags, columns=list(baskets.items))
    grown = frequent_patterns.fpgrowth(frame, 0.01, use_colnames=True)
    fpgrowth = {tuple(sorted(one)): s for one, s in zip(grown["itemsets"], grown["support"],
                                                        strict=True)}
    assert found == pytest.approx(apriori, abs=0)
    assert found == pytest.approx(fpgrowth, abs=1e-15)
