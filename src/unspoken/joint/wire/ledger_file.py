"""Reading a ledger file: every entry follows the one before, and the party's key signed them.

What was edited, cut in the middle, or signed by somebody else is refused, and the refusal names the
file and the entry. A file whose end was cut off at an entry cannot be told from that of a party
that was killed: it has no last entry, which is shown; `unspoken joint audit` compares it with what
the others hold. What stands after the last signature anybody could have added: it is counted and
shown, and refused where no killed party could have left it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from unspoken.joint.joint_errors import LedgerError
from unspoken.joint.wire.ledger_chain import FIRST, SignedHead, line_hash
from unspoken.table.atomic_files import named_path

FORMAT, VERSION = "unspoken-ledger", 2
MOST_BYTES = 1 << 30
Entry = dict[str, Any]


def read_entries(path: Path | str) -> list[Entry]:
    """Return the entries of a ledger file, each checked against the one before it."""
    lines = _lines(path)
    entries: list[Entry] = []
    head = FIRST
    for place, line in enumerate(lines):
        entry = _entry(path, place, line)
        if entry.get("n") != place or entry.get("prev") != head:
            raise LedgerError(f"The ledger '{path}' was edited: its entry {place} does not follow "
                              "the one before it. Ask its party for the file that the run wrote.")
        head = line_hash(line)
        entries.append(entry)
    _check_start(path, entries)
    _check_signatures(path, entries)
    _check_tail(path, entries)
    return entries


def heads_of(entries: list[Entry]) -> dict[int, str]:
    """Return the hash of the chain after each number of entries."""
    return {entry["n"]: entry["prev"] for entry in entries}


def unsigned_in(entries: list[Entry]) -> int:
    """Return how many entries follow the last signature."""
    kinds = [entry.get("kind") for entry in entries]
    return kinds[::-1].index("signed") if "signed" in kinds else len(kinds)


def settled(entries: list[Entry]) -> list[Entry]:
    """Return the entries without an end that nobody signed."""
    tail = len(entries) - unsigned_in(entries)
    return [*entries[:tail], *(e for e in entries[tail:] if e.get("kind") != "end")]


def _lines(path: Path | str) -> list[bytes]:
    try:
        if named_path(path).stat().st_size > MOST_BYTES:
            raise LedgerError(f"'{path}' is not a ledger: it is larger than one can be.")
        raw = named_path(path).read_bytes()
    except OSError:
        raise LedgerError(f"The ledger '{path}' cannot be read. Give the path to which a run "
                          "saved its ledger.") from None
    lines = raw.splitlines(keepends=True)
    if lines and not lines[-1].endswith(b"\n") and len(lines) > 1:
        raise LedgerError(f"The ledger '{path}' was cut in the middle of its last entry. Ask its "
                          "party for the whole file.")
    return lines


def _entry(path: Path | str, place: int, line: bytes) -> Entry:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        entry = None
    if not isinstance(entry, dict):
        raise LedgerError(f"'{path}' is not a ledger: its line {place + 1} is no entry.")
    return entry


def _check_start(path: Path | str, entries: list[Entry]) -> None:
    first = entries[0] if entries else {}
    if first.get("format") != FORMAT:
        raise LedgerError(f"'{path}' is not a ledger: its first entry has no format "
                          f"'{FORMAT}'.")
    if first.get("version") != VERSION:
        raise LedgerError(f"A ledger must have version {VERSION}. '{path}' has "
                          f"{first.get('version')!r}.")


def _check_signatures(path: Path | str, entries: list[Entry]) -> None:
    party, keys = str(entries[0].get("party")), keys_in(entries)
    signatures = [entry for entry in entries if entry.get("kind") == "signed"]
    for entry in signatures:
        signed = SignedHead(entry["n"], entry["prev"], str(entry.get("sign")))
        if not signed.is_of(party, keys.get(party, "")):
            raise LedgerError(f"The signature in entry {entry['n']} of '{path}' is not that of "
                              f"'{party}'. The ledger was edited, or somebody else wrote it.")
    if not signatures and any(entry.get("kind") in ("opening", "end") for entry in entries):
        raise LedgerError(f"The ledger '{path}' has no signature. Its signatures were taken out, "
                          "or it is not what a run wrote.")


def _check_tail(path: Path | str, entries: list[Entry]) -> None:
    """Refuse what no run leaves: it signs every opening at once, and ends with a signed end."""
    kinds = [str(entry.get("kind")) for entry in entries]
    for place, kind in enumerate(kinds):
        if kind in ("opening", "end") and not _is_signed(kind, kinds[place + 1:place + 4]):
            raise LedgerError(f"The ledger '{path}' was edited: it goes on after its entry {place} "
                              "as no run does. Ask its party for the file that the run wrote.")


def _is_signed(kind: str, after: list[str]) -> bool:
    """Say whether a signature follows, or nothing does, because the party was killed before.

    A party may state its key first.
    """
    after = after[1:] if after[:1] == ["fact"] else after
    return not after or (after[0] == "signed" and (kind == "opening" or len(after) == 1))


def keys_in(entries: list[Entry]) -> dict[str, str]:
    """Return the parties' public keys, as the last entry that names them has them."""
    stated = [entry.get("value") for entry in entries if entry.get("name") == "keys"]
    last = stated[-1] if stated else {}
    return {str(k): str(v) for k, v in last.items()} if isinstance(last, dict) else {}
