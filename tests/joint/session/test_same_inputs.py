"""A party can show that it fed the same values into two studies; nobody else can guess them."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from unspoken.joint import declares, reveal, share
from unspoken.joint.joint_errors import LedgerError
from unspoken.joint.session.ledger_audit import audit_ledgers
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.wire.input_digest import KIND
from unspoken.joint.wire.ledger_chain import Chain
from unspoken.joint.wire.ledger_file import read_entries

DATA = np.array([3, 1, 4, 1, 5])
KEY = Ed25519PrivateKey.generate()


@declares("answer")
async def program(party, data):
    x = await share(party, data if party.name == "p0" else None, "p0", (5,), 0, 9)
    y = await share(party, data if party.name == "p1" else None, "p1", (5,), 0, 9)
    return await reveal(party, (x + y).sum(), because="answer")


@pytest.fixture
def ledger_of(monkeypatch):
    """Return a function that runs with a key for the first party, and keeps its ledger."""
    real, keys = Chain.key, {}
    monkeypatch.setattr(Chain, "key", property(
        lambda chain: keys["p0"] if chain.party == "p0" else real.fget(chain)))

    def run(path, data, key, mode="authenticated"):
        keys["p0"] = key
        outcomes = asyncio.run(in_memory(program, [data, DATA], roles_for(["p0", "p1"], mode)))
        outcomes[0].ledger.save(path)
        return path

    return run


def test_the_same_values_in_two_runs_are_seen(tmp_path, ledger_of):
    one = ledger_of(tmp_path / "a.ledger", DATA, KEY)
    other = ledger_of(tmp_path / "b.ledger", DATA, KEY, "dealer")
    verdict = audit_ledgers([one, other])
    assert verdict.deviations == ()
    assert "'p0' fed the same values into both runs" in verdict.text()
    assert "1 of them are the same" in verdict.text()


def test_other_values_are_seen(tmp_path, ledger_of):
    one = ledger_of(tmp_path / "a.ledger", DATA, KEY)
    other = ledger_of(tmp_path / "b.ledger", DATA + 1, KEY)
    verdict = audit_ledgers([one, other])
    assert verdict.deviations == ("'p0' did not feed the same values into both runs.",)


def test_digests_of_another_key_say_nothing(tmp_path, ledger_of):
    one = ledger_of(tmp_path / "a.ledger", DATA, KEY)
    other = ledger_of(tmp_path / "b.ledger", DATA, Ed25519PrivateKey.generate())
    digests = [next(e["digest"] for e in read_entries(path) if e["kind"] == KIND)
               for path in (one, other)]
    assert digests[0] != digests[1]
    with pytest.raises(LedgerError, match="different keys of 'p0'"):
        audit_ledgers([one, other])


def test_inputs_are_written_before_anything_is_opened(tmp_path, ledger_of):
    kinds = [e["kind"] for e in read_entries(ledger_of(tmp_path / "a.ledger", DATA, KEY))]
    assert kinds.index(KIND) < kinds.index("opening")
