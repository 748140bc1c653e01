"""What a run took, by its ledgers."""

from __future__ import annotations


def measured(ledgers):
    """Return rounds as the last holder sees them, and all bytes; keys and digests left out."""
    rows = [row for ledger in ledgers.values() for row in ledger.rows if row.purpose != "control"]
    size = sum(row.bytes for row in rows
               if row.direction == "received" or (row.peer, row.direction) == ("dealer", "sent"))
    # Of the sites a, b and c the first two hold the shares.
    came = {(r.step, r.label) for r in ledgers["b"].rows
            if r.direction == "received" and r.purpose != "control"}
    return len(came), size


def received(ledgers):
    """Return all bytes of a run: what parties received, and what they asked the dealer."""
    rows = [row for ledger in ledgers for row in ledger.rows]
    return sum(row.bytes for row in rows
               if row.direction == "received" or (row.peer, row.direction) == ("dealer", "sent"))
