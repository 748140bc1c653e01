"""A node that nobody can dial waits at a relay: it keeps a few seats there, and takes what calls.

Who calls is led to the same doors as who dials: TLS with pinned certificates begins behind them, at
the two ends. The relay sees the certificates of both, when they talk, how much, which door is asked
for, and the number of a run, which is a hash.

A seat is given up now and then and taken anew, because a line may be dead without either end
knowing. While the relay cannot be reached, it is tried again, less and less often. What is wrong is
in the log when it is news, and in `unspoken node status`.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

from unspoken.joint.node.node_config import NodeConfig
from unspoken.joint.node.node_log import NodeLog, words_of
from unspoken.joint.node.node_state import NodeState
from unspoken.joint.wire.credentials import Identity
from unspoken.joint.wire.relay.relay_words import RelayAddress
from unspoken.joint.wire.transports.links import unreachable
from unspoken.joint.wire.transports.relayed import Seat, seat_at

SEATS = 2
GREETING = 20.0
WAIT = 120.0
"""For how long a seat is kept, in seconds."""
FIRST_PAUSE, MOST_PAUSE = 0.5, 30.0
CALM = 10.0
"""A seat that was had for so many seconds was no failure, however it ended."""


class RelaySeats:
    """The seats of one node at the relay that its address names."""

    def __init__(self, config: NodeConfig, identity: Identity, state: NodeState,
                 log: NodeLog) -> None:
        self._address, self._identity = config.address, identity
        self._where = f"relay {config.address.rpartition('@')[2]}"
        self._state, self._log = state, log
        self._said: str | None = None

    async def keep(self, relay: RelayAddress,
                   welcome: Callable[[socket.socket, str], None]) -> None:
        """Keep the seats until this is cancelled."""
        await asyncio.gather(*(self._keep_one(relay, welcome) for _ in range(SEATS)))

    async def _keep_one(self, relay: RelayAddress,
                        welcome: Callable[[socket.socket, str], None]) -> None:
        pause = FIRST_PAUSE
        while True:
            seat = await self._take_seat(relay)
            if seat is not None and await self._had(seat, welcome):
                pause = FIRST_PAUSE
                continue
            await asyncio.sleep(pause)
            pause = min(2 * pause, MOST_PAUSE)

    async def _take_seat(self, relay: RelayAddress) -> Seat | None:
        """Return a seat, or None after noting why there is none."""
        try:
            async with asyncio.timeout(GREETING):
                seat = await seat_at(relay, self._identity)
        except OSError as error:
            why = f"it {unreachable(error)}"
        except Exception as error:
            why = words_of(error)
        else:
            self._note("")
            return seat
        self._note(why)
        return None

    async def _had(self, seat: Seat, welcome: Callable[[socket.socket, str], None]) -> bool:
        """Wait for a call and take it; return False if the seat was lost at once."""
        loop = asyncio.get_running_loop()
        began, taken = loop.time(), None
        try:
            taken = await seat.caller(WAIT)
        except OSError:
            # The next seat, or that there is none, says why.
            return loop.time() - began > CALM
        finally:
            seat.leave()
        if taken is not None:
            welcome(taken, self._where)
        return True

    def _note(self, why: str) -> None:
        """Keep for people whether this node waits at its relay; log it when it is news."""
        if self._said != why:
            words = {"why": why} if why else {}
            self._log.event("no seat" if why else "waits", address=self._where, **words)
        self._said = why
        self._state.note_contact(self._address, why, heard=not why)
