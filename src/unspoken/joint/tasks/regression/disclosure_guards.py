"""What a regression refuses because the opened numbers would give data away.

A model opens some numbers of everybody's data: two for each term and a few more. Who knows its own
part can take every opened number as an equation for the others' part. There must be far fewer
equations than unknown values:

  - rows spread: every owner needs four times as many records as the model has terms and intercept,
    checked by each owner about itself before anything is sent;
  - columns spread: records times columns of each owner must be four times the opened numbers;
  - residuals, fitted values, or models one after the other are counted in the same way: one number
    for each record leaves a party with one column nothing, because others divide by its
    coefficient (vcz2006 section 5.2.2). Synthetic residuals serve instead.

These are counts, not proofs: values that are known to be few (a yes and no) can be solved for with
fewer equations. unspoken's own engine is not vetted.
"""

from __future__ import annotations

from collections.abc import Mapping

from unspoken.joint.joint_errors import RefusedError

TIMES = 4


def opened_numbers(terms: int, inference: bool = True) -> int:
    """Return how many numbers a model opens."""
    return 2 * (terms + 1) + 2 if inference else terms + 1


def refuse_few_rows(rows: int, terms: int, owner: str, steps: int = 1) -> None:
    """Refuse an owner's records if what is opened, step by step, could be solved for them."""
    least = TIMES * (terms + 1) * steps
    if rows < least:
        raise RefusedError(f"'{owner}' must have at least {least} records, {TIMES} times the "
                           "numbers that are opened of a model. It has fewer, and others could "
                           "solve for them. Leave terms out, or this owner.")


def refuse_more_steps(steps: int, most: int, owner: str) -> None:
    """Refuse to open one step more than an owner has records for."""
    if steps >= most:
        raise RefusedError(f"The steps must become small before the coefficients of {steps + 1} "
                           f"steps are opened: others could solve them for the data of '{owner}'. "
                           "They did not. Give more records or fewer terms; a ridge helps where a "
                           "task has one. The steps so far were opened.")


def most_opened(records: int, widths: Mapping[str, int]) -> int:
    """Return how many numbers may be opened before an owner's columns could be solved for."""
    return min(records * columns for columns in widths.values() if columns) // TIMES


def smallest(widths: Mapping[str, int]) -> str:
    """Return the owner of the fewest columns."""
    return min((owner for owner, columns in widths.items() if columns),
               key=lambda owner: widths[owner])


def refuse_few_groups(rows: int, least: int, owner: str) -> None:
    """Refuse an owner whose records do not make four groups."""
    if rows < TIMES * least:
        raise RefusedError(f"'{owner}' must have at least {TIMES * least} records, for {TIMES} "
                           f"groups of {least}. It has fewer. Agree on a smaller 'least', or leave "
                           "this owner out.")


def refuse_few_records(records: int, terms: int, steps: int = 1) -> None:
    """Refuse a model with too few records in all."""
    least = TIMES * (terms + 1) * steps
    if records < least:
        raise RefusedError(f"A model of {terms} terms needs at least {least} records in all. There "
                           f"are {records}. Leave terms out.")


def refuse_solvable(records: int, widths: Mapping[str, int], opened: int) -> None:
    """Refuse to open numbers from which an owner's columns could be solved for."""
    for owner, columns in widths.items():
        if columns and records * columns < TIMES * opened:
            raise RefusedError(
                f"The columns of '{owner}' hold {records * columns} values. {opened} numbers would "
                f"be opened, and others could solve them for those columns: at least "
                f"{TIMES * opened} values are needed. Leave terms out, or open fewer models.")


def refuse_residuals(widths: Mapping[str, int], models: int = 1) -> None:
    """Refuse to open residuals where they, with the coefficients, give a column away."""
    having = {owner: columns for owner, columns in widths.items() if columns}
    lone = next((owner for owner, columns in having.items() if columns <= models), None)
    if len(having) < 3:
        raise RefusedError("Residuals of a model over the columns of two owners must not be "
                           "opened: each would subtract its own part and have the other's. Use "
                           "synthetic residuals.")
    if lone is not None:
        raise RefusedError(f"Residuals must not be opened where '{lone}' has only {having[lone]} "
                           f"of the columns and {models} model(s) were opened: others could solve "
                           "for them. Use synthetic residuals.")
