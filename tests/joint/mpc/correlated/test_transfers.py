"""Oblivious transfer: every form against its plain meaning; the hash and the field alone."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB
from hypothesis import given, settings
from hypothesis import strategies as st

from unspoken.joint.joint_errors import PeerGarbageError
from unspoken.joint.mpc.bit_planes import bits_of, plane_of, planes_of, words_of
from unspoken.joint.mpc.correlated import ot_extension
from unspoken.joint.mpc.correlated import transfers as transfer
from unspoken.joint.mpc.correlated.oblivious_transfer import (
    choose_keys,
    choose_leaves,
    offer_keys,
    offer_leaves,
)
from unspoken.joint.mpc.randomness import Stream, fresh_words
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.wire.frames import HEADER_BYTES, Kind, parse

rbcl = pytest.importorskip("rbcl", reason="rbcl is not installed")
FEW = settings(max_examples=10)


def both_sides(program, tap=None, mode="two-party"):
    """Run a program that is told nothing; return what both parties return."""
    roles = roles_for(["p0", "p1"], mode)
    outcomes = asyncio.run(in_memory(program, [None] * 2, roles, tap=tap))
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
    return [outcome.output for outcome in outcomes]


def slow_times(a, b):
    """Multiply polynomials over two elements and divide by x^4 + x + 1, digit by digit."""
    out = [0] * 7
    for i in range(4):
        for j in range(4):
            out[i + j] ^= (a >> i & 1) & (b >> j & 1)
    for top in (6, 5, 4):
        if out[top]:
            for place in (top, top - 3, top - 4):
                out[place] ^= 1
    return sum(bit << i for i, bit in enumerate(out[:4]))


def test_the_field_has_sixteen_elements():
    table = [[ot_extension.times(a, b) for b in range(16)] for a in range(16)]
    assert table == [[slow_times(a, b) for b in range(16)] for a in range(16)]
    for row in table[1:]:
        # Injective: what an entry is away from the chosen one says nothing less than D itself.
        assert sorted(row) == list(range(16))


@pytest.mark.parametrize("planes", [1, 4])
def test_rows_are_v_plus_c_times_the_secret(planes):
    keys = [[bytes([place, leaf]) * 16 for leaf in range(16)] for place in range(32)]
    secret = np.arange(32, dtype=np.uint8) * 7 % 16
    turned = [[b"" if x == 0 else keys[i][x ^ int(secret[i])] for x in range(16)]
              for i in range(32)]
    choices = fresh_words(planes * 2).reshape(planes, 2)
    sums, v = ot_extension.Leaves(keys).expand(planes, 2)
    _, w = ot_extension.Leaves(turned).expand(planes, 2)
    ot_extension.add_choice(w, secret, sums ^ choices)
    c = elements(choices)
    for place in range(32):
        own, other = (elements(rows[4 * place:4 * place + 4]) for rows in (v, w))
        expected = [a ^ slow_times(int(b), int(secret[place])) for a, b in zip(own, c, strict=True)]
        assert expected == list(other)
        streams = [elements(Stream(key).words(planes * 2).reshape(planes, 2))
                   for key in keys[place]]
        assert list(elements(sums[place])) == list(np.bitwise_xor.reduce(streams))
        for at in range(0, 128, 17):
            total = 0
            for x, stream in enumerate(streams):
                total ^= slow_times(x, int(stream[at]))
            assert total == own[at]


def elements(planes):
    """Return every element of some planes as a number."""
    return sum(bits_of(plane, plane.size * 64).astype(int) << i for i, plane in enumerate(planes))


def slow_hash(key, row, number, block):
    """The formula, one block at a time, on Python's integers."""
    low, high = row
    moved = (low ^ high) | low << 64
    given_ = moved ^ number ^ block << 64
    cipher = Cipher(AES(key), ECB()).encryptor()
    return int.from_bytes(cipher.update(given_.to_bytes(16, "little")), "little") ^ moved


