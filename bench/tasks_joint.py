"""Comparisons by processes over TLS, against SPU and MPyC doing the same.

SPU needs a Python below 3.12 and an older numpy: name an interpreter that has it in
UNSPOKEN_SPU_PYTHON. What is not there is left out by name.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

from harness import ROOT, Row, task
from sizes import scaled

COUNT = scaled(1_000_000, 2_000)
FEW = scaled(10_000, 500)
SIZE = f"{COUNT:,} x 62 bits"
SPU = "UNSPOKEN_SPU_PYTHON"


def ours(mode: str) -> tuple[float, float, list[int]]:
    """Return wall and processor seconds, and the bytes that each holder received for it."""
    import joint_program
    from unspoken.joint import run_local

    results = run_local(joint_program.compare, [COUNT] * 2, mode, True)
    received = [sum(row.bytes for row in ledger.rows if row.direction == "received"
                    and row.label.startswith(("compare", "deal.correction")))
                for _, ledger in results]
    walls, busy = zip(*(seconds for seconds, _ in results), strict=True)
    return max(walls), sum(busy), received


def least(received: list[int]) -> float:
    """Return the seconds that the same bytes take over the same links."""
    import joint_program
    from unspoken.joint import run_local

    plan = received[1], received[0]
    results = run_local(joint_program.send, [plan] * 2, "sums", True)
    return max(seconds for seconds, _ in results)


def spu(protocol: str) -> dict[str, Any] | None:
    """Return what SPU took; None, and a word about it, where it is missing."""
    python = os.environ.get(SPU)
    if not python:
        print(f"SPU {protocol} is left out: {SPU} names no interpreter", file=sys.stderr)
        return None
    done = _run([python, str(ROOT / "bench" / "peer_spu.py"), protocol, str(COUNT)])
    return dict(json.loads(done))


def mpyc() -> float | None:
    """Return the seconds that MPyC takes for so many, of a hundredth of them."""
    if find_spec("mpyc") is None:
        print("MPyC is left out: it is not installed", file=sys.stderr)
        return None
    done = _run([sys.executable, str(ROOT / "bench" / "peer_mpyc.py"), "-M3", str(FEW)])
    return float(done) * COUNT / FEW


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1800)
    if done.returncode:
        raise RuntimeError(f"{command[1]} failed:\n{done.stderr[-3000:]}")
    return next(line for line in reversed(done.stdout.splitlines()) if line[:1] in "{0123456789"
                and line)


def _rows(mode: str, protocol: str, goal: float, against_mpyc: float) -> list[Row]:
    seconds, busy, received = ours(mode)
    floor = least(received)
    note = f"{sum(received) / COUNT:.0f} bytes a comparison, {busy:.1f} s of processors"
    name, rows = f"less than, {mode}", []
    if (found := spu(protocol)) is not None:
        more = f" (SPU {found['busy']:.1f})"
        rows.append(Row(name, SIZE, seconds, f"SPU {protocol}", found["seconds"],
                        "the bytes alone", floor, goal, note=note + more))
    if (slow := mpyc()) is not None:
        rows.append(Row(name, SIZE, seconds, f"MPyC, {COUNT // FEW} x {FEW:,}", slow,
                        "the bytes alone", floor, against_mpyc, note=note))
    return rows


@task
def less_than_with_a_dealer() -> list[Row]:
    return _rows("dealer", "ABY3", 1, 0.01)


@task
def less_than_of_two() -> list[Row]:
    return _rows("two-party", "CHEETAH", 3, 0.1)


@task
def secure_sum_of_five() -> list[Row]:
    import joint_program
    from unspoken.joint import run_local

    seconds, clear = (max(min(each) for each, _ in run_local(program, [COUNT] * 5, "sums", True))
                      for program in (joint_program.masked_sums, joint_program.clear_sums))
    return [Row("secure sum, 5 parties", f"{COUNT:,} values", seconds, "in the clear", clear,
                "in the clear", clear, 10)]


@task
def rounds_over_a_slow_link() -> list[Row]:
    import joint_program

    rounds = 8 * joint_program.STEPS
    one_by_one = joint_program.delayed(joint_program.one_by_one)
    together = joint_program.delayed(joint_program.together)
    wait, few = rounds * joint_program.DELAY, 8 * joint_program.DELAY
    return [Row("dependent comparisons, 20 ms", f"{rounds:,} rounds", one_by_one, "the delays",
                wait, "the delays", wait, 1.2, note="three parties, each step needs the last"),
            Row("the same, independent", f"{joint_program.STEPS} in one array", together,
                "one by one", one_by_one, "8 delays", few, 0.02)]
