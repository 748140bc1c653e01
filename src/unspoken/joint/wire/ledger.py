"""The ledger: what each party received and sent in a joint run, and what was opened to whom.

Rows are written by the transport, frame by frame, so that their bytes are the bytes that went
over the link: what A's ledger says it sent to B is what B's says it received from A. Openings
are written by `reveal` and by the primitives whose result is a disclosure. The ledger holds
labels, sizes, purposes and reasons; never a value, a share, a seed, or a digest of one (a digest
of a short share can be tried out, and two parties' ledgers together would give the value away).

The file is JSON, mode 0600, written at once or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from unspoken.joint.joint_errors import LedgerError
from unspoken.joint.wire.frames import Header, Kind, Purpose
from unspoken.table.atomic_files import write_file

FORMAT = "unspoken-ledger"
VERSION = 1
SENT, RECEIVED = "sent", "received"
_TEXTS = ("party", "mode", "study", "session", "status", "engine")
UNVETTED = "unspoken's own engine: semi-honest parties only, not reviewed by outside experts"


@dataclass
class Row:
    """One message, or all beats or all streams of one link together."""

    direction: str
    peer: str
    purpose: str
    label: str
    step: int
    dtype: str
    shape: tuple[int, ...]
    frames: int
    bytes: int


@dataclass(frozen=True)
class Opening:
    """A value that was opened: to whom, and why that was agreed."""

    step: int
    because: str
    to: tuple[str, ...]
    shape: tuple[int, ...]


@dataclass
class Ledger:
    """What one party saw of one run: every message, and every value that was opened.

    It holds labels, sizes, purposes and reasons; never a value, a share or a seed.

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
    rows : list of Row
        The messages, with their sizes as they went over the link.
    openings : list of Opening
        The values that were opened: step, reason, receivers and shape.

    Examples
    --------
    >>> print(Ledger.load("north.ledger").table())  # doctest: +SKIP
    """

    party: str
    mode: str = ""
    study: str = ""
    session: str = ""
    status: str = "running"
    engine: str = UNVETTED
    rows: list[Row] = field(default_factory=list)
    openings: list[Opening] = field(default_factory=list)
    _open: dict[tuple[str, str], Row] = field(default_factory=dict, repr=False, init=False)
    _beats: dict[tuple[str, str], Row] = field(default_factory=dict, repr=False, init=False)
    _streams: dict[tuple[str, str], Row] = field(default_factory=dict, repr=False, init=False)

    def frame(self, direction: str, peer: str, header: Header, size: int) -> None:
        """Record one frame; a message is one row, all beats and all streams one per link."""
        link = direction, peer
        rows = {Kind.BEAT: self._beats, Kind.STREAM: self._streams}.get(header.kind, self._open)
        if link not in rows or (rows is self._open and header.chunk == 0):
            rows[link] = _row(direction, peer, header)
            self.rows.append(rows[link])
        rows[link].frames += 1
        rows[link].bytes += size

    def opened(self, step: int, because: str, to: Iterable[str], shape: tuple[int, ...]) -> None:
        """Record that a value is opened to some parties."""
        self.openings.append(Opening(step, because, tuple(to), shape))

    def learned(self) -> list[Opening]:
        """Return what was opened to this party."""
        return [opening for opening in self.openings if self.party in opening.to]

    def given(self) -> list[Opening]:
        """Return what was opened to others."""
        return [opening for opening in self.openings if set(opening.to) - {self.party}]

    def bytes_with(self, peer: str, direction: str) -> int:
        """Return the bytes that were sent to a peer or received from it."""
        return sum(row.bytes for row in self.rows
                   if row.peer == peer and row.direction == direction)

    def purposes(self) -> dict[str, int]:
        """Return the received bytes by purpose."""
        counts: dict[str, int] = {}
        for row in self.rows:
            if row.direction == RECEIVED:
                counts[row.purpose] = counts.get(row.purpose, 0) + row.bytes
        return counts

    def to_json(self) -> dict[str, Any]:
        """Return the ledger as plain data."""
        return {"format": FORMAT, "version": VERSION, "party": self.party, "mode": self.mode,
                "study": self.study, "session": self.session, "status": self.status,
                "engine": self.engine, "openings": [asdict(o) for o in self.openings],
                "rows": [asdict(row) for row in self.rows]}

    def save(self, path: Path | str) -> None:
        """Write the ledger, readable by its owner only."""
        write_file(Path(path), json.dumps(self.to_json(), indent=1).encode(), mode=0o600)

    @classmethod
    def from_json(cls, data: Any) -> Ledger:
        """Check plain data field by field and return the ledger."""
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise LedgerError("This is not a ledger: it is no JSON object with format "
                              "'unspoken-ledger'.")
        if data.get("version") != VERSION:
            raise LedgerError(f"A ledger must have version {VERSION}. "
                              f"Got {data.get('version')!r}.")
        try:
            ledger = cls("")
            for name in _TEXTS:
                setattr(ledger, name, str(data[name]))
            ledger.rows = [Row(**{**row, "shape": tuple(row["shape"])}) for row in data["rows"]]
            ledger.openings = [
                Opening(o["step"], o["because"], tuple(o["to"]), tuple(o["shape"]))
                for o in data["openings"]]
        except (KeyError, TypeError) as error:
            raise LedgerError(f"The ledger has a missing or wrong field: {error}.") from None
        return ledger

    @classmethod
    def load(cls, path: Path | str) -> Ledger:
        """Read a ledger file."""
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError:
            raise LedgerError(f"The ledger '{path}' cannot be read. Give the path to which a run "
                              "saved its ledger.") from None
        except (ValueError, RecursionError):
            raise LedgerError(f"'{path}' is not a ledger: it is not JSON.") from None
        return cls.from_json(data)

    def table(self) -> str:
        """Return the ledger for people: what was learned, then the traffic."""
        parts = [f"Ledger of '{self.party}': {self.status}",
                 f"engine: {self.engine}", "",
                 "What this party learned:", *_openings(self.learned()), "",
                 "What was opened to others:", *_openings(self.given()), "",
                 "Traffic:", *_aligned(self._traffic())]
        return "\n".join(parts)

    def _traffic(self) -> list[list[str]]:
        groups: dict[tuple[str, str, str, str], list[int]] = {}
        for row in self.rows:
            key = row.direction, row.peer, row.purpose, row.label
            sums = groups.setdefault(key, [0, 0, 0])
            sums[:] = sums[0] + 1, sums[1] + row.frames, sums[2] + row.bytes
        head = ["", "peer", "purpose", "label", "messages", "frames", "bytes"]
        return [head, *([*key, *map(str, sums)] for key, sums in groups.items())]


def _row(direction: str, peer: str, header: Header) -> Row:
    purpose = Purpose(header.purpose).name.lower()
    label = "engine" if header.kind is Kind.STREAM else header.label
    return Row(direction, peer, purpose, label, header.step, header.dtype, header.shape,
               0, 0)


def _openings(openings: Sequence[Opening]) -> list[str]:
    if not openings:
        return ["  nothing"]
    return [f"  step {o.step}: {o.because}, {_size(o.shape)}, to {', '.join(o.to)}"
            for o in openings]


def _size(shape: tuple[int, ...]) -> str:
    return "1 value" if shape in ((), (1,)) else " x ".join(map(str, shape)) + " values"


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  " + "  ".join(cell.rjust(width) if i > 3 else cell.ljust(width)
                             for i, (cell, width) in enumerate(zip(row, widths, strict=True)))
            for row in rows]
