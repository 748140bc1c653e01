"""Programs that tests run in other processes, where they must be importable by name."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np

from support.hostile_party import force_swap
from unspoken.joint import (
    argmin,
    equal,
    less_than,
    matmul,
    multiply,
    reveal,
    secure_sum,
    share,
    share_sum,
    to_numbers,
    truncate,
)
from unspoken.joint.mpc.declared import declares
from unspoken.joint.wire.frames import Purpose


@declares("total", "answer")
async def everything(party, data):
    """Use every primitive once."""
    total = await secure_sum(party, data, because="total")
    x = await share(party, data if party.index == 0 else None, party.names[0], (5,), -1000, 1000)
    y = await share_sum(party, data, (5,), -1000, 1000)
    product = await multiply(party, x, y)
    less = await less_than(party, x, y)
    same = await equal(party, x, y)
    place, least = await argmin(party, x)
    matrix = await matmul(party, x.reshape(1, 5), y.reshape(5, 1))
    number = await to_numbers(party, less)
    opened = [await reveal(party, value, because="answer")
              for value in (product, less, same, place, least, matrix, number)]
    return [total, *opened]


@declares("answer")
async def of_two(party, data):
    """Use what two holders without a dealer do: compare, multiply, cut and convert."""
    x = await share(party, data if party.index == 0 else None, party.names[0], (5,), -1000, 1000)
    y = await share(party, data if party.index == 1 else None, party.names[1], (5,), -1000, 1000)
    less, product = await less_than(party, x, y), await multiply(party, x, y)
    await equal(party, x, y)
    await truncate(party, product, 3)
    await argmin(party, x)
    await matmul(party, x.reshape(1, 5), y.reshape(5, 1))
    await to_numbers(party, less)
    return [await reveal(party, value, because="answer") for value in (less, product)]


@declares("total")
async def heavy(party, data):
    """Keep every link full; one party is killed in the middle of it."""
    x = await share(party, np.zeros(1 << 18, int) if party.index == 0 else None, "p0",
                    (1 << 18,), -2**60, 2**60)
    for turn in range(1000):
        if data == "kill" and turn == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        if data == "stop" and turn == 2:
            os.kill(os.getpid(), signal.SIGSTOP)
        await less_than(party, x, 0)
        await secure_sum(party, np.zeros(1 << 18, int), because="total")


async def hurt(party, data):
    """Do something to this process, or wait for a message that will never come."""
    party.begin("waiting")
    await force_swap(party, party.peers, "here", np.zeros(1, np.uint64), Purpose.CONTROL)
    party.begin("hurt")
    if data == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif data == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif data == "raise":
        raise ValueError("a private value: 4711")
    elif data.startswith("tell "):
        Path(data[5:]).touch()
    elif data == "garbage":
        for link in party.seam.inside._links.values():
            party.seam._loop.call_soon_threadsafe(link.writer.write, b"garbage" * 100)
    for peer in party.peers:
        await party.receive(peer, "never", "<u8", (1,), Purpose.CONTROL)


@declares("total")
async def busy(party, data):
    """Block the event loop for longer than silence is allowed, as a big computation does."""
    if party.index == 0:
        import threading

        # Waits in C code with the interpreter lock released, as numpy does.
        threading.Event().wait(data)
    return await secure_sum(party, np.arange(3), because="total")


class Stuck:
    """A program that cannot even be read: what it needs never comes."""

    async def __call__(self, party, data):
        raise AssertionError

    def __reduce__(self):
        return _never, ()


def _never():
    import threading

    threading.Event().wait()


async def lingering(party, data):
    """Leave a thread behind that never ends, and so a process that does not."""
    import threading

    threading.Thread(target=_never).start()
    return party.name


@declares("total")
async def killed_after_sum(party, data):
    """Learn the total, and let the last party be killed before it can say anything more."""
    total = await secure_sum(party, np.asarray(data), because="total")
    if party.index == len(party.names) - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return total
