"""What a ledger's signatures cover: nothing can be added behind them, and keys are the study's."""

from __future__ import annotations

import json

import numpy as np
import pytest

from unspoken.joint import declares, run_local, secure_sum
from unspoken.joint.joint_errors import LedgerError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.session.identity import make_identity
from unspoken.joint.session.ledger_audit import audit_ledgers
from unspoken.joint.session.study import Study
from unspoken.joint.wire.credentials import Member, public_key, signing_key
from unspoken.joint.wire.ledger import Ledger
from unspoken.joint.wire.ledger_chain import line_hash

NAMES = ("p0", "p1", "p2")
ENGINE = {"kind": "fact", "name": "engine", "value": "another engine, vetted", "time": "now"}
OPENING = {"kind": "opening", "step": 9, "because": "every record", "to": ["p0"], "shape": [3]}
END = {"kind": "end", "status": "complete", "time": "now"}
CAME = {"kind": "peer", "peer": "p0", "count": 3, "head": "00" * 32, "sign": "00" * 64}


@declares("total")
async def adding(party, data):
    return await secure_sum(party, np.asarray(data), because="total")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    run_local(adding, [np.arange(3)] * 3, "sums", folder=folder)
    return [(folder / f"{name}.ledger").read_bytes().splitlines(keepends=True) for name in NAMES]


def kinds(lines):
    return [json.loads(line)["kind"] for line in lines]


def going_on(path, lines, *entries):
    """Write lines and, as anybody can who has the file, entries that follow them."""
    lines = list(lines)
    for entry in entries:
        line = json.dumps({"n": len(lines), "prev": line_hash(lines[-1]), **entry})
        lines.append(line.encode() + b"\n")
    path.write_bytes(b"".join(lines))
    return path


@pytest.mark.parametrize("turn", [0, 1, 2])
@pytest.mark.parametrize("entries", [(OPENING, END), (OPENING, CAME), (ENGINE, END, CAME),
                                     (END, {"kind": "signed", "sign": "00" * 64})])
def test_what_no_run_leaves_is_refused(written, tmp_path, turn, entries):
    place = [i for i, kind in enumerate(kinds(written[1])) if kind == "signed"][turn]
    path = going_on(tmp_path / "p1.ledger", written[1][:place + 1], *entries)
    with pytest.raises(LedgerError, match=r"p1\.ledger"):
        Ledger.load(path)


@pytest.mark.parametrize("entry", [ENGINE, CAME, OPENING, END])
def test_nothing_follows_a_signed_end(written, tmp_path, entry):
    assert kinds(written[1])[-2:] == ["end", "signed"]
    path = going_on(tmp_path / "p1.ledger", written[1], entry)
    with pytest.raises(LedgerError, match="was edited: it goes on"):
        Ledger.load(path)


def test_entries_without_a_signature_are_counted_and_shown(written, tmp_path):
    files = [going_on(tmp_path / f"{name}.ledger", lines)
             for name, lines in zip(NAMES, written, strict=True)]
    whole = Ledger.load(files[1])
    assert (whole.unsigned, "no signature" in whole.table()) == (0, False)
    place = kinds(written[1]).index("signed")
    going_on(files[1], written[1][:place + 1], ENGINE, CAME)
    ledger = Ledger.load(files[1])
    assert (ledger.status, ledger.unsigned) == ("running", 2)
    assert "The last 2 entries of 'p1' bear no signature" in ledger.table()
    assert any("last 2 entries of 'p1'" in note for note in audit_ledgers(files).notes)


def test_an_end_that_nobody_signed_is_none(written, tmp_path):
    """A party that is killed between the two, or somebody who makes a broken run whole."""
    assert Ledger.load(going_on(tmp_path / "a.ledger", written[1])).status == "complete"
    ledger = Ledger.load(going_on(tmp_path / "b.ledger", written[1][:-1]))
    assert ledger.status == "running"
    assert ledger.unsigned == kinds(written[1])[-2::-1].index("signed")


def test_entries_are_numbered(tmp_path):
    ledger = Ledger("p1")
    ledger.state("engine", "another one")
    first, *others = ledger.chain.text().splitlines(keepends=True)
    entry = {**json.loads(others[0]), "n": 7}
    (tmp_path / "p1.ledger").write_bytes(first + json.dumps(entry).encode() + b"\n")
    with pytest.raises(LedgerError, match="its entry 1 does not follow"):
        Ledger.load(tmp_path / "p1.ledger")


def test_nothing_is_written_behind_the_end(tmp_path):
    ledger = Ledger("p1")
    ledger.status = "failed"
    before = ledger.chain.text()
    ledger.state("engine", "another engine, vetted")
    assert ledger.chain.text() == before


@pytest.fixture(scope="module")
def parties(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keys")
    return [make_identity(name, folder) for name in NAMES]


def study_of(identities):
    members = tuple(Member(one.name, f"h{i}:7700", ("owner",), one.fingerprint, one.certificate)
                    for i, one in enumerate(identities))
    return Study("flu", "sum", "sums", members, {"columns": ["a"]},
                 disclosures=(Disclosure("total"),))


def signed_by(folder, study, keys):
    """Write the ledgers of a run that did nothing, as whoever has these keys can."""
    files = []
    for name in NAMES:
        ledger = Ledger(name, "sums", study.hash(), session="11" * 16)
        ledger.chain.sign_with(keys[name])
        ledger.keys = {each: key.public_key().public_bytes_raw().hex()
                       for each, key in keys.items()}
        ledger.status = "complete"
        files.append(folder / f"{name}.ledger")
        ledger.save(files[-1])
    return files


def test_ledgers_that_others_wrote_anew_are_refused_with_the_study(parties, tmp_path):
    """They agree with each other, because one hand wrote them all."""
    study = study_of(parties)
    strangers = tmp_path / "strangers"
    strangers.mkdir()
    forged = {name: signing_key(make_identity(name, strangers)) for name in NAMES}
    files = signed_by(tmp_path, study, forged)
    verdict = audit_ledgers(files)
    assert verdict.deviations == ()
    assert any("--study" in note for note in verdict.notes)
    with pytest.raises(LedgerError, match=r"p0\.ledger' is not signed with the key of 'p0'"):
        audit_ledgers(files, study)


def test_the_parties_own_ledgers_are_taken_with_their_study_only(parties, tmp_path):
    study = study_of(parties)
    files = signed_by(tmp_path, study, {one.name: signing_key(one) for one in parties})
    assert Ledger.load(files[0]).keys == {m.name: public_key(m) for m in study.members}
    verdict = audit_ledgers(files, study)
    assert (verdict.deviations, verdict.notes) == ((), ())
    other = study_of(parties[::-1])
    with pytest.raises(LedgerError, match="is not a ledger of this study"):
        audit_ledgers(files, other)
