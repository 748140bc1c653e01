"""HTTP that does not wait for strangers: half a request is given up, one address has only so much.

Whoever has no token can still open connections and never finish a request. Every connection counts
towards the limit of the server, so that a few hundred of them would keep out those who may ask.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

HALF_SENT = 10.0
"""Seconds until the head of a request must be there."""
MOST_OF_ONE = 300
"""Connections that one address may hold at once."""


class Addresses:
    """How many connections every address holds."""

    def __init__(self, most: int) -> None:
        self._most, self._held = most, Counter[str]()

    def come(self, address: str) -> bool:
        """Count a connection; False if the address has too many."""
        self._held[address] += 1
        return self._held[address] <= self._most

    def go(self, address: str) -> None:
        """Count a connection no more."""
        self._held[address] -= 1
        self._held += Counter()  # Leaves out those who hold none.


class _Deadline:
    """Ends a connection unless it is called off in time."""

    def __init__(self) -> None:
        self._handle: Any = None

    def set(self, loop: Any, seconds: float, transport: Any) -> None:
        """Begin to wait, if nobody waits already."""
        self._handle = self._handle or loop.call_later(seconds, transport.abort)

    def off(self) -> None:
        """Wait no more."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None


def impatient_protocol(half_sent: float = HALF_SENT, most_of_one: int = MOST_OF_ONE) -> Any:
    """Return uvicorn's protocol on h11 with these two limits."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    addresses = Addresses(most_of_one)

    class ImpatientProtocol(H11Protocol):  # type: ignore[misc]
        """Closes what has not sent a whole head in time."""

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._address, self._waiting = self.client[0] if self.client else "", _Deadline()
            self._waiting.set(self.loop, half_sent, transport)
            if not addresses.come(self._address):
                transport.abort()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is not None and not self.cycle.response_complete:
                self._waiting.off()
            else:
                self._waiting.set(self.loop, half_sent, self.transport)

        def connection_lost(self, exc: Exception | None) -> None:
            self._waiting.off()
            addresses.go(self._address)
            super().connection_lost(exc)

    return ImpatientProtocol
