"""A trial release with a control group tells what a release discloses from what everybody knows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import unspoken
from unspoken.audit.trial_release import FEWEST, with_trial
from unspoken.disclosure.release_verdict import verdict_of
from unspoken.protect import PrivateSynthesizer
from unspoken.release.method import method_of
from unspoken.risk import audit


def people(rows=1600):
    """Illness follows age, as everybody knows; nothing else does."""
    rng = np.random.default_rng(0)
    age = rng.integers(18, 90, rows)
    return unspoken.read(pd.DataFrame({
        "age": age, "sex": rng.choice(["f", "m"], rows),
        "ill": np.where(rng.random(rows) < 1 / (1 + np.exp(-(age - 60) / 4)), "yes", "no")}),
        target="ill", show=False)


@pytest.mark.slow
def test_what_holds_for_everybody_is_not_counted_against_a_private_release():
    table = people()
    method = PrivateSynthesizer(epsilon=1.0)
    release, key = method.protect(table)
    alone = audit(table, release, key, random_state=0)
    tried = with_trial(audit(table, release, key, random_state=0, people=False), table,
                       PrivateSynthesizer(epsilon=1.0), random_state=0)
    assert verdict_of(alone).upper_bound
    assert not verdict_of(tried).upper_bound
    guessed = {name: next(row for row in one.rows if row.adversary == "synthetic-neighbours"
                          and row.column == "ill")
               for name, one in (("alone", alone), ("tried", tried))}
    # Age tells nearly as much about people who are not in the release.
    assert guessed["alone"].value - guessed["alone"].baseline > 0.15
    assert guessed["tried"].value - guessed["tried"].baseline < 0.1
    assert any("control group" in line for line in tried.limits)


@pytest.mark.slow
def test_what_a_release_tells_about_its_own_people_still_counts():
    table = people(400)
    method = method_of("piecewise").build({})
    release, key = method.protect(table)
    tried = with_trial(audit(table, release, key, random_state=0, people=False), table,
                       method_of("piecewise").build({}), random_state=0)
    assert not verdict_of(tried).release


def test_too_few_people_make_no_control_group():
    table = people(FEWEST - 1)
    release, key = method_of("piecewise").build({}).protect(table)
    audited = audit(table, release, key, trials=2, random_state=0, people=False)
    assert with_trial(audited, table, method_of("piecewise").build({})) is audited
