"""Naive Bayes, private classification, K2 and EM by processes over TLS, against one place.

The peer is the same mining on pooled data (scikit-learn where it has it): what somebody would use
who may pool. The floor is the bytes alone, at what a local link carries.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from data import adult as adult_rows
from harness import Row, best, task
from sizes import scaled

RATE = 1e9
NUMBERS = {"age": (0, 120), "education-num": (0, 20), "hours-per-week": (0, 100)}
NOMINAL = ("workclass", "education", "marital-status", "occupation", "relationship", "race", "sex",
           "native-country")


def adult() -> dict[str, Any]:
    """Return the columns of Adult."""
    table = adult_rows(3_000)
    return {name: np.array(table[name].to_pylist(), object if name in (*NOMINAL, "income")
                           else np.float64) for name in (*NOMINAL, *NUMBERS, "income")}


def layout_of(columns: dict[str, Any]) -> Any:
    from unspoken.joint.tasks.naive_bayes.params import BayesLayout, Numeric
    from unspoken.joint.tasks.tree.params import attributes_of

    numbers = tuple(Numeric(name, *span) for name, span in NUMBERS.items())
    return BayesLayout(
        (*attributes_of(columns, {}, NOMINAL), *numbers), ("<=50K", ">50K"), "income"
    )


def timed(program: Any, inputs: list[Any], mode: str = "dealer") -> tuple[list[Any], float, int]:
    """Return what came out, the seconds, and the bytes in all."""
    import bayes_program
    from unspoken.joint import run_local

    results = run_local(bayes_program.Timed(program), inputs, mode, True)
    received = sum(row.bytes for _, ledger in results for row in ledger.rows
                   if row.direction == "received")
    return ([found for (found, _, _), _ in results],
            max(seconds for (_, seconds, _), _ in results), received)


def row(name: str, size: str, seconds: float, peer: str, plain: float, received: int) -> list[Row]:
    return [Row(name, size, seconds, peer, plain, "the bytes at 1 GB/s", received / RATE,
                note=f"{received / 1e6:.2f} MB in all")]


@task
def bayes_over_rows() -> list[Row]:
    from unspoken.joint.tasks.naive_bayes.params import BayesParams
    from unspoken.joint.tasks.naive_bayes.pooled import pooled
    from unspoken.joint.tasks.naive_bayes.program_rows import BayesOverRows

    columns = adult()
    layout, owner = layout_of(columns), np.arange(len(columns["income"])) % 4
    given = [layout.rows({n: c[owner == i] for n, c in columns.items()}) for i in range(4)]
    expected, found = pooled(layout, columns), []
    for reveal, mode in (("ratios", "dealer"), ("sums", "sums")):
        program = BayesOverRows(layout, BayesParams(reveal=reveal))
        models, seconds, received = timed(program, given, mode)
        assert np.abs(models[0].prior - expected.prior).max() < 1e-3
        found += row(f"naive Bayes over rows, {reveal}", f"Adult, {owner.size:,}, 4 owners",
                     seconds, "pooled, in numpy", best(lambda: pooled(layout, columns)), received)
    return found


@task
def bayes_over_columns() -> list[Row]:
    from unspoken.joint.tasks.naive_bayes.pooled import pooled
    from unspoken.joint.tasks.naive_bayes.program_columns import BayesOverColumns
    from unspoken.joint.tasks.naive_bayes.site_parts import BayesShape, BayesSite, Part, coding_of

    columns = adult()
    names = [*NOMINAL, *NUMBERS]
    own = [{n: columns[n] for n in names[i::2]} for i in range(2)]
    codings = [coding_of(part, [n for n in part if n in NUMBERS]) for part in own]
    sites = [BayesSite(codings[i], own[i], columns["income"] if i == 0 else None) for i in range(2)]
    shape = BayesShape(tuple(Part(f"p{i}", c.sizes, len(c.numeric)) for i, c in enumerate(codings)),
                  ("<=50K", ">50K"), "p0")
    _, seconds, received = timed(BayesOverColumns(shape), sites)
    layout = layout_of(columns)
    size = f"Adult, {len(columns['income']):,}, 2 sites"
    return row("naive Bayes over columns, learning", size, seconds, "pooled, in numpy",
               best(lambda: pooled(layout, columns)), received)


@task
def private_classification() -> list[Row]:
    from unspoken.joint.tasks.classify.program_bayes import ClassifyPrivately, Sides
    from unspoken.joint.tasks.naive_bayes.pooled import pooled
    from unspoken.joint.tasks.naive_bayes.score_tables import table_of

    columns = adult()
    layout = layout_of(columns)
    model, found = pooled(layout, columns), []
    for mode, count in (("dealer", scaled(10_000, 500)), ("two-party", scaled(200, 20))):
        new = {n: c[:count] for n, c in columns.items()}
        given = [table_of(model, layout), layout.records(new)]
        program = ClassifyPrivately(layout, Sides("p0", "p1"))
        classes, seconds, received = timed(program, given, mode)
        assert (classes[1] == model.predict(new)).mean() > 0.999
        found += row(f"private classification, {mode}", f"{count:,} records of Adult", seconds,
                     "in the clear", best(partial(model.predict, new)), received)
    return found


@task
def network_over_columns() -> list[Row]:
    from unspoken.joint.tasks.network.params import Node, Order, site_of
    from unspoken.joint.tasks.network.pooled import pooled
    from unspoken.joint.tasks.network.program_columns import NetworkOverColumns

    columns = adult()
    cut = {"age": np.digitize(columns["age"], [30, 45]).astype(str),
           "hours": np.digitize(columns["hours-per-week"], [39, 41]).astype(str),
           "sex": columns["sex"], "race": columns["race"], "relationship": columns["relationship"],
           "income": columns["income"]}
    count = scaled(5_000, 500)
    order = Order(tuple(Node(name, f"p{i % 2}", len(set(values)))
                        for i, (name, values) in enumerate(cut.items())))
    sites = {name: site_of(order, name, {n: v[:count] for n, v in cut.items()})
             for name in order.sites}
    nets, seconds, received = timed(NetworkOverColumns(order), list(sites.values()))
    assert nets[0] == pooled(sites, order)
    return row("K2 over columns", f"{count:,} records, 6 nodes, 2 parents", seconds,
               "pooled, in numpy", best(lambda: pooled(sites, order)), received)


@task
def mixture_over_rows() -> list[Row]:
    from sklearn.mixture import GaussianMixture

    from unspoken.joint.tasks.mixture.params import MixtureParams, Space, Start
    from unspoken.joint.tasks.mixture.program_rows import MixtureOverRows
    from unspoken.joint.tasks.naive_bayes.params import Numeric

    random, count = np.random.default_rng(1), scaled(30_000, 3_000)
    centres = random.uniform(-6, 6, (4, 3))
    data = np.clip(centres[np.arange(count) % 4] + random.normal(size=(count, 3)), -15, 15)
    space = Space(tuple(Numeric(name, -15, 15) for name in "xyz"))
    start = Start(np.full(4, 0.25), centres + 0.5, np.repeat(4 * np.eye(3)[None], 4, axis=0))
    parts = [space.rows({n: data[i::3, j] for j, n in enumerate("xyz")}) for i in range(3)]
    rules = MixtureParams(max_iter=10, stop="padded", small="stop")
    found, seconds, received = timed(MixtureOverRows(space, start, rules), parts)
    made = int(found[0].facts["iterations"])

    def pooled() -> Any:
        return GaussianMixture(4, weights_init=start.weights, means_init=start.means, tol=1e-12,
                               precisions_init=np.linalg.inv(start.covariances),
                               max_iter=made).fit(data)

    assert np.abs(found[0].means - pooled().means_).max() < 1e-6
    return row("EM over rows", f"{count:,} x 3, 4 clusters, {made} iterations", seconds,
               "scikit-learn, pooled", best(pooled, 3), received)
