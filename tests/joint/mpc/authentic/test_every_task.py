"""Every task of the list in mode 'authenticated': the result of mode 'dealer', and no other one."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import numpy as np
import pytest

from support.deviating import AsParty, in_message, watched_labels
from support.replayed import real_run
from support.study_cases import CASES, modes_of, study_case
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.result_file import plain_result
from unspoken.joint.session.run_roles import roles_of
from unspoken.joint.tasks.task_list import all_tasks

WITH_SHARES = [task for task in CASES if "authenticated" in modes_of(task)]
# Fewer steps of the same kind, where a task takes long, or rounds its steps by chance.
SHORTER = {"mixture": {"max_iter": 1}, "boosted-trees-columns": {"rounds": 1}}
# Of these every opening is spoiled; of the others, which have the same primitives, two each.
EVERY_OPENING = ("classify", "classify-columns", "kmeans", "outliers", "rules-columns", "sum",
                 "tree")
# Which records a tree sees, and synthetic residuals, are drawn anew in every run.
DRAWS = ("forest", "forest-columns", "residuals")
CHEAT = "south"


def case(task, mode):
    study, found, records = study_case(task, mode, **SHORTER.get(task, {}))
    inputs = {name: found.blank(study, name, records) for name in study.having("owner")}
    if task == "classify":
        # All classes of a blank model are equal, and rounding would choose.
        inputs["north"] = replace(inputs["north"], start=np.array([0.0, 1.0]))
    return found.program(study), inputs, roles_of(study)


def same(one, other):
    """Compare results whose last bits are rounded by chance."""
    one, other = plain_result(one), plain_result(other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float | np.ndarray):
        return np.allclose(one, other, rtol=1e-3, atol=1e-4)
    return one == other


def test_every_task_with_shares_is_walked():
    assert set(all_tasks()) - set(WITH_SHARES) == {"intersection"}


@pytest.mark.slow
@pytest.mark.parametrize("task", WITH_SHARES)
def test_a_task_gives_what_it_gives_in_mode_dealer(task):
    tagged, plain = (real_run(*case(task, mode)) for mode in ("authenticated", "dealer"))
    assert any(output is not None for output in tagged.outputs.values())
    for name, output in tagged.outputs.items():
        if task in DRAWS:
            assert type(output) is type(plain.outputs[name])
        else:
            assert same(output, plain.outputs[name]), name


def play(program, inputs, roles):
    return asyncio.run(in_memory(program, [inputs.get(n) for n in roles.program], roles))


def plus_one(words):
    words.ravel()[-1] += words.dtype.type(1)
    return words


@pytest.mark.slow
@pytest.mark.parametrize("task", WITH_SHARES)
def test_a_wrong_value_at_any_opening_of_a_task_ends_it(task):
    """Kinds of openings that a task has are spoiled once each; nobody honest gets a result."""
    program, inputs, roles = case(task, "authenticated")
    labels = {}
    play(AsParty(program, CHEAT, watched_labels(labels)), inputs, roles)
    opened = [label for label in labels if label in ("reveal", "sum.masked")
              or ".open" in label or ".level" in label]
    assert opened
    for label in opened if task in EVERY_OPENING else opened[:2]:
        program, inputs, roles = case(task, "authenticated")
        outcomes = play(AsParty(program, CHEAT, in_message(label, plus_one)), inputs, roles)
        honest = [o for o in outcomes if o.name not in (CHEAT, roles.dealer)]
        assert all(o.error is not None and o.output is None for o in honest), label
        # Who noticed says what was opened wrongly.
        what = label.partition(".")[0]
        assert any("deviated" in str(o.error) and what in str(o.error) for o in honest), label
