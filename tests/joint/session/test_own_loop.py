"""Programs run where an event loop runs already, as in a notebook."""

import asyncio

import numpy as np
import pytest

from unspoken.joint import declares, reveal, run_local, share_sum
from unspoken.joint.session.own_loop import finished


async def twice(number):
    await asyncio.sleep(0)
    if number < 0:
        raise KeyError("negative")
    return 2 * number


def test_without_a_loop():
    assert finished(twice(4)) == 8


def test_inside_a_loop():
    async def cell():
        return finished(twice(4))

    assert asyncio.run(cell()) == 8


def test_errors_come_through():
    async def cell():
        return finished(twice(-1))

    with pytest.raises(KeyError, match="negative"):
        asyncio.run(cell())


def test_a_program_runs_inside_a_loop():
    @declares("total")
    async def program(party, data):
        shared = await share_sum(party, data, shape=(1,), low=0, high=100)
        return await reveal(party, shared, because="total")

    async def cell():
        return run_local(program, [np.array([1]), np.array([2]), np.array([3])])

    assert [int(np.asarray(output)[0]) for output, _ in asyncio.run(cell())] == [6, 6, 6]
