"""Checkpoints: what all parties have reached together, so that a later attempt goes on from there.

A checkpoint is made at a barrier between two parts of a program (rounds, levels, batches of pairs).
It holds what was opened to this party, which it may know anyway. Where shares carry no tags it may
hold this party's share of a value that nobody knows yet: a fresh share of zero is put on it before
it is written and once more when it is taken up. Nothing else lasts: keys, masks and correlated
randomness are new in every attempt, so that none is ever used twice.

**Binding.** At a barrier each party sends the head of its ledger, and each pair compares under its
own key what both have learned. A checkpoint's mark is a hash over the mark before it, the session,
the label and the heads of all parties. A party goes on only when its checkpoint is on the disk, and
sends for the next barrier only after that; so the parties of a broken run differ by one at most.

**Taking up.** Parties compare how many checkpoints they have, and the last two marks. The one that
all have is taken up. Who has other marks, or lacks more than one (an old copy was put back), is
refused by name. What one party had alone is opened again, and must be the same.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import os
import zipfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from unspoken.joint.joint_errors import RefusedError, StudyError
from unspoken.joint.mpc.ops.sharing import with_zero
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared
from unspoken.joint.wire.frames import Purpose
from unspoken.table.atomic_files import write_file

MARK = 32
MOST_BATCHES = 16
"""Work of one kind has at most so many checkpoints: each costs a round and a file."""
T = TypeVar("T")
Arrays = tuple[np.ndarray[Any, Any], ...]


@dataclass(frozen=True)
class Checkpoint:
    """One barrier: its label, the session and the heads of all ledgers, and what is kept."""

    label: str
    session: str
    heads: dict[str, str]
    arrays: Arrays

    def mark(self, before: bytes) -> bytes:
        """Return the hash that all parties have in common."""
        text = json.dumps([self.label, self.session, sorted(self.heads.items())])
        return hashlib.sha256(b"unspoken checkpoint\0" + before + text.encode()).digest()

    def to_bytes(self) -> bytes:
        """Return it as it is written."""
        facts = {"label": self.label, "session": self.session, "heads": self.heads}
        named = {f"array{place}": array for place, array in enumerate(self.arrays)}
        text, file = np.frombuffer(json.dumps(facts).encode(), np.uint8), io.BytesIO()
        np.savez(file, allow_pickle=False, facts=text, **named)
        return file.getvalue()

    @classmethod
    def read(cls, path: Path) -> Checkpoint:
        """Read a checkpoint of this party."""
        try:
            with np.load(path, allow_pickle=False) as file:
                facts = json.loads(file["facts"].tobytes())
                arrays = tuple(file[f"array{place}"] for place in range(len(file.files) - 1))
            return cls(str(facts["label"]), str(facts["session"]), dict(facts["heads"]), arrays)
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
            raise StudyError(f"The checkpoint '{path}' cannot be read. The study cannot go on from "
                             "it. Propose a new one.") from None


class Checkpoints:
    """The checkpoints of one party and one study; other code has others."""

    def __init__(self, folder: Path, study: str, code: str) -> None:
        origin = hashlib.sha256(f"unspoken checkpoints\0{study}\0{code}".encode()).digest()
        self._folder = folder / origin.hex()[:16]
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._marks = [origin]
        while (path := self._file(len(self._marks))).exists():
            self._marks.append(Checkpoint.read(path).mark(self._marks[-1]))
        self._agreed = self._place = 0

    def __len__(self) -> int:
        return len(self._marks) - 1

    def _file(self, number: int, end: str = "npz") -> Path:
        return self._folder / f"{number:06d}.{end}"

    async def agree(self, party: Party) -> None:
        """Find the checkpoint that all parties have, before the program begins."""
        party.begin("checkpoints")
        own = len(self).to_bytes(8, "big") + self._marks[-1] + self._marks[max(0, len(self) - 1)]
        got = await party.swap(party.peers, "checkpoint", np.frombuffer(own, np.uint8),
                               Purpose.CONTROL)
        theirs = {peer: raw.tobytes() for peer, raw in zip(party.peers, got, strict=True)}
        counts = {name: int.from_bytes(raw[:8], "big") for name, raw in theirs.items()}
        self._agreed = self._common(party, {party.name: len(self)} | counts)
        for peer, raw in theirs.items():
            start = 8 if counts[peer] == self._agreed else 8 + MARK
            if raw[start:start + MARK] != self._marks[self._agreed]:
                party.refuse(peer, "came back with a checkpoint that this party does not have")
        self._set_aside()
        if self._agreed:
            last = Checkpoint.read(self._file(self._agreed))
            party.ledger.continues = (f"checkpoint {self._agreed} ('{last.label}') of session "
                                      f"{last.session}")

    def _common(self, party: Party, counts: dict[str, int]) -> int:
        """Return how many checkpoints all have; who lacks more than one has an old copy."""
        least = min(counts.values())
        if max(counts.values()) <= least + 1:
            return least
        if len(self) == least:
            raise StudyError("The checkpoints of this party are older than those of the others: "
                             "files were lost, or an old copy was put back. Propose a new study.")
        behind = next(name for name in party.names if counts[name] == least)
        party.refuse(behind, "came back with older checkpoints than the others have")

    def _set_aside(self) -> None:
        """Keep what this party alone has, to compare it with what is opened again."""
        if len(self) > self._agreed:
            os.replace(self._file(len(self)), self._file(len(self), "alone"))
            _sync(self._folder)
            self._marks.pop()

    def following(self, label: str) -> Checkpoint | None:
        """Return the next checkpoint to take up; None if the program has come to its end."""
        if self._place == self._agreed:
            return None
        self._place += 1
        point = Checkpoint.read(self._file(self._place))
        if point.label != label:
            raise StudyError(f"Checkpoint {self._place} is '{point.label}', and the program is at "
                             f"'{label}'. Propose a new study.")
        return point

    def keep(self, point: Checkpoint, within: float | None) -> bytes:
        """Write a checkpoint, for its owner alone; return its mark. `within` as in `remember`."""
        number = len(self) + 1
        alone = self._file(number, "alone")
        if alone.exists() and within is not None:
            _must_repeat(point, Checkpoint.read(alone), within)
        write_file(self._file(number), point.to_bytes(), mode=0o600)
        alone.unlink(missing_ok=True)
        self._marks.append(point.mark(self._marks[-1]))
        self._agreed = self._place = number
        return self._marks[-1]


def _must_repeat(point: Checkpoint, before: Checkpoint, within: float) -> None:
    """Refuse another value than the one that was opened in the attempt before."""
    same = [one.shape == other.shape and bool(np.allclose(one, other, rtol=0, atol=within))
            for one, other in zip(point.arrays, before.arrays, strict=False)]
    if point.label != before.label or len(point.arrays) != len(before.arrays) or not all(same):
        raise RefusedError("What was opened again is not what the attempt before had opened. A "
                           "party gave other data. Compare the ledgers of both attempts, and "
                           "propose a new study.")


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def recalled(party: Party, label: str) -> Arrays | None:
    """Return what an earlier attempt opened at this place; None if it did not come so far."""
    point = None if party.checkpoints is None else party.checkpoints.following(label)
    return None if point is None else point.arrays


async def remember(party: Party, label: str, *values: Any, within: float | None = 0.0) -> None:
    """Make a checkpoint of values that were opened to all; does nothing where none are kept.

    What this party alone had of an earlier attempt must come out the same: exactly, or `within`
    what probabilistic rounding on shares may change. None: what this party alone knows may differ.
    """
    if party.checkpoints is not None:
        await _barrier(party, label, tuple(np.asarray(value) for value in values), within)


async def kept(party: Party, label: str, compute: Callable[[], Awaitable[Any]]) -> Any:
    """Return an opened array from an earlier attempt, or compute it and make a checkpoint."""
    known = recalled(party, label)
    if known is not None:
        return known[0]
    value = await compute()
    await remember(party, label, value)
    return value


async def kept_secret(party: Party, label: str, draw: Callable[[], bytes]) -> bytes:
    """Return this party's own seed, the one of an earlier attempt if that had come so far."""
    known = recalled(party, label)
    if known is not None:
        return known[0].tobytes()
    seed = draw()
    if party.checkpoints is not None:
        await _barrier(party, label, (np.frombuffer(seed, np.uint8),), None)
    return seed


