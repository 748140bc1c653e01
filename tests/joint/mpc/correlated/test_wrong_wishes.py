"""A holder who asks an honest dealer for something else than the others draw learns nothing.

The dealer sends the last holder what makes all parts fit. A "matrix" of inner size 0 has nothing
to fit: the answer is the other holder's stream, word for word. With that stream a deviating holder
unmasks what is opened, makes the right correction itself, and the run ends well for everybody.
"""

from __future__ import annotations

import asyncio
import json

import numpy as np
import pytest

from support.deviating import AsParty
from support.hostile_party import force_send, force_swap
from support.study_cases import study_case
from unspoken.joint import declares, multiply, reveal, share
from unspoken.joint.mpc.correlated import sources
from unspoken.joint.mpc.correlated.sources import ASK, DEAL, wish_key
from unspoken.joint.mpc.randomness import Stream, derive
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run_roles import roles_for, roles_of
from unspoken.joint.wire.frames import Purpose, text_array

FIRST = np.array([111_111, 222_222, 333_333, 4, 5, 6])
SECOND = np.array([9, 8, 7, 654_321, 5, 4])


def stream_of_the_other(party, source, needs):
    """Ask for a matrix without an inside, as long as what the other holder draws."""

    async def ask():
        size = sum(sum(need.lengths) for need in needs)
        wish, dealer = [[source._number, party.count, [["matrix", size, 0, 1]]]], party.roles.dealer
        await force_send(party, dealer, ASK, text_array(json.dumps(wish)), Purpose.CONTROL)
        words = await party.receive(dealer, DEAL, "<u8", (size,), Purpose.SHARE)
        return np.negative(words)

    return ask()


def split(words, needs):
    parts, at = [], 0
    for need in needs:
        drawn = []
        for length in need.lengths:
            drawn.append(words[at:at + length].copy())
            at += length
        parts.append(drawn)
    return parts


def deviate(party, learned):
    """Let one holder ask wrongly, complete its own parts, and unmask what is opened."""
    source, now = party.engine.source, {}

    async def draw(needs):
        source._number += 1
        theirs = split(await stream_of_the_other(party, source, needs), needs)
        own = Stream(wish_key(source._seed, source._number, needs))
        mine = [need.draw(own, last=True) for need in needs]
        complete = [need.complete(m, need.deal([t, m]))
                    for need, t, m in zip(needs, theirs, mine, strict=True)]
        now["parts"] = list(zip(needs, theirs, complete, strict=True))
        return complete

    async def prefetch(steps, after=0):
        return None


    async def watched(peers, label, array, purpose):
        received = await force_swap(party, peers, label, array, purpose)
        for need, theirs, own in now.get("parts", ()):
            if need.kind in ("triple", "matrix") and theirs[0].size + theirs[1].size == array.size:
                mask = np.concatenate([theirs[0] + own[0], theirs[1] + own[1]])
                learned.append((array + received[0] + mask).view(np.int64))
        return received

    source.draw, source.prefetch, party.swap = draw, prefetch, watched


def run():
    learned = []

    @declares("sum of products")
    async def program(party, data):
        if party.name == "p1":
            deviate(party, learned)
        x = await share(party, data if party.name == "p0" else None, "p0", (6,), 0, 10**6)
        y = await share(party, data if party.name == "p2" else None, "p2", (6,), 0, 10**6)
        product = await multiply(party, x, y)
        return await reveal(party, product.sum(), because="sum of products")

    asyncio.run(in_memory(program, [FIRST, None, SECOND], roles_for(["p0", "p1", "p2"], "dealer")))
    assert learned, "the attack did not run"
    return np.concatenate(learned)


def test_what_was_not_wished_by_all_opens_nothing():
    secrets = {*FIRST.tolist(), *SECOND.tolist()}
    words = run()
    assert words.size == 12
    assert not secrets & set(words.tolist())
    # What it computes is uniform over the whole ring: as large as random words are.
    assert (np.abs(words.astype(np.float64)) > 2**40).sum() >= 11


