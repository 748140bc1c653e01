"""Alignment of two owners by an oblivious function: members for both, in seconds per million ids.

The first owner asks for the function at its ids, the second holds its key (`oblivious_function`).
The second sends the first half of the value of each of its ids, in their own order; the first
looks its own up among them and sends back the second half of those in common, which it could
compute for no other id. The common order is that of the values, which are random.
  discloses: which ids are in common, to both (that is what it is for), and the sizes of the lists
    unless they are padded. As the alignment by encryptions that commute, which three or more
    owners use.
  safe against: a curious owner, and a first one that deviates. It can ask for some more ids than
    it announced (see `oblivious_function`); it cannot claim ids that it does not have.
  breaks if: an owner makes up ids; one leaves ids out, which takes records away and tells it
    nothing. A second owner that deviates sends values that match nothing, with the same effect.
  cost: 104 bytes per id of the first owner, 16 of the second, 16 per id in common; 8 rounds.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.ristretto import as_keys
from unspoken.joint.mpc.sets.encrypted_circle import Circle
from unspoken.joint.mpc.sets.oblivious_function import Octets, ask_function, hold_function
from unspoken.joint.wire.frames import Purpose
from unspoken.joint.wire.hollow_arrays import is_dry

HALF = 16
Places = npt.NDArray[np.int64]


async def align_two(circle: Circle, own: Sequence[bytes]) -> Places:
    """Return the places in `own` of the ids that both owners have, in an order common to both."""
    party = circle.party
    filled = [*own, *_no_ids(circle.rules.pad_to - len(own))]
    first, second = circle.members
    if party.name == first:
        places, common = await _looked_up(party, second, filled, circle.sizes[second])
    else:
        places, common = await _looked_at(party, first, filled, circle.sizes[first])
    party.learned(circle.members, common)
    return places


def _no_ids(count: int) -> list[bytes]:
    """Return bytes that nobody has as an id."""
    return [b"\0" + secrets.token_bytes(32) for _ in range(count)]


async def _looked_up(party: Party, holder: str, ids: Sequence[bytes],
                     size: int) -> tuple[Places, Octets]:
    """Find the own ids among the holder's, and prove it."""
    values = await ask_function(party, holder, ids)
    theirs = await party.receive(holder, "set.values", "|u1", (size, HALF), Purpose.ENCRYPTED)
    places = _matches(party, holder, values, theirs)
    proofs = values[places, HALF:]
    await party.send(holder, "set.count", np.array([len(places)], np.uint64), Purpose.DISCLOSURE)
    await party.send(holder, "set.proofs", proofs, Purpose.DISCLOSURE)
    return places, values[places]


def _matches(party: Party, holder: str, values: Octets, theirs: Octets) -> Places:
    """Return the places of the own values that the holder has too, in the order of the values."""
    if is_dry():
        return np.arange(min(len(values), len(theirs)))
    listed = np.sort(as_keys(theirs))
    if (listed[1:] == listed[:-1]).any():
        party._end(holder, "sent a value twice")
    keys = as_keys(values[:, :HALF])
    places = np.flatnonzero(np.isin(keys, listed))
    return np.asarray(places[np.argsort(keys[places])])


async def _looked_at(party: Party, asker: str, ids: Sequence[bytes],
                     size: int) -> tuple[Places, Octets]:
    """Send the values of the own ids, and find those of which the asker has the other half."""
    values = await hold_function(party, asker, size, ids)
    order = np.arange(len(ids)) if is_dry() else np.argsort(as_keys(values[:, :HALF]))
    await party.send(asker, "set.values", values[order, :HALF], Purpose.ENCRYPTED)
    count = await party.receive(asker, "set.count", "<u8", (1,), Purpose.DISCLOSURE)
    if int(count[0]) > min(len(ids), size):
        party._end(asker, "reported more common ids than there can be")
    proofs = await party.receive(asker, "set.proofs", "|u1", (int(count[0]), HALF),
                                 Purpose.DISCLOSURE)
    places = _proven(party, asker, values[order, HALF:], proofs)
    return order[places], values[order[places]]


def _proven(party: Party, asker: str, halves: Octets, proofs: Octets) -> Places:
    """Return the places of the own second halves that the asker sent; others end the run."""
    if is_dry():
        return np.arange(len(proofs))
    places = np.flatnonzero(np.isin(as_keys(halves), as_keys(proofs)))
    if not np.array_equal(halves[places], proofs):
        party._end(asker, "claimed ids that it does not have")
    return np.asarray(places)
