"""Regression over rows that are spread among owners (vcz2006 section 5.3).

Every owner has all columns for some of the records. It adds up the products of its own columns,
and everything from there on happens on shares: two owners are enough, because no total is opened
from which one could take off its own part (the book opens X'X and X'y, which is refused for two).

  discloses: what `fitting` says, and the power of two above each column's greatest magnitude.
  refuses: an owner with fewer records than four times the terms; too few in all; columns that
    depend on each other; constant columns.
  safe against: as products and comparisons in the mode.
  error: coefficients within 1e-9 of |beta| plus its standard error for designs whose correlation
    matrix has a condition of 1e4; `condition` bounds it.
  cost: about 6 rounds for each doubling of `condition` and 100 more, whatever the number of
    records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import DataError, InputError, explain
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.matrix_inverse import ILL
from unspoken.joint.mpc.party import Party
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.common.public_sizes import ready
from unspoken.joint.tasks.regression.disclosure_guards import (
    refuse_few_records,
    refuse_few_rows,
)
from unspoken.joint.tasks.regression.fitting import (
    COEFFICIENTS,
    COUNT,
    ERRORS,
    SMALLER,
    SPREADS,
    SUMS,
    Scaled,
    fit,
    open_count,
    open_mean,
    open_model,
    scaled,
)
from unspoken.joint.tasks.regression.params import RegressionParams, RegressionTerms, Selection
from unspoken.joint.tasks.regression.second_moments import (
    MOST_RECORDS,
    SIZES,
    common_exponents,
    exponents,
    row_moments,
    share_moments,
)
from unspoken.joint.tasks.regression.term_selection import (
    choose,
    selection_disclosures,
)
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.linear_model import LinearModel


def disclosures(rules: RegressionParams, selection: Selection | None = None,
                columns: int = 0) -> tuple[Disclosure, ...]:
    """Return everything that a regression over rows discloses."""
    declared = [Disclosure(text) for text in (SIZES, COUNT, SPREADS, ILL)]
    mine = [COEFFICIENTS, *([SUMS] if rules.inference else []), *([SMALLER] * bool(rules.smaller)),
            *([ERRORS] if rules.inference and not rules.ridge else [])]
    declared += [Disclosure(text, rules.receivers) for text in mine]
    if selection is not None:
        declared += selection_disclosures(selection, columns)
    return tuple(declared)


class RegressionOverRows:
    """The program: every owner gives the table of its rows, the response last."""

    def __init__(self, terms: RegressionTerms, rules: RegressionParams | None = None,
                 selection: Selection | None = None) -> None:
        self.terms, self.rules, self.selection = terms, rules or RegressionParams(), selection
        check_smaller(terms, self.rules, selection)
        self.disclosures = disclosures(self.rules, selection, len(terms.features))

    async def __call__(self, party: Party, data: Floats | None) -> LinearModel | None:
        """Fit, and return the model to the receivers."""
        table = own_rows(party, self.terms, data)
        await ready(party)
        moments = await row_sums(party, self.terms, table)
        return await finished(party, moments, self.terms, self.rules, self.selection)


def check_smaller(
    terms: RegressionTerms, rules: RegressionParams, selection: Selection | None
) -> None:
    """Refuse smaller models that do not lie inside the model, or inside one yet to be chosen."""
    if rules.smaller and selection is not None:
        raise InputError("'smaller' models must not go with a selection: which terms there will be "
                         "is not known. Fit the chosen model again.")
    for names in rules.smaller:
        places = {terms.place(name) for name in names}
        if not 0 < len(names) == len(places) < len(terms.features):
            raise InputError(explain("A smaller model", "of some of the terms, each once",
                                     ", ".join(names) or "none"))


async def finished(party: Party, moments: Scaled, terms: RegressionTerms, rules: RegressionParams,
                   selection: Selection | None) -> LinearModel | None:
    """Choose terms if that was asked for, fit, and open the model."""
    features: Sequence[str] = terms.features
    if selection is not None:
        places = await choose(party, moments, rules, selection, terms)
        moments = moments.take([*places, len(features)])
        features = [features[place] for place in places]
        if not places:
            return await open_mean(party, moments, rules, terms.response)
    return await open_model(party, moments, await fit(party, moments, rules), rules,
                            terms.response, features)


def own_rows(party: Party, terms: RegressionTerms, data: Floats | None) -> Floats:
    """Check an owner's rows before anything is sent; who owns none has no rows."""
    columns = len(terms.features) + 1
    if party.name not in party.roles.owners:
        return np.zeros((0, columns))
    if data is None or data.ndim != 2 or data.shape[1] != columns:
        raise DataError(explain(f"The rows of '{party.name}'", f"a table of {columns} columns, the "
                                "response last", None if data is None else data.shape))
    if data.shape[0] > MOST_RECORDS // len(party.roles.owners):
        raise DataError(explain("Rows", f"at most {MOST_RECORDS:,} in all", "more"))
    if not np.isfinite(data).all():
        raise DataError(f"The rows of '{party.name}' must have a finite number in every column. "
                        "Some have none.")
    refuse_few_rows(data.shape[0], columns - 1, party.name)
    return data


async def row_sums(party: Party, terms: RegressionTerms, table: Floats) -> Scaled:
    """Return the scaled moments of all owners' rows."""
    columns = table.shape[1]
    sizes = await common_exponents(party, exponents(table), columns)
    moments = await share_moments(party, row_moments(table, sizes), columns)
    records = await open_count(party, moments)
    refuse_few_records(records, columns - 1)
    return await scaled(party, moments, sizes, records, (*terms.features, terms.response))


def mine_regression_rows(parts: Sequence[Mapping[str, Any]], terms: RegressionTerms,
                               rules: RegressionParams | None = None, mode: str = "dealer", *,
                               selection: Selection | None = None,
                               names: Sequence[str] | None = None,
                               **how: Any) -> tuple[list[LinearModel | None], list[Ledger]]:
    """Fit one model over the rows of all owners; return each party's model and ledger.

    Parameters
    ----------
    parts : sequence of mapping
        Each owner's columns by name, the response among them.
    terms : RegressionTerms
        The response, the columns and their products.
    rules : RegressionParams, optional
        What everybody agreed on. Default: `RegressionParams()`.
    mode : str, default 'dealer'
        Who holds shares and who deals, as in `run_local`.
    selection : Selection, optional
        How terms are chosen. Default: all are in the model.
    names : sequence of str, optional
        The owners' names. Default: p0, p1, and so on.
    **how : Any
        Passed on to `run_local`, such as processes=True.

    Returns
    -------
    tuple of (list of LinearModel or None, list of Ledger)
        Each party's model (None for who is no receiver) and ledger, in the order of owners.

    Examples
    --------
    >>> models, ledgers = mine_regression_rows([a, b, c], terms)  # doctest: +SKIP
    """
    tables = [terms.table(part) for part in parts]
    program = RegressionOverRows(terms, rules, selection)
    outputs = run_local(program, tables, mode, names=names, **how)
    return [model for model, _ in outputs], [ledger for _, ledger in outputs]
