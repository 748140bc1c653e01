"""The ledgers of several parties of one run, held against each other.

Each file is checked by itself when it is read. Together they say more: what one party sent is what
another received, in the same order; all parties booked the same openings; every head that one
party holds of another, signed by that other, is in the other's ledger (else the other showed one
ledger during the run and another one afterwards, or cut it short); all had the same code and study.
A run that broke off leaves messages on their way: the last ones of a link may be missing on one
side, and only there.

Keys are those of the study's certificates if the study is given. Without it the ledgers name their
own keys, and whoever has none of the parties' keys could write all of them anew.

Two ledgers of one party from two runs are compared by their inputs: every array that the party fed
has a keyed digest, so that the party can show that it used the same data in two studies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

from unspoken.joint.joint_errors import LedgerError
from unspoken.joint.session.study import Study
from unspoken.joint.wire.credentials import public_key
from unspoken.joint.wire.input_digest import KIND
from unspoken.joint.wire.ledger import RECEIVED, SENT, Ledger
from unspoken.joint.wire.ledger_chain import SignedHead
from unspoken.joint.wire.ledger_file import Entry, heads_of, read_entries
from unspoken.joint.wire.ledger_text import unsigned_line

COMPLETE = "complete"
NAMED_BY_THEMSELVES = ("The ledgers name their keys themselves. To compare these with the parties' "
                       "certificates, give the study as well: --study FILE.")
SAME = ("study", "session", "mode", "versions", "keys")


@dataclass(frozen=True)
class Evidence:
    """One party's file: its ledger, its entries, and the hash of the chain after each of them."""

    path: str
    ledger: Ledger
    entries: list[Entry] = field(repr=False)
    heads: dict[int, str] = field(repr=False)

    @classmethod
    def read(cls, path: Path | str) -> Evidence:
        """Read a file; one that is no whole ledger is refused by name."""
        entries = read_entries(path)
        return cls(str(path), Ledger.from_entries(path, entries), entries, heads_of(entries))

    @property
    def party(self) -> str:
        """Return whose ledger it is."""
        return self.ledger.party

    def messages(self, peer: str, direction: str) -> list[tuple[Any, ...]]:
        """Return the messages of one direction of a link, in their order."""
        rows = [row for row in self.ledger.rows if row.peer == peer and row.direction == direction]
        return [(row.label, row.purpose, row.step, row.dtype, row.shape, row.frames, row.bytes)
                for row in rows if row.label not in ("beat", "engine", "abort", "done")]


