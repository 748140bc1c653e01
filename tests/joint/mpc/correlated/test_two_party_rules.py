"""Two holders and no dealer: what it costs, who may run it, and where its secrets come from."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

from support.joint_programs import of_two
from support.watching import masked_frames
from unspoken.errors import InputError, MissingExtraError
from unspoken.joint import (
    equal,
    less_than,
    multiply,
    reveal,
    share,
    share_sum,
    to_numbers,
    truncate,
)
from unspoken.joint.joint_errors import RefusedError, StudyError
from unspoken.joint.mpc import randomness as streams
from unspoken.joint.mpc import ristretto as group
from unspoken.joint.mpc.declared import declares
from unspoken.joint.session.run import run_local
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.session.study import Study
from unspoken.joint.wire.credentials import Member, fingerprint
from unspoken.joint.wire.ledger import RECEIVED

pytestmark = pytest.mark.slow

pytest.importorskip("rbcl", reason="rbcl is not installed")


def test_bytes_are_as_documented():
    n = 6400

    @declares("answer")
    async def program(party, data):
        x = await share(party, data if party.index == 0 else None, "p0", (n,), -2**61, 2**61)
        await less_than(party, x, 0)
        await equal(party, x, 0)
        await truncate(party, x, 8)
        await to_numbers(party, await equal(party, x[:64], 0))
        y = await share(party, data[:64] if party.index == 0 else None, "p0", (64,), -9, 9)
        await multiply(party, y, y)

    results = run_local(program, [np.zeros(n, int)] * 2, "two-party")
    rows = [row for _, ledger in results for row in ledger.rows if row.direction == RECEIVED]
    setup = [row for row in rows if row.label.startswith("ot.")]
    assert sum(row.bytes - 132 * row.frames for row in setup) == 32 + 128 * 32 + 512 * 4 * 32
    rows = [row for row in rows if row not in setup]
    steps = sorted({row.step for row in rows if "." in row.label and row.step > 1})
    used = [sum(row.bytes - 132 * row.frames for row in rows if row.step == step)
            for step in steps]
    less, same, cut, _, number, product = used
    # Payloads alone, so that these are exact; a frame of up to 1 MiB has a header of 132 bytes.
    assert less / n == 16 * (16 + 4) + 14 * (16 + 2) + (16 + 0.5)
    assert same / n == 16 * (16 + 2) + 5 * (16 + 2)
    assert cut / n == 12
    assert number / 64 == 12 + 0.25
    assert product / 64 == 2 * 64 * 12 + 32


def test_what_needs_no_transfer_makes_none():
    @declares("answer")
    async def program(party, data):
        total = await share_sum(party, data, (2,), 0, 9)
        return await reveal(party, total, because="answer", to=["p0"])

    results = run_local(program, [np.array([1, 2]), np.array([3, 4])], "two-party")
    assert results[0][0].tolist() == [4, 6]
    assert not any(row.label.startswith("ot.") for _, ledger in results for row in ledger.rows)


@pytest.mark.parametrize(("parties", "holders", "said"), [
    (1, None, "for 2 parties or more"), (2, ["p0"], "two of p0, p1"), (3, ["p0", "x"], "two of"),
    (3, ["p0", "p1", "p2"], "two of p0, p1, p2")])
def test_two_party_mode_has_two_holders(parties, holders, said):
    with pytest.raises(InputError, match=said):
        roles_for([f"p{i}" for i in range(parties)], "two-party", holders)


def test_three_party_mode_refuses_two():
    with pytest.raises(RefusedError, match="exactly 3 parties"):
        roles_for(["p0", "p1"], "three-party")


def test_without_rbcl_the_mode_says_what_to_install(monkeypatch):
    async def program(party, data):
        raise AssertionError

    group._sodium.cache_clear()
    monkeypatch.setitem(sys.modules, "rbcl", None)
    try:
        with pytest.raises(MissingExtraError, match=r"pip install 'unspoken\[joint\]'"):
            run_local(program, [None] * 2, "two-party")
    finally:
        group._sodium.cache_clear()


def study(*roles):
    members = tuple(Member(f"p{i}", f"127.0.0.1:{7000 + i}", role, "", bytes([i]))
                    for i, role in enumerate(roles))
    members = tuple(replace(m, fingerprint=fingerprint(m.certificate)) for m in members)
    return Study("s", "sum", "two-party", members).to_json()


def test_a_study_of_two_has_two_holders_and_no_dealer():
    holder, owner = ("owner", "holder"), ("owner",)
    assert Study.from_json(study(holder, holder)).mode == "two-party"
    assert Study.from_json(study(holder, holder, owner)).dealer is None
    for roles in ((holder, owner), (holder, holder, holder), (holder, holder, ("dealer",))):
        with pytest.raises(StudyError, match="Mode 'two-party' needs exactly two"):
            Study.from_json(study(*roles))


def test_fresh_secrets_come_from_the_operating_system(monkeypatch):
    drawn = []
    real = streams.secrets.token_bytes
    monkeypatch.setattr(streams.secrets, "token_bytes", lambda n: drawn.append(n) or real(n))
    for name in ("default_rng", "rand", "randint", "random", "bytes", "Generator"):
        monkeypatch.setattr(np.random, name, None)
    run_local(of_two, [np.arange(5)] * 2, "two-party")
    # 512 leaves, 129 scalars of two seeds each, the offerer's secret, and what protocols draw.
    assert drawn.count(32) >= 512 + 258 + 1 + 4


@pytest.mark.parametrize("parties", [2, 3])
def test_lengths_do_not_depend_on_values(parties):
    lengths = [masked_frames(of_two, [np.full(5, value)] * parties, "two-party")[1]
               for value in (0, -1000, 1000)]
    assert lengths[0] == lengths[1] == lengths[2]


def test_two_equal_runs_share_no_masked_frame():
    one, two = (masked_frames(of_two, [np.arange(5)] * 2, "two-party")[0] for _ in range(2))
    assert len(one) == len(two)
    assert not {frame for frame in one if len(frame) >= 8} & set(two)
