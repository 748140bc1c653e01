"""A fault in every single message of every party: an error for the others, or the right result."""

from __future__ import annotations

import numpy as np
import pytest

from support.bent_messages import flipped, run_bent
from unspoken.joint import declares, less_than, multiply, reveal, secure_sum, share, to_numbers
from unspoken.joint.session.run_roles import roles_for

NAMES = ["p0", "p1", "p2"]
ROLES = roles_for(NAMES, "three-party-verified")
DATA = [np.array([3, 50]), np.array([7, 9]), np.array([1, 60])]
# What these say is not read: that they came is all that counts, and half of a seed is not used.
UNREAD = ("proof.ready", "deal.own", "agree")


@declares("answer")
async def sums(party, data):
    """Add up what all have."""
    return await secure_sum(party, data, because="answer")


@declares("answer")
async def product(party, data):
    """Multiply what two have, and open it to the third as well."""
    x = await share(party, data if party.name == "p0" else None, "p0", (2,), 0, 100)
    y = await share(party, data if party.name == "p2" else None, "p2", (2,), 0, 100)
    return await reveal(party, await multiply(party, x, y), because="answer")


@declares("answer")
async def comparison(party, data):
    """Compare what two have, for one of them."""
    x = await share(party, data if party.name == "p1" else None, "p1", (2,), 0, 100)
    y = await share(party, data if party.name == "p2" else None, "p2", (2,), 0, 100)
    less = await to_numbers(party, await less_than(party, x, y))
    return await reveal(party, less, because="answer", to=["p2"])


RIGHT = {sums: [11, 119], product: [3, 3000], comparison: [0, 1]}


def honest(outcomes, cheat):
    return [outcome for outcome in outcomes if outcome.name != cheat]


def right(program, outcomes):
    return all(o.error is None for o in outcomes) and all(
        o.output.tolist() == RIGHT[program] for o in outcomes if o.output is not None)


@pytest.mark.slow
@pytest.mark.parametrize("cheat", NAMES)
@pytest.mark.parametrize("program", RIGHT)
def test_a_changed_message_ends_the_run_or_changes_nothing(program, cheat):
    outcomes, sent = run_bent(program, DATA, ROLES, cheat)
    assert right(program, outcomes)
    for number, label in enumerate(sent):
        outcomes = honest(run_bent(program, DATA, ROLES, cheat, number)[0], cheat)
        ended = all(o.error is not None and o.output is None for o in outcomes)
        assert ended or (label in UNREAD and right(program, outcomes)), (number, label)


@pytest.mark.slow
@pytest.mark.parametrize("cheat", NAMES)
def test_a_message_of_another_length_ends_the_run(cheat):
    _, sent = run_bent(sums, DATA, ROLES, cheat)
    for number, label in enumerate(sent):
        outcomes, _ = run_bent(sums, DATA, ROLES, cheat, number, lambda array: array[:-1])
        assert all(o.error is not None for o in honest(outcomes, cheat)), (number, label)


def test_a_bit_is_flipped():
    assert (flipped(np.zeros(3, np.uint64)) != 0).tolist() == [False, True, False]
