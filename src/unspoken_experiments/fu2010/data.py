"""The tables of section 4: Adult as the paper used it, and two medical ones in place of Cancer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

import unspoken
from unspoken.models.tree_growth_rule import Growth
from unspoken.table.table import Table
from unspoken_experiments.data_sets import need

ADULT_COLUMNS = ("age", "workclass", "education-num", "marital-status", "occupation",
                 "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week",
                 "native-country", "income")
SEER_COLUMNS = ("Age", "Race ", "Marital Status", "Grade", "Tumor Size", "Estrogen Status",
                "Progesterone Status", "Regional Node Examined", "Reginol Node Positive",
                "6th Stage", "Survival Months")
SUPPORT_COLUMNS = ("age", "sex", "num.co", "scoma", "meanbp", "hrt", "resp", "temp", "ca",
                   "diabetes", "dementia", "dzgroup", "d.time")


@dataclass(frozen=True)
class Study:
    """A table with its target and its sensitive column, and what is grown from it."""

    name: str
    table: Table
    criterion: str

    @property
    def sensitive(self) -> str:
        """Return the one sensitive column."""
        return self.table.schema.with_role("sensitive")[0]

    def growth(self, leaves: int, criterion: str | None = None) -> Growth:
        """Return how a tree of a given number of leaves is grown."""
        return Growth(criterion=criterion or self.criterion, max_leaves=leaves)

    def some(self, rows: Any = None, columns: Sequence[str] | None = None) -> Study:
        """Return the study of some rows, or of some columns."""
        found = self.table.arrow() if rows is None else self.table.arrow().take(rows)
        found = found if columns is None else found.select(list(columns))
        kept = {c.name: c.kind for c in self.table.schema.columns if c.name in found.column_names}
        table = unspoken.read(found, target=self.table.target, sensitive=self.sensitive,
                           kinds=kept, show=False)
        return Study(self.name, table, self.criterion)


def adult(part: str = "data", folder: Path | None = None) -> Study:
    """Return Adult: 12 attributes and income, rows with an unknown occupation left out.

    The paper has 5 numbers and 7 categories: fnlwgt is a weight, and education says the same as
    education-num.
    """
    rows = pq.read_table(need(f"adult_{part}.parquet", folder)).select(list(ADULT_COLUMNS))
    rows = rows.filter(pc.not_equal(rows["occupation"], "?"))
    income = pc.replace_substring(rows["income"], ".", "")
    rows = rows.set_column(rows.column_names.index("income"), "income", income)
    return Study("Adult", unspoken.read(rows, target="income", sensitive="occupation", show=False),
                 "gini")


def seer(folder: Path | None = None) -> Study:
    """Return the breast cancer registry: survival in months; stage is sensitive."""
    rows = pq.read_table(need("seer_breast.parquet", folder)).select(list(SEER_COLUMNS))
    return Study("SEER", unspoken.read(rows, target="Survival Months", sensitive="6th Stage",
                                    show=False), "variance")


def support(folder: Path | None = None) -> Study:
    """Return SUPPORT2: days of follow-up; the group of the disease is sensitive."""
    rows = pq.read_table(need("support2.parquet", folder)).select(list(SUPPORT_COLUMNS)).drop_null()
    return Study("SUPPORT2", unspoken.read(rows, target="d.time", sensitive="dzgroup", show=False),
                 "variance")
