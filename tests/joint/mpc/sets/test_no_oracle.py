"""Nobody takes its key off points of another's choice (e2): the counter of `align` gets nothing."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from support.hostile_party import force_send
from support.set_programs import aligning, names
from support.tampered_sets import tampered

pytest.importorskip("rbcl")

from unspoken.joint import align, align_disclosures, declares
from unspoken.joint.joint_errors import PeerGarbageError
from unspoken.joint.mpc import ristretto as group
from unspoken.joint.mpc.engines.spu.spu_handle import spu_python
from unspoken.joint.mpc.sets import alignment, proven_path
from unspoken.joint.mpc.sets.encrypted_circle import Circle, SetRules, encoded
from unspoken.joint.mpc.sets.equal_exponents import EqualExponents, holds, prove
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.wire.frames import Purpose

RULES, WHY = SetRules(least=10), "patients in common"
CANDIDATES = [b"%d" % i for i in range(10_000, 10_500)]
VICTIM = [10_000 + 19 * i for i in range(25)]


async def evil(party, ids, stolen):
    """Send the victim's own once-encrypted list, blinded, as the common points."""
    party.begin("align")
    for told in align_disclosures(WHY, party.roles.owners, "p0", RULES):
        party.opening(told.because, told.to, ())
    circle = Circle(party, party.roles.owners, RULES)
    sent = circle.padded(await circle.first_layer(encoded(ids)))
    await circle.announce(sent, ["p0"])
    theirs = await circle.passed("set.hop1", sent, circle.sizes["p1"])
    await circle.take("p1", "set.full", circle.sizes["p0"])
    size, blind = min(circle.sizes.values()), group.fresh_scalar()
    await force_send(party, "p1", "set.count", np.array([size], np.uint64), Purpose.DISCLOSURE)
    await force_send(party, "p1", "set.common", group.multiply(theirs[:size], blind),
                     Purpose.ENCRYPTED)
    opened = await circle.passed("set.strip0", theirs[:size], size)
    plain = {p.tobytes() for p in group.multiply(opened, group.inverse(blind))}
    known = group.hash_points(circle.where, CANDIDATES)
    stolen += [int(c) for c, p in zip(CANDIDATES, known, strict=True) if p.tobytes() in plain]


def attack(mode):
    stolen = []

    @declares(*align_disclosures(WHY, ["p0", "p1"], "p0", RULES))
    async def program(party, ids):
        if party.name == "p0":
            return await evil(party, ids, stolen)
        return await align(party, ids, because=WHY, rules=RULES)

    given = [list(range(90_000, 90_025)), VICTIM]
    outcomes = asyncio.run(in_memory(program, given, roles_for(["p0", "p1"], mode)))
    return stolen, outcomes


needs_spu = pytest.mark.skipif(spu_python() is None, reason="SPU is not installed")


@pytest.mark.parametrize("mode", ["sums", pytest.param("spu", marks=[needs_spu, pytest.mark.slow])])
def test_the_counter_opens_nothing(mode):
    stolen, outcomes = attack(mode)
    assert stolen == []
    assert isinstance(outcomes[1].error, PeerGarbageError)
    assert "no list finished here" in str(outcomes[1].error)
    assert outcomes[1].ledger.status.startswith("failed")
    assert "encrypted sets" in outcomes[1].ledger.own_primitives
    assert "not vetted" in outcomes[1].ledger.table()


def test_without_the_check_the_counter_opens_everything(monkeypatch):
    monkeypatch.setattr(alignment, "check_common", lambda *_: None)
    stolen, _ = attack("sums")
    assert stolen == VICTIM


def test_a_neighbour_cannot_have_a_key_taken_off_its_own_points(monkeypatch):
    swapped = [lambda body: group.random_points(len(body) // 32).tobytes()]
    sender, error, errors = tampered(aligning(names(3)), "set.strip0", swapped[0])
    assert error.party == sender
    assert "not proven" in str(error)
    assert all(errors.values())
    monkeypatch.setattr(proven_path, "holds", lambda *_: True)
    _, error, _ = tampered(aligning(names(3)), "set.strip0", swapped[0])
    assert "not proven" not in str(error)


def test_four_owners_check_the_whole_way():
    given = [[1, 2, 3, 4, 9], [4, 3, 2, 7], [2, 3, 4, 8], [9, 4, 2, 5, 3]]
    outcomes = asyncio.run(in_memory(aligning(names(4)), given, roles_for(names(4), "sums")))
    rows = [[data[i] for i in o.output] for data, o in zip(given, outcomes, strict=True)]
    assert [o.error for o in outcomes] == [None] * 4
    assert rows[0] == rows[1] == rows[2] == rows[3]
    assert sorted(rows[0]) == [2, 3, 4]
    nobody = [[i * 10 + j for j in range(4)] for i in range(4)]
    outcomes = asyncio.run(in_memory(aligning(names(4)), nobody, roles_for(names(4), "sums")))
    assert [o.output.tolist() for o in outcomes] == [[]] * 4


def test_a_proof_holds_for_its_lists_only():
    where, key = group.domain("test"), group.fresh_scalar()
    before = group.random_points(5)
    after = group.multiply(before, key)
    proof = prove(where, key, before, after)
    assert holds(EqualExponents.from_bytes(proof.to_bytes()), where, before, after)
    assert not holds(proof, group.domain("other"), before, after)
    assert not holds(proof, where, before, after[::-1].copy())
    for place in range(5):
        wrong = after.copy()
        wrong[place] = group.random_points(1)[0]
        assert not holds(proof, where, before, wrong)
        assert not holds(prove(where, key, before, wrong), where, before, wrong)
    raw = proof.to_bytes()
    for place in range(0, len(raw), 16):
        bad = raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1:]
        assert not holds(EqualExponents.from_bytes(bad), where, before, after)
