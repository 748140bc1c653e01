"""What hides a result until it may leave, and from whom; without each of these a test fails."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from support.deviating import as_party, in_message, in_share
from support.hostile_party import unchecked
from unspoken.joint import declares, multiply, reveal, secure_sum, share
from unspoken.joint.mpc.authentic import auth_dealing, ring128
from unspoken.joint.mpc.authentic.auth_sources import RELEASE, TagDealer, TagSource
from unspoken.joint.mpc.authentic.tag_check import TagCheck
from unspoken.joint.mpc.party import Party
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.wire.frames import HEADER_BYTES, Kind, parse

VALUES = np.array([4, 8, 15, 16])
NAMES = ["p0", "p1", "p2"]


def sent_in(program, label):
    """Run; return what was sent under a label, in order (sender, words), and how it ended."""
    sent = []

    def tap(source, target, frame):
        header = parse(frame[:HEADER_BYTES])
        if header.kind is Kind.DATA and header.label == label:
            sent.append((source, np.frombuffer(frame[HEADER_BYTES:], header.dtype)))
        return frame

    roles = roles_for(NAMES, "authenticated")
    return sent, asyncio.run(in_memory(program, [VALUES] * 3, roles, tap=tap))


def revealing(to=(), times=1, product=False):
    @declares("answer")
    async def program(party, data):
        x = await share(party, data if party.name == "p2" else None, "p2", (4,), 0, 99)
        if product:
            # Its bounds are tested now, and tags checked for that.
            await reveal(party, x * 0, because="answer")
            x = await multiply(party, x, x)
        for _ in range(times):
            found = await reveal(party, x, because="answer", to=to)
        return found

    return program


def opened(sent):
    """Return what both holders open together, time by time: lower words, then upper ones.

    What they hand on to a party without shares has no upper words.
    """
    parts = [[words for source, words in sent if source == name and len(words) == 2 * len(VALUES)]
             for name in ("p0", "p1")]
    return [one + other for one, other in zip(*parts, strict=True)]


class Zeros:
    """A stream of zeros."""

    def words(self, count):
        return np.zeros(count, np.uint64)


def known_masks_are_zero(monkeypatch):
    """Let masks that one party knows be zero, for it and its dealer alike."""
    own, fitting = TagSource._known, auth_dealing._fitting
    monkeypatch.setattr(TagSource, "_known",
                        lambda self, needs: [words * np.uint64(0) for words in own(self, needs)])
    monkeypatch.setattr(auth_dealing, "_fitting", lambda need, draws, known: fitting(
        need, draws, dict.fromkeys(known, Zeros())))


def holders_see_the_result():
    """Say whether holders open what the third party alone may learn, and hand it on."""
    sent, outcomes = sent_in(revealing(["p2"]), "reveal")
    assert outcomes[2].output.tolist() == VALUES.tolist()
    handed_on = {len(words): words for _, words in sent}[4]
    return [words.tolist() == VALUES.tolist() for words in (opened(sent)[0][:4], handed_on)]


def test_a_result_is_hidden_from_holders_who_may_not_learn_it(monkeypatch):
    assert holders_see_the_result() == [False, False]
    known_masks_are_zero(monkeypatch)
    assert holders_see_the_result() == [True, True]


def upper_words_come_again():
    [one, other] = opened(sent_in(revealing(times=2), "reveal")[0])
    assert one[:4].tolist() == other[:4].tolist() == VALUES.tolist()
    return bool((one[4:] == other[4:]).any())


def test_what_lies_above_64_bits_is_masked_anew_at_every_opening(monkeypatch):
    assert not upper_words_come_again()
    real = auth_dealing.draw

    def draw(need, stream, *, last):
        parts = real(need, stream, last=last)
        for part in parts if need.kind == "tops" else ():
            part.high = part.high * np.uint64(0)
        return parts

    monkeypatch.setattr(auth_dealing, "draw", draw)
    assert upper_words_come_again()


def plus_one(words):
    words += np.uint64(1)
    return words


def something_is_opened(to):
    """Say whether an honest holder opens a result that the other one has shifted before."""
    steps = {}

    def tap(source, target, frame):
        header = parse(frame[:HEADER_BYTES])
        if source == "p0" and header.kind is Kind.DATA:
            steps.setdefault(header.label, []).append(header.step)
        return frame

    program = as_party("p1", in_share("multiply.open", plus_one), revealing(to, product=True))
    asyncio.run(in_memory(program, [VALUES] * 3, roles_for(NAMES, "authenticated"), tap=tap))
    return max(steps["reveal"]) > max(steps["multiply.open"])


@pytest.mark.parametrize("to", [(), ("p1",), ("p2",)])
def test_tags_are_checked_before_a_result_is_opened(monkeypatch, to):
    """Else a receiver that deviates would have what it shifted, before the run ends."""
    assert not something_is_opened(to)

    async def nothing(self):
        return None

    monkeypatch.setattr(TagCheck, "verify", nothing)
    assert something_is_opened(to)


@declares("answer")
async def nothing_opened(party, data):
    x = await share(party, data if party.name == "p2" else None, "p2", (4,), 0, 99)
    await multiply(party, x, x)


def test_a_run_that_opens_nothing_is_checked_at_its_end():
    change = in_share("multiply.open", plus_one)
    _, outcomes = sent_in(as_party("p1", change, nothing_opened), "reveal")
    assert all("deviated" in str(outcomes[place].error) for place in (0, 2))


@declares("answer")
async def summing(party, data):
    return await secure_sum(party, data, because="answer")


def masked_total():
    """Return what owners' masked values add up to; each is sent to every holder but oneself."""
    sent = {source: words for source, words in sent_in(summing, "sum.masked")[0]}
    assert set(sent) == set(NAMES)
    return sum(sent.values()).tolist()


