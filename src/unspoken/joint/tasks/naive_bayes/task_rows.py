"""The study task `bayes`: naive Bayes over the rows of several owners, on the command line.

    unspoken joint new study.toml --name adult --task bayes --set target=income
        --set 'classes=["<=50K", ">50K"]' --set 'columns=["age", "sex"]'
        --set 'range.age=[0, 120]' --set 'categories.sex=["Female", "Male"]' ...

Receivers learn the model. `reveal=sums` opens counts and sums (also in mode "sums", for three
owners or more); `ratios`, the default, opens quotients alone, with `bits` (20) fractional bits.
Each column has `categories.NAME` (all that may occur; "" is a missing value) or `range.NAME`, which
no number may leave. Smoothing is scikit-learn's: alpha (1), var_smoothing (1e-9). An owner with
some records of a class, but fewer than least (3), is refused where there are numbers; most (2^20)
is a public bound on all records.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.secure_sum import plan_masks, refuse_two
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.study_parameters import (
    check_names,
    everybody,
    learns,
    read_columns,
    weight,
)
from unspoken.joint.tasks.naive_bayes import costs
from unspoken.joint.tasks.naive_bayes.params import Given
from unspoken.joint.tasks.naive_bayes.program_rows import BayesOverRows, disclosures
from unspoken.joint.tasks.naive_bayes.read_params import KINDS, RULES, layout_of, rules_of
from unspoken.joint.tasks.task import Plan, Task, notes_of, safe_against


class BayesStudy(BayesOverRows):
    """The program of a study."""

    def __init__(self, study: Study) -> None:
        super().__init__(layout_of(study.parameters),
                         rules_of(study.parameters, study.having("receiver")))
        self.disclosures = study.disclosures


def check(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that make no model."""
    check_names(parameters, ("target", "classes", "columns", *RULES), "bayes", KINDS)
    layout_of(parameters)
    rules_of(parameters)


def told(study: Study) -> tuple[Disclosure, ...]:
    """Return what a study discloses."""
    return disclosures(rules_of(study.parameters, study.having("receiver")))


def plan(study: Study) -> Plan:
    """Say what a study will cost and who learns what."""
    layout, rules = layout_of(study.parameters), rules_of(study.parameters)
    receivers, owners = study.having("receiver"), study.having("owner")
    cells, numbers, classes = sum(layout.sizes), len(layout.numeric), len(layout.classes)
    if rules.reveal == "sums":
        refuse_two(owners, receivers)
        sizes = [(1 + cells) * classes, *([2 * numbers * classes] if numbers else [])]
        each = [plan_masks(len(owners), size, len(receivers)) for size in sizes]
        return Plan(1 + sum(c["rounds"] for c in each), sum(c["bytes"] for c in each),
                    learns(study, told(study)),
                    f"any {max(0, len(owners) - 2)} of the {len(owners)} owners together")
    if study.mode == "sums":
        raise StudyError("Task 'bayes' with reveal='ratios' needs shares. Mode 'sums' has none. "
                         "Use dealer, two-party, three-party or spu, or reveal='sums'.")
    cost = costs.ratios(cells, numbers, classes, rules.most,
                        (len(everybody(study)), len(receivers) or len(everybody(study))))
    return Plan(cost.rounds, cost.bytes, learns(study, told(study)), safe_against(study),
                (*notes_of(study), *weight(study.mode)))


def load(path: Path, study: Study) -> Given:
    """Return an owner's rows; what the study does not know is refused here."""
    layout = layout_of(study.parameters)
    names = [*(column.name for column in layout.columns), layout.target]
    return layout.rows(read_columns(path, names))


TASK = Task("bayes", check, told, plan, load, BayesStudy)
