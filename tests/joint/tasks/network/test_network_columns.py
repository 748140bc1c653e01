"""K2 over columns of several sites: the network of pooled columns, bit for bit."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import factorial, lgamma, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.computing import on_shares
from support.network_data import dependent, spread
from unspoken.errors import DataError, InputError, ModelError
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.sets.encrypted_circle import SetRules
from unspoken.joint.tasks.common.aligned_records import ROWS
from unspoken.joint.tasks.network.log_factorials import factorials, log_factorials
from unspoken.joint.tasks.network.params import NetworkParams, NetworkSite, Node, Order, site_of
from unspoken.joint.tasks.network.pooled import plain_score, pooled
from unspoken.joint.tasks.network.program_columns import PARENTS, mine_network_columns
from unspoken.models.bayes_net import BayesNet


@pytest.mark.parametrize("most", [1, 2, 3, 17, 100, 1000])
def test_factorials_on_shares_are_exact(most):
    table = factorials(most)
    x = np.unique(np.concatenate([np.arange(min(most, 20) + 1), [most, most - 1, most // 2]]))

    async def found(party, shared):
        return await log_factorials(party, shared, table)

    opened = on_shares(found, [x], [(0, most)])
    assert np.ldexp(opened, table.scale).tolist() == table.sums[x].tolist()
    true = np.array([lgamma(v + 1) for v in x.tolist()])
    assert np.abs(opened - true).max() <= most * log(most + 1) * 2.0**-table.scale + 1e-9


def test_equal_products_have_equal_sums():
    table = factorials(400)
    for a, b in product(range(1, 20), repeat=2):
        assert table.logs[a * b - 1] == table.logs[a - 1] + table.logs[b - 1]
    # 6! 7! = 10!
    assert table.sums[6] + table.sums[7] == table.sums[10]


@pytest.mark.slow
def test_factorials_come_in_pieces(monkeypatch):
    from unspoken.joint.tasks.network import log_factorials as module

    monkeypatch.setattr(module, "BLOCK", 64)
    table, x = factorials(90), np.arange(91)

    async def found(party, shared):
        return await log_factorials(party, shared, table)

    assert np.ldexp(on_shares(found, [x], [(0, 90)]), table.scale).tolist() == table.sums.tolist()


def exact_k2(codes, sizes, most):
    """K2 with the book's own products (as corrected), as fractions: no logarithm at all."""
    def score(places):
        node, *parents = places
        value = Fraction(1)
        for combination in product(*(range(sizes[p]) for p in parents)):
            here = np.ones(codes.shape[1], bool)
            for parent, wanted in zip(parents, combination, strict=True):
                here &= codes[parent] == wanted
            counts = [int((codes[node][here] == k).sum()) for k in range(sizes[node])]
            value *= Fraction(factorial(sizes[node] - 1), factorial(sum(counts) + sizes[node] - 1))
            for count in counts:
                value *= factorial(count)
        return value

    found = []
    for node in range(len(sizes)):
        places, old = (node,), score((node,))
        while len(places) <= most:
            each = {c: score((*places, c)) for c in range(node) if c not in places}
            best = max(each, key=each.__getitem__, default=None)
            if best is None or each[best] <= old:
                break
            places, old = (*places, best), each[best]
        found.append(places[1:])
    return found


@st.composite
def tables(draw):
    sizes = tuple(draw(st.lists(st.integers(1, 3), min_size=2, max_size=5)))
    count = draw(st.integers(2, min(5, len(sizes))))
    owner = [*range(count), *(draw(st.integers(0, count - 1)) for _ in sizes[count:])]
    rows = draw(st.integers(1, 60))
    return dependent(rows, sizes, draw(st.integers(0, 2**32 - 1))), sizes, owner


@pytest.mark.slow
@settings(max_examples=20)
@given(tables(), st.integers(0, 3))
def test_the_joint_network_is_that_of_pooled_columns(table, most):
    codes, sizes, owner = table
    sites, order = spread(codes, sizes, owner)
    found, ledgers = mine_network_columns(sites, order, NetworkParams(max_parents=most))
    expected = pooled(sites, order, NetworkParams(max_parents=most))
    assert found.parents == expected.parents
    assert found.same_as(BayesNet.from_json(found.to_json()))
    for ledger in ledgers:
        assert {row.because for row in ledger.openings} <= {PARENTS, ROWS}


