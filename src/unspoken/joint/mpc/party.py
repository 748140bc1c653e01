"""A party in a running study: its name, its peers, its steps, and what it may open to whom.

It is the context of operations, which are functions on it: `await multiply(party, x, y)`. Every
party runs the same program, so that step numbers, labels and shapes agree everywhere, and a message
that is not the expected one ends the run. Steps follow each other: independent work is put into
one array and travels together, it is not run side by side.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import sys
from collections.abc import Coroutine, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from unspoken.arrays import Words
from unspoken.errors import InputError
from unspoken.joint.joint_errors import DisclosureError, RefusedError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.message_purposes import OPEN, may_claim
from unspoken.joint.mpc.randomness import Stream, derive
from unspoken.joint.wire.endpoint import Base, Roles, Seam
from unspoken.joint.wire.frames import Array, Purpose

if TYPE_CHECKING:
    from unspoken.joint.mpc.checkpoints import Checkpoints
    from unspoken.joint.mpc.correlated.kinds import Need
    from unspoken.joint.mpc.engines.engine import Engine


class Party(Base):
    """One party of a running program: its name, its peers, its steps, and what it may open.

    The runner makes it and passes it to the program; operations are functions on it. All parties
    run the same program and take the same steps.

    Parameters
    ----------
    seam : Seam
        The connection to the other parties.
    roles : Roles
        The owners, the holders, the dealer and the parties that run the program.
    disclosures : sequence of Disclosure, default ()
        What was declared, and therefore may be opened.

    Attributes
    ----------
    name : str
        This party's name.
    names : tuple of str
        All parties that run the program.
    peers : tuple of str
        The others.
    holders : tuple of str
        The parties that hold shares.
    is_holder : bool
        Whether this party holds shares.
    """

    engine: Engine
    """How it computes on its shares; the runner gives it one before the program begins."""
    checkpoints: Checkpoints | None = None
    """What an attempt that ended early had reached, where that is kept."""

    def __init__(self, seam: Seam, roles: Roles, disclosures: Sequence[Disclosure] = ()) -> None:
        super().__init__(seam, roles)
        self.disclosures = tuple(disclosures)
        self.names = roles.program
        self.index = roles.program.index(self.name)
        self.peers = tuple(name for name in roles.program if name != self.name)
        self.holders = roles.holders
        self.is_holder = self.name in roles.holders
        self.adds_public = bool(roles.holders) and self.name == roles.holders[0]
        self._pairs: dict[str, bytes] = {}
        self._used: set[tuple[int, str, str]] = set()
        self._learned: list[tuple[tuple[str, ...], bytes]] = []
        self._task = _running()
        self._receivers: tuple[int, tuple[str, ...]] = (-1, ())

    def __repr__(self) -> str:
        return f"Party({self.name!r}, one of {', '.join(self.names)})"

    def begin(self, label: str) -> int:
        """Begin the next step; two at a time would mix up what belongs to which."""
        if _running() is not self._task:
            raise InputError(f"Step '{label}' was started in another asyncio task. The steps of a "
                             "program must run one after another. Put independent work into one "
                             "array instead.")
        return super().begin(label)

    async def agree(self) -> None:
        """Agree on one secret with every peer: X25519, then HKDF over the session."""
        self.begin("agree")
        own = X25519PrivateKey.generate()
        public = np.frombuffer(own.public_key().public_bytes_raw(), np.uint8)
        theirs = await self.swap(self.peers, "agree", public, Purpose.CONTROL)
        for peer, raw in zip(self.peers, theirs, strict=True):
            try:
                secret = own.exchange(X25519PublicKey.from_public_bytes(raw.tobytes()))
            except ValueError:
                self._end(peer, "sent a key of small order")
            pair = sorted((self.name, peer))
            self._pairs[peer] = derive(secret, "pair", *pair, salt=self.seam.session)

    def stream_with(self, peer: str, purpose: str) -> Stream:
        """Return a stream that only this party and a peer know; each one is handed out once."""
        wanted = self.count, peer, purpose
        if wanted in self._used:
            raise RuntimeError(f"the stream '{purpose}' with '{peer}' was used in this step")
        self._used = {used for used in self._used if used[0] == self.count} | {wanted}
        return Stream(derive(self._pairs[peer], purpose, self.count))

    def keyed(self, source: str, target: str, label: str,
              value: npt.ArrayLike) -> npt.NDArray[np.uint8]:
        """Return a digest of a value under a key of this party and a peer, from one to the other.

        Only these two can try values out, and neither can send the other's digest back as its own.
        """
        peer = target if source == self.name else source
        key = derive(self._pairs[peer], "compare", source, label, self.count)
        return np.frombuffer(hmac.digest(key, np.asarray(value).tobytes(), "sha256"), np.uint8)

    async def draw(self, needs: Sequence[Need]) -> list[list[Words]] | None:
        """Return this holder's parts of correlated randomness; None if it holds no shares."""
        return await self.engine.draw(needs)

    async def prefetch(self, steps: Sequence[Sequence[Need]], after: int = 0) -> None:
        """Announce what each of the next steps will draw: a dealer is then asked once for all.

        `after` steps come first and draw nothing.
        """
        await self.engine.prefetch(steps, after)

    def opening(self, because: str, to: Sequence[str], shape: tuple[int, ...], *,
                rounded: bool = False) -> tuple[str, ...]:
        """Check an opening against what was declared, and put it into the ledger."""
        names = tuple(to) or self.names
        for name in names:
            if name not in (*self.names, self.roles.linker):
                raise RefusedError(f"A value cannot be opened to '{name}'. Parties of this "
                                   f"program: {', '.join(self.names)}.")
        if not any(d.because == because and set(names) <= set(d.to or self.names)
                   for d in self.disclosures):
            known = "; ".join(f"'{d.because}' to {', '.join(d.to or self.names)}"
                              for d in self.disclosures) or "nothing"
            raise DisclosureError(f"'{because}' to {', '.join(names)} must be declared before it "
                                  f"is opened. Declared: {known}. Nothing was opened.")
        self.ledger.opened(self.count, because, names, shape, rounded)
        self._receivers = self.count, names
        return names

    def opened(self, because: str, values: Any) -> Any:
        """Return values that were opened to this party; a dry run puts assumed ones in place."""
        return values

    def learned(self, to: Sequence[str], value: npt.ArrayLike) -> None:
        """Keep a digest of what this party and the others in `to` now know, to be compared.

        All who learn a value learn the same one, or the run fails: at its end each pair compares
        what both were told, under a key of that pair.
        """
        if self.name in to and len(to) > 1:
            array = np.ascontiguousarray(value)
            text = f"{self.count}|{array.dtype.str}|{array.shape}|".encode()
            self._learned.append((tuple(to), hashlib.sha256(text + array.tobytes()).digest()))

    def common_results(self) -> dict[str, bytes]:
        """Return, for each peer, a keyed digest of everything that both have learned."""
        return {peer: hmac.digest(derive(self._pairs[peer], "results"), self.learned_with(peer),
                                  "sha256") for peer in self.peers}

    def learned_with(self, peer: str) -> bytes:
        """Return the digests of everything that this party and a peer have both learned."""
        return b"".join(digest for to, digest in self._learned if peer in to)

    def send(self, to: str, label: str, array: Array,
             purpose: Purpose) -> Coroutine[Any, Any, None]:
        """Send an array to one party; what it may be booked as depends on who sends it."""
        self._check_purpose(sys._getframe(1).f_globals, (to,), label, purpose)
        return super().send(to, label, array, purpose)

    def swap(self, peers: Iterable[str], label: str, array: Array,
             purpose: Purpose) -> Coroutine[Any, Any, list[np.ndarray[Any, Any]]]:
        """Send an array to some peers, and return the like-shaped ones that they send."""
        peers = tuple(peers)
        self._check_purpose(sys._getframe(1).f_globals, peers, label, purpose)
        return super().swap(peers, label, array, purpose)

    def _check_purpose(self, sender: dict[str, Any], to: Sequence[str], label: str,
                       purpose: Purpose) -> None:
        """Refuse a purpose that the sending code may not claim, or that nothing was opened for."""
        home = str(sender.get("__name__"))
        if may_claim(home, purpose):
            return
        if purpose not in OPEN:
            raise RefusedError(f"'{label}' cannot be booked as {purpose.name.lower()}: only "
                               "unspoken's own primitives send masked, encrypted or shared values. "
                               "Use them, or declare what is opened and send it as a disclosure. "
                               "Nothing was sent.")
        step, receivers = self._receivers
        if step != self.count or not set(to) <= set(receivers):
            raise DisclosureError(f"'{label}' discloses a value to {', '.join(to)}, and nothing "
                                  "was opened to them in this step. Call party.opening first. "
                                  "Nothing was sent.")


def _running() -> asyncio.Task[Any] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None
