"""The study tasks `bayes` and `bayes-columns`: naive Bayes over rows or columns of owners."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.secure_sum import refuse_two
from unspoken.joint.result_control.opened_forms import Decisions, Opened, Quotients, Totals
from unspoken.joint.session.dry_run import Answers
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.classify.program_bayes import PREDICTED
from unspoken.joint.tasks.common.aligned_records import ROWS
from unspoken.joint.tasks.common.blank_data import part_of, scattered
from unspoken.joint.tasks.common.noise_in_parts import noisy_outlook
from unspoken.joint.tasks.common.study_parameters import (
    learns,
    outlined,
    read_columns,
)
from unspoken.joint.tasks.common.unlabelled_rows import NEW, assumed_new
from unspoken.joint.tasks.naive_bayes.columns_study import (
    ColumnsStudy,
    blank_columns,
    fits_columns,
    load_columns,
    shape_of,
)
from unspoken.joint.tasks.naive_bayes.noisy_counts import (
    NOISY,
    NoisyRowsStudy,
    noisy_disclosures,
    noisy_of,
)
from unspoken.joint.tasks.naive_bayes.opened_precision import POWERS
from unspoken.joint.tasks.naive_bayes.params import (
    BayesLayout,
    BayesSettings,
    Given,
    layout_of,
    rules_of,
)
from unspoken.joint.tasks.naive_bayes.pooled import pooled
from unspoken.joint.tasks.naive_bayes.program_rows import (
    RATIOS,
    SUMS,
    BayesOverRows,
    disclosures,
)
from unspoken.joint.tasks.task import Outlook, Task, notes_of, safe_against
from unspoken.joint.tasks.task_params import declared

ROWS_HELP = """Naive Bayes over the rows of several owners.

    unspoken joint new study.toml --name adult --task bayes --set target=income
        --set 'classes=["<=50K", ">50K"]' --set 'columns=["age", "sex"]'
        --set 'range.age=[0, 120]' --set 'categories.sex=["Female", "Male"]' ...

Receivers learn the model. reveal=sums opens counts and sums (also in mode "sums", for three owners
or more); ratios, the default, opens quotients alone, as finely as the size of each class allows.
Each column has categories or a range. With 'epsilon' and reveal=sums every owner adds its part of
noise to its counts and sums, of numbers clamped to their ranges, and books the study in the budget
of its table."""
COLUMNS_HELP = """Naive Bayes over the columns of several sites, in one run.

    unspoken joint new study.toml --name care --task bayes-columns --set class_site=north
        --set target=outcome --set 'classes=["no", "yes"]' --set 'north=[3, 2, "number"]'
        --set 'south=["number", "number"]' ...

Records whose class is missing at the class site are new: the model is learned from the others,
stays on shares, and the classes of the new ones come out. With `ids` rows are aligned first. With
class_known=true every site learns its own columns in the clear, and scores alone are shared."""


class RowsStudy(BayesOverRows):
    """The program of a study over rows."""

    def __init__(self, study: Study) -> None:
        super().__init__(layout_of(study.parameters),
                         rules_of(study.parameters, study.having("receiver")))
        self.disclosures = study.disclosures


def _program_rows(study: Study) -> RowsStudy | NoisyRowsStudy:
    return NoisyRowsStudy(study) if _noisy(study) else RowsStudy(study)


def _noisy(study: Study) -> bool:
    return BayesSettings.of(study.parameters).epsilon is not None


def _fits_rows(parameters: Mapping[str, Any]) -> None:
    layout_of(parameters)
    rules_of(parameters)


def _rows_disclosures(study: Study) -> tuple[Disclosure, ...]:
    if _noisy(study):
        return noisy_disclosures(study)
    return disclosures(rules_of(study.parameters, study.having("receiver")))


def _columns_disclosures(study: Study) -> tuple[Disclosure, ...]:
    return (Disclosure(PREDICTED, study.having("receiver")), Disclosure(NEW), Disclosure(ROWS))


def _rows_outlook(study: Study) -> Outlook:
    if _noisy(study):
        plan = noisy_of(study)
        return noisy_outlook(study, _rows_disclosures(study), plan.noise.notes(plan.deviations()))
    owners, learned = study.having("owner"), learns(study, _rows_disclosures(study))
    if rules_of(study.parameters).reveal == "sums":
        refuse_two(owners, study.having("receiver"))
        return Outlook(learned, f"any {max(0, len(owners) - 2)} of the {len(owners)} owners "
                       "together")
    if not study.facts.has_shares:
        raise StudyError("Task 'bayes' with reveal='ratios' needs shares. Mode 'sums' has none. "
                         "Use dealer, two-party, three-party or spu, or reveal='sums'.")
    return Outlook(learned, safe_against(study), notes_of(study))


def _columns_outlook(study: Study) -> Outlook:
    sites = [part.site for part in shape_of(study.parameters).parts]
    if not study.facts.has_shares or set(sites) != set(study.having("owner")):
        raise StudyError(explain("Task 'bayes-columns'", "given shares, and columns of each owner",
                                 f"mode '{study.mode}', columns of " + ", ".join(sites)))
    return outlined(study, _columns_disclosures(study), assumes="of which a tenth are new")


def _load_rows(path: Path, study: Study) -> Given:
    """Return an owner's rows; what the study does not know is refused here."""
    layout = layout_of(study.parameters)
    names = [*(column.name for column in layout.columns), layout.target]
    return layout.rows(read_columns(path, names))


