"""Every form in which a result can go back: what it costs in accuracy, and what it gives away."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.disclosure.adversary import View
from unspoken.disclosure.ground_truth import Truths
from unspoken.errors import InputError
from unspoken.methods.encoding.audit.encoded_truths import piecewise_truths
from unspoken.methods.encoding.results.result_forms import (
    Form,
    as_pattern,
    cut,
    only_asked,
    round_step,
    rounded,
)
from unspoken.methods.encoding.results.result_policy import ResultPolicy
from unspoken.methods.encoding.results.shown_disclosure import Shown, shown_columns
from unspoken.models.forest import Forest
from unspoken.models.readers import as_model
from unspoken.models.tree import Tree
from unspoken.release.decoding import decode
from unspoken.release.key import Key
from unspoken.release.release import Release
from unspoken.table.table import Table

DEPTHS = (2, 4, 6)
ROUNDINGS = (0.02, 0.1)


@dataclass(frozen=True)
class ResultOption:
    """One form of a result.

    Attributes
    ----------
    form : str
        The form, in words.
    accuracy : float
        The share of right classes, or R squared, on the records it was measured with.
    agreement : float
        The share of those records for which it says what the full model says; for numbers within
        2% of the range.
    column : str
        The column that is read best once the result was shown.
    recovered, exact : float
        The share of people whose value there can be read within the radius, and exactly.
    guess : float
        The same share for somebody who has nothing but the range.
    mean_recovered : float
        `recovered`, averaged over all columns.
    refused : tuple of str
        Why the policy does not let it go back.
    """

    form: str
    accuracy: float
    agreement: float
    column: str
    recovered: float
    exact: float
    guess: float
    mean_recovered: float
    refused: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {**asdict(self), "refused": list(self.refused)}


@dataclass(frozen=True, eq=False)
class Result:
    """A mined model, its decoded twin, and everything that is needed to score what is shown."""

    mined: Any
    decoded: Any
    key: Key
    table: Table
    release: Release

    @classmethod
    def of(cls, model: Any, key: Key, table: Table, release: Release, **options: Any) -> Result:
        """Decode a mined model; `options` are those of `decode`."""
        key.fits(release)
        mined = as_pattern(as_model(model))
        return cls(mined, as_pattern(decode(mined, key, table, **options)), key, table, release)

    @cached_property
    def view(self) -> View:
        """Return what the miner sees of the release."""
        return View.of(self.release)

    @cached_property
    def truths(self) -> Truths:
        """Return what the codes stand for, for scoring only."""
        return piecewise_truths(self.table, self.view, self.key)

    def in_form(self, form: Form, policy: ResultPolicy | None = None) -> Any:
        """Return the model that goes back in a form; None stands for predictions alone.

        Where a policy asks for a least rounding, no step is finer.
        """
        if form.name == "predictions":
            return None
        coarse = cut(self.decoded, form.depth)
        if form.rounding is None:
            return coarse
        least = 0.0 if policy is None else min(policy.min_rounding or 0.0, form.rounding)
        steps = {name: round_step(truth.values[-1] - truth.values[0], form.rounding, least)
                 for name, truth in self.truths.columns.items() if truth.values.size}
        return rounded(only_asked(coarse), steps)

    def shown(self, form: Form, model: Any, radius: float) -> list[Shown]:
        """Return what the miner can read, column by column, once a form was shown."""
        return shown_columns(cut(self.mined, form.depth), model, self.key, self.view, self.truths,
                             radius)

    def checked(self, form: Form, policy: ResultPolicy | None) -> Any:
        """Return the model in a form, if the policy lets it go back; refuse it otherwise."""
        model = self.in_form(form, policy)
        if policy is not None:
            policy.enforce(form, model, self.shown(form, model, policy.radius))
        return model


def result_options(
    model: Any, key: Key, table: Table, release: Release | str | os.PathLike[str],
    policy: ResultPolicy | str | os.PathLike[str] | None = None,
    forms: Sequence[Form] | None = None, test: Table | None = None, **options: Any,
) -> tuple[ResultOption, ...]:
    """Measure every form in which a mined model can go back to whoever mined it.

    Parameters
    ----------
    model : model
        What the miner sent, as `decode` takes it.
    key, table, release : Key, Table, Release or path
        The key, the original, and the release that was mined.
    policy : ResultPolicy or path, default None
        Says which of them may go back.
    forms : sequence of Form, default None
        What is measured; by default predictions, rules of several depths and roundings, and the
        full model.
    test : Table, default None
        Records to measure the accuracy with; by default those that were mined, which flatters
        deep trees.
    **options
        Options of `decode`.

    Returns
    -------
    tuple of ResultOption

    Examples
    --------
    >>> for option in result_options(mined, key, table, release):  # doctest: +SKIP
    ...     print(option.form, option.accuracy, option.recovered)
    """
    rules = ResultPolicy.load(policy) if isinstance(policy, str | os.PathLike) else policy
    sent = release if isinstance(release, Release) else Release.load(release)
    result = Result.of(model, key, table, sent, **options)
    records = table if test is None else test
    full = np.asarray(result.decoded.predict(records))
    return tuple(_option(result, form, rules, records, full)
                 for form in (forms or _usual_forms(result.decoded)))


def _usual_forms(model: Any) -> Iterator[Form]:
    yield Form("predictions")
    cuts = DEPTHS if isinstance(model, Tree | Forest) else ()
    for rounding in (*ROUNDINGS[::-1], None):
        for depth in (*cuts, None):
            if depth is not None or rounding is not None:
                yield Form("rules", depth, rounding)
    yield Form("full")


def _option(result: Result, form: Form, policy: ResultPolicy | None, records: Table,
            full: npt.NDArray[Any]) -> ResultOption:
    model = result.in_form(form, policy)
    shown = result.shown(form, model, 0.02 if policy is None else policy.radius)
    said = full if model is None else np.asarray(model.predict(records))
    if not shown:
        raise InputError("The release has no column that can be scored.")
    worst = max(shown, key=lambda one: (one.records, one.exact))
    truth = records.labels()
    return ResultOption(
        str(form), _accuracy(said, truth), _agreement(said, full), worst.column, worst.records,
        worst.exact, worst.guess, float(np.mean([one.records for one in shown])),
        () if policy is None else policy.reasons(form, model, shown))


def _accuracy(said: npt.NDArray[Any], truth: npt.NDArray[Any]) -> float:
    """Return the share of right classes, or R squared for numbers."""
    if said.dtype.kind == "f" and truth.dtype.kind in "iuf" and np.unique(truth).size > 2:
        spread = float(((truth - truth.mean()) ** 2).sum())
        return 1.0 - float(((truth - said) ** 2).sum()) / spread if spread else 1.0
    if said.dtype.kind in "iu" and truth.dtype.kind not in "iufb":
        classes = np.unique(truth)
        said = classes[np.minimum(said, classes.size - 1)]
    return float(np.mean(said.astype(str) == truth.astype(str)))


def _agreement(said: npt.NDArray[Any], full: npt.NDArray[Any]) -> float:
    if full.dtype.kind == "f":
        return float(np.mean(np.abs(said - full) <= 0.02 * np.ptp(full)))
    return float(np.mean(said == full))


def options_text(options: Sequence[ResultOption]) -> str:
    """Return the table in words, one line per form."""
    head = ("form", "accuracy", "as the full", "read best", "read", "exactly", "by a guess",
            "all columns", "policy")
    rows = [head, *((o.form, f"{o.accuracy:.3f}", f"{o.agreement:.1%}", o.column,
                     f"{o.recovered:.1%}", f"{o.exact:.1%}", f"{o.guess:.1%}",
                     f"{o.mean_recovered:.1%}", "; ".join(o.refused) or "-") for o in options)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(head) - 1)]
    return "\n".join("  ".join([*(cell.ljust(width) for cell, width in
                                  zip(row, widths, strict=False)), row[-1]]).rstrip()
                     for row in rows)