def test_the_hash_is_the_formula():
    key, rows, first = b"k" * 16, fresh_words(128 * 3).reshape(128, 3), 2**40 + 5
    offset = fresh_words(2)
    low, high = words_of(rows[:64]) ^ offset[0], words_of(rows[64:]) ^ offset[1]
    expected = [[slow_hash(key, (int(a), int(b)), first + i, block) for block in range(3)]
                for i, (a, b) in enumerate(zip(low, high, strict=True))]
    pads = ot_extension.Pads(key, rows, first)
    words = pads.words(offset, 5)
    for i in range(0, 192, 11):
        whole = [part for block in expected[i] for part in (block & (2**64 - 1), block >> 64)]
        assert whole[:5] == [int(word) for word in words[i]]
    planes = pads.planes(offset, 2)
    assert np.array_equal(elements(planes), np.array([block[0] & 3 for block in expected]))


def test_equal_rows_have_different_pads():
    rows = np.zeros((128, 1), np.uint64)
    pads = ot_extension.Pads(b"k" * 16, rows, 0).words(np.zeros(2, np.uint64), 6)
    assert np.unique(pads).size == pads.size


@given(st.integers(1, 300))
@FEW
def test_words_and_planes_are_each_others_inverse(n):
    values = fresh_words(n)
    assert np.array_equal(words_of(planes_of(values))[:n], values)


@pytest.mark.slow
@given(st.integers(1, 200), st.sampled_from([(4, 1), (8, 2), (16, 1), (16, 2)]))
@FEW
def test_pick_gives_the_entry_that_is_chosen(words, form):
    entries, width = form
    table = fresh_words(entries * width * words).reshape(entries, width, words)
    choices = fresh_words(words * 4).reshape(4, words)[:entries.bit_length() - 1]

    async def program(party, data):
        own = table if party.transfer.offers else choices
        return await party.transfer.pick("test", own, entries, width)

    nothing, got = both_sides(program)
    assert nothing.size == 0
    named = elements(choices)
    for bit in range(width):
        bits = np.array([bits_of(entry[bit], words * 64) for entry in table])
        assert np.array_equal(bits_of(got[bit], words * 64), bits[named, np.arange(words * 64)])


