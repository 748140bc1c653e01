"""A real query service in a process of its own."""

import os
import socket
import subprocess
import sys
import tomllib
from contextlib import contextmanager

import pyarrow.parquet as pq
import tomli_w

from support.service_people import policy_data
from unspoken.release.budget import Budget
from unspoken.table.read import read


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def prepare(folder, table, epsilon=100.0, columns=None, **service):
    """Write a table, its budget and a policy."""
    pq.write_table(table, folder / "t.parquet")
    data = policy_data(**service)
    data["columns"] = columns or data["columns"]
    (folder / "policy.toml").write_text(tomli_w.dumps(data))
    tomllib.loads((folder / "policy.toml").read_text())
    if not (folder / "b").exists():
        keep = [name for name in table.column_names]
        Budget.start(folder / "b", read(folder / "t.parquet", keep=keep, show=False),
                     epsilon=epsilon)
    return [word for name in table.column_names for word in ("--keep", name)]


@contextmanager
def running(folder, words, *more):
    """Start `unspoken serve` and yield its process and port."""
    port = free_port()
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-m", "unspoken", "serve", str(folder / "t.parquet"), "--policy",
         str(folder / "policy.toml"), "--port", str(port), *words, *more], env=env,
        stderr=subprocess.PIPE, text=True)
    try:
        _wait(process, port)
        yield process, port
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def _wait(process, port):
    for line in process.stderr:
        if "answering on" in line:
            break
    else:
        raise RuntimeError("the service did not start")
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 5).close()
            return
        except ConnectionRefusedError:
            continue
    raise RuntimeError("the service ended")
