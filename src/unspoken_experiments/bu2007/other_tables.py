"""The two other tables that bu2007 names: census income (Adult) and WDBC.

It prints no number for them, but that its results are representative. So its claims are checked:
breakpoints lower the risk of every attribute, two points recover less than 15%, and an ignorant
guess less than 5%.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from unspoken_experiments.bu2007 import figure9
from unspoken_experiments.bu2007.setting import Attribute
from unspoken_experiments.data_sets import need
from unspoken_experiments.findings import Finding, Section, Setting

CENSUS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
MEANS = 10


def attribute(number: int, name: str, data: npt.NDArray[np.float64],
              positive: npt.NDArray[np.bool_]) -> Attribute:
    """Return a column as bu2007 sees it: distinct values, counts by class."""
    values, where = np.unique(data, return_inverse=True)
    counts = np.bincount(2 * where + positive, minlength=2 * values.size).reshape(-1, 2)
    return Attribute(number, name, values, counts)


def census(setting: Setting) -> list[Attribute]:
    """Return the six numeric attributes of Adult, by income."""
    table = pq.read_table(need("adult_data.parquet", setting.folder))
    rich = np.asarray(table["income"].to_pylist()) == ">50K"
    return [attribute(i + 2, name, table[name].to_numpy().astype(np.float64), rich)
            for i, name in enumerate(CENSUS)]


def wdbc(setting: Setting) -> list[Attribute]:
    """Return the ten means of WDBC, by diagnosis."""
    table = pq.read_table(need("wdbc.parquet", setting.folder))
    benign = table["target"].to_numpy() == 1
    return [attribute(i + 2, name, table[name].to_numpy(), benign)
            for i, name in enumerate(table.column_names[:MEANS])]


def other_tables(setting: Setting, trials: int) -> Iterator[Section]:
    """Yield one section a table."""
    for title, attributes in (("census income (Adult)", census(setting)),
                              ("WDBC, the ten means", wdbc(setting))):
        yield Section("bu2007", "Section 6.1", title, tuple(_claims(attributes, trials)), (
            "The paper names this table and prints no number for it, but that its results are "
            "representative; its claims about Covertype are checked here.",), "Percent.", 5.0)


def _claims(attributes: list[Attribute], trials: int) -> Iterator[Finding]:
    lower = []
    for one in attributes:
        none, cut, two = (figure9.bar(one, method, points, trials, "unspoken").value
                          for method, points in (("none", 4), ("ChooseBP", 4),
                                                 ("ChooseMaxMP", 2)))
        lower.append(cut < none)
        yield Finding(f"{one.name}: ChooseMaxMP, 2 points", "<15", two)
        yield Finding(f"{one.name}: ignorant", "<5", figure9.ignorant(one))
    yield Finding("attributes whose risk breakpoints lower", "100", 100 * float(np.mean(lower)))