@pytest.mark.slow
@given(st.integers(0, 200), st.integers(1, 5))
@FEW
def test_correlated_words(count, length):
    gap, choice = fresh_words(count * length).reshape(count, length), fresh_words(4)

    async def program(party, data):
        own = gap if party.transfer.offers else choice[:-(-count // 64)]
        return await party.transfer.correlate("test", own, count, length)

    kept, got = both_sides(program)
    assert np.array_equal(got, kept + bits_of(choice, count)[:, None] * gap)


def test_random_and_chosen_words():
    count, pairs, bits = 100, fresh_words(200).reshape(100, 2), fresh_words(100) & np.uint64(1)

    async def program(party, data):
        own = np.zeros(0, np.uint64) if party.transfer.offers else plane_of(bits)
        made = await party.transfer.random("random", own, count)
        own = pairs if party.transfer.offers else plane_of(bits)
        return made, await party.transfer.choose("choose", own, count)

    (two, _), (one, chosen) = both_sides(program)
    assert np.array_equal(one[:, 0], two[np.arange(count), bits.astype(int)])
    assert np.array_equal(chosen, pairs[np.arange(count), bits.astype(int)])
    assert np.unique(two).size == two.size


def test_no_number_is_used_twice(monkeypatch):
    used = []
    real = ot_extension.Pads

    def noted(cipher, rows, first):
        used.append((cipher, first, first + rows.shape[1] * 64))
        return real(cipher, rows, first)

    async def program(party, data):
        for transfers in (party.transfer, party.transfer.back):
            for count in (64, 130, 1):
                gap = np.zeros((count, 1), np.uint64)
                plane = np.zeros(-(-count // 64), np.uint64)
                await transfers.correlate("test", gap if transfers.offers else plane, count)
            table, choices = np.zeros((16, 1, 2), np.uint64), np.zeros((4, 2), np.uint64)
            await transfers.pick("test", table if transfers.offers else choices, 16, 1)

    monkeypatch.setattr(transfer, "Pads", noted)
    both_sides(program)
    numbers = [(cipher, number) for cipher, start, stop in used for number in range(start, stop)]
    # Both sides number the same transfers, and nobody else does.
    assert len(numbers) == 2 * len(set(numbers))
    assert len({cipher for cipher, _ in numbers}) == 2


def test_pieces_and_what_is_on_its_way_do_not_change_the_result(monkeypatch):
    monkeypatch.setattr(transfer, "PIECE", 2)
    table, choices = fresh_words(16 * 23).reshape(16, 1, 23), fresh_words(4 * 23).reshape(4, 23)

    async def program(party, data):
        return await party.transfer.pick("test", table if party.transfer.offers else choices, 16,
                                         1)

    _, got = both_sides(program)
    assert np.array_equal(got, transfer.selected(table, choices))


def test_the_chooser_has_one_key_of_each_pair_and_all_leaves_but_one():
    choices = np.arange(128, dtype=np.uint8) % 3 % 2
    missing = np.arange(32, dtype=np.uint8) % 16

    async def program(party, data):
        party.begin("by hand")
        if party.index == 0:
            return await offer_keys(party, "p1"), await offer_leaves(party, "p1")
        return await choose_keys(party, "p0", choices), await choose_leaves(party, "p0", missing)

    (pairs, leaves), (keys, most) = both_sides(program, mode="sums")
    assert keys == [pair[choice] for pair, choice in zip(pairs, choices, strict=True)]
    assert len({key for pair in pairs for key in pair}) == 256
    assert len({leaf for place in leaves for leaf in place}) == 512
    for own, got, secret in zip(leaves, most, missing, strict=True):
        assert got == [b"" if x == secret else own[x] for x in range(16)]


def replaced(label, sender, payload):
    """Return a tap that puts other bytes into one message."""

    def tap(source, target, frame):
        header = parse(frame[:HEADER_BYTES])
        if source == sender and header.kind is Kind.DATA and header.label == label:
            return frame[:HEADER_BYTES] + payload + frame[HEADER_BYTES + len(payload):]
        return frame

    return tap


BAD_POINTS = {"identity": bytes(32), "all ones": b"\xff" * 32, "odd": b"\x01" + bytes(31),
              "not canonical": b"\xed" + b"\xff" * 30 + b"\x7f"}


async def one_pick(party, data):
    own = np.zeros((16, 1, 1) if party.transfer.offers else (4, 1), np.uint64)
    await party.transfer.pick("test", own, 16, 1)


@pytest.mark.parametrize("name", BAD_POINTS)
@pytest.mark.parametrize(("label", "sender"), [("ot.base", "p1"), ("ot.choice", "p0")])
def test_bytes_that_are_no_point_end_the_run(name, label, sender):
    tap = replaced(label, sender, BAD_POINTS[name])
    outcomes = asyncio.run(in_memory(one_pick, [None] * 2, roles_for(["p0", "p1"], "two-party"),
                                     tap=tap))
    errors = {outcome.name: outcome.error for outcome in outcomes}
    found = errors["p0" if sender == "p1" else "p1"]
    assert isinstance(found, PeerGarbageError)
    assert found.party == sender
    assert "no point of the group" in str(found)


def test_a_point_sent_twice_ends_the_run():
    def tap(source, target, frame):
        if parse(frame[:HEADER_BYTES]).label != "ot.choice":
            return frame
        return frame[:HEADER_BYTES] + frame[HEADER_BYTES:][:32] * 2 + frame[HEADER_BYTES + 64:]

    outcomes = asyncio.run(in_memory(one_pick, [None] * 2, roles_for(["p0", "p1"], "two-party"),
                                     tap=tap))
    assert any(isinstance(outcome.error, PeerGarbageError) for outcome in outcomes)
