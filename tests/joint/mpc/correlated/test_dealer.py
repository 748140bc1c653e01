"""The dealer: what it deals fits together, and what it is asked for is checked."""

from __future__ import annotations

import asyncio
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.dealt import EXAMPLES, holds
from support.hostile_party import force_send, force_swap
from unspoken.errors import InputError
from unspoken.joint.joint_errors import PeerGarbageError
from unspoken.joint.mpc.bit_planes import bits_of, plane_of, planes_of
from unspoken.joint.mpc.correlated import sources
from unspoken.joint.mpc.correlated.kinds import KINDS, MAX_WORDS, Need
from unspoken.joint.mpc.packed_small_ints import lanes_of
from unspoken.joint.mpc.randomness import Stream, derive, fresh_seed
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.wire.frames import Message, Purpose, text_array

# Kinds that only a dealer makes.
DEALT = [Need("ladders", (7, 70)), Need("ladders", (8, 3)), Need("windows", (40, 5)),
         Need("zeros", (9, 3)), Need("zeros", (4, 0))]


def dealt(need, holders):
    drawn = [need.draw(Stream(fresh_seed()), last=i == holders - 1) for i in range(holders)]
    drawn[-1] = need.complete(drawn[-1], need.deal(drawn))
    sums = [sum(parts[1:], parts[0].copy()) for parts in zip(*drawn, strict=True)]
    xors = [np.bitwise_xor.reduce(parts) for parts in zip(*drawn, strict=True)]
    return sums, xors


@pytest.mark.parametrize("need", [*EXAMPLES, *DEALT], ids=str)
@pytest.mark.parametrize("holders", [1, 2, 3, 5])
def test_what_is_dealt_fits_together(need, holders):
    assert holds(need, *dealt(need, holders))


DEALT_WITH_TAGS = {"masks", "bitmasks", "tops", "totals", "release", "veils"}


def test_every_kind_is_tried():
    # Their cells are parts of words, which do not add up as words do: see test_pair_counts, and
    # below; for choices test_own_choice. What one party knows, and what hides upper words, is
    # dealt with tags only: see test_tags.
    assert {need.kind for need in [*EXAMPLES, *DEALT]} | {
        "crosses", "lanes", "flags", "choices"} == set(KINDS) - DEALT_WITH_TAGS


