"""SPU under the same programs: equal results, the same ledger, the same end when somebody dies."""

from __future__ import annotations

import functools
import os
import signal

import numpy as np
import pytest

from unspoken.joint import (
    argmax,
    argmin,
    declares,
    divide,
    equal,
    less_than,
    log,
    matmul,
    multiply,
    reveal,
    run_local,
    share_sum,
    sqrt,
    to_numbers,
    truncate,
)
from unspoken.joint.joint_errors import EngineError, PartyError, RefusedError, StudyError
from unspoken.joint.mpc.bit_planes import bits_of, planes_of
from unspoken.joint.mpc.correlated.kinds import Need
from unspoken.joint.mpc.engines.spu.spu_engine import VARIABLE, spu_python
from unspoken.joint.session.run import run_outcomes
from unspoken.joint.session.study import Study
from unspoken.joint.session.study_checks import check_together
from unspoken.joint.wire.credentials import Member

pytestmark = pytest.mark.slow

needs_spu = pytest.mark.skipif(
    spu_python() is None, reason=f"SPU is not installed and {VARIABLE} names no Python that has it")


@declares("products", "signs", "matrix", "cut", "same", "place", "both")
async def everything(party, data):
    x = await share_sum(party, data, shape=(36,), low=-10**6, high=10**6)
    negative = await less_than(party, x, 0)
    same = await equal(party, x, 3)
    place, _ = await argmin(party, x.reshape(6, 6))
    found = {"products": await multiply(party, x, x), "signs": negative,
             "matrix": await matmul(party, x.reshape(6, 6), x.reshape(6, 6)),
             "cut": await truncate(party, x, 5), "same": await to_numbers(party, same),
             "place": place, "both": negative ^ same}
    return {name: await reveal(party, value, because=name) for name, value in found.items()}


def plainly(values):
    square = values.reshape(6, 6)
    return {"products": values * values, "signs": values < 0, "matrix": square @ square,
            "cut": values >> 5, "same": values == 3, "place": square.argmin(1),
            "both": (values < 0) ^ (values == 3)}


def agree(outputs, values):
    for output in outputs:
        for name, wanted in plainly(values).items():
            np.testing.assert_array_equal(output[name], wanted, err_msg=name)


def parts_of(seed, parties):
    rng = np.random.default_rng(seed)
    parts = [rng.integers(-1000, 1000, 36) for _ in range(parties)]
    parts[0][:6] = 3 - sum(parts[1:])[:6]
    parts[0][6:9] = -sum(parts[1:])[6:9]
    return parts


@functools.cache
def on_spu(parties):
    """Return what every party learns; SPU takes seconds to start, so this runs once."""
    return [output for output, _ in run_local(everything, parts_of(parties, parties), mode="spu")]


@needs_spu
@pytest.mark.parametrize("parties", [2, 3, 5])
def test_every_operation_equals_plain_arithmetic(parties):
    agree(on_spu(parties), sum(parts_of(parties, parties)))


@needs_spu
def test_our_own_engine_and_spu_agree():
    ours, theirs = run_local(everything, parts_of(3, 3), mode="dealer")[0][0], on_spu(3)[0]
    for name in ours:
        if name == "cut":
            # Our own engine may give one more in the last place; SPU rounds down.
            assert set(np.unique(ours[name] - theirs[name])) <= {0, 1}
        else:
            np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)


@declares("logs", "quotients", "roots", "greatest")
async def functions(party, data):
    x = await share_sum(party, data, shape=(12,), low=1, high=4000)
    found = {"logs": await log(party, x), "quotients": await divide(party, x, x + 7, most=1),
             "roots": await sqrt(party, x), "greatest": (await argmax(party, x.reshape(3, 4)))[0]}
    return {name: await reveal(party, value, because=name) for name, value in found.items()}


@needs_spu
def test_functions_made_of_operations_keep_their_error_bounds():
    parts = [np.arange(1, 13), np.arange(12) ** 3 + 1, np.arange(12)[::-1] * 300 + 1]
    x = sum(parts).astype(float)
    [found, *_] = [output for output, _ in run_local(functions, parts, mode="spu")]
    np.testing.assert_allclose(found["logs"], np.log(x), rtol=0, atol=3.5e-8)
    np.testing.assert_allclose(found["quotients"], x / (x + 7), rtol=5e-9, atol=2.0**-29)
    np.testing.assert_allclose(found["roots"], np.sqrt(x), rtol=8e-9, atol=2.0**-20)
    np.testing.assert_array_equal(found["greatest"], x.reshape(3, 4).argmax(1))


EDGES = np.array([-2**60, 1 - 2**60, -2**32, -2**31, -1, 0, 1, 2**31, 2**32, 2**60 - 1, 2**60])


@declares("signs", "zeros")
async def edges(party, data):
    x = await share_sum(party, data, shape=(EDGES.size**2,), low=-2**60, high=2**60)
    return [await reveal(party, await less_than(party, x, 0), because="signs"),
            await reveal(party, await equal(party, x, 0), because="zeros")]


