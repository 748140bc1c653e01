"""Steps that an owner takes with its own file, by what all owners' rows say together.

Results of the tasks `summary`, `quantiles` and `bins` say how: limits for outliers, values in the
place of missing ones, scales, bins and their weights of evidence. Everything here is local: nothing
is sent, and nothing is disclosed that the results did not disclose. The same steps with the same
results make columns of all owners alike, before another study uses them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.arrays import Floats
from unspoken.errors import DataError, InputError, explain
from unspoken.joint.tasks.column_bins.evidence_weights import bin_of, category_of
from unspoken.table.table import Table

LIMITS = ("range", "quantiles", "quartiles", "deviations")
IMPUTES = ("mean", "median")
SCALES = ("range", "deviation", "quartiles")
BINS = ("number", "weights")
FENCE, DEVIATIONS = 1.5, 3.0
TASKS = ("summary", "quantiles", "bins")


@dataclass(frozen=True)
class Steps:
    """Which steps are taken, in this order; None takes none of a kind.

    `limit`: values beyond are moved to the ends of the agreed range, to the outermost quantiles, to
    1.5 quartile distances beyond the quartiles (Tukey 1977), or to 3 deviations around the mean.
    """

    limit: str | None = None
    impute: str | None = None
    scale: str | None = None
    bin: str | None = None

    def __post_init__(self) -> None:
        for name, known in (("limit", LIMITS), ("impute", IMPUTES), ("scale", SCALES),
                            ("bin", BINS)):
            value = getattr(self, name)
            if value is not None and value not in known:
                raise InputError(explain(f"'{name}'", f"one of {', '.join(known)}", value))
        if not any((self.limit, self.impute, self.scale, self.bin)):
            raise InputError("Nothing is prepared without a step. Name one of limit, impute, scale "
                             "and bin.")
        if self.scale and self.bin:
            raise InputError("A column is scaled or put into bins. Both were asked for. Leave one "
                             "out.")

    @property
    def tasks(self) -> tuple[str, ...]:
        """Return of which tasks results are needed."""
        by_quantiles = self.limit == "quantiles" or "quartiles" in (self.limit, self.scale) \
            or self.impute == "median"
        by_summary = self.limit in ("range", "deviations") or self.impute == "mean" \
            or self.scale in ("range", "deviation")
        needs = (("summary", by_summary), ("quantiles", by_quantiles), ("bins", bool(self.bin)))
        return tuple(task for task, needed in needs if needed)


class JointFacts:
    """What some results say about columns, by the task that they are of."""

    def __init__(self, results: Sequence[Mapping[str, Any]]) -> None:
        self._facts: dict[str, dict[str, Mapping[str, Any]]] = {task: {} for task in TASKS}
        for result in results:
            tasks = [task for task in TASKS if isinstance(result, Mapping)
                     and _by_column(result.get(task))]
            if not tasks:
                raise InputError("A table is prepared by results of the tasks summary, quantiles "
                                 "and bins. One of the results is of another.")
            for task in tasks:
                self._facts[task] |= result[task]

    def columns(self, tasks: Sequence[str]) -> tuple[str, ...]:
        """Return the columns that results of all these tasks are about."""
        first, *rest = (self._facts[task] for task in tasks)
        return tuple(name for name in first if all(name in more for more in rest))

    def of(self, task: str, name: str) -> Mapping[str, Any]:
        """Return what a result of a task says about a column."""
        if name not in self._facts[task]:
            raise InputError(f"No result of task '{task}' is about column '{name}'. Run one, or "
                             "leave the column or the step out.")
        return self._facts[task][name]

    def number(self, task: str, name: str, key: str) -> float:
        """Return a number about a column; one that came out empty is refused."""
        value = self.of(task, name).get(key)
        if not isinstance(value, int | float):
            raise DataError(f"The result of task '{task}' has no {key} of column '{name}': too few "
                            "values are known, or it was not asked for. Leave the column or the "
                            "step out.")
        return float(value)


def _by_column(facts: Any) -> bool:
    return isinstance(facts, Mapping) and all(isinstance(one, Mapping) for one in facts.values())


def limits(facts: JointFacts, name: str, way: str) -> tuple[float, float]:
    """Return between which numbers the values of a column are kept."""
    if way == "range":
        low, high = facts.of("summary", name)["range"]
        return float(low), float(high)
    if way == "deviations":
        mean = facts.number("summary", name, "mean")
        reach = DEVIATIONS * facts.number("summary", name, "deviation")
        return mean - reach, mean + reach
    if way == "quartiles":
        low, high = (facts.number("quantiles", name, key) for key in ("0.25", "0.75"))
        return low - FENCE * (high - low), high + FENCE * (high - low)
    ordered = sorted(facts.of("quantiles", name), key=float)
    if len(ordered) < 2:
        raise InputError(f"Limits by quantiles need two of column '{name}'. The result has one. "
                         "Ask for two, such as 0.01 and 0.99.")
    low, high = (facts.number("quantiles", name, key) for key in (ordered[0], ordered[-1]))
    return low, high


def filling(facts: JointFacts, name: str, way: str) -> float:
    """Return what takes the place of a missing value."""
    return facts.number("summary", name, "mean") if way == "mean" else facts.number(
        "quantiles", name, "0.5")


def scaling(facts: JointFacts, name: str, way: str) -> tuple[float, float]:
    """Return what becomes 0, and what is one unit; a column that does not vary keeps its unit."""
    if way == "range":
        low, high = limits(facts, name, "range")
        return low, high - low
    if way == "deviation":
        return (facts.number("summary", name, "mean"),
                facts.number("summary", name, "deviation") or 1.0)
    low, middle, high = (facts.number("quantiles", name, key) for key in ("0.25", "0.5", "0.75"))
    return middle, (high - low) or 1.0


def prepare(table: Table, results: Sequence[Mapping[str, Any]], *, columns: Sequence[str] = (),
            limit: str | None = None, impute: str | None = None, scale: str | None = None,
            bin: str | None = None) -> Any:
    """Return an owner's table with columns prepared by what all owners' rows say together.

    Steps are taken in this order: limit, impute, and scale or bin. Nothing is sent, and nothing is
    disclosed.

    Parameters
    ----------
    table : Table
        The owner's own table, as `unspoken.read` returns it.
    results : sequence of mapping
        Results of the joint tasks `summary`, `quantiles` and `bins`.
    columns : sequence of str, default ()
        The columns to prepare. Default: all that the results are about.
    limit : {'range', 'quantiles', 'quartiles', 'deviations'}, optional
        Where values that lie farther out are moved to: the ends of the agreed range, the outermost
        quantiles, 1.5 quartile distances beyond the quartiles, or 3 deviations around the mean.
    impute : {'mean', 'median'}, optional
        What takes the place of a missing value.
    scale : {'range', 'deviation', 'quartiles'}, optional
        The agreed range becomes 0 to 1; or mean 0 and deviation 1; or median 0 and the distance of
        the quartiles 1.
    bin : {'number', 'weights'}, optional
        The number of a value's bin, from 0 on, missing values last; or the weight of evidence of
        its bin, 0 for one that came out empty.

    Returns
    -------
    pyarrow.Table
        All columns of the table, in their order; the prepared ones hold numbers.

    Examples
    --------
    >>> prepare(unspoken.read("north.csv"), [summary], impute="mean",
    ...         scale="deviation")  # doctest: +SKIP
    """
    steps, facts = Steps(limit, impute, scale, bin), JointFacts(results)
    chosen = tuple(columns) or facts.columns(steps.tasks)
    rows = table.arrow()
    for name in chosen:
        if name not in rows.column_names:
            raise DataError(explain("The columns of this owner's file",
                                    f"such that '{name}' is there", ", ".join(rows.column_names)))
        place = rows.column_names.index(name)
        rows = rows.set_column(place, name, _prepared(table, name, facts, steps))
    return rows


def _prepared(table: Table, name: str, facts: JointFacts, steps: Steps) -> Any:
    """Return one column after all steps."""
    if steps.bin and "categories" in facts.of("bins", name):
        words = tuple(facts.of("bins", name)["categories"])
        texts = np.array(table.arrow([name])[name].to_pylist(), object)
        return _binned(category_of(name, texts, words), facts, name, steps.bin)
    values = table.numbers([name])[:, 0]
    if steps.limit:
        values = np.clip(values, *limits(facts, name, steps.limit))
    if steps.impute:
        values = np.where(np.isnan(values), filling(facts, name, steps.impute), values)
    if steps.bin:
        edges = np.array(facts.of("bins", name)["cuts"], np.float64)
        return _binned(bin_of(values, edges), facts, name, steps.bin)
    return _numbers(_scaled(values, facts, name, steps.scale))


def _scaled(values: Floats, facts: JointFacts, name: str, way: str | None) -> Floats:
    if way is None:
        return values
    middle, unit = scaling(facts, name, way)
    return np.asarray((values - middle) / unit)


def _binned(codes: Any, facts: JointFacts, name: str, way: str) -> Any:
    """Return the numbers of bins, or their weights of evidence."""
    if way == "number":
        return pa.array(codes)
    weights = facts.of("bins", name).get("weights")
    if weights is None:
        raise InputError(f"The bins of column '{name}' have no weights of evidence: their study "
                         "names no target. Use bin='number', or run it with one.")
    return pa.array(np.array([weight or 0.0 for weight in weights])[codes])


def _numbers(values: Floats) -> Any:
    return pa.array(values, mask=np.isnan(values))
