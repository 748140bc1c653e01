"""The size of an intersection by two processes, against openmined-psi in two processes."""

from __future__ import annotations

from importlib.util import find_spec
from multiprocessing import get_context
from multiprocessing.connection import Connection

from harness import Row, best, task
from sizes import scaled

SIZE = scaled(100_000, 1_000)


def owners(size: int = SIZE) -> tuple[list[str], list[str]]:
    half = size // 2
    return [f"id{i}" for i in range(size)], [f"id{i}" for i in range(half, half + size)]


def ours(sets: tuple[list[str], list[str]]) -> tuple[int, int]:
    """Return the size and the bytes that both sent, every party a process over TLS."""
    import sets_program
    from unspoken.joint import run_local

    results = run_local(sets_program.program, list(sets), "sums", True)
    sent = sum(row.bytes for _, ledger in results for row in ledger.rows
               if row.direction == "sent")
    return results[0][0], sent


def psi_server(line: Connection, ids: list[str], others: int) -> None:
    import private_set_intersection.python as psi

    server = psi.server.CreateWithNewKey(False)
    setup = server.CreateSetupMessage(1e-9, others, ids, psi.DataStructure.RAW)
    # Both would wait for ever if each sent its own large message first.
    request = psi.Request()
    request.ParseFromString(line.recv_bytes())
    line.send_bytes(setup.SerializeToString())
    line.send_bytes(server.ProcessRequest(request).SerializeToString())


def psi_client(line: Connection, ids: list[str], out: Connection) -> None:
    import private_set_intersection.python as psi

    client = psi.client.CreateWithNewKey(False)
    line.send_bytes(client.CreateRequest(ids).SerializeToString())
    setup, response = psi.ServerSetup(), psi.Response()
    setup.ParseFromString(line.recv_bytes())
    response.ParseFromString(line.recv_bytes())
    out.send(client.GetIntersectionSize(setup, response))


def theirs(sets: tuple[list[str], list[str]]) -> int:
    context = get_context("spawn")
    one, two = context.Pipe()
    here, there = context.Pipe()
    children = [context.Process(target=psi_server, args=(one, sets[1], len(sets[0]))),
                context.Process(target=psi_client, args=(two, sets[0], there))]
    for child in children:
        child.start()
    found = int(here.recv())
    for child in children:
        child.join()
    return found


def least(sets: tuple[list[str], list[str]]) -> None:
    """Hash every id once and multiply it twice, on all cores."""
    from unspoken.joint.mpc import ristretto as group

    items = [one.encode() for ids in sets for one in ids]
    points = group.hash_points(group.domain("bench"), items)
    for _ in range(2):
        group.multiply(points, group.fresh_scalar())


def aligned(sets: tuple[list[str], list[str]]) -> tuple[int, int]:
    """Return how many ids are in common and the bytes that both sent, members to both."""
    import sets_program
    from unspoken.joint import run_local

    results = run_local(sets_program.align_program, list(sets), "sums", True)
    sent = sum(row.bytes for _, ledger in results for row in ledger.rows
               if row.direction == "sent")
    return len(results[0][0]), sent


@task
def alignment() -> list[Row]:
    """Members of the intersection for both, by the oblivious function."""
    rows = []
    for size in (SIZE, 10 * SIZE):
        sets = owners(size)
        common, sent = aligned(sets)
        assert common == size // 2
        floor = best(lambda sets=sets: hashed(sets), 1)
        rows.append(Row("alignment of two owners", f"{size:,} x {size:,} ids",
                        best(lambda sets=sets: aligned(sets), 1), "hashed ids, shown", floor,
                        "a hash per id", floor,
                        note=f"two processes over TLS, {sent / 1e6:.0f} MB sent"))
    return rows


def hashed(sets: tuple[list[str], list[str]]) -> None:
    """Hash every id once and look them up: what owners would do who may show each other ids."""
    from hashlib import blake2b

    one, other = ({blake2b(i.encode(), digest_size=16).digest() for i in ids} for ids in sets)
    assert one & other


@task
def intersection_size() -> list[Row]:
    sets = owners()
    found, sent = ours(sets)
    assert found == SIZE // 2
    seconds = best(lambda: ours(sets), 1)
    if find_spec("private_set_intersection") is None:
        peer, peer_seconds, goal = "openmined-psi is not installed", seconds, None
    else:
        assert theirs(owners(1000)) == 500
        peer, peer_seconds, goal = "openmined-psi", best(lambda: theirs(sets), 1), 0.5
    note = f"two processes, shuffled, points checked, {sent / 1e6:.1f} MB sent"
    return [Row("size of an intersection", f"{SIZE:,} x {SIZE:,} ids", seconds, peer, peer_seconds,
                "a hash and two multiplications an id", best(lambda: least(sets), 1), goal, "peer",
                note)]
