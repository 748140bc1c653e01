"""Load on the query service: 50 clients, 200 questions a second in all, a million rows x 10.

    python bench/query_service.py [SECONDS] [CLIENTS] [RATE]

Every client asks at its own pace, with questions that nobody asked before, and keeps its
connection. Prints how many were answered, how many were lost, and percentiles of the time to an
answer.
"""

import http.client
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import tomli_w

from unspoken.methods.queries.service.analyst_access import hash_of
from unspoken.release.budget import Budget
from unspoken.table.read import read

ROWS = 1_000_000
TOKEN = "a token for the bench"
GROUPS = ["a", "b", "c", "d"]


def table():
    rng = np.random.default_rng(1)
    numbers = {f"n{k}": rng.integers(0, 1000, ROWS).astype(np.int32) for k in range(6)}
    groups = {f"g{k}": np.array(GROUPS)[rng.integers(0, 4, ROWS)] for k in range(4)}
    return pa.table({**numbers, **groups})


def questions(client):
    """Yield questions of every kind, each one new."""
    rng = np.random.default_rng(client)
    for step in range(10**9):
        column, other = f"n{rng.integers(6)}", f"n{rng.integers(6)}"
        where = f"{other} > {900 * rng.random()!r} and g{rng.integers(4)} = '{GROUPS[step % 4]}'"
        yield {0: {"select": "count", "where": f"{where} and {column} < {step}"},
               1: {"select": "sum", "column": column, "where": where},
               2: {"select": "mean", "column": column, "where": where},
               3: {"select": "count", "where": where, "group": [f"g{rng.integers(4)}"]},
               4: {"select": "variance", "column": column, "where": where},
               5: {"select": "quantile", "column": column, "at": 0.5, "where": where}}[step % 6]


def prepare(folder):
    pq.write_table(table(), folder / "t.parquet")
    columns = {f"n{k}": {"bounds": [0, 1000], "step": 1} for k in range(6)}
    columns |= {f"g{k}": {"values": GROUPS} for k in range(4)}
    policy = {"service": {"budget": "b", "log": "log", "head": "head", "each": 0.001,
                          "rate": 9000.0},
              "columns": columns, "analysts": {"bench": hash_of(TOKEN)}}
    (folder / "policy.toml").write_text(tomli_w.dumps(policy))
    Budget.start(folder / "b", read(folder / "t.parquet", show=False), epsilon=1000.0)


def client(port, number, until, pace, times, lost):
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    due = time.perf_counter() + pace * number / 50
    for question in questions(number):
        if due > until:
            return
        time.sleep(max(due - time.perf_counter(), 0))
        # From when it was due, so that a service that falls behind cannot hide it.
        link.request("POST", "/query", json.dumps(question), headers)
        reply = json.loads(link.getresponse().read())
        times.append(time.perf_counter() - due)
        if not reply.get("answered"):
            lost.append(reply)
        due += pace


def wait_for(port):
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)


def main(seconds=60.0, clients=50, rate=200.0):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        process = subprocess.Popen([sys.executable, "-m", "unspoken", "serve",
                                    str(folder / "t.parquet"), "--policy",
                                    str(folder / "policy.toml"), "--port", str(port)],
                                   env=os.environ)
        try:
            wait_for(port)
            times, lost = [], []
            until = time.perf_counter() + seconds
            workers = [threading.Thread(target=client, args=(port, k, until, clients / rate, times,
                                                             lost)) for k in range(clients)]
            began = time.perf_counter()
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            took = time.perf_counter() - began
        finally:
            process.terminate()
            process.wait()
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
        booked = sum(one.cost.epsilon is not None for one in Budget(folder / "b").draws)
        marks = np.percentile(np.array(times) * 1000, [50, 90, 99, 100])
        print(f"{len(times)} answered in {took:.1f} s ({len(times) / took:.0f} a second), "
              f"{len(lost)} not, {booked} booked; milliseconds: median {marks[0]:.0f}, "
              f"90% {marks[1]:.0f}, 99% {marks[2]:.0f}, most {marks[3]:.0f}; the service took "
              f"{used.ru_utime + used.ru_stime:.0f} s of processor time, starting included")
        if lost:
            print(lost[0])


if __name__ == "__main__":
    main(*(float(word) if "." in word else int(word) for word in sys.argv[1:]))
