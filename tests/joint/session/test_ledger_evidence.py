"""Ledgers as evidence: nothing can be booked as what it is not, edited, cut or overwritten."""

from __future__ import annotations

import asyncio
import json

import numpy as np
import pytest

from support.hostile_party import force_send
from unspoken.joint import (
    Disclosure,
    declares,
    multiply,
    reveal,
    run_local,
    run_outcomes,
    secure_sum,
    share,
)
from unspoken.joint.joint_errors import DisclosureError, LedgerError, PartyError, RefusedError
from unspoken.joint.mpc.correlated.sources import DEAL, SEED
from unspoken.joint.session.ledger_audit import audit_ledgers
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.wire.frames import HEADER_BYTES, Kind, Purpose, parse
from unspoken.joint.wire.ledger import Ledger

SECRET = np.array([1234, 5678, 91011])
ALL = ("p0", "p1", "p2")


@pytest.mark.parametrize("purpose", [Purpose.MASKED, Purpose.ENCRYPTED, Purpose.SHARE,
                                     Purpose.CONTROL])
def test_a_program_cannot_call_plaintext_anything_else(purpose):
    @declares("count")
    async def program(party, data):
        party.begin("sum masks")
        if party.name == "p0":
            await party.send("p1", "sum.masked", np.asarray(data, np.uint64), purpose)

    outcomes = run_outcomes(program, [SECRET, None, None], "sums")
    assert isinstance(outcomes[0].error, RefusedError)
    assert not any(row.label == "sum.masked" for o in outcomes for row in o.ledger.rows)


def test_a_disclosure_needs_an_opening_in_its_step():
    @declares("count")
    async def program(party, data):
        party.opening("count", ["p0", "p2"], (3,))
        if party.name == "p0":
            await party.send("p1", "count", np.asarray(data, np.uint64), Purpose.DISCLOSURE)

    outcomes = run_outcomes(program, [SECRET, None, None], "sums")
    assert isinstance(outcomes[0].error, DisclosureError)


@declares("every record")
async def forgetful(party, data):
    """Take openings back out of the ledger, and rename what was sent (e4, part b)."""
    x = await share(party, data if party.name == "p0" else None, "p0", (3,), 0, 10**9)
    opened = await reveal(party, x, because="every record", to=["p1"])
    party.ledger.openings.clear()
    for row in party.ledger.rows:
        row.purpose = "masked"
    return opened


def test_a_program_cannot_change_its_ledger():
    (_, _), (output, ledger) = run_local(forgetful, [SECRET, SECRET])
    assert output.tolist() == SECRET.tolist()
    assert [o.because for o in ledger.learned()] == ["every record"]
    assert ledger.purposes()["disclosure"] > 0


@declares("total")
async def adding(party, data):
    return await secure_sum(party, np.asarray(data), because="total")


@pytest.fixture
def ledgers(tmp_path):
    run_local(adding, [SECRET] * 3, "sums", folder=tmp_path)
    return [tmp_path / f"{name}.ledger" for name in ALL]


def test_ledgers_of_one_run_agree(ledgers):
    verdict = audit_ledgers(ledgers)
    assert verdict.deviations == ()
    assert "agree" in verdict.text()
    ledger = Ledger.load(ledgers[0])
    assert (ledger.status, ledger.mode, len(ledger.times)) == ("complete", "sums", 2)
    assert ledger.own_primitives == ("key agreement", "secure sum by masks")
    assert "not vetted" in ledger.table()


def changed(path, place, change):
    """Change one entry of a file, and chain all later ones anew, as an editor would."""
    from unspoken.joint.wire.ledger_chain import FIRST, line_hash

    entries = [json.loads(line) for line in path.read_bytes().splitlines()]
    change(entries, place)
    lines, head = [], FIRST
    for number, entry in enumerate(entries):
        entry.update(n=number, prev=head)
        line = json.dumps(entry, separators=(",", ":")).encode() + b"\n"
        lines.append(line)
        head = line_hash(line)
    path.write_bytes(b"".join(lines))


def first(path, kind):
    entries = [json.loads(line) for line in path.read_bytes().splitlines()]
    return next(i for i, entry in enumerate(entries) if entry["kind"] == kind)


def test_an_edited_entry_is_refused_by_name(ledgers):
    text = ledgers[1].read_bytes()
    ledgers[1].write_bytes(text.replace(b'"complete"', b'"complets"'))
    with pytest.raises(LedgerError, match=r"p1\.ledger' was edited"):
        Ledger.load(ledgers[1])


def test_a_chain_that_was_made_anew_has_no_valid_signature(ledgers):
    changed(ledgers[1], first(ledgers[1], "message"),
            lambda entries, i: entries[i].update(purpose="masked", bytes=1))
    with pytest.raises(LedgerError, match="p1"):
        Ledger.load(ledgers[1])


def test_signatures_that_were_taken_out_are_missed(ledgers):
    def strip(entries, _):
        entries[:] = [entry for entry in entries if entry["kind"] != "signed"]

    changed(ledgers[1], 0, strip)
    with pytest.raises(LedgerError, match="no signature"):
        Ledger.load(ledgers[1])


def test_a_half_entry_is_refused(ledgers):
    ledgers[1].write_bytes(ledgers[1].read_bytes()[:-9])
    with pytest.raises(LedgerError, match="cut in the middle"):
        Ledger.load(ledgers[1])