def test_without_the_binding_the_same_holder_reads_everything(monkeypatch):
    def unbound(seed, number, needs):
        return derive(seed, "deal", number)

    monkeypatch.setattr(sources, "wish_key", unbound)
    monkeypatch.setitem(globals(), "wish_key", unbound)
    assert run().tolist() == [*FIRST.tolist(), *SECOND.tolist()]


def seen_in_regression():
    """Let a holder deviate in a task over columns of several owners; return what it unmasks."""
    learned = []
    study, found, records = study_case("regression-columns", "dealer")
    roles = roles_of(study)
    program = AsParty(found.program(study), roles.holders[-1], lambda p: deviate(p, learned))
    inputs = [found.blank(study, name, records) if name in study.having("owner") else None
              for name in roles.program]
    asyncio.run(in_memory(program, inputs, roles))
    assert learned, "the attack did not run"
    return np.abs(np.concatenate(learned).astype(np.float64))


@pytest.mark.slow
def test_nor_does_it_open_the_columns_of_a_regression(monkeypatch):
    """Operands of its matrix products are limbs of 24 bits; random words are not."""
    assert (seen_in_regression() < 2**30).mean() < 0.01

    def unbound(seed, number, needs):
        return derive(seed, "deal", number)

    monkeypatch.setattr(sources, "wish_key", unbound)
    monkeypatch.setitem(globals(), "wish_key", unbound)
    assert (seen_in_regression() < 2**30).mean() > 0.9


@pytest.mark.parametrize("other", [[("matrix", (2, 1, 1))], [("triple", (3,))],
                                   [("triple", (2,)), ("triple", (1,))]])
def test_keys_differ_with_kinds_and_sizes(other):
    from unspoken.joint.mpc.correlated.kinds import Need

    wished = [Need("triple", (2,))]
    assert wish_key(b"s" * 32, 1, wished) != wish_key(b"s" * 32, 1, [Need(*o) for o in other])
    assert wish_key(b"s" * 32, 1, wished) != wish_key(b"s" * 32, 2, wished)
    assert wish_key(b"s" * 32, 1, wished) == wish_key(b"s" * 32, 1, list(wished))


def test_in_the_default_mode_it_ends_the_run_too():
    """Shares with tags: what was not wished by all fits nothing, and nobody gets a result."""
    seen = {}

    @declares("sum of products")
    async def program(party, data):
        source = party.engine.source
        if party.name == "p0":
            seen["seed"] = source._seed
        if party.name == "p1":
            ask_for_a_stream(party, source, seen)
        x = await share(party, data if party.name == "p0" else None, "p0", (6,), 0, 10**6)
        y = await share(party, data if party.name == "p2" else None, "p2", (6,), 0, 10**6)
        product = await multiply(party, x, y)
        return await reveal(party, product.sum(), because="sum of products")

    roles = roles_for(["p0", "p1", "p2"], "authenticated")
    outcomes = asyncio.run(in_memory(program, [FIRST, None, SECOND], roles))
    assert all(o.output is None and o.error is not None for o in outcomes[:3])
    assert any("deviated" in str(o.error) for o in outcomes[:3])
    number, needs, words = seen["asked"]
    theirs = Stream(wish_key(seen["seed"], number, needs)).words(72)
    assert not {*words.tolist(), *np.negative(words).tolist()} & set(theirs.tolist())


def ask_for_a_stream(party, source, seen):
    """Ask for a matrix without an inside where all others draw triples of six values."""
    real, fill = source._ask, source._fill

    async def asked(wishes):
        if wishes[0].needs[0].kind != "triple":
            return await real(wishes)
        [wish] = wishes
        # As long an answer: values and tags of 14 words are those of three times six, and tags.
        other = [[wish.number, wish.step, [["matrix", 14, 0, 1]]]]
        await force_send(party, "dealer", ASK, text_array(json.dumps(other)), Purpose.CONTROL)
        source._asked.append(wish)
        return None

    async def filled(needs, parts):
        await fill(needs, parts)
        if needs[0].kind == "triple":
            words = np.concatenate([np.concatenate([p.words, p.tags]) for p in parts[0]])
            seen["asked"] = source._number, needs, words

    source._ask, source._fill = asked, filled