def in_batches(work: Sequence[T]) -> list[Sequence[T]]:
    """Return work in batches, after each of which a checkpoint is made."""
    size = max(1, -(-len(work) // MOST_BATCHES))
    return [work[start:start + size] for start in range(0, len(work), size)]


def keeps_shares(party: Party) -> bool:
    """Return True if shares may outlast an attempt: tags end with theirs."""
    return party.checkpoints is not None and party.engine.shares_last \
        and party.engine.guarded is None


def recalled_shares(party: Party, label: str, like: Sequence[Shared]) -> list[Shared] | None:
    """Return shares of an earlier attempt, made fresh, with the bounds of `like`."""
    known = recalled(party, label) if keeps_shares(party) else None
    if known is None:
        return None
    return [one.with_share(words) for one, words in zip(like, _fresh(party, known), strict=True)]


async def remember_shares(party: Party, label: str, values: Sequence[Shared]) -> None:
    """Make a checkpoint of this party's shares, a fresh share of zero on each."""
    if keeps_shares(party):
        words = _fresh(party, tuple(value.share for value in values))
        await _barrier(party, label, words, None)


def _fresh(party: Party, parts: Arrays) -> Arrays:
    """Return a holder's words with a sharing of zero that is used once."""
    party.begin("fresh shares")
    flat = np.concatenate([part.ravel() for part in parts])
    ends = np.cumsum([part.size for part in parts])[:-1]
    pieces = np.split(with_zero(party, flat, "checkpoint", xors=False), ends)
    return tuple(piece.reshape(part.shape) for piece, part in zip(pieces, parts, strict=True))


async def _barrier(party: Party, label: str, arrays: Arrays, within: float | None) -> None:
    """Wait for everybody, compare what was learned, and write the checkpoint."""
    points, guarded = party.checkpoints, party.engine.guarded
    if points is None:
        return
    if guarded is not None:
        await party.engine.before_opening()
        await guarded.checked()
    party.begin("barrier")
    head = party.ledger.sign().head
    sends = [party.send(peer, "barrier", _word(party, peer, head, party.name), Purpose.CONTROL)
             for peer in party.peers]
    takes = [party.receive(peer, "barrier", "|u1", (2 * MARK,), Purpose.CONTROL)
             for peer in party.peers]
    got = (await asyncio.gather(*takes, *sends))[:len(takes)]
    heads = {party.name: head}
    for peer, raw in zip(party.peers, got, strict=True):
        heads[peer] = raw[:MARK].tobytes().hex() if raw is not None else ""
        if not np.array_equal(raw, _word(party, peer, heads[peer], peer)):
            party.refuse(peer, "has learned something else than this party")
    mark = points.keep(Checkpoint(label, party.seam.session.hex(), heads, arrays), within)
    party.ledger.chain.note("checkpoint", number=len(points), label=label, mark=mark.hex())


def _word(party: Party, peer: str, head: str, source: str) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return the head of a ledger, and a keyed digest of what both have learned so far."""
    target = peer if source == party.name else party.name
    digest = party.keyed(source, target, f"barrier {head}",
                         np.frombuffer(party.learned_with(peer), np.uint8))
    return np.concatenate([np.frombuffer(bytes.fromhex(head), np.uint8), digest])