@needs_spu
def test_comparisons_are_exact_at_the_edges():
    """Every edge beside every other, in one run."""
    x = np.concatenate([np.roll(EDGES, turn) for turn in range(EDGES.size)])
    outputs = run_local(edges, [x, np.zeros(x.size, int), np.zeros(x.size, int)], mode="spu")
    signs, zeros = outputs[0][0]
    np.testing.assert_array_equal(signs, x < 0)
    np.testing.assert_array_equal(zeros, x == 0)


NEEDS = [Need("triple", (5,)), Need("matrix", (2, 3, 4)), Need("edabits", (20, 70)),
         Need("dabits", (70,)), Need("ands", (2,)), Need("pairs", (2,)), Need("cuts", (9, 7))]


async def drawing(party, data):
    drawn = await party.draw(NEEDS)
    return [[part.copy() for part in parts] for parts in drawn]


@needs_spu
@pytest.mark.parametrize("parties", [2, 3])
def test_correlated_randomness_made_by_spu_satisfies_its_relations(parties):
    outputs = [output for output, _ in run_local(drawing, [None] * parties, mode="spu")]
    sums, xors = [], []
    for i in range(len(NEEDS)):
        kinds = list(zip(*(output[i] for output in outputs), strict=True))
        sums.append([sum(parts[1:], parts[0]) for parts in kinds])
        xors.append([np.bitwise_xor.reduce(parts) for parts in kinds])
    a, b, c = sums[0]
    np.testing.assert_array_equal(a * b, c)
    a, b, c = sums[1]
    np.testing.assert_array_equal((a.reshape(2, 3) @ b.reshape(3, 4)).ravel(), c)
    np.testing.assert_array_equal(planes_of(sums[2][0], 20).ravel(), xors[2][1])
    np.testing.assert_array_equal(sums[3][0], bits_of(xors[3][1], 70))
    a, b, c = xors[4]
    np.testing.assert_array_equal(a & b, c)
    a, b, c, d, e = xors[5]
    np.testing.assert_array_equal([a & b, a & c], [d, e])
    r, shifted, top = sums[6]
    np.testing.assert_array_equal(r >> np.uint64(7), shifted)
    np.testing.assert_array_equal(r >> np.uint64(63), top)


@needs_spu
def test_the_ledger_names_the_engine_and_reconciles_its_bytes():
    ledgers = {ledger.party: ledger for _, ledger in run_local(everything, parts_of(2, 3),
                                                               mode="spu", processes=True)}
    one, other = ledgers["p0"], ledgers["p1"]
    assert "ABY3" in one.engine
    streams = [row for row in one.rows if row.label == "engine"]
    assert {row.peer for row in streams} == {"p1", "p2"}
    assert all(row.purpose == "share" for row in streams)
    sent = sum(row.bytes for row in streams if row.peer == "p1" and row.direction == "sent")
    got = sum(row.bytes for row in other.rows
              if row.label == "engine" and row.peer == "p0" and row.direction == "received")
    # What was still on its way when a child had ended is not read any more.
    assert got <= sent < got + 10_000


async def killing(party, data):
    if party.name == "p1":
        os.kill(party.engine._child.pid, signal.SIGKILL)
    x = await share_sum(party, np.arange(4), shape=(4,), low=0, high=10)
    return await multiply(party, x, x)


async def dying(party, data):
    if party.name == "p1":
        os.kill(os.getpid(), signal.SIGKILL)
    x = await share_sum(party, np.arange(4), shape=(4,), low=0, high=10)
    return await multiply(party, x, x)


@needs_spu
def test_a_child_that_dies_ends_the_run_for_everybody():
    outcomes = {o.name: o for o in run_outcomes(killing, [None] * 3, mode="spu", processes=True)}
    assert isinstance(outcomes["p1"].error, EngineError)
    for name in ("p0", "p2"):
        assert isinstance(outcomes[name].error, PartyError)
        assert outcomes[name].error.party == "p1"


@needs_spu
def test_a_party_that_is_killed_is_named_by_the_others():
    outcomes = {o.name: o for o in run_outcomes(dying, [None] * 3, mode="spu", processes=True)}
    for name in ("p0", "p2"):
        assert isinstance(outcomes[name].error, PartyError)
        assert outcomes[name].error.party == "p1"


def test_without_spu_the_refusal_says_how_to_get_it(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(RefusedError, match=r"unspoken\[spu\].*UNSPOKEN_SPU_PYTHON"):
        run_local(everything, parts_of(1, 3), mode="spu")


def test_one_party_alone_is_refused():
    with pytest.raises(RefusedError, match="two or three"):
        run_local(everything, [np.arange(36)], mode="spu")


@pytest.mark.parametrize("roles", [[("owner", "holder")], [("owner", "holder")] * 4,
                                   [("owner", "holder")] * 2 + [("dealer",)]])
def test_a_study_for_spu_has_two_or_three_holders_and_no_dealer(roles):
    members = tuple(Member(f"p{i}", f"h{i}:1", role, f"{i}", b"") for i, role in enumerate(roles))
    with pytest.raises(StudyError, match="two or three parties"):
        check_together(Study("s", "sum", "spu", members))
