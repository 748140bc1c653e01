"""Tasks whose party is lost at a checkpoint end as if nothing had happened, and open less again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from support.basket_data import NAMES, SHOPS, shops
from support.broken_attempts import Attempts, outputs
from support.logistic_data import made
from support.mixture_data import SPACE, START, cloud, thirds
from support.network_data import dependent
from support.tree_data import LAYOUT, WEATHER, parts_of
from support.weather_sites import SHAPE, SPLIT, weather_sites
from unspoken.joint.tasks.boosted_trees.params import Boost
from unspoken.joint.tasks.boosted_trees.program_rows import BoostOverRows
from unspoken.joint.tasks.forest.program_rows import ForestOverRows
from unspoken.joint.tasks.kmeans.params import KMeansParams
from unspoken.joint.tasks.kmeans.program_rows import KMeansOverRows
from unspoken.joint.tasks.logistic.program_rows import LogisticOverRows
from unspoken.joint.tasks.mixture.params import MixtureParams
from unspoken.joint.tasks.mixture.program_rows import MixtureOverRows
from unspoken.joint.tasks.neighbours.params import NeighbourParams
from unspoken.joint.tasks.neighbours.program_rows import Labelled, NeighboursOverRows
from unspoken.joint.tasks.network.params import NetworkSite, Node, Order
from unspoken.joint.tasks.network.program_columns import NetworkOverColumns
from unspoken.joint.tasks.outliers.params import OutlierParams
from unspoken.joint.tasks.outliers.program_rows import OutliersOverRows
from unspoken.joint.tasks.regression.params import RegressionParams, RegressionTerms
from unspoken.joint.tasks.rules.item_sites import Sites
from unspoken.joint.tasks.rules.params import RuleParams
from unspoken.joint.tasks.rules.program_columns import RulesOverColumns
from unspoken.joint.tasks.rules.program_rows import RulesOverRows
from unspoken.joint.tasks.tree.cut_points import Span
from unspoken.joint.tasks.tree.params import TreeLayout, TreeParams, attributes_of
from unspoken.joint.tasks.tree.program_columns import TreeOverColumns
from unspoken.joint.tasks.tree.program_rows import TreeOverRows, code_rows, standing_in
from unspoken.table.baskets import Baskets

pytestmark = pytest.mark.slow

OWNERS = ("p0", "p1", "p2")
DRAW = np.random.default_rng(23)
POINTS = [np.round(DRAW.normal(size=(12, 2)) + place, 3) for place in range(3)]
OWNED = np.arange(14) % 3
ONE = RegressionTerms("yes", ("u",))


@dataclass
class Case:
    """A task's program, its inputs, and how its results are compared."""

    program: Any
    inputs: list[Any]
    mode: str
    shown: Any
    at: int = 2
    close: float = 0.0


def coded(layout, spans=None, columns=WEATHER, owned=OWNED):
    return [code_rows(layout, part, spans or {}) for part in parts_of(columns, owned, 3)]


def numeric_tree():
    columns = {"age": np.arange(42.0), "class": np.array(["no", "yes"] * 21, object)}
    columns["class"][:10] = "yes"
    span = {"age": Span(0, 64, 3, 6)}
    layout = standing_in(TreeLayout(attributes_of(columns, {"age": (0.0,)}, ("age",)),
                                    ("no", "yes"), "class"), span)
    program = TreeOverRows(layout, TreeParams(max_depth=2, most=64), spans=span)
    return Case(program, coded(layout, span, columns, np.arange(42) % 3), "dealer", tree_text)


def tree_text(tree):
    return tree.to_text()


def points(mode, way, **rules):
    return Case(KMeansOverRows(KMeansParams(3, iterations=5, scale=8, **rules), ("x", "y"), OWNERS,
                               way, start=[[0, 0], [1, 1], [2, 2]]), POINTS, mode,
                lambda found: found.centres, at=4, close=0.02)


def boosted():
    program = BoostOverRows(LAYOUT, TreeParams(max_depth=2, most=64), Boost(rounds=3))
    return Case(program, coded(LAYOUT), "dealer",
                lambda found: np.concatenate([tree.value.ravel() for tree in found.trees]),
                at=3, close=0.01)


def rows_of(columns, owners=3):
    return [ONE.table({name: column[place::owners] for name, column in columns.items()})
            for place in range(owners)]


def neighbours():
    labels = np.array(["a", "b"] * 2, object)
    inputs = [Labelled(POINTS[0][:6]), *(Labelled(part[:4], labels) for part in POINTS[1:])]
    program = NeighboursOverRows(NeighbourParams(3, scale=6), 2, ("a", "b"), "p0", OWNERS,
                                 OWNERS, block=16)
    return Case(program, inputs, "dealer", list)


