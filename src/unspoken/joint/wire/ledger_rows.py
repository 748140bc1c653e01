"""What a ledger holds: rows of messages, openings, and whose primitives sent them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from unspoken.joint.wire.frames import Header, Kind, Purpose

# Which of our own primitives a message belongs to, by how its label begins.
OWN = {
    "agree": "key agreement", "share": "shares", "bits": "shares", "pairs": "shares",
    "engine.share": "shares", "reveal": "openings of shares", "sum": "secure sum by masks",
    "set": "encrypted sets", "union": "encrypted union", "ot": "oblivious transfer",
    "link": "keyed encodings of records", "order": "keyed digest of the order of records",
    "deal": "dealt randomness", "check": "checks of tags", "proof": "proofs of what is dealt",
    "seed": "dealt randomness", "paillier": "Paillier steps", "split": "masked comparison",
}


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


ROUNDING = ("each number also tells a holder of shares that learns it whether what was rounded off "
            "on the way lies below a random threshold that the holder knows")
"""What the opening of a truncated value tells beyond the value (`mpc/ops/truncation.py`)."""


@dataclass(frozen=True)
class Opening:
    """A value that was opened: to whom, why that was agreed, and whether it was truncated."""

    step: int
    because: str
    to: tuple[str, ...]
    shape: tuple[int, ...]
    rounded: bool = False

    @property
    def told(self) -> str:
        """Return all that the opening tells, in words."""
        return f"{self.because} ({ROUNDING})" if self.rounded else self.because


def opening_from(entry: Mapping[str, Any]) -> Opening:
    """Return the opening that an entry describes; old ones say nothing of rounding."""
    return Opening(int(entry["step"]), str(entry["because"]), tuple(entry["to"]),
                   tuple(entry["shape"]), bool(entry.get("rounded", False)))


def row_of(direction: str, peer: str, header: Header) -> Row:
    """Return an empty row for what a header begins."""
    purpose = Purpose(header.purpose).name.lower()
    label = "engine" if header.kind is Kind.STREAM else header.label
    return Row(direction, peer, purpose, label, header.step, header.dtype, header.shape,
               0, 0)


def count_frame(row: Row, size: int) -> None:
    """Count one frame."""
    row.frames += 1
    row.bytes += size


def message_entry(row: Row) -> str:
    """Return a message's entry; names, labels and dtypes have no character that JSON escapes."""
    return (f'"kind":"message","direction":"{row.direction}","peer":"{row.peer}",'
            f'"purpose":"{row.purpose}","label":"{row.label}","step":{row.step},'
            f'"dtype":"{row.dtype}","shape":{json.dumps(row.shape)},"frames":{row.frames},'
            f'"bytes":{row.bytes}')


def row_from(entry: Mapping[str, Any]) -> Row:
    """Return the row that an entry describes."""
    return Row(entry["direction"], entry["peer"], entry["purpose"], entry["label"],
               int(entry["step"]), entry["dtype"], tuple(entry["shape"]), int(entry["frames"]),
               int(entry["bytes"]))


def primitives_in(labels: Iterable[str]) -> tuple[str, ...]:
    """Return which of unspoken's own primitives sent messages with these labels."""
    return tuple(sorted({OWN[part] for label in labels
                         for part in (label.partition(".")[0], label) if part in OWN}))