@pytest.mark.slow
def test_nodes_may_have_many_values():
    """Tables of thousands of counts: a score stays small, however many are added up."""
    random = np.random.default_rng(2)
    first = random.integers(0, 70, 300)
    codes = np.array([first, first * 100 // 70, random.integers(0, 2, 300)])
    sites, order = spread(codes, (70, 100, 2), (0, 1, 0))
    found, _ = mine_network_columns(sites, order, NetworkParams(max_parents=1))
    assert found == pooled(sites, order, NetworkParams(max_parents=1))
    assert found.parents[1] == ("x0",)


def test_pooled_columns_give_the_network_of_exact_products():
    for seed in range(60):
        sizes = (2, 3, 2, 2)
        codes = dependent(40, sizes, seed)
        sites, order = spread(codes, sizes, (0, 1, 0, 1))
        wanted = exact_k2(codes, sizes, 2)
        assert pooled(sites, order).parents == tuple(
            tuple(f"x{p}" for p in each) for each in wanted), seed


def test_stirling_without_its_small_terms_would_pick_others():
    """Why factorials are exact: what the book's formula gives for the same tables."""
    other = 0
    for seed in range(60):
        sizes = (2, 3, 2, 2)
        codes = dependent(40, sizes, seed)
        _, order = spread(codes, sizes, (0, 1, 0, 1))
        rough = factorials(60)
        sums = np.array([0, *(round((n * log(n) - n) * 2**30) for n in range(1, 61))])
        rough = type(rough)(30, rough.logs, sums)
        exact = factorials(60)
        choices = [int(np.argmax([plain_score(codes, order.sizes, (3, c), table)
                                  for c in range(3)])) for table in (rough, exact)]
        other += choices[0] != choices[1]
    assert other > 0


def test_scores_are_those_of_the_corrected_formula():
    codes = np.array([[0, 0, 1, 1, 1], [0, 1, 1, 1, 0]])
    table = factorials(20)
    # Parent 0: (1, 1) and parent 1: (1, 2): 1/6 times 2/24; without parent (2, 3): 12/720.
    assert plain_score(codes, (2, 2), (1, 0), table) / 2**table.scale == pytest.approx(log(1 / 72))
    assert plain_score(codes, (2, 2), (1,), table) / 2**table.scale == pytest.approx(log(1 / 60))


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["three-party", "two-party", "authenticated"])
def test_modes_agree(mode):
    if mode == "two-party":
        pytest.importorskip("rbcl")
    owner = (0, 1, 2) if mode == "three-party" else (0, 1, 0)
    codes = dependent(20, (2, 2, 2), 4)
    sites, order = spread(codes, (2, 2, 2), owner)
    assert mine_network_columns(sites, order, mode=mode)[0] == pooled(sites, order)


@pytest.mark.slow
def test_the_first_of_equal_parents_is_taken_and_none_if_none_is_better():
    column = np.array([0, 1] * 10)
    sites, order = spread(np.array([column, column, column]), (2, 2, 2), (0, 1, 0))
    for _ in range(3):
        found, _ = mine_network_columns(sites, order, NetworkParams(max_parents=3))
        assert found.parents == ((), ("x0",), ("x0",))
    still = np.array([[0, 0, 1, 1], [0, 1, 0, 1]])
    sites, order = spread(still, (2, 2), (0, 1))
    assert mine_network_columns(sites, order)[0].parents == ((), ())


def test_rows_are_aligned_by_their_ids():
    pytest.importorskip("rbcl")
    codes = dependent(30, (2, 2, 3), 9)
    sites, order = spread(codes, (2, 2, 3), (0, 1, 0))
    ids = [f"r{i}" for i in range(30)]
    turned = {"north": NetworkSite(sites["north"].codes, ids),
              "south": NetworkSite(sites["south"].codes[:, ::-1], ids[::-1])}
    found, _ = mine_network_columns(turned, order, align=SetRules(least=5))
    assert found == pooled(sites, order)


def test_columns_are_coded_by_what_occurs():
    order = Order((Node("a", "north", 2), Node("b", "south", 3)))
    site = site_of(order, "south", {"b": ["q", None, "p"]})
    assert site.codes.tolist() == [[1, 2, 0]]
    with pytest.raises(DataError, match="'a' is there"):
        site_of(order, "north", {"b": ["x"]})
    with pytest.raises(RefusedError, match="at most 2 values"):
        site_of(order, "north", {"a": ["x", "y", "z"]})


BAD = {
    "another number of columns": (
        lambda s: s.update(south=NetworkSite(np.zeros((2, 20), int))),
        "agreed",
    ),
    "another number of rows": (
        lambda s: s.update(south=NetworkSite(np.zeros((1, 9), int))),
        "same",
    ),
    "no rows": (lambda s: s.update({n: NetworkSite(x.codes[:, :0]) for n, x in s.items()}), "zero"),
    "codes out of range": (
        lambda s: s.update(south=NetworkSite(np.full((1, 20), 5))),
        "from 0 to 1",
    ),
    "nobody": (lambda s: s.pop("south"), "none for 'south'"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_sites_are_refused(name):
    spoil, words = BAD[name]
    sites, order = spread(dependent(20, (2, 2, 2), 1), (2, 2, 2), (0, 1, 0))
    spoil(sites)
    with pytest.raises((DataError, RefusedError, InputError), match=words):
        mine_network_columns(sites, order)


def test_orders_and_rules_that_make_no_network_are_refused():
    with pytest.raises(InputError):
        Order((Node("a", "north", 2),))
    with pytest.raises(InputError):
        Order((Node("a", "north", 2), Node("a", "south", 2)))
    with pytest.raises(InputError):
        Node("a", "north", 0)
    with pytest.raises(InputError):
        NetworkParams(max_parents=-1)
    sites, order = spread(dependent(20, (2, 2, 2), 1), (2, 2, 2), (0, 1, 0))
    with pytest.raises(RefusedError, match="at most 10 counts"):
        mine_network_columns(sites, order, NetworkParams(max_cells=10))


@pytest.mark.parametrize("change", [{"nodes": ["a", "a"]}, {"parents": [["b"], []]},
                                    {"parents": [[], ["a", "a"]]}, {"parents": [[]]},
                                    {"parents": [[], [3]]}, {"format": "other"}, {"nodes": []}])
def test_hostile_networks_are_refused(change):
    good = BayesNet(("a", "b"), ((), ("a",)))
    assert BayesNet.from_json(good.to_json()) == good
    assert good.edges == (("a", "b"),)
    assert "b <- a" in good.summary()
    with pytest.raises(ModelError):
        BayesNet.from_json({**good.to_json(), **change})
