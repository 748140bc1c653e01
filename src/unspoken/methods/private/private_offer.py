"""The door to private results: what they cost and how exact they will be, before they are bought.

An offer tells nothing but what follows from declarations and the number of rows, which is public.
Errors that depend on categories or ends that were not declared are not told before it is bought:
they would tell how many there are. Buying books the
cost in the budget of the table, and measures only if it fits; whoever buys twice pays twice.

Kinds: "marginals" (also histograms), "naive-bayes", "tree", "regression" and "itemsets" (of
baskets). Synthetic tables are a release method, `protect.PrivateSynthesizer`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from unspoken.errors import InputError, explain, unknown
from unspoken.methods.private.declared_columns import (
    Cells,
    Coded,
    cells_of,
    refuse_names,
    unseen_cells,
    without_guesses,
)
from unspoken.methods.private.loss_split import Loss
from unspoken.methods.private.noisy_marginals import MarginalsPlan
from unspoken.methods.private.private_bayes import BayesPlan
from unspoken.methods.private.private_itemsets import ItemsetsPlan, only_items
from unspoken.methods.private.private_regression import RegressionPlan
from unspoken.methods.private.private_trees import TreePlan
from unspoken.release.budget import Budget
from unspoken.release.budget_costs import NONE, Cost
from unspoken.table.basket_tables import to_table
from unspoken.table.baskets import Baskets
from unspoken.table.table import Table

KINDS = ("marginals", "naive-bayes", "tree", "regression", "itemsets")


@dataclass(frozen=True, eq=False)
class Offer:
    """A private result that can be bought.

    Attributes
    ----------
    kind : str
        What it is.
    cost : Cost
        What it takes from a budget; without an epsilon where something was not declared.
    expected : mapping
        Its errors, by what they are of; empty where something was not declared.
    """

    kind: str
    cost: Cost
    expected: Mapping[str, float]
    _table: Table = field(repr=False)
    _booked_as: str = field(repr=False)
    _measure: Callable[[], Any] = field(repr=False)

    @property
    def table(self) -> Table:
        """Return the table whose budget counts it."""
        return self._table

    def summary(self) -> str:
        """Return cost and errors as text."""
        lines = [f"{self.kind}: {self.cost}",
                 *(f"  {value:.4g}  {name}" for name, value in self.expected.items())]
        if self.cost.law == NONE:
            lines.append("  Errors are unknown until everything is declared. Intervals or "
                         "categories are taken from the data, which discloses something about it. "
                         "Declare 'edges', 'values' or 'items' to have an epsilon.")
        return "\n".join(lines)

    def buy(self, budget: Budget | None = None, to: str = "") -> Any:
        """Book the cost, then measure; BudgetError, and nothing measured, if it does not fit.

        Returns the marginals or the model.
        """
        if budget is not None:
            budget.check_table(self._table)
            budget.draw(self.cost, to=to, kind=self._booked_as, what=f"private {self.kind}")
        return self._measure()


def private_offer(data: Table | Baskets, kind: str, epsilon: float = 1.0, delta: float = 0.0,
                  **options: Any) -> Offer:
    """Offer a private result with its errors; `offer.buy(budget)` measures it.

    Parameters
    ----------
    data : Table or Baskets
        The table; baskets for "itemsets".
    kind : {"marginals", "naive-bayes", "tree", "regression", "itemsets"}
        What is wanted.
    epsilon : float, default 1
        What it costs.
    delta : float, default 0
        With one, noise is Gaussian, and smaller where many numbers are released; trees have none.
    **options
        `edges`, `values`, `complete`, `bins`: as for `PrivateSynthesizer`; `columns`: those to
        use; `marginals`: lists of columns to count together (default: each column alone);
        `max_depth` of a tree; `items` (the public list of all items), `chosen` (how many items
        sets are made of, default 8) and `min_support` of itemsets.

    Examples
    --------
    >>> offer = private_offer(table, "naive-bayes", 0.5, edges={"age": [17, 30, 60, 90]},
    ...                       values={"sex": ["F", "M"], "ill": ["no", "yes"]})  # doctest: +SKIP
    >>> print(offer.summary()); model = offer.buy(budget, to="institute")  # doctest: +SKIP
    """
    if kind not in KINDS:
        raise InputError(unknown("The kind of a private result", kind, KINDS))
    limits = (("epsilon", epsilon, 1e-6, 100), ("delta", delta, 1e-100, 0.1))
    for name, value, least, most in limits:
        if isinstance(value, bool) or not isinstance(value, int | float) or not (
                least <= value <= most or (name == "delta" and value == 0)):
            raise InputError(explain(f"'{name}'", f"at least {least:g} and up to {most}", value))
    if isinstance(data, Baskets) != (kind == "itemsets"):
        raise InputError("'itemsets' are of baskets, and everything else is of a table.")
    if isinstance(data, Baskets):
        return _of_baskets(data, kind, Cost(epsilon, delta), dict(options))
    return _of_table(data, kind, Cost(epsilon, delta), dict(options))


_NO_EPSILON = Cost(None, law=NONE)
_PLANS: Mapping[str, tuple[Any, tuple[str, ...]]] = {
    "marginals": (MarginalsPlan, ("marginals",)), "naive-bayes": (BayesPlan, ()),
    "tree": (TreePlan, ("max_depth",)), "regression": (RegressionPlan, ())}
_ANY = tuple(range(12))
"""Items of an offer that does not look at those of the data."""
_CELLS = ("edges", "values", "complete", "bins", "columns")


def _of_baskets(data: Baskets, kind: str, cost: Cost, options: dict[str, Any]) -> Offer:
    _known(options, ("items", "chosen", "min_support"))
    items = options.pop("items", None)
    plan = ItemsetsPlan(_loss(cost), only_items(data, _ANY if items is None else items), **options)

    def measure() -> Any:
        return plan.measure() if items is not None \
            else ItemsetsPlan(_loss(cost), data, **options).measure()

    return _offered(kind, cost, items is not None, plan, to_table(data), measure)


def _of_table(data: Table, kind: str, cost: Cost, options: dict[str, Any]) -> Offer:
    form, own = _PLANS[kind]
    _known(options, (*_CELLS, *own))
    if kind == "tree" and cost.delta:
        raise InputError("A private tree has no delta. Leave it out.")
    edges, values, bins = options.get("edges"), options.get("values"), options.get("bins", 16)
    table = without_guesses(data, edges, values, options.get("complete"))
    names = _names(table, options.get("columns"), table.schema.target)
    _check_marginals(options.get("marginals"), names)
    extra = {name: options[name] for name in own if name in options}
    if kind != "marginals":
        extra["target"] = table.schema.target
    complete = options.get("complete") or ()

    def plan_of(cells: tuple[Cells, ...]) -> Any:
        return form(_loss(cost), cells, table.rows, **extra)

    def measure() -> Any:
        refuse_names(data, plan.cells)
        seen = plan_of(cells_of(table, names, edges, values, bins, complete))
        return seen.measure(Coded(table, seen.cells))

    plan = plan_of(unseen_cells(table, names, edges, values, bins, complete))
    return _offered(kind, cost, all(one.declared for one in plan.cells), plan, data, measure)


def _offered(kind: str, cost: Cost, declared: bool, plan: Any, data: Table,
             measure: Callable[[], Any]) -> Offer:
    return Offer(kind, cost if declared else _NO_EPSILON, plan.expected() if declared else {},
                 data, plan.kind, measure)


def _loss(cost: Cost) -> Loss:
    return Loss.whole(float(cost.epsilon or 0.0), cost.delta)


def _known(options: Mapping[str, Any], names: tuple[str, ...]) -> None:
    for name in options:
        if name not in names:
            raise InputError(unknown("An option of this private result", name, names))


def _names(data: Table, columns: Any, target: str | None) -> list[str]:
    kept = [c.name for c in data.schema.columns if c.role != "identifier"]
    for name in columns or ():
        if name not in kept:
            raise InputError(f"'columns' names '{name}', which is not there or is an identifier. "
                             "Nothing is disclosed about identifiers. Declare its cells, or read "
                             f"it with keep='{name}', if it names nobody.")
    return kept if not columns else [name for name in kept if name in columns or name == target]


def _check_marginals(marginals: Any, names: list[str]) -> None:
    if marginals is not None and not len(marginals):
        raise InputError("'marginals' must name at least one list of columns. It is empty. Leave "
                         "it out for each column alone.")
    for one in marginals or ():
        if isinstance(one, str) or not one or not set(one) <= set(names):
            raise InputError(explain("'marginals'", f"lists of columns out of {', '.join(names)}",
                                     one))
