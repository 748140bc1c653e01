"""The study task `tree`: ID3 over the rows of several owners, on the command line.

    unspoken joint new study.toml --name adult --task tree --set target=income
        --set 'classes=["<=50K", ">50K"]' --set 'attributes=["age", "sex"]'
        --set 'cuts.age=[25.5, 40.5]' --set 'categories.sex=["Female", "Male"]' ...

Each attribute has `categories.NAME` (all that may occur; "" is a missing value), `cuts.NAME`, or
`range.NAME=[low, high, cut points, bits]`: then quantiles of everybody's numbers are agreed on in
the run, on a public grid of 2^bits steps. Growing stops at max_depth (5) and at nodes with fewer
than min_records (1); most (2^20) is a public bound on all records, and the smaller the cheaper.

Receivers learn the classes of leaves; everybody who takes part learns the questions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.primitive_costs import Cost
from unspoken.joint.tasks.common.study_parameters import (
    check_names,
    everybody,
    learns,
    read_columns,
)
from unspoken.joint.tasks.task import Plan, Task, notes_of, safe_against
from unspoken.joint.tasks.tree import costs
from unspoken.joint.tasks.tree.cut_points import with_cuts
from unspoken.joint.tasks.tree.level_growth import TreeParams
from unspoken.joint.tasks.tree.params import TreeLayout
from unspoken.joint.tasks.tree.program_rows import Given, TreeOverRows, code_rows, disclosures
from unspoken.joint.tasks.tree.read_params import KINDS, RULES, layout_of, rules_of

SIZES = "kinds and sizes of what is computed, and so the shape of the tree"


class TreeStudy(TreeOverRows):
    """The program of a study."""

    def __init__(self, study: Study) -> None:
        layout, spans = layout_of(study.parameters)
        super().__init__(layout, rules_of(study.parameters), study.having("receiver"), spans)
        self.disclosures = study.disclosures


def check(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that make no tree."""
    check_rows(parameters, "tree")


def check_rows(parameters: Mapping[str, Any], task: str, more: tuple[str, ...] = ()) -> None:
    """Refuse parameters that a task over rows cannot use."""
    check_names(parameters, ("target", "classes", "attributes", *RULES, *more), task,
                KINDS)
    layout_of(parameters)
    rules_of(parameters)


def told(study: Study) -> tuple[Disclosure, ...]:
    """Return what a study discloses."""
    _, spans = layout_of(study.parameters)
    return disclosures(study.having("receiver"), bool(spans))


def guessed_levels(rules: TreeParams) -> tuple[list[int], int]:
    """Return tested nodes of each level and leaves, for a tree that branches in two."""
    levels = [2**depth for depth in range(min(rules.max_depth, 12))]
    return levels, 2 ** len(levels)


def plan(study: Study) -> Plan:
    """Say what a study will cost and who learns what."""
    return plan_rows(study, told(study), 1, 1)


def plan_rows(study: Study, disclosed: tuple[Disclosure, ...], together: int,
              times: int, counted: float = 1.0,
              cost_of: Callable[..., Cost] = costs.horizontal) -> Plan:
    """Say the same for so many trees that grow together, so many times one after another.

    `counted`: the part of all attributes that counts at a node. `cost_of`: that of one such batch.
    """
    if not study.facts.has_shares:
        raise StudyError(f"Task '{study.task}' needs shares. Mode 'sums' has none. Use dealer, "
                         "two-party, three-party or spu.")
    (layout, spans), rules = layout_of(study.parameters), rules_of(study.parameters)
    layout = with_cuts(layout, {name: span.even() for name, span in spans.items()})
    levels, leaves = guessed_levels(rules)
    levels, leaves = [n * together for n in levels], leaves * together
    each = round(int(layout.first_branch[-1]) * counted) + 1
    parties = len(everybody(study)), len(study.having("receiver")) or len(everybody(study))
    cost = cost_of([(n, n * each) for n in levels], leaves, sizes_of(layout), rules.most,
                   rules.min_records, parties)
    cost = sum([cost] * times, costs.cut_points(
        [(span.count, span.bits) for span in spans.values()], rules.most, parties[0]))
    notes = (*notes_of(study), f"cost is for {sum(levels) * times} tested nodes in {len(levels)} "
             "levels, with a dealer; real trees are not known before", *study.facts.cost_notes)
    return Plan(cost.rounds, cost.bytes, learns(study, disclosed, SIZES), safe_against(study),
                notes)


def sizes_of(layout: TreeLayout) -> tuple[int, int, int, int]:
    """Return cells, branches, questions and classes of a layout."""
    return (layout.cells, int(layout.first_branch[-1]), len(layout.questions),
            len(layout.classes))


def load(path: Path, study: Study) -> Given:
    """Return an owner's rows; what the study does not know is refused here."""
    layout, spans = layout_of(study.parameters)
    names = [*(a.name for a in layout.attributes), layout.target]
    return code_rows(layout, read_columns(path, names), spans)


TASK = Task("tree", check, told, plan, load, TreeStudy)
