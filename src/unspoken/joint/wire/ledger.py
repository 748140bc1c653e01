"""The ledger: what each party received and sent in a joint run, and what was opened to whom.

Rows are written by the transport, frame by frame, so that their bytes are the bytes that went
over the link: what A's ledger says it sent to B is what B's says it received from A. Openings
are written by `reveal` and by the primitives whose result is a disclosure. The ledger holds
labels, sizes, purposes and reasons; never a value, a share, a seed, or a digest of one (a digest
of a short share can be tried out, and two parties' ledgers together would give the value away):
what parties compare of their results is a keyed digest.

It is evidence. Entries are chained and signed (`ledger_chain`) and written as things happen, so
that a killed party has one. At every opening a party signs how far its ledger goes and sends that
head to the others, who keep it in theirs; their next signature covers it. `unspoken joint audit`
holds the ledgers of several parties against each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from unspoken.joint.joint_errors import LedgerError
from unspoken.joint.wire import ledger_file, ledger_rows
from unspoken.joint.wire.frames import Header, Kind
from unspoken.joint.wire.ledger_chain import Chain, SignedHead, public_hex
from unspoken.joint.wire.ledger_file import FORMAT, VERSION, Entry, read_entries
from unspoken.joint.wire.ledger_rows import Opening, Row
from unspoken.joint.wire.ledger_text import ledger_table
from unspoken.table.atomic_files import named_path, write_file

SENT, RECEIVED = "sent", "received"
UNVETTED = "unspoken's own engine: semi-honest parties only, not reviewed by outside experts"
RUNNING = "running"
_TEXTS = ("mode", "study", "session", "engine", "approver", "result", "linkage", "continues")


class Ledger:
    """What one party saw of one run: every message, and every value that was opened.

    It holds labels, sizes, purposes and reasons; never a value, a share or a seed. Entries are
    chained and signed; a file that was edited is refused.

    Attributes
    ----------
    party : str
        The party whose ledger it is.
    mode : str
        The mode of the study.
    study : str
        The SHA-256 of the study.
    session : str
        The session's identifier.
    status : str
        How the run ended: 'complete', or why it failed.
    engine : str
        What computed on shares, and whether it was reviewed.
    approver : str
        Who agreed to the plan, and how.
    result, linkage, continues : str
        A keyed digest of the result, how well records were linked, and what it goes on from.
    rows : list of Row
        The messages, with their sizes as they went over the link.
    openings : list of Opening
        The values that were opened: step, reason, receivers and shape.

    Examples
    --------
    >>> print(Ledger.load("north.ledger").table())  # doctest: +SKIP
    """

    mode: str
    study: str
    session: str
    engine: str
    approver: str
    result: str
    linkage: str
    continues: str
    keys: dict[str, str]
    versions: dict[str, str]
    unsigned = 0

    def __init__(self, party: str, mode: str = "", study: str = "", session: str = "",
                 status: str = RUNNING, engine: str = UNVETTED) -> None:
        self.party = party
        self.chain = Chain(party)
        self.announce: Callable[[SignedHead], None] | None = None
        self.times: list[str] = []
        self._facts: dict[str, Any] = dict.fromkeys(_TEXTS, "") | {"keys": {}, "versions": {}}
        self._status = RUNNING
        self._rows: list[Row] = []
        self._openings: list[Opening] = []
        self._open: dict[tuple[str, str], Row] = {}
        self._quiet: dict[tuple[Kind, str, str], Row] = {}
        self.chain.note("start", format=FORMAT, version=VERSION, party=party, time=self._now())
        for name, value in zip(_TEXTS, (mode, study, session, engine), strict=False):
            self.state(name, value)
        if status != RUNNING:
            self.status = status

    def __getattr__(self, name: str) -> Any:
        facts = self.__dict__.get("_facts", {})
        if name in facts:
            return facts[name]
        raise AttributeError(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__dict__.get("_facts", {}):
            self.state(name, value)
        else:
            object.__setattr__(self, name, value)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"announce": None}

    def state(self, name: str, value: Any) -> None:
        """Put a fact of the run into the ledger; stating it again changes nothing."""
        if self._facts[name] != value:
            self._facts[name] = value
            self.chain.note("fact", name=name, value=value, time=self._now())

    @property
    def status(self) -> str:
        """Return how the run ended, or 'running'."""
        return self._status

    @status.setter
    def status(self, status: str) -> None:
        with self.chain.lock:
            if self._status != RUNNING:
                return
            self._status = status
            for row in self._quiet.values():
                self.chain.note("totals", **asdict(row))
            self.chain.note("end", status=status, time=self._now())
            self.sign()
            self.chain.close()

    @property
    def rows(self) -> list[Row]:
        """Return a copy of the rows: beats and streams of a link are one row each."""
        return [copy(row) for row in self._rows]

    @property
    def notes(self) -> list[Row]:
        """Return what the ledgers themselves cost on the links."""
        return [copy(row) for (kind, _, _), row in self._quiet.items()
                if kind in (Kind.HEAD, Kind.LAST)]

    @property
    def openings(self) -> list[Opening]:
        """Return the openings; what a program does to this list does not change the ledger."""
        return list(self._openings)

    @property
    def own_primitives(self) -> tuple[str, ...]:
        """Return which of unspoken's own primitives sent something in this run."""
        return ledger_rows.primitives_in({row.label for row in self._rows})

    def keep_in(self, path: Path | str) -> None:
        """Write to a new file from now on, entry by entry; refuse one that cannot be written."""
        self.chain.open(named_path(path))

    def sign(self) -> SignedHead:
        """Sign all entries so far; the key that checks it is in the ledger."""
        if self.party not in self.keys:
            self.state("keys", {**self.keys, self.party: public_hex(self.chain.key)})
        return self.chain.sign()

    def frame(self, direction: str, peer: str, header: Header, size: int) -> None:
        """Record one frame; a message is one row, all beats and all streams one per link."""
        with self.chain.lock:
            if header.kind in (Kind.BEAT, Kind.STREAM, Kind.HEAD, Kind.LAST):
                ledger_rows.count_frame(self._quiet_row(direction, peer, header), size)
                return
            link = direction, peer
            if link not in self._open or header.chunk == 0:
                self._open[link] = ledger_rows.row_of(direction, peer, header)
                self._rows.append(self._open[link])
            row = self._open[link]
            ledger_rows.count_frame(row, size)
            if header.chunk == header.chunks - 1:
                self.chain.add(ledger_rows.message_entry(row))

    def _quiet_row(self, direction: str, peer: str, header: Header) -> Row:
        place = header.kind, direction, peer
        if place not in self._quiet:
            self._quiet[place] = row = ledger_rows.row_of(direction, peer, header)
            if header.kind in (Kind.BEAT, Kind.STREAM):
                self._rows.append(row)
        return self._quiet[place]

    def opened(self, step: int, because: str, to: Iterable[str], shape: tuple[int, ...],
               rounded: bool = False) -> None:
        """Record that a value is opened to some parties, sign, and let the others know."""
        with self.chain.lock:
            opening = Opening(step, because, tuple(to), shape, rounded)
            self._openings.append(opening)
            self.chain.note("opening", **asdict(opening), time=self._now())
            signed = self.sign()
        if self.announce is not None:
            self.announce(signed)

    def seen(self, peer: str, signed: SignedHead, **also: Any) -> None:
        """Record how far a peer's ledger went; the next signature here covers it."""
        self.chain.note("peer", peer=peer, count=signed.count, head=signed.head,
                        sign=signed.signature, **also)

    def learned(self) -> list[Opening]:
        """Return what was opened to this party."""
        return [opening for opening in self._openings if self.party in opening.to]

    def given(self) -> list[Opening]:
        """Return what was opened to others."""
        return [opening for opening in self._openings if set(opening.to) - {self.party}]

    def bytes_with(self, peer: str, direction: str) -> int:
        """Return the bytes that were sent to a peer or received from it."""
        return sum(row.bytes for row in [*self._rows, *self.notes]
                   if row.peer == peer and row.direction == direction)

    def purposes(self) -> dict[str, int]:
        """Return the received bytes by purpose."""
        sums: dict[str, int] = {}
        for row in self._rows:
            if row.direction == RECEIVED:
                sums[row.purpose] = sums.get(row.purpose, 0) + row.bytes
        return sums

    def to_json(self) -> dict[str, Any]:
        """Return the ledger as plain data."""
        return {"format": FORMAT, "version": VERSION, "party": self.party, "status": self.status,
                **self._facts, "own_primitives": list(self.own_primitives), "times": self.times,
                "openings": [asdict(o) for o in self._openings],
                "rows": [asdict(row) for row in self._rows]}

    def save(self, path: Path | str) -> None:
        """Write the ledger, readable by its owner only; a file that exists is never replaced."""
        try:
            write_file(named_path(path), self.chain.text(), mode=0o600, overwrite=False)
        except FileExistsError:
            raise LedgerError(f"The ledger '{path}' exists already, and a ledger is never "
                              "overwritten. Name another file or folder.") from None

    @classmethod
    def load(cls, path: Path | str) -> Ledger:
        """Read a ledger file; one that was edited, cut or signed by another is refused."""
        return cls.from_entries(path, read_entries(path))

    @classmethod
    def from_entries(cls, path: Path | str, entries: list[Entry]) -> Ledger:
        """Return the ledger that checked entries describe."""
        ledger = cls(str(entries[0].get("party")))
        ledger.times = []
        try:
            for entry in ledger_file.settled(entries):
                ledger._take(entry)
        except (KeyError, TypeError, ValueError) as error:
            raise LedgerError(f"The ledger '{path}' has a missing or wrong field: {error}."
                              ) from None
        ledger._facts["keys"] = ledger_file.keys_in(entries)
        ledger.unsigned = ledger_file.unsigned_in(entries)
        return ledger

    def _take(self, entry: Entry) -> None:
        """Take over one entry that was read."""
        kind = entry["kind"]
        if kind in ("message", "totals"):
            self._take_row(kind, entry)
        elif kind == "opening":
            self._openings.append(ledger_rows.opening_from(entry))
        elif kind == "fact" and entry["name"] in self._facts:
            self._facts[entry["name"]] = entry["value"]
        elif kind == "end":
            self._status = str(entry["status"])
        if "time" in entry:
            self.times = [*self.times[:1], str(entry["time"])]

    def _take_row(self, kind: str, entry: Entry) -> None:
        row = ledger_rows.row_from(entry)
        if kind == "totals" and row.label in ("head", "last"):
            self._quiet[Kind[row.label.upper()], row.direction, row.peer] = row
        else:
            self._rows.append(row)

    def table(self) -> str:
        """Return the ledger for people: what was learned, then the traffic."""
        return ledger_table(self)

    def _now(self) -> str:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        self.times = [*self.times[:1], now]
        return now