@dataclass(frozen=True)
class Verdict:
    """What an audit found: which parties were compared, and each deviation in one sentence."""

    parties: tuple[str, ...]
    deviations: tuple[str, ...]
    notes: tuple[str, ...]

    def text(self) -> str:
        """Return the verdict for people."""
        if self.deviations:
            return "\n".join([f"{len(self.deviations)} deviations:",
                              *(f"  {one}" for one in self.deviations), *self.notes])
        return "\n".join([f"The ledgers of {', '.join(self.parties)} agree with each other."
                          if len(self.parties) > 1 else
                          f"'{self.parties[0]}' fed the same values into both runs.",
                          *self.notes])

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as plain data."""
        return {"parties": list(self.parties), "deviations": list(self.deviations),
                "notes": list(self.notes)}


def audit_ledgers(paths: Sequence[Path | str], study: Study | None = None) -> Verdict:
    """Compare the ledgers of one run, and with its study; foreign files are refused by name."""
    files = [Evidence.read(path) for path in paths]
    for one in files if study is not None else ():
        _belongs_to(one, study)
    if len(files) == 2 and _of_one_party(files):
        return same_inputs(*files)
    _belong_together(files)
    deviations = [text for one, other in combinations(files, 2)
                  for text in (*_facts(one, other), *_openings(one, other))]
    for one, other in permutations(files, 2):
        deviations += [*_links(one, other), *_heads(one, other)]
    notes = [f"'{one.party}' ended: {one.ledger.status}" for one in files
             if one.ledger.status != COMPLETE]
    notes += [unsigned_line(one.ledger) for one in files if one.ledger.unsigned]
    if study is None and any(one.ledger.study for one in files):
        notes.append(NAMED_BY_THEMSELVES)
    return Verdict(tuple(one.party for one in files), tuple(dict.fromkeys(deviations)),
                   tuple(notes))


def _belongs_to(one: Evidence, study: Study | None) -> None:
    """Refuse a ledger of another study, and one that no party of the study signed."""
    if study is None or one.ledger.study != study.hash():
        raise LedgerError(f"'{one.path}' is not a ledger of this study. Give the study that the "
                          "parties agreed to, and the ledgers of its run.")
    keys = {member.name: public_key(member) for member in study.members}
    if one.party not in one.ledger.keys or not one.ledger.keys.items() <= keys.items():
        raise LedgerError(f"'{one.path}' is not signed with the key of '{one.party}' in the study, "
                          "or names other keys than the study. Somebody else wrote it.")


def _of_one_party(files: Sequence[Evidence]) -> bool:
    """Return True for ledgers of one party of several runs."""
    return (len({one.party for one in files}) == 1
            and len({one.ledger.session for one in files}) == len(files))


def same_inputs(one: Evidence, other: Evidence) -> Verdict:
    """Say whether a party fed the same values into two runs, by the digests in its ledgers."""
    name = one.party
    if one.ledger.keys.get(name) != other.ledger.keys.get(name):
        raise LedgerError(f"'{one.path}' and '{other.path}' were signed with different keys of "
                          f"'{name}', and digests of inputs are made with the key. They cannot be "
                          "compared.")
    here, there = (Counter(str(entry["digest"]) for entry in each.entries
                           if entry.get("kind") == KIND) for each in (one, other))
    common = (here & there).total()
    note = (f"'{name}' fed {here.total()} arrays into the run of '{one.path}' and {there.total()} "
            f"into that of '{other.path}'; {common} of them are the same values.")
    wrong = () if here == there else (f"'{name}' did not feed the same values into both runs.",)
    return Verdict((name,), wrong, (note,))


def _belong_together(files: Sequence[Evidence]) -> None:
    if len(files) < 2:
        raise LedgerError("An audit compares the ledgers of two or more parties. Give at least two "
                          "files.")
    first = files[0]
    for one in files[1:]:
        if one.ledger.session != first.ledger.session:
            raise LedgerError(f"'{one.path}' is of another run than '{first.path}'. Give the "
                              "ledgers of one run.")
    for one, other in combinations(files, 2):
        if one.party == other.party:
            raise LedgerError(f"'{one.path}' and '{other.path}' are both of '{one.party}'. Give "
                              "one ledger for each party.")


def _facts(one: Evidence, other: Evidence) -> list[str]:
    """Return what two parties say differently about the run itself."""
    here, there = one.ledger.to_json(), other.ledger.to_json()
    different = [name for name in SAME if here[name] != there[name]]
    texts = [f"'{one.party}' and '{other.party}' name different {name}." for name in different
             if name != "versions" or _code(here) != _code(there)]
    for mine, its in ((one, other), (other, one)):
        if mine.ledger.status == COMPLETE and its.ledger.status not in (COMPLETE, "running"):
            texts.append(f"'{mine.party}' says that the run is complete, and '{its.party}' that it "
                         "failed.")
    return texts


def _code(facts: dict[str, Any]) -> str:
    return str(facts["versions"].get("protocol code"))


def _openings(one: Evidence, other: Evidence) -> list[str]:
    """Return where two parties that run the program booked different openings."""
    mine, its = ({(o.step, o.told, o.to, o.shape) for o in each.ledger.openings}
                 for each in (one, other))
    if not _runs_program(one) or not _runs_program(other):
        return []
    texts = []
    for here, opened, there, ledger in ((one, mine - its, other, other.ledger),
                                        (other, its - mine, one, one.ledger)):
        if ledger.status == COMPLETE:
            texts += [f"'{here.party}' booked the opening of '{because}' to {', '.join(to)} in "
                      f"step {step}, and '{there.party}' did not."
                      for step, because, to, _ in sorted(opened)]
    return texts


def _runs_program(one: Evidence) -> bool:
    """Return False for a dealer, which opens nothing and never agrees on keys."""
    return any(row.label == "agree" for row in one.ledger.rows)


def _links(sender: Evidence, receiver: Evidence) -> list[str]:
    """Return where what was sent is not what was received."""
    sent = sender.messages(receiver.party, SENT)
    came = receiver.messages(sender.party, RECEIVED)
    for place, (one, other) in enumerate(zip(sent, came, strict=False)):
        if one != other:
            return [f"Message {place + 1} from '{sender.party}' to '{receiver.party}' is "
                    f"{_message(one)} to its sender and {_message(other)} to its receiver."]
    whole = sender.ledger.status == receiver.ledger.status == COMPLETE
    if len(came) > len(sent):
        return [f"'{receiver.party}' booked {len(came)} messages from '{sender.party}', which "
                f"booked {len(sent)}."] if whole or sender.ledger.status != "running" else []
    if len(came) < len(sent) and whole:
        return [f"'{sender.party}' booked {len(sent)} messages to '{receiver.party}', which booked "
                f"{len(came)}."]
    return []


def _message(row: tuple[Any, ...]) -> str:
    return f"'{row[0]}' ({row[1]}, step {row[2]}, {row[6]} bytes)"


def _heads(witness: Evidence, other: Evidence) -> list[str]:
    """Return the heads that a party was shown and that are not in the other's ledger."""
    key = witness.ledger.keys.get(other.party, "")
    for entry in witness.entries:
        if entry.get("kind") != "peer" or entry.get("peer") != other.party:
            continue
        shown = SignedHead(int(entry["count"]), str(entry["head"]), str(entry["sign"]))
        if not shown.is_of(other.party, key):
            return [f"'{witness.party}' holds a head of '{other.party}' that it did not sign."]
        if shown.count not in other.heads:
            return [f"The ledger of '{other.party}' was cut short: '{witness.party}' holds its "
                    f"signature on {shown.count} entries, and '{other.path}' has "
                    f"{len(other.entries)}."]
        if other.heads[shown.count] != shown.head:
            return [f"The ledger of '{other.party}' is not the one that it signed during the run: "
                    f"'{witness.party}' holds another head of its first {shown.count} entries."]
    return []
