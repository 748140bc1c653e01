"""Regression over columns that are spread among owners (vcz2006 section 5.2.1, done otherwise).

Every owner has some columns of all records; the response may lie with one of them, with all, or be
a sum of parts of all. Products of columns of different owners may be terms: the book leaves them
open, here they are products on shares. X'X, its inverse and everything that follows stay shared.

  discloses: what `fitting` and `columns` say, and with owners of rows what `mixed_rows` says. With
    ids: which of them are in common, to all owners, as `align` does.
  refuses: different numbers of records or responses, columns that depend on each other, constant
    columns, models that open more numbers than a quarter of an owner's values.
  safe against: as products and comparisons in the mode. The book's products I and II, and its
    masked inverse, are weak; none of them is used.
  error: that of rounding every value to 2^-47 of its column's greatest magnitude.
  cost: as `horizontal`, and 32 bytes for each value and owner whose columns it meets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.sets.encrypted_circle import SetRules
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.common.record_order import InOneOrder
from unspoken.joint.tasks.regression import program_rows as horizontal
from unspoken.joint.tasks.regression.column_blocks import (
    ALL,
    SAME_RESPONSE,
    SAME_ROWS,
    Given,
    Own,
    OwnedColumns,
    agree_sizes,
    column_moments,
)
from unspoken.joint.tasks.regression.columns_start import OverColumns, given_to
from unspoken.joint.tasks.regression.fitting import Scaled, scaled
from unspoken.joint.tasks.regression.mixed_rows import GROUP, check_rows, mixed_moments
from unspoken.joint.tasks.regression.params import RegressionParams, Selection
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.linear_model import LinearModel


def disclosures(columns: OwnedColumns, rules: RegressionParams, selection: Selection | None = None
                ) -> tuple[Disclosure, ...]:
    """Return everything that a regression over columns discloses."""
    declared = list(horizontal.disclosures(rules, selection, len(columns.terms.features)))
    declared.append(Disclosure(SAME_ROWS))
    if columns.held == ALL:
        declared.append(Disclosure(SAME_RESPONSE))
    return tuple(declared)


class RegressionOverColumns(OverColumns):
    """The program: every owner gives its columns."""

    def __init__(self, columns: OwnedColumns, rules: RegressionParams | None = None,
                 selection: Selection | None = None, rows: Sequence[str] = ()) -> None:
        super().__init__(columns, rules or RegressionParams())
        self.selection, self.rows = selection, tuple(rows)
        check_rows(columns, self.rows)
        horizontal.check_smaller(columns.terms, self.rules, selection)
        self.disclosures = (*disclosures(columns, self.rules, selection),
                            *([Disclosure(GROUP)] if self.rows else []))

    async def __call__(self, party: Party, data: Given | None) -> LinearModel | None:
        """Fit, and return the model to the receivers."""
        return await self.fitted(party, *await self.prepared(party, data))

    async def fitted(self, party: Party, own: Own | None, rows: int) -> LinearModel | None:
        """Return the model of columns that were prepared, to the receivers."""
        moments = await self.shared(party, own, rows)
        return await horizontal.finished(party, moments, self.columns.terms, self.rules,
                                         self.selection)

    async def shared(self, party: Party, own: Own | None, rows: int) -> Scaled:
        """Return the scaled moments of columns that were prepared."""
        if self.rows:
            return await mixed_moments(party, self.columns, self.rows, own, rows)
        terms = self.columns.terms
        sizes = await agree_sizes(party, self.columns, own)
        moments, _ = await column_moments(party, self.columns, own, sizes, rows)
        return await scaled(party, moments, sizes, rows, (*terms.features, terms.response))


def mine_regression_columns(parts: Mapping[str, Mapping[str, Any]], columns: OwnedColumns,
                             rules: RegressionParams | None = None, mode: str = "dealer", *,
                             selection: Selection | None = None,
                             ids: Mapping[str, Iterable[Any]] | None = None,
                             aligned: SetRules | None = None,
                             rows: Mapping[str, Mapping[str, Any]] | None = None,
                             **how: Any) -> tuple[list[LinearModel | None], list[Ledger]]:
    """Fit one model over the columns of all owners; return each party's model and ledger.

    Parameters
    ----------
    parts : mapping of str to mapping
        Each owner's columns by name, by the owner's name.
    columns : OwnedColumns
        Which owner has which columns, and who has the response.
    rules : RegressionParams, optional
        What everybody agreed on. Default: `RegressionParams()`.
    mode : str, default 'dealer'
        Who holds shares and who deals, as in `run_local`.
    selection : Selection, optional
        How terms are chosen. Default: all are in the model.
    ids : mapping of str to iterable, optional
        Each owner's ids, if records are to be aligned.
    aligned : SetRules, optional
        Rules of the alignment, used if there are ids. Default: `SetRules()`.
    rows : mapping of str to mapping, optional
        Owners that have all columns and the response of further records, and these by name (mixed
        partitioning); not with ids. Default: nobody.
    **how : Any
        Passed on to `run_local`, such as processes=True.

    Returns
    -------
    tuple of (list of LinearModel or None, list of Ledger)
        Each party's model (None for who is no receiver) and ledger, in the order of owners.

    Examples
    --------
    >>> models, ledgers = mine_regression_columns({'a': a, 'b': b}, columns)  # doctest: +SKIP
    """
    rules_of_sets = (aligned or SetRules()) if ids is not None else None
    program = InOneOrder(RegressionOverColumns(columns, rules, selection, tuple(rows or ())),
                         tuple(columns.owners), rules_of_sets)
    outputs = run_local(program, given_to(parts, columns, ids, rows), mode,
                        names=[*columns.owners, *(rows or ())], **how)
    return [model for model, _ in outputs], [ledger for _, ledger in outputs]