def test_a_cut_ledger_is_found_by_the_others(ledgers):
    lines = ledgers[1].read_bytes().splitlines(keepends=True)
    ledgers[1].write_bytes(b"".join(lines[:first(ledgers[1], "opening")]))
    assert "no last entry" in Ledger.load(ledgers[1]).table()
    deviations = audit_ledgers(ledgers).deviations
    assert any("'p1' was cut short" in one for one in deviations)
    assert not any("'p0' was" in one or "'p2' was" in one for one in deviations)


def test_a_ledger_that_its_own_party_rewrote_is_found_by_the_others(tmp_path):
    """A party has its key and can sign another story; the others hold what it signed before."""
    outcomes = run_outcomes(adding, [SECRET] * 3, "sums", folder=tmp_path)
    liar = outcomes[1].ledger
    forged = Ledger("p1", "sums", session=liar.session)
    forged.chain.sign_with(liar.chain.key)
    forged.keys, forged.versions = liar.keys, liar.versions
    for row in liar.rows:
        if row.label != "sum.masked":
            forged._rows.append(row)
    forged.status = "complete"
    (tmp_path / "p1.ledger").unlink()
    forged.save(tmp_path / "p1.ledger")
    Ledger.load(tmp_path / "p1.ledger")
    deviations = " ".join(audit_ledgers([tmp_path / f"{n}.ledger" for n in ALL]).deviations)
    assert "The ledger of 'p1'" in deviations
    assert "'p0' and 'p2'" not in deviations


def test_foreign_ledgers_are_refused_by_name(ledgers, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    run_local(adding, [SECRET] * 3, "sums", folder=other)
    with pytest.raises(LedgerError, match="another run"):
        audit_ledgers([ledgers[0], other / "p1.ledger"])
    with pytest.raises(LedgerError, match="both of 'p0'"):
        audit_ledgers([ledgers[0], ledgers[0]])
    with pytest.raises(LedgerError, match="two or more"):
        audit_ledgers(ledgers[:1])


def test_no_run_overwrites_a_ledger(ledgers, tmp_path):
    before = [path.read_bytes() for path in ledgers]
    with pytest.raises(LedgerError, match="never overwritten"):
        run_local(adding, [SECRET] * 3, "sums", folder=tmp_path)
    assert [path.read_bytes() for path in ledgers] == before
    with pytest.raises(LedgerError, match="No ledger can be written"):
        run_local(adding, [SECRET] * 3, "sums", folder=tmp_path / "nowhere")


def test_heads_are_exchanged_at_every_opening(ledgers):
    for path in ledgers:
        entries = [json.loads(line) for line in path.read_bytes().splitlines()]
        shown = [entry["peer"] for entry in entries if entry["kind"] == "peer"]
        own = path.stem
        # Once at the opening and once at the end.
        assert sorted(shown) == sorted(2 * [name for name in ALL if name != own])
        assert [e for e in entries if e["kind"] == "results"]


@declares(Disclosure("half", ("p0", "p1", "p2")))
async def shared(party, data):
    x = await share(party, data if party.name == "p2" else None, "p2", (3,), 0, 10**9)
    return await reveal(party, await multiply(party, x, x), because="half")


def flipping(label, target):
    """Return a tap that flips one bit of the first frame with a label to a party."""
    done = []

    def tap(source, to, frame):
        header = parse(frame[:HEADER_BYTES])
        if header.label != label or to != target or header.kind is not Kind.DATA or done:
            return frame
        done.append(source)
        return frame[:HEADER_BYTES] + bytes([frame[HEADER_BYTES] ^ 1]) + frame[HEADER_BYTES + 1:]

    return tap


@pytest.mark.slow
@pytest.mark.parametrize(("program", "mode", "label", "target"), [
    (adding, "sums", "sum.masked", "p0"), (adding, "sums", "sum.total", "p2"),
    (shared, "dealer", "share", "p1"), (shared, "dealer", "reveal", "p2"),
    (shared, "dealer", "multiply.open", "p1"), (shared, "dealer", SEED, "p1"),
    (shared, "dealer", DEAL, "p1")])
def test_one_flipped_bit_fails_the_run_everywhere(program, mode, label, target):
    given = [SECRET, SECRET * 2, SECRET * 3]
    outcomes = asyncio.run(in_memory(program, given, roles_for(ALL, mode),
                                     tap=flipping(label, target)))
    assert all(isinstance(o.error, PartyError) for o in outcomes), [o.error for o in outcomes]
    assert all(o.ledger.status.startswith("failed") for o in outcomes)


def test_a_party_that_tells_two_receivers_different_totals_is_caught():
    """No frame is changed on its way: the collector itself sends two totals."""
    @declares("total")
    async def program(party, data):
        if party.name != "p0":
            return await secure_sum(party, np.asarray(data), because="total")
        from unspoken.joint.mpc.ops import secure_sum as home
        words = np.asarray(data).astype(np.uint64)
        party.begin("sum masks")
        party.opening("total", (), (3,))
        own = words + home.pairwise_mask(party, 3)
        got = [await party.receive(n, "sum.masked", "<u8", (3,), Purpose.MASKED)
               for n in ("p1", "p2")]
        total = own + got[0] + got[1]
        await force_send(party, "p1", "sum.total", total, Purpose.RESULT)
        await force_send(party, "p2", "sum.total", total + np.uint64(1), Purpose.RESULT)
        party.learned(ALL, total)
        return total

    outcomes = run_outcomes(program, [SECRET] * 3, "sums")
    assert all(isinstance(o.error, PartyError) for o in outcomes)
    assert any("learned other results" in str(o.error) for o in outcomes)
