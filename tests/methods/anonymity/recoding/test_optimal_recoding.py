"""The optimum of the lattice is the optimum: exhaustive search by another program agrees."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pycanon import anonymity as pycanon

import unspoken
from unspoken.errors import DataError, InputError, UnspokenError
from unspoken.methods.anonymity.hierarchy_builders import build_hierarchy
from unspoken.methods.anonymity.measures import measure
from unspoken.methods.anonymity.method import LOSSES
from unspoken.methods.anonymity.recoding.optimal_recoding import OptimalRecoder
from unspoken.protect import Generalizer
from unspoken.risk import audit

CITIES = ["Aachen", "Bonn", "Celle", "Dresden", "Emden"]


def people(seed, rows=150, gaps=0.04):
    """Return a table with ties, missing values, sometimes a constant column and one class."""
    rng = np.random.default_rng(seed)
    age = [None if rng.random() < gaps else int(v) for v in rng.integers(20, 52, rows)]
    city = [None if rng.random() < gaps else str(v) for v in rng.choice(CITIES, rows)]
    child = rng.integers(0, 1 if seed % 7 == 0 else 3, rows)
    ill = [None if rng.random() < 2 * gaps else str(v)
           for v in rng.choice(["flu", "cold", "HIV"], rows, p=[0.5, 0.3, 0.2])]
    y = rng.integers(0, 1 if seed % 5 == 0 else 2, rows)
    return unspoken.read(pa.table({"age": pa.array(age), "city": pa.array(city), "child": child,
                                   "ill": pa.array(ill), "y": y}),
                         target="y", quasi=["age", "city", "child"], sensitive="ill", show=False)


def trees(table):
    rows = table.arrow()
    return {"age": build_hierarchy(rows["age"], "steps", steps=[4, 8, 16]),
            "city": build_hierarchy(rows["city"], "frequency"),
            "child": build_hierarchy(rows["child"], "flat")}


class Exhaustive:
    """Every node of a lattice, record by record, in plain Python."""

    def __init__(self, table, hierarchies):
        self.rows = table.arrow().to_pylist()
        self.trees = hierarchies
        self.to = {n: {row[0]: row for row in tree.rows} for n, tree in hierarchies.items()}
        self.single = {n: [len({row[i] for row in tree.rows}) == 1 and i > 0
                           for i in range(tree.levels + 1)] for n, tree in hierarchies.items()}

    def label(self, name, value, level):
        if value is None:
            return "*" if self.single[name][level] else None
        return self.to[name][str(value)][level]

    def groups(self, node):
        out = defaultdict(list)
        for row in self.rows:
            out[tuple(self.label(n, row[n], v) for n, v in zip(self.trees, node, strict=True))
                ].append(row)
        return out

    def best(self, asked, spare, loss):
        nodes = itertools.product(*(range(t.levels + 1) for t in self.trees.values()))
        costs = [self.cost(node, asked, spare, loss) for node in nodes]
        return min((cost for cost in costs if cost is not None), default=None)

    def cost(self, node, asked, spare, loss):
        kept, out = [], []
        for key, rows in self.groups(node).items():
            (kept if asked(rows) else out).append((key, rows))
        if sum(len(rows) for _, rows in out) > spare:
            return None
        return getattr(self, loss)(node, kept, [row for _, rows in out for row in rows])

    def discernibility(self, node, kept, out):
        return sum(len(rows) ** 2 for _, rows in kept) + len(out) * len(self.rows)

    def loss(self, node, kept, out):
        total = len(out) * len(self.trees)
        for key, rows in kept:
            total += len(rows) * sum(self.covered(n, label, level) for n, label, level in
                                     zip(self.trees, key, node, strict=True))
        return total / len(self.rows) / len(self.trees)

    def covered(self, name, label, level):
        if self.single[name][level]:
            return 1.0
        below = [row[0] for row in self.trees[name].rows if row[level] == label]
        if name in ("age", "child"):
            numbers = [row[name] for row in self.rows if row[name] is not None]
            mine = [v for v in numbers if str(v) in below]
            wide = max(numbers) - min(numbers)
            return (max(mine) - min(mine)) / wide if mine and wide else 0.0
        return max(len(below) - 1, 0) / max(len(self.trees[name].rows) - 1, 1)

    def entropy(self, node, kept, out):
        bits = 0.0
        for n, level in zip(self.trees, node, strict=True):
            was = Counter(row[n] for row in self.rows)
            now = Counter(self.label(n, row[n], level) for row in self.rows)
            bits += sum(math.log2(now[self.label(n, row[n], level)] / was[row[n]])
                        for _, rows in kept for row in rows)
            bits += sum(math.log2(len(self.rows) / was[row[n]]) for row in out)
        return bits / len(self.rows) / len(self.trees)

    def __getattr__(self, name):
        assert name == "class"

        def misjudged(node, kept, out):
            wrong = sum(len(rows) - max(Counter(row["y"] for row in rows).values())
                        for _, rows in kept)
            return (wrong + len(out)) / len(self.rows)

        return misjudged


def asks(k, ell=None):
    def fine(rows):
        known = [row["ill"] for row in rows if row["ill"] is not None]
        return len(rows) >= k and (ell is None or len(set(known)) >= ell)

    return fine


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(50))
def test_exhaustive_search_agrees(seed):
    table = people(seed)
    hierarchies = trees(table)
    loss, k = LOSSES[seed % 4], 2 + seed % 6
    ell = 2 if seed % 3 == 0 else None
    share = (0.0, 0.02, 0.1)[seed % 5 % 3]
    wanted = Exhaustive(table, hierarchies).best(asks(k, ell), int(share * table.rows), loss)
    method = OptimalRecoder(k, l=ell, hierarchies=hierarchies, loss=loss, suppression=share)
    if wanted is None:
        with pytest.raises(DataError, match="even the highest levels"):
            method.protect(table)
        return
    release, _ = method.protect(table)
    assert method.optimum_.cost == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    assert release.guarantee.verify(release.table)
    assert table.rows - release.table.rows == method.optimum_.left_out <= share * table.rows


ASKED = [{"l": 2, "diversity": form} for form in ("distinct", "entropy", "recursive", "strong")]


@pytest.mark.slow
@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("asked", [{}, *ASKED, {"t": 0.35}, {"l": 2, "t": 0.5}])
def test_what_is_asked_for_holds_by_our_measure_and_by_pycanon(asked, local):
    table = people(3, rows=300, gaps=0.0)
    release, _ = OptimalRecoder(4, local=local, suppression=0.05, **asked).protect(table)
    rows = pd.DataFrame(release.table.arrow().to_pandas()).astype(str)
    quasi = ["age", "city", "child"]
    assert pycanon.k_anonymity(rows, quasi) >= 4
    if "l" in asked and asked.get("diversity", "distinct") == "distinct":
        assert pycanon.l_diversity(rows, quasi, ["ill"]) >= 2
    assert measure(release).k >= 4
    assert release.guarantee.verify(release.table)


def test_cutting_further_loses_less():
    table = people(2, rows=400)
    plain, local = (OptimalRecoder(4, local=way) for way in (False, True))
    plain.protect(table)
    release, _ = local.protect(table)
    assert np.unique(local.owner_).size > np.unique(plain.owner_).size
    assert measure(release).k >= 4
    assert (local.owner_ < 0).sum() == (plain.owner_ < 0).sum()


def test_far_fewer_nodes_are_looked_at_than_there_are():
    table = people(1, rows=600)
    method = OptimalRecoder(5)
    method.protect(table)
    assert method.optimum_.looked_at < method.optimum_.nodes
    assert set(method.hierarchies_) == {"age", "city", "child"}


@pytest.mark.slow
def test_hierarchies_that_are_built_leave_a_lattice_that_can_be_searched():
    rng = np.random.default_rng(0)
    columns = {f"c{i}": rng.integers(0, 1000, 300) for i in range(9)}
    table = unspoken.read(pa.table(columns), quasi=list(columns), show=False)
    method = OptimalRecoder(5)
    release, _ = method.protect(table)
    assert 1000 < method.optimum_.nodes <= 50_000
    assert all(tree.rows[0][-1] == "*" for tree in method.hierarchies_.values())
    assert measure(release).k >= 5


@pytest.mark.slow
def test_an_audit_finds_no_smaller_class():
    table = people(4, rows=200)
    release, key = OptimalRecoder(5).protect(table)
    assert audit(table, release, key, trials=2, random_state=0).select(measure="k")[0].value >= 5


def test_rows_are_shuffled():
    table = people(6, rows=400, gaps=0.0)
    method = OptimalRecoder(3)
    release, _ = method.protect(table)
    other, _ = OptimalRecoder(3, shuffle_rows=False).protect(table)
    mine, theirs = (one.table.arrow()["y"].to_pylist() for one in (release, other))
    assert mine != theirs
    assert sorted(mine) == sorted(theirs)


def test_a_table_that_would_stay_as_it_is_is_refused():
    table = unspoken.read(pa.table({"a": ["u", "v"] * 20, "s": ["x", "y"] * 20}), quasi=["a"],
                          sensitive="s", show=False)
    with pytest.raises(DataError, match="nothing would change"):
        OptimalRecoder(5).protect(table)
    with pytest.raises(InputError, match="nothing would change"):
        Generalizer().protect(table)
    with pytest.raises(InputError, match="nothing would change"):
        Generalizer(k=2).protect(table)


@pytest.mark.parametrize("method", [
    OptimalRecoder(500), OptimalRecoder(2, l=4), OptimalRecoder(2, loss="class", columns=["no"]),
    OptimalRecoder(2, hierarchies={"y": build_hierarchy(["a", "b"], "flat")}),
])
def test_what_cannot_be_reached_is_refused(method):
    with pytest.raises(UnspokenError):
        method.protect(people(1))


def test_class_information_needs_a_target():
    table = unspoken.read(pa.table({"a": list(range(20)), "b": [1, 2] * 10}), quasi=["a", "b"],
                          show=False)
    with pytest.raises(UnspokenError, match="target"):
        OptimalRecoder(2, loss="class").protect(table)
