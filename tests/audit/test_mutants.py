"""Methods with a fault: the audit fails every one of them, and says what is wrong."""

from __future__ import annotations

import pytest

from support.release_cases import CASES, original, protected
from support.release_mutants import MUTANTS, swaps_among_neighbours
from unspoken.release.method import methods
from unspoken.risk import Policy, audit

ANYTHING = Policy.parse("[columns]\nmax_recovered = 1.0\nagainst = 'anybody'\n")
SAYS = {"keeps_the_order": "order of the original", "keeps_an_identifier": "identifier",
        "shuffles_within_a_small_window": "close to that of the original"}
WHOLE = ("does_nothing", "keeps_an_identifier")
"""Mutants whose people are attacked as well: faults are found without, and that costs most."""
NOT_A_FAULT = {
    ("sample", "leaves_one_column_out"): "a sample changes no value of any column",
    **{("private-synthetic", mutant): "no synthetic row is anybody's: its place names nobody"
       for mutant in ("keeps_the_order", "lies_about_the_order",
                      "shuffles_within_a_small_window")},
}


def test_every_method_has_a_case():
    assert set(CASES) == set(methods())


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_faultless_method_has_no_faults(name):
    table, release, key = protected(name)
    found = audit(table, release, key, trials=1, random_state=0)
    assert found.faults == ()
    assert not found.failed


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS)
@pytest.mark.parametrize("name", CASES)
def test_the_audit_fails_every_mutant(name, mutant):
    if (name, mutant) in NOT_A_FAULT:
        pytest.skip(NOT_A_FAULT[name, mutant])
    table, release, key = protected(name)
    broken, own = MUTANTS[mutant](table, release, key)
    found = audit(table, broken, own, trials=1, random_state=0, policy=ANYTHING,
                  people=mutant in WHOLE)
    assert found.faults
    assert found.verdict == "not what it says it is"
    assert not found.judgement.passed
    assert "Do not release it" in found.summary().splitlines()[1]
    if name != "baskets" or mutant != "keeps_an_identifier":
        assert any(SAYS.get(mutant, "") in line for line in found.faults)


@pytest.mark.slow
def test_swapping_among_neighbours_is_noticed():
    table, release, key = protected("swap")
    broken, own = swaps_among_neighbours(table, release, key)
    found = audit(table, broken, own, trials=1, random_state=0)
    assert any("neighbours" in line for line in found.faults)


@pytest.mark.slow
def test_where_the_order_was_kept_the_share_of_people_is_measured():
    table, release, key = protected("noise")
    broken, own = MUTANTS["keeps_the_order"](table, release, key)
    found = audit(table, broken, own, trials=1, random_state=0)
    assert found.worst(measure="identified").value == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["noise", "multiplicative-noise", "randomized-response", "swap",
                                  "baskets", "sample"])
def test_chance_is_no_fault(name):
    """Thirty draws of what is random: none of them is called a fault."""
    from unspoken.audit.kept_promises import faults_of
    from unspoken.table.basket_tables import as_table

    for _ in range(30):
        release, key = methods()[name].build(CASES[name][2]).protect(original(name))
        assert faults_of(as_table(original(name), release.mechanism), release, key) == ()