@pytest.mark.parametrize("width", [9, 16, 17, 32])
@pytest.mark.parametrize("holders", [1, 2, 3])
def test_what_is_dealt_in_small_rings_fits_together(width, holders):
    ring, n = 1 << (16 if width <= 16 else 32), 70
    for need in (Need("lanes", (n, width)), Need("flags", (n, width))):
        drawn = [need.draw(Stream(fresh_seed()), last=i == holders - 1) for i in range(holders)]
        drawn[-1] = need.complete(drawn[-1], need.deal(drawn))
        numbers = [sum(lanes_of(part, n, width).astype(object) for part in parts) % ring
                   for parts in zip(*drawn, strict=True)]
        if need.kind == "lanes":
            assert (numbers[0] * numbers[1] % ring == numbers[2]).all()
        else:
            planes = np.bitwise_xor.reduce([parts[1] for parts in drawn])
            assert (numbers[0] == bits_of(planes, n)).all()


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=200), st.integers(1, 64))
@settings(max_examples=50)
def test_planes(values, width):
    words = np.array(values, np.uint64)
    planes = planes_of(words, width)
    assert planes.shape == (width, -(-words.size // 64))
    for i in (0, width // 2, width - 1):
        bits = words >> np.uint64(i) & np.uint64(1)
        assert np.array_equal(bits_of(planes[i], words.size), bits)
        assert np.array_equal(plane_of(bits), planes[i])


@pytest.mark.parametrize("need", [("magic", (1,)), ("triple", ()), ("triple", (1, 2)),
                                  ("triple", (-1,)), ("triple", (MAX_WORDS,)), ("triple", (1.5,)),
                                  ("edabits", (65, 1)), ("edabits", (0, 1)), ("cuts", (1, 64)),
                                  ("matrix", (2**20, 2**20, 1))])
def test_impossible_wishes_are_refused(need):
    with pytest.raises(InputError):
        Need(*need)


@pytest.mark.slow
@pytest.mark.parametrize("wish", [
    b"", b"{", b"[]", b"[1]", b"[[1]]", b"[[1, 2, []]]", b'[[1, 2, [["magic", 1]]]]',
    b'[[1, 2, [["triple", 1e9]]]]', b'[["x", 2, [["triple", 1]]]]', b'[[1, "x", [["triple", 1]]]]',
    b'[[1, 2, [["triple", 134217728]]]]', b'[[0, 2, [["triple", 1]]]]',
    b'[[1, 0, [["triple", 1]]]]', b'[[1, 4000, [["triple", 1]]]]', b"[" * 50_000,
    b'[[1, 2, [["triple", 1]]], [1, 3, [["triple", 1]]]]',
    b'[[2, 2, [["triple", 1]]], [1, 3, [["triple", 1]]]]',
    json.dumps([[1, 2, [["triple", 2**25]] * 3]]).encode(),
    json.dumps([[i, 2, [["triple", 2**25]]] for i in (1, 2, 3)]).encode(),
    json.dumps([[1, 2, [["triple", 1]] * 1001]]).encode(),
    b'[[1, 2, [["triple", 1]]]]' + b" " * (1 << 20)])
def test_the_dealer_refuses_other_wishes_and_names_the_holder(wish):
    async def program(party, data):
        if party.index == 1:
            await force_send(party, "dealer", sources.ASK, np.frombuffer(wish, np.uint8),
                             Purpose.CONTROL)
            await party.receive("dealer", sources.DEAL, "<u8", (1,), Purpose.SHARE)

    outcomes = asyncio.run(in_memory(program, [None] * 2, roles_for(["p0", "p1"], "dealer")))
    dealer = outcomes[-1].error
    assert isinstance(dealer, PeerGarbageError)
    assert dealer.party == "p1"


def test_a_number_that_was_used_is_refused():
    async def program(party, data):
        if party.index == 1:
            for _ in range(2):
                wish = text_array(json.dumps([[1, party.count, [["triple", 1]]]]))
                await force_send(party, "dealer", sources.ASK, wish, Purpose.CONTROL)
                await party.receive("dealer", sources.DEAL, "<u8", (1,), Purpose.SHARE)

    outcomes = asyncio.run(in_memory(program, [None] * 2, roles_for(["p0", "p1"], "dealer")))
    assert "asked for something that cannot be dealt" in str(outcomes[-1].error)


def test_what_was_asked_for_ahead_is_drawn_step_by_step():
    """As in single requests, with one message to the dealer; other steps draw as before."""
    needs = [[Need("triple", (3,))], [Need("ands", (2,)), Need("cuts", (4, 8))]]

    async def program(party, data):
        await party.prefetch(needs[:data])
        drawn = []
        for each in [*needs, needs[0]]:
            party.begin("draw")
            drawn.append(await party.draw(each))
        return drawn

    for count, asked in ((0, 3), (1, 3), (2, 2)):
        one, other, dealer = asyncio.run(in_memory(program, [count] * 2,
                                                   roles_for(["p0", "p1"], "dealer")))
        rows = [row for row in dealer.ledger.rows if row.label == sources.ASK]
        assert len(rows) == asked
        for step in (0, 2):
            a, b, c = (x + y for x, y in zip(one.output[step][0], other.output[step][0],
                                             strict=True))
            assert (a * b == c).all()


@pytest.mark.parametrize("drawn", [Need("triple", (4,)), Need("ands", (3,))])
def test_who_asks_ahead_must_draw_what_was_asked_for(drawn):
    async def program(party, data):
        await party.prefetch([[Need("triple", (3,))]])
        party.begin("draw")
        await party.draw([drawn])

    _, other, _ = asyncio.run(in_memory(program, [None] * 2, roles_for(["p0", "p1"], "dealer")))
    assert isinstance(other.error, RuntimeError)


def test_seeds_are_fresh_in_every_run(monkeypatch):
    seeds = []
    real = sources.fresh_seed
    monkeypatch.setattr(sources, "fresh_seed", lambda: seeds.append(real()) or seeds[-1])

    async def program(party, data):
        pass

    for _ in range(2):
        asyncio.run(in_memory(program, [None] * 2, roles_for(["p0", "p1"], "dealer")))
    assert len(set(seeds)) == 4


def test_streams_do_not_overlap():
    seed = fresh_seed()
    keys = {derive(seed, "deal", 1), derive(seed, "deal", 11), derive(seed, "dea", "l1"),
            derive(seed, "deal", 1, salt=b"x" * 16), derive(seed, "deal")}
    assert len(keys) == 5
    whole, parts = Stream(seed).words(20_000), Stream(seed)
    assert np.array_equal(whole, np.concatenate([parts.words(n) for n in (1, 7, 19_992)]))


def test_messages_of_another_step_end_the_run():
    async def program(party, data):
        party.begin("x")
        if party.index == 0:
            party.begin("one too many")
        await force_swap(party, party.peers, "x", np.zeros(1), Purpose.CONTROL)

    outcomes = asyncio.run(in_memory(program, [None] * 3, roles_for(list("abc"), "sums")))
    assert any(isinstance(outcome.error, PeerGarbageError) for outcome in outcomes)
    assert all(outcome.error is not None for outcome in outcomes)
    assert Message("x", np.zeros(1), Purpose.CONTROL).step == 0