def tree_over_columns():
    sites = weather_sites(dict(zip(OWNERS, SPLIT.values(), strict=True)), "p1")
    program = TreeOverColumns(replace(SHAPE, class_site="p1"), TreeParams(most=64), OWNERS)
    return Case(program, [sites[name] for name in OWNERS], "authenticated",
                lambda found: str(found.to_json()))


def rules_over_columns():
    lists = [set(one) for shop in SHOPS for one in shop] * 2
    parts = {name: Baskets.of([sorted(one & set(items)) for one in lists], tuple(items))
             for name, items in zip(OWNERS, ("abe", "cfg", "dh"), strict=True)}
    sites = Sites.of({name: part.items for name, part in parts.items()})
    program = RulesOverColumns(RuleParams(sites.names, 0.3, 0.6, most=64), sites, fewest=1)
    return Case(program, list(parts.values()), "authenticated",
                lambda found: str(found.to_json()), at=3)


def network():
    sizes, owner = (2, 2, 3, 2), (0, 1, 2, 0)
    codes = dependent(80, sizes, 3)
    order = Order(tuple(Node(f"x{i}", OWNERS[o], s) for i, (s, o) in enumerate(
        zip(sizes, owner, strict=True))))
    inputs = [NetworkSite(codes[order.of(name)]) for name in OWNERS]
    return Case(NetworkOverColumns(order), inputs, "dealer", lambda found: str(found.to_json()))


CASES = {
    "k-means, sums revealed": lambda: points("sums", "revealed"),
    "k-means on shares": lambda: points("dealer", "hidden"),
    "k-means on shares until it stands": lambda: points("dealer", "hidden", tolerance=1e-9,
                                                        smallest_group=1),
    "tree": lambda: Case(TreeOverRows(LAYOUT, TreeParams(most=64)), coded(LAYOUT), "dealer",
                         tree_text),
    "tree with tags": lambda: Case(TreeOverRows(LAYOUT, TreeParams(most=64, max_depth=2)),
                                   coded(LAYOUT), "authenticated", tree_text),
    "tree with cut points": numeric_tree,
    "tree over columns": tree_over_columns,
    "boosted trees": boosted,
    "logistic": lambda: Case(LogisticOverRows(ONE, RegressionParams(condition=4.0, ridge=3000.0)),
                             rows_of(made(300, 3)), "dealer", lambda found: found.coefficients,
                             close=1e-6),
    "mixture": lambda: Case(MixtureOverRows(SPACE, START, MixtureParams(moved=3, max_iter=5)),
                            [SPACE.rows(part) for part in thirds(cloud())], "dealer",
                            lambda found: found.means, at=4, close=1e-9),
    "rules": lambda: Case(RulesOverRows(RuleParams(NAMES, 0.3, 0.6, most=64)), shops(), "dealer",
                          lambda found: str(found.to_json())),
    "rules over columns": rules_over_columns,
    "outliers": lambda: Case(OutliersOverRows(OutlierParams(0.6, 2.0, scale=6), 2, OWNERS, OWNERS,
                                              block=48), POINTS, "dealer",
                             lambda found: found.flags.tolist()),
    "neighbours": neighbours,
    "network": network,
}


@pytest.mark.parametrize("name", CASES)
def test_a_task_goes_on_to_the_same_result(tmp_path, name):
    case = CASES[name]()
    attempts = Attempts(tmp_path, case.program, case.inputs, case.mode)
    assert attempts.run("p1", case.at)[0].error is not None
    again = attempts.run()
    whole = attempts.whole()
    for one, other in zip(outputs(again, 3), outputs(whole, 3), strict=True):
        # Rounding on shares is random: numbers that come of it are close, everything else equal.
        assert case.shown(one) == pytest.approx(case.shown(other), abs=case.close)
    assert again[0].ledger.continues.startswith(f"checkpoint {case.at - 1} ")
    messages = [sum(not row.label.startswith(("barrier", "checkpoint")) for row in
                    run[0].ledger.rows) for run in (again, whole)]
    assert messages[0] < messages[1]


def test_a_forest_goes_on_with_the_rows_that_it_had_drawn(tmp_path):
    program = ForestOverRows(LAYOUT, TreeParams(most=64, max_depth=2), trees=2)
    attempts = Attempts(tmp_path, program, coded(LAYOUT))
    assert attempts.run("p1", 3)[0].error is not None
    first, *others = outputs(attempts.run(), 3)
    assert all(forest.to_json() == first.to_json() for forest in others)


@pytest.mark.parametrize("name", ["tree", "rules", "k-means, sums revealed"])
def test_what_is_opened_again_is_only_what_was_not_reached(tmp_path, name):
    case = CASES[name]()
    attempts = Attempts(tmp_path, case.program, case.inputs, case.mode)
    attempts.run("p1", 3)
    counts = {way: len(run[0].ledger.openings)
              for way, run in (("again", attempts.run()), ("whole", attempts.whole()))}
    assert counts["again"] == counts["whole"] - 2
