"""Each thing that an audit compares, alone: whoever books something else is named for it."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from unspoken.joint.session.ledger_audit import audit_ledgers
from unspoken.joint.wire.ledger import Ledger
from unspoken.joint.wire.ledger_chain import SignedHead, public_hex, signed_text
from unspoken.joint.wire.ledger_rows import Row, message_entry

KEYS = {name: Ed25519PrivateKey.generate() for name in ("p0", "p1")}
PUBLIC = {name: public_hex(key) for name, key in KEYS.items()}


def sent(label="share", size=80):
    return Row("sent", "p1", "share", label, 2, "<u8", (3,), 1, size)


def came(label="share", size=80):
    return Row("received", "p0", "share", label, 2, "<u8", (3,), 1, size)


def agreed(direction, peer):
    return Row(direction, peer, "control", "agree", 1, "|u1", (32,), 1, 100)


def ledger(name, rows, *, status="complete", because="total", session="11" * 16, **facts):
    """Return a ledger, signed by its party, that books what it is given."""
    made = Ledger(name, "sums", "study", session)
    made.chain.sign_with(KEYS[name])
    made.keys, made.versions = PUBLIC, {"protocol code": "a", "python": "3"}
    for field, value in facts.items():
        made.state(field, value)
    for row in rows:
        made.chain.add(message_entry(row))
    if because:
        made.opened(2, because, ("p0",), (3,))
    return made, status


def findings(tmp_path, one, other, *, heads=()):
    """Audit two ledgers, the first of which holds heads of the second."""
    for made, status in (one, other):
        for head in heads if made.party == "p0" else ():
            made.seen("p1", head)
        if status != "running":
            made.status = status
        made.save(tmp_path / f"{made.party}.ledger")
    return audit_ledgers([tmp_path / "p0.ledger", tmp_path / "p1.ledger"]).deviations


def usual(**changed):
    one = ledger("p0", [agreed("sent", "p1"), sent()])
    rows = changed.pop("rows", [agreed("received", "p0"), came()])
    return one, ledger("p1", rows, **changed)


def test_what_fits_is_no_finding(tmp_path):
    one, other = usual()
    assert findings(tmp_path, one, other, heads=[other[0].sign()]) == ()


@pytest.mark.parametrize(("facts", "what"), [
    ({"mode": "dealer"}, "mode"), ({"study": "another"}, "study"),
    ({"versions": {"protocol code": "b"}}, "versions"), ({"keys": {"p1": PUBLIC["p1"]}}, "keys")])
def test_other_facts_of_the_run_are_named(tmp_path, facts, what):
    [found] = findings(tmp_path, *usual(**facts))
    assert found == f"'p0' and 'p1' name different {what}."


def test_another_python_is_none(tmp_path):
    assert findings(tmp_path, *usual(versions={"protocol code": "a", "python": "4"})) == ()


@pytest.mark.parametrize("row", [came("reveal"), came(size=81)])
def test_a_message_that_is_another_one_to_its_receiver_is_named(tmp_path, row):
    [found] = findings(tmp_path, *usual(rows=[agreed("received", "p0"), row]))
    assert found.startswith("Message 2 from 'p0' to 'p1' is 'share'")


@pytest.mark.parametrize("rows", [[], [came(), came()]])
def test_missing_and_added_messages_are_counted(tmp_path, rows):
    [found] = findings(tmp_path, *usual(rows=[agreed("received", "p0"), *rows]))
    assert f"booked {1 + len(rows)}" in found


@pytest.mark.parametrize("because", ["", "every record"])
def test_openings_of_one_side_are_named(tmp_path, because):
    found = " ".join(findings(tmp_path, *usual(because=because)))
    assert "'p0' booked the opening of 'total' to p0 in step 2, and 'p1' did not" in found
    assert ("'p1' booked the opening of 'every record'" in found) == bool(because)


def test_a_run_that_one_says_is_complete_has_not_failed(tmp_path):
    [found] = findings(tmp_path, *usual(status="failed: lost"))
    assert found == "'p0' says that the run is complete, and 'p1' that it failed."


def head(count, text, key="p1"):
    return SignedHead(count, text, KEYS[key].sign(signed_text("p1", count, text)).hex())


@pytest.mark.parametrize(("shown", "what"), [
    (head(3, "22" * 32), "is not the one that it signed"), (head(99, "22" * 32), "was cut short"),
    (head(3, "22" * 32, "p0"), "holds a head of 'p1' that it did not sign")])
def test_heads_that_are_not_in_a_ledger_are_named(tmp_path, shown, what):
    [found] = findings(tmp_path, *usual(), heads=[shown])
    assert what in found
