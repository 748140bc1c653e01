"""A ledger for people: what was learned, what was opened to others, and the traffic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unspoken.joint.wire.ledger import Ledger
    from unspoken.joint.wire.ledger_rows import Opening, Row


def ledger_table(ledger: Ledger) -> str:
    """Return a ledger as text."""
    parts = [f"Ledger of '{ledger.party}': {ledger.status}", *_facts(ledger), "",
             "What this party learned:", *_openings(ledger.learned()), "",
             "What was opened to others:", *_openings(ledger.given()), "",
             "Traffic:", *_aligned(_traffic([*ledger.rows, *ledger.notes]))]
    return "\n".join(parts)


def _facts(ledger: Ledger) -> list[str]:
    lines = [f"engine: {ledger.engine}"]
    if ledger.own_primitives:
        lines.append(f"unspoken's own primitives that ran, not vetted: "
                     f"{', '.join(ledger.own_primitives)}")
    if ledger.approver:
        lines.append(f"approved by: {ledger.approver}")
    if ledger.linkage:
        lines.append(f"linkage: {ledger.linkage}")
    if ledger.continues:
        lines.append(f"goes on from: {ledger.continues}")
    if ledger.times:
        lines.append(f"from {ledger.times[0]} to {ledger.times[1]}")
    if ledger.status == "running":
        lines.append("It has no last entry: the party was killed, or entries were cut off. Compare "
                     "it with the others': unspoken joint audit FILE FILE ...")
    if ledger.unsigned:
        lines.append(unsigned_line(ledger))
    return lines


def unsigned_line(ledger: Ledger) -> str:
    """Return what has to be said of entries that come after the last signature."""
    return (f"The last {ledger.unsigned} entries of '{ledger.party}' bear no signature: anybody "
            "who had the file could have written them.")


def _traffic(rows: Sequence[Row]) -> list[list[str]]:
    groups: dict[tuple[str, str, str, str], list[int]] = {}
    for row in rows:
        key = row.direction, row.peer, row.purpose, row.label
        sums = groups.setdefault(key, [0, 0, 0])
        sums[:] = sums[0] + 1, sums[1] + row.frames, sums[2] + row.bytes
    head = ["", "peer", "purpose", "label", "messages", "frames", "bytes"]
    return [head, *([*key, *map(str, sums)] for key, sums in groups.items())]


def _openings(openings: Sequence[Opening]) -> list[str]:
    if not openings:
        return ["  nothing"]
    return [f"  step {o.step}: {o.told}, {_size(o.shape)}, to {', '.join(o.to)}"
            for o in openings]


def _size(shape: tuple[int, ...]) -> str:
    return "1 value" if shape in ((), (1,)) else " x ".join(map(str, shape)) + " values"


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  " + "  ".join(cell.rjust(width) if i > 3 else cell.ljust(width)
                             for i, (cell, width) in enumerate(zip(row, widths, strict=True)))
            for row in rows]
