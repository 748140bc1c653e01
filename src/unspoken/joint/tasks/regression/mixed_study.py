"""What a study says where some owners have columns and others rows: files, blank data, verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from unspoken.joint.result_control.opened_forms import ColumnModel, Opened, RowModel
from unspoken.joint.result_control.verdict import Verdict
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.blank_data import named
from unspoken.joint.tasks.common.party_files import party_table
from unspoken.joint.tasks.common.study_parameters import read_numbers
from unspoken.joint.tasks.regression.column_blocks import Given
from unspoken.joint.tasks.regression.study_terms import columns_of, rows_of


def _every(study: Study) -> tuple[str, ...]:
    """Return all columns of the model, and the response."""
    columns = columns_of(study.parameters)
    return (*columns.terms.columns, columns.response)


def having_columns(study: Study) -> tuple[str, ...]:
    """Return the owners whose records must be in one order."""
    rows = rows_of(study.parameters)
    return tuple(name for name in study.having("owner") if name not in rows)


def rows_given(path: Path, study: Study) -> Given | None:
    """Return the rows of a file that has every column; None where no owner has rows."""
    if not rows_of(study.parameters) or set(_every(study)) - set(party_table(path).schema.names):
        return None
    return Given(read_numbers(path, _every(study)))


def blank_given(study: Study, name: str, records: int) -> Given | None:
    """Return blank rows of an owner that has rows; None for others."""
    return Given(named(records, _every(study))) if name in rows_of(study.parameters) else None


@dataclass(frozen=True)
class MixedModel:
    """The numbers of a linear model, some of whose owners have columns and others rows."""

    columns: ColumnModel
    rows: RowModel
    having_rows: tuple[str, ...]

    @property
    def to(self) -> tuple[str, ...]:
        """Return who learns it."""
        return self.rows.to

    def verdicts(self, party: str, owners: Sequence[str]) -> list[Verdict]:
        """Return which moments of others follow; the owners of columns count as one owner.

        One of them alone does not know its part of the moments, so that it can take nothing off.
        What it can work out of the others' columns is less than without the other records.
        """
        group = "the owners of columns"
        found = self.rows.verdicts(party, (group, *self.having_rows) if party in self.having_rows
                                   else (group, *self.having_rows, ""))
        about: Mapping[str, tuple[str, ...]] = {group: tuple(
            name for name in self.columns.places if name != party)}
        told = [replace(one, about=about.get(one.about[0], one.about)) for one in found
                if one.about[0]]
        return told if party in self.having_rows else [
            *self.columns.verdicts(party, owners), *(
                one for one in told if one.about[0] in self.having_rows)]


def mixed_opens(study: Study, opened: tuple[Opened, ...]) -> tuple[Opened, ...]:
    """Return what a model over columns opens; with owners of rows, what follows for whom then."""
    [model], rows = opened, rows_of(study.parameters)
    if not rows or not isinstance(model, ColumnModel):
        return opened
    over_rows = RowModel(model.terms, model.errors, model.sums, model.ridge, model.to,
                         model.smaller, model.bits)
    return (MixedModel(model, over_rows, rows),)