def test_holders_cannot_add_up_a_total_before_it_is_released(monkeypatch):
    total = (3 * VALUES).tolist()
    assert masked_total() != total
    real = TagDealer._last_mask

    def without(self, wish):
        words = real(self, wish)
        key = auth_dealing.Stream(self._totals[wish.number, len(words)])
        return words - key.words(len(words))

    monkeypatch.setattr(TagDealer, "_last_mask", without)
    assert masked_total() == total


def test_nobody_confirms_a_total_that_holders_have_not_compared():
    """An owner that masks another value for each holder is found before the key is asked for."""
    change = in_message("sum.masked", plus_one)
    sent, outcomes = sent_in(as_party("p2", change, summing), RELEASE)
    assert "deviated" in str(outcomes[0].error)
    assert sent == []


@declares("answer")
async def three_hold(party, data):
    x = await share(party, data if party.name == "p2" else None, "p2", (4,), 0, 99)
    return await reveal(party, await multiply(party, x, x), because="answer")


def of_three(program, label="check.tags"):
    """Run among three holders; return how it ended, and what the first showed in its checks."""
    shown = []

    def tap(source, target, frame):
        header = parse(frame[:HEADER_BYTES])
        if (source, target, header.label) == ("p0", "p1", label):
            shown.append(np.frombuffer(frame[HEADER_BYTES:], header.dtype))
        return frame

    roles = roles_for(NAMES, "authenticated", NAMES)
    return asyncio.run(in_memory(program, [VALUES] * 3, roles, tap=tap)), shown[1::2]


def test_a_holder_that_waits_for_the_others_cannot_make_sums_fit():
    """One of three shows, last, what the others' words lack: its promise was made before."""
    def change(party):
        in_share("multiply.open", plus_one)(party)
        swap, send = unchecked(party)

        async def fitting(peers, label, array, purpose):
            if label != "check.tags" or array.dtype != np.uint64:
                return await swap(peers, label, array, purpose)
            got = [await party.receive(peer, label, "<u8", array.shape, purpose)
                   for peer in peers]
            for peer in peers:
                await send(peer, label, lacking(party.engine.guarded.check, got), purpose)
            return got

        party.swap = fitting

    outcomes, _ = of_three(as_party("p1", change, three_hold))
    assert all("deviated" in str(outcomes[place].error) for place in (0, 2))


def lacking(check, got):
    """Return what makes words of a check add up to zero."""
    out, at = [], 0
    for is_bits, size in check._shape():
        one, other = (words[at:at + size] for words in got)
        out.append(one ^ other if is_bits else np.concatenate(ring128.negative(ring128.add(
            tuple(one.reshape(2, -1)), tuple(other.reshape(2, -1))))))
        at += size
    return np.concatenate(out)


def shown_as_they_are(monkeypatch):
    """Return how many words of checks three holders show that are not hidden, or hidden alike."""
    bare, masks, real = [], [], TagCheck._masked

    def masked(self):
        words, out = np.concatenate([words for _, words in self._rest]), real(self)
        if self.party.name == "p0":
            bare.append(words)
            masks.append(out ^ words)
        return out

    with monkeypatch.context() as patch:
        patch.setattr(TagCheck, "_masked", masked)
        outcomes, shown = of_three(three_hold)
    assert [o.error for o in outcomes] == [None] * 4
    assert len(shown) == len(bare) > 1
    hidden = set(np.concatenate(masks).tolist())
    return sum(map(len, masks)) - len(hidden - {0})


def test_what_three_holders_show_is_hidden_anew_in_every_check(monkeypatch):
    assert shown_as_they_are(monkeypatch) == 0
    monkeypatch.setattr(Party, "stream_with", lambda *_: Zeros())
    assert shown_as_they_are(monkeypatch) > 0