def blank_given(layout: BayesLayout, records: int) -> Given:
    """Return blank rows of a layout."""
    codes = [np.arange(records) * (place + 1) % size for place, size in enumerate(layout.sizes)]
    numbers = [scattered(records, place) for place in range(len(layout.numeric))]
    return Given(np.array(codes, np.int64).reshape(len(codes), records),
                 np.array(numbers, np.float64).reshape(len(numbers), records),
                 np.arange(records) % len(layout.classes))


def _blank_rows(study: Study, name: str, records: int) -> Given:
    most = rules_of(study.parameters).most
    return blank_given(layout_of(study.parameters), min(part_of(records, study), most))


def _rows_answers(study: Study, records: int, name: str) -> Answers:
    # Quotients whose precision is chosen are opened as whole numbers of steps.
    ratio = 0.5 if rules_of(study.parameters).bits else 64
    return {SUMS: lambda shape: np.full(shape, records // 4 + 1),
            NOISY: lambda shape: np.full(shape, records // 4 + 1),
            RATIOS: lambda shape: np.full(shape, ratio),
            POWERS: lambda shape: np.full(shape, 4)}


def _columns_answers(study: Study, records: int, name: str) -> Answers:
    return {NEW: assumed_new}


def _expected(study: Study) -> int:
    return BayesSettings.of(study.parameters).expected


def _rows_opens(study: Study) -> tuple[Opened, ...]:
    """Return counts, opened as they are or divided; the quotients of a class share its count."""
    layout, rules = layout_of(study.parameters), rules_of(study.parameters)
    counts, to = "the counts of classes and categories", study.having("receiver")
    if rules.reveal == "sums":
        noisy = BayesSettings.of(study.parameters).epsilon is not None
        return (Totals(counts, to, noisy),
                Totals("the sums of numbers and squares by class", to, noisy))
    together = 1 + sum(size - 1 for size in layout.sizes) + 2 * len(layout.numeric)
    return (Quotients(counts, rules.bits, together, to),)


def _columns_opens(study: Study) -> tuple[Opened, ...]:
    return (Decisions("equality of values with those of new records", "where only some give "
                      "these classes", study.having("receiver")),)


TASKS = (
    Task("bayes", ROWS_HELP, declared(BayesSettings, "rows"), _fits_rows, _rows_disclosures,
         _rows_outlook, _load_rows, _program_rows, _blank_rows, pooled, _rows_answers,
         opens=_rows_opens),
    Task("bayes-columns", COLUMNS_HELP, declared(BayesSettings, "columns"), fits_columns,
         _columns_disclosures, _columns_outlook, load_columns, ColumnsStudy, blank_columns, pooled,
         _columns_answers, expected=_expected, over_columns=True, opens=_columns_opens))
