"""A study over a relay against the same over direct links, in turns, each party a process.

    python bench/relay.py [ROUNDS]
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.joint.mpc.declared import declares
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.products import multiply
from unspoken.joint.mpc.ops.sharing import reveal, share
from unspoken.joint.session.identity import load_identity, make_identity
from unspoken.joint.session.join import join
from unspoken.joint.session.study import Study
from unspoken.joint.wire.credentials import Member
from unspoken.joint.wire.relay.relay_server import Relay, RelayLimits

NAMES = {"north": ("owner", "holder"), "south": ("owner", "holder"), "dora": ("dealer",)}
SMALL, LARGE = (200, 40), (1 << 18, 4)
"""Values and steps: many short messages, and few long ones."""


@declares("smaller")
async def program(party: Any, data: Any) -> Any:
    """Multiply and compare, again and again."""
    values, steps = data
    own = np.arange(values) % 1000
    x, y = [await share(party, own if party.name == name else None, name, (values,), 0, 1000)
            for name in party.roles.owners]
    for _ in range(steps):
        await multiply(party, x, y)
        bits = await less_than(party, x, y)
    return int(np.sum(await reveal(party, bits, because="smaller")))


def serve(line: Connection, folder: Path) -> None:
    """Be the relay."""
    async def forever() -> None:
        allowed = frozenset(load_identity(name, folder).fingerprint for name in NAMES)
        relay = Relay(load_identity("rita", folder), allowed, RelayLimits())
        server = await relay.listen("127.0.0.1", 0)
        line.send(server.sockets[0].getsockname()[1])
        async with server:
            await server.serve_forever()

    asyncio.run(forever())


def party(line: Connection, name: str, folder: Path) -> None:
    """Be one party, run after run."""
    from unspoken.joint.session.allocator import keep_memory

    keep_memory()
    identity = load_identity(name, folder)
    while (job := line.recv()) is not None:
        study, data = job
        began = time.perf_counter()
        outcome = asyncio.run(join(study, identity, program, data))
        if outcome.error is not None:
            raise outcome.error
        line.send((time.perf_counter() - began, outcome.output))


def study_of(folder: Path, addresses: list[str]) -> Study:
    """Return a study of three parties at these addresses."""
    members = []
    for (name, roles), address in zip(NAMES.items(), addresses, strict=True):
        one = load_identity(name, folder)
        members.append(Member(name, address, roles, one.fingerprint, one.certificate))
    return Study("bench", "program", "dealer", tuple(members), disclosures=program.disclosures)


def main() -> None:
    """Take turns, and show the medians."""
    import socket

    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    context = get_context("spawn")
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        for name in (*NAMES, "rita"):
            make_identity(name, folder)
        here, there = context.Pipe()
        relay = context.Process(target=serve, args=(there, folder), daemon=True)
        relay.start()
        over = f"relay://{load_identity('rita', folder).fingerprint}@127.0.0.1:{here.recv()}"
        lines = {}
        for name in NAMES:
            lines[name], theirs = context.Pipe()
            context.Process(target=party, args=(theirs, name, folder), daemon=True).start()
        for what, data in (("short messages", SMALL), ("long messages", LARGE)):
            seconds: dict[str, list[float]] = {"direct": [], "relay": []}
            results = set()
            for place in range(2 * rounds):
                way = ("direct", "relay")[place % 2]
                held = [socket.create_server(("127.0.0.1", 0)) for _ in NAMES]
                ports = [each.getsockname()[1] for each in held]
                for each in held:
                    each.close()
                study = study_of(folder, [over] * 3 if way == "relay" else
                                 [f"127.0.0.1:{port}" for port in ports])
                for line in lines.values():
                    line.send((study, data))
                done = [line.recv() for line in lines.values()]
                seconds[way].append(max(each[0] for each in done))
                results.add(done[0][1])
            assert len(results) == 1
            direct, relayed = (statistics.median(seconds[way]) for way in ("direct", "relay"))
            print(f"{what}: direct {direct:.2f} s, over the relay {relayed:.2f} s, "
                  f"{relayed / direct:.2f} times; all {seconds}", flush=True)
        for line in lines.values():
            line.send(None)
        relay.terminate()


if __name__ == "__main__":
    main()
