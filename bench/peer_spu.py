"""Comparisons with SPU, run by an interpreter that has it: PROTOCOL COUNT; JSON on the last line.

Every party is a process of its own over loopback. The shares are made here, so that what is
measured is the comparison alone.
"""

from __future__ import annotations

import json
import multiprocessing
import socket
import sys
import time

import numpy as np
import spu
from spu import libspu

PARTIES = {"CHEETAH": 2, "ABY3": 3}
BOUND = (1 << 61) - 1


def config(protocol):
    made = libspu.RuntimeConfig()
    made.ParseFromJsonString(json.dumps({"protocol": protocol, "field": "FM64"}))
    return made


def code(count):
    kind, bit = (f"tensor<{count}x!pphlo.secret<{name}>>" for name in ("i64", "i1"))
    text = (f'module @bench attributes {{pphlo.version = "{spu.__version__}"}} {{\n'
            f"  func.func @main(%a: {kind}, %b: {kind}) -> ({bit}) {{\n"
            f"    %r = pphlo.less %a, %b : ({kind}, {kind}) -> {bit}\n"
            f"    return %r : {bit}\n  }}\n}}\n")
    return text.encode()


def party(rank, protocol, ports, parts, count, line):
    desc = libspu.link.Desc()
    for other, port in enumerate(ports):
        desc.add_party(f"p{other}", f"127.0.0.1:{port}")
    desc.recv_timeout_ms = desc.http_timeout_ms = 600_000
    link = libspu.link.create_brpc(desc, rank)
    runtime = spu.Runtime(link, config(protocol))
    for name, (meta, chunks) in zip(("a", "b"), parts, strict=True):
        share = libspu.Share()
        share.meta, share.share_chunks = meta, chunks
        runtime.set_var(name, share)
    program = spu.Executable(name="less", input_names=["a", "b"], output_names=["o"],
                             code=code(count))
    start, busy = time.perf_counter(), time.process_time()
    runtime.run(program)
    seconds = time.perf_counter() - start, time.process_time() - busy
    found = runtime.get_var("o")
    line.send((seconds, found.meta, list(found.share_chunks)))
    line.recv()


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def main():
    protocol, count = sys.argv[1], int(sys.argv[2])
    size = PARTIES[protocol]
    io = spu.Io(size, config(protocol))
    given = [np.random.default_rng(owner).integers(-BOUND, BOUND, count) for owner in range(2)]
    shares = [io.make_shares(one, libspu.Visibility.VIS_SECRET) for one in given]
    ports, context = free_ports(size), multiprocessing.get_context("spawn")
    lines, children = [], []
    for rank in range(size):
        mine, theirs = context.Pipe()
        parts = [(one[rank].meta, list(one[rank].share_chunks)) for one in shares]
        child = context.Process(target=party, args=(rank, protocol, ports, parts, count, theirs))
        child.start()
        lines.append(mine)
        children.append(child)
    outcomes = [line.recv() for line in lines]
    for line in lines:
        line.send("done")
    found = []
    for _, meta, chunks in outcomes:
        share = libspu.Share()
        share.meta, share.share_chunks = meta, chunks
        found.append(share)
    assert np.array_equal(io.reconstruct(found).astype(bool), given[0] < given[1])
    print(json.dumps({"seconds": max(one[0][0] for one in outcomes),
                      "busy": sum(one[0][1] for one in outcomes)}))
    for child in children:
        child.join(5)


if __name__ == "__main__":
    main()
