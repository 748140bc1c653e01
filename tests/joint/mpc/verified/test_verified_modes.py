"""What mode 'three-party-verified' says, refuses and costs, and tasks that it gets right."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from support.computing import on_shares, run
from support.replayed import real_run
from support.study_cases import study_case
from support.view_programs import ONE, OTHER, PROGRAMS
from unspoken.joint import (
    declares,
    less_than,
    matmul,
    reveal,
    secure_sum,
    share,
    to_numbers,
    truncate,
)
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.authentic import auth_engine
from unspoken.joint.mpc.correlated.kinds import Need
from unspoken.joint.mpc.engines.modes import mode_of
from unspoken.joint.mpc.ops.shared_bits import SharedBits
from unspoken.joint.mpc.verified import verified_sources
from unspoken.joint.session.dry_run import dry_run
from unspoken.joint.session.joint_views import joint_views
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run_roles import roles_for, roles_of
from unspoken.joint.wire.frames import Purpose
from unspoken.joint.wire.ledger import SENT

MODE = "three-party-verified"
NAMES = ["p0", "p1", "p2"]


def test_its_notes_say_what_it_protects():
    mode = mode_of(MODE)
    assert mode.safe_against(2) == "any one of the three who compute, whatever it does"
    [note] = mode.notes(2)
    assert "not vetted" in note
    assert "any one of the three deviates" in note


@pytest.mark.parametrize("count", [2, 4])
def test_it_is_for_three(count):
    with pytest.raises(RefusedError, match="'three-party-verified' is for exactly 3 parties"):
        roles_for([f"p{i}" for i in range(count)], MODE)


def test_functions_are_right():
    x, y = np.array([3, 50, 700, 1]), np.array([7, 9, 11, 1000])

    async def functions(party, one, other):
        return (await less_than(party, one, other), await truncate(party, one, 2),
                await matmul(party, one.reshape(2, 2), other.reshape(2, 2)))

    less, small, product = on_shares(functions, [x, y], [(0, 1000), (1, 1000)], (3, MODE))
    assert np.array_equal(less, x < y)
    assert ((small - (x >> 2) >= 0) & (small - (x >> 2) <= 1)).all()
    assert np.array_equal(product, x.reshape(2, 2) @ y.reshape(2, 2))


@pytest.mark.parametrize("to", [[], ["p0"], ["p2"]])
def test_sums_are_added_on_shares(to):
    @declares("answer")
    async def program(party, data):
        return await secure_sum(party, data, because="answer", to=to)

    outputs = run(program, [np.array([1, -2**40]), np.array([5, 6]), np.array([7, 8])], MODE)
    for name, output in zip(NAMES, outputs, strict=True):
        assert (output is None) == (bool(to) and name not in to)
        assert output is None or output.tolist() == [13, 14 - 2**40]


def test_much_is_proved_before_it_is_all_used(monkeypatch):
    monkeypatch.setattr(verified_sources, "FULL", 100)
    values = np.arange(200)

    async def compared(party, one):
        return await less_than(party, one, 77)

    assert np.array_equal(on_shares(compared, [values], [(0, 300)], (3, MODE)), values < 77)


@pytest.mark.slow
def test_no_message_grows_with_the_bits_that_become_numbers():
    """What a proof opens of a million bits would be 328 MB in one message."""
    size = 1 << 20

    @declares("answer")
    async def program(party, data):
        zeros = party.engine.public_bits(np.zeros(size // 64, np.uint64))
        plane = SharedBits(party, zeros, (size,))
        return await reveal(party, (await to_numbers(party, plane)).sum(), because="answer")

    dry = dry_run(program, {}, roles_for(NAMES, MODE), program.disclosures)
    assert 0 < max(row.bytes for ledger in dry.ledgers.values() for row in ledger.rows) < 1 << 26


@pytest.mark.parametrize("mode", ["authenticated", MODE])
def test_bits_become_numbers_in_blocks(monkeypatch, mode):
    monkeypatch.setattr(auth_engine, "BLOCK", 128)
    values = np.arange(300)

    async def counted(party, one):
        return await to_numbers(party, await less_than(party, one, 177))

    assert np.array_equal(on_shares(counted, [values], [(0, 300)], (3, mode)), values < 177)


def test_masks_that_all_parties_know_are_refused():
    @declares("answer")
    async def program(party, _):
        await party.draw([Need("masks", (2, 3))])

    with pytest.raises(Exception, match="cannot be proved"):
        run(program, [None] * 3, MODE)


def everything(size):
    @declares("answer")
    async def program(party, data):
        x = await share(party, data, "p0", (size,), 0, 1000)
        less = await less_than(party, x, 500)
        await truncate(party, x, 3)
        await matmul(party, x.reshape(1, size), x.reshape(size, 1))
        return await reveal(party, less, because="answer", to=["p2"])

    return program


@pytest.mark.slow
@pytest.mark.parametrize("size", [70, 2000])
def test_a_plan_says_what_runs_cost(size):
    roles, program = roles_for(NAMES, MODE), everything(size)

    def sent(ledgers):
        rows = [(row.label, row.bytes) for ledger in ledgers for row in ledger.rows
                if row.direction == SENT and row.label]
        return {label: sum(size for name, size in rows if name == label) for label, _ in rows}

    dry = dry_run(program, {"p0": np.zeros(size)}, roles, program.disclosures)
    outcomes = asyncio.run(in_memory(program, [np.full(size, 9), None, None], roles))
    assert [outcome.error for outcome in outcomes] == [None] * 3
    assert sent(dry.ledgers.values()) == sent(outcome.ledger for outcome in outcomes)


@pytest.mark.slow
def test_the_joint_view_is_the_same_for_both_inputs():
    assert joint_views(PROGRAMS["compare"], [*ONE, None], [*OTHER, None], MODE, runs=2) == []


def case(task, mode):
    study, found, records = study_case(task, mode)
    inputs = {name: found.blank(study, name, records) for name in study.having("owner")}
    return found.program(study), inputs, roles_of(study)


@pytest.mark.slow
@pytest.mark.parametrize("task", [
    "sum", "schema", "summary", "quantiles", "bins", "bayes", "bayes-columns", "classify-columns",
    "network", "kmeans-columns", "outliers", "outliers-columns", "rules", "rules-columns",
    "tree-columns", "percentile", "segments", "intersection-members", "union",
    "regression-columns"])
def test_a_task_gives_what_it_gives_in_mode_three_party(task):
    from unspoken.joint.session.result_file import plain_result

    one, other = (real_run(*case(task, mode)).outputs for mode in (MODE, "three-party"))
    assert one.keys() == other.keys()
    assert any(output is not None for output in one.values())
    for name, output in one.items():
        assert same(plain_result(output), plain_result(other[name])), name


def same(one, other):
    """Compare results whose last bits are rounded by chance."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float | np.ndarray):
        return np.allclose(one, other, rtol=1e-3, atol=1e-4)
    return one == other


@pytest.mark.parametrize("mode", ["authenticated", MODE])
@pytest.mark.parametrize(("to", "purpose"), [([], Purpose.DISCLOSURE), (["p1"], Purpose.MASKED)])
def test_holders_book_what_they_open_to_everybody_as_disclosed(mode, to, purpose):
    @declares("answer")
    async def program(party, data):
        x = await share(party, data, "p0", (2,), 0, 1000)
        await reveal(party, await less_than(party, x, 5), because="answer", to=to)
        return await reveal(party, x, because="answer", to=to)

    outcomes = asyncio.run(in_memory(program, [np.arange(2), None, None], roles_for(NAMES, mode)))
    assert [outcome.error for outcome in outcomes if outcome.error is not None] == []
    for outcome in outcomes[:2]:
        between = [row.purpose for row in outcome.ledger.rows
                   if row.label == "reveal" and row.peer in ("p0", "p1")]
        assert len(between) == 4
        assert set(between) == {purpose.name.lower()}
