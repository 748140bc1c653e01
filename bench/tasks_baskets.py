"""Baskets: exact mining, randomising, and estimating supports from randomised baskets."""

from __future__ import annotations

import numpy as np

from harness import Row, best, shared, task
from sizes import scaled


def some_baskets(path):
    """Return the first baskets of a file."""
    import unspoken

    baskets = unspoken.read_baskets(path)
    return baskets.take(slice(0, scaled(len(baskets), 10_000)))


def _pandas(baskets):
    import pandas as pd
    from scipy.sparse import csr_matrix

    ones = np.ones(baskets.codes.size, bool)
    shape = len(baskets), len(baskets.items)
    return pd.DataFrame.sparse.from_spmatrix(csr_matrix((ones, baskets.codes, baskets.offsets),
                                                        shape=shape), columns=list(baskets.items))


@task
def frequent_itemsets() -> list[Row]:
    """All itemsets of 0.1%, with the same answer as two other programs."""
    from efficient_apriori import itemsets_from_transactions
    from mlxtend.frequent_patterns import fpgrowth

    import unspoken

    rows = []
    for name in ("retail.dat.gz", "T10I4D100K.dat.gz"):
        path = shared(name)
        if path is None:
            continue
        baskets = some_baskets(path)
        found = unspoken.mine.itemsets(baskets, 0.001)
        mine = {frozenset(names): support for names, support in found}
        frame, lists = _pandas(baskets), [tuple(one) for one in baskets.lists()]
        grown = fpgrowth(frame, 0.001, use_colnames=True)
        theirs = dict(zip(map(frozenset, grown["itemsets"]), grown["support"], strict=True))
        levels, _ = itemsets_from_transactions(lists, 0.001, max_length=30)
        others = {frozenset(one): count / len(baskets) for level in levels.values()
                  for one, count in level.items()}
        assert mine == theirs == others, name
        peers = {"mlxtend fpgrowth": best(lambda f=frame: fpgrowth(f, 0.001), 2),
                 "efficient-apriori": best(lambda x=lists: itemsets_from_transactions(
                     x, 0.001, max_length=30), 1)}
        faster = min(peers, key=peers.__getitem__)
        slower = max(peers, key=peers.__getitem__)
        ours = best(lambda b=baskets: unspoken.mine.itemsets(b, 0.001), 3)
        floor = best(baskets.frequencies, 3)
        rows.append(Row("frequent itemsets, 0.1%", f"{name.split('.')[0]}, {len(found):,} sets",
                        ours, faster, peers[faster], "counting single items", floor, 0.2, "peer",
                        f"{slower}: {peers[slower]:.3g} s"))
    return rows


@task
def read_fimi_file() -> list[Row]:
    """A FIMI file into baskets, against splitting its lines in Python."""
    import gzip

    import unspoken

    path = shared("retail.dat.gz")
    if path is None:
        return []

    def by_lines():
        with gzip.open(path, "rt") as file:
            return [[int(word) for word in line.split()] for line in file]

    assert [list(map(int, one)) for one in unspoken.read_baskets(path).lists()] \
        == [sorted(one) for one in by_lines()]
    floor = best(lambda: gzip.decompress(path.read_bytes()), 3)
    return [Row("read FIMI baskets", "retail, 908,576 entries", best(
        lambda: unspoken.read_baskets(path), 3), "str.split by line", best(by_lines, 3),
        "unzipping", floor)]


@task
def randomise_baskets() -> list[Row]:
    """Item decisions per second: baskets x items, all of them decided."""
    import unspoken
    from unspoken.methods.baskets.draw_baskets import Drawing
    from unspoken.methods.baskets.select_a_size import Operator
    from unspoken.methods.baskets.size_laws import Mixture
    from unspoken.numerics.random import fresh_seed

    path = shared("T10I4D100K.dat.gz")
    if path is None:
        return []
    baskets = some_baskets(path)
    items = len(baskets.items)
    decisions, rows = len(baskets) * items, []
    design = unspoken.risk.design_operator(baskets, 0.05, 0.5, public_sizes=True).operator
    cases = {f"designed, rho {design.rho:.3f}": design,
             **{f"rho {rho}": Operator(Mixture((0.8,)), rho, items) for rho in (0.01, 0.05, 0.5)},
             "uniform": Operator(Mixture((0.5,)), None, items)}
    rng = np.random.default_rng(0)
    for name, operator in cases.items():
        drawn = Drawing(operator, fresh_seed())(baskets)
        if operator.rho is not None:
            expected = operator.rho * (decisions - baskets.codes.size)
            assert drawn.codes.size > 0.9 * expected
        ours = best(lambda o=operator: Drawing(o, fresh_seed())(baskets), 3)
        peer = best(lambda o=operator: rng.random((len(baskets), items), np.float32)
                    < (o.rho or 0.01), 2)
        hundred = decisions / 1e8
        rows.append(Row(f"randomise baskets, {name}", f"{decisions / 1e6:.0f} million decisions",
                        ours, "numpy coins, not secret", peer, "100 million decisions a second",
                        hundred, 1.0 if (operator.rho or 0) <= 0.1 else None, "floor",
                        f"{decisions / ours / 1e6:.0f} million a second"))
    return rows


@task
def estimate_supports() -> list[Row]:
    """All sets of up to three items above 0.5%, estimated and counted."""
    from unspoken import mine, protect

    path = shared("T10I4D100K.dat.gz")
    if path is None:
        return []
    baskets, rows = some_baskets(path), []
    original = best(lambda: mine.itemsets(baskets, 0.005, longest=3), 3)
    true = mine.itemsets(baskets, 0.0001, longest=2)
    for name, method in {"sizes hidden": protect.SelectASize(0.02, keep=0.8),
                         "MASK": protect.Mask(0.97)}.items():
        release, _ = method.protect(baskets)
        found = mine.itemsets(release, 0.005, longest=3, false_discovery=1.0)
        errors = [(s - true.supports[true.places[c]]) / d for c, s, d in
                  zip(found.sets, found.supports, found.deviations, strict=True)
                  if len(c) == 1 and true.supports[true.places[c]] > 0.007]
        assert abs(np.mean(errors)) < 0.3, np.mean(errors)
        assert 0.8 < np.std(errors) < 1.2, np.std(errors)
        ours = best(lambda r=release: mine.itemsets(r, 0.005, longest=3), 3)
        same = best(lambda r=release: mine.itemsets(r.baskets, 0.005, longest=3), 2)
        rows.append(Row(f"estimate supports, {name}", f"T10I4D100K, {len(found):,} sets", ours,
                        "counting in the same baskets", same, "counting in the original", original,
                        5.0, "peer"))
    return rows
