"""Special uniques, k-map, delta-presence and weighted risk, each recomputed one by one."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import hyp2f1

import unspoken
from unspoken.errors import DataError, InputError
from unspoken.protect import OptimalRecoder
from unspoken.risk import anonymity


def people(seed, rows=60):
    rng = np.random.default_rng(seed)
    return pa.table({"a": rng.integers(0, 4, rows), "b": rng.choice([*"xyz"], rows),
                     "c": pa.array(rng.integers(0, 3, rows), mask=rng.random(rows) < 0.1),
                     "d": rng.integers(0, 9, rows), "w": rng.integers(2, 40, rows)})


def read(table):
    return unspoken.read(table, quasi=["a", "b", "c", "d"], show=False)


@pytest.mark.parametrize("seed", range(4))
def test_minimal_uniques_are_those_of_the_definition(seed):
    table = people(seed)
    names, rows = "abcd", table.to_pylist()
    scores, smallest = [], []
    for row in rows:
        alone = {chosen for size in (1, 2, 3) for chosen in itertools.combinations(names, size)
                 if sum(all(other[n] == row[n] for n in chosen) for other in rows) == 1}
        minimal = [one for one in alone
                   if not any(set(other) < set(one) for other in alone)]
        scores.append(sum({1: 6.0, 2: 2.0, 3: 1.0}[len(one)] for one in minimal))
        smallest.append(min(map(len, minimal), default=0))
    special = anonymity.special_uniques(read(table), most=3)
    assert special.scores.tolist() == scores
    assert special.smallest.tolist() == smallest
    assert sum(special.columns.values()) == pytest.approx(1.0)
    assert special.share == np.mean(np.array(smallest) > 0)
    assert "special uniques" in special.summary()


def test_what_special_uniques_cannot_do_is_refused():
    with pytest.raises(InputError, match="at least 1"):
        anonymity.special_uniques(read(people(0)), most=0)


@pytest.mark.parametrize("seed", range(3))
def test_presence_counts_the_population(seed):
    everybody = people(seed, 300)
    part = everybody.take(np.sort(np.random.default_rng(seed).choice(300, 80, replace=False)))
    within = anonymity.presence(read(part), read(everybody), ["a", "b"])
    inside, outside = (Counter((r["a"], r["b"]) for r in t.to_pylist()) for t in (part, everybody))
    assert within.k_map == min(outside[one] for one in inside)
    assert within.least == min(inside[one] / outside[one] for one in outside)
    assert within.greatest == max(inside[one] / outside[one] for one in outside)
    with pytest.raises(DataError, match="part of the population"):
        anonymity.presence(read(everybody), read(part), ["a", "b"])


def test_weights_say_how_many_people_a_record_stands_for():
    table = people(1)
    risk = anonymity.weighted_risk(read(table), "w", ["a", "b"])
    rows = table.to_pylist()
    for at in (0, 7, 31):
        mine = [r for r in rows if (r["a"], r["b"]) == (rows[at]["a"], rows[at]["b"])]
        f, share = len(mine), len(mine) / sum(r["w"] for r in mine)
        assert risk[at] == pytest.approx(share**f / f * hyp2f1(f, f, f + 1, 1 - share))
    with pytest.raises(DataError, match="at least 1"):
        anonymity.weighted_risk(read(table.set_column(4, "w", pa.array([0.5] * 60))), "w", ["a"])


@pytest.mark.slow
@pytest.mark.parametrize("asked", [{"k_map": 12}, {"delta": 0.4}, {"k_map": 9, "delta": 0.5}])
@pytest.mark.parametrize("spare", [0.0, 0.1])
def test_the_lattice_search_is_that_of_all_nodes(asked, spare):
    """Exhaustive: every combination of levels, every class counted anew."""
    everybody = people(5, 240)
    part = everybody.take(np.sort(np.random.default_rng(5).choice(240, 80, replace=False)))
    names = ["a", "b", "d"]
    method = OptimalRecoder(2, columns=names, others="drop", suppression=spare,
                            population=read(everybody), **asked)
    release, _ = method.protect(read(part))
    trees = method.hierarchies_

    def labels(table, node):
        columns = []
        for name, level in zip(names, node, strict=True):
            texts = [None if v is None else str(v) for v in table[name].to_pylist()]
            place = {row[0]: row for row in trees[name].rows}
            columns.append([place[t][level] if level < len(place[t]) else "*" for t in texts])
        return list(zip(*columns, strict=True))

    def fits(node):
        inside, outside = Counter(labels(part, node)), Counter(labels(everybody, node))
        bad = [one for one, count in inside.items()
               if count < 2 or outside[one] < asked.get("k_map", 1)
               or count > asked.get("delta", 1.0) * outside[one]]
        return sum(inside[one] for one in bad) <= int(spare * 80)

    nodes = itertools.product(*(range(trees[name].levels + 1) for name in names))
    good = [node for node in nodes if fits(node)]
    assert method.optimum_.node in good
    facts = release.guarantee.facts
    assert facts["k_map"] >= asked.get("k_map", 1)
    assert facts["greatest_presence"] <= asked.get("delta", 1.0)
    shown = Counter(labels(everybody, method.optimum_.node))
    kept = {labels(part, method.optimum_.node)[row] for row in method.rows_.tolist()}
    assert min(shown[one] for one in kept) == facts["k_map"]


def test_demands_on_a_population_need_one():
    with pytest.raises(InputError, match="drawn from"):
        OptimalRecoder(2, k_map=5, others="drop").protect(read(people(0)))
