"""TLS that does not wait for strangers: who does not finish the handshake is given up.

A server that listens with TLS hears of a connection when its handshake is done. Whoever has no
token could open connections, say nothing, and hold all that the system gives the service; then
nobody gets in. Here connections are counted, and given up, from their first moment.
"""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress
from pathlib import Path
from typing import Any

from unspoken.methods.queries.service.impatient_protocol import HALF_SENT, MOST_OF_ONE, Addresses


def tls_context(certificate: Path, key: Path | None) -> ssl.SSLContext:
    """Return the terms of TLS of a server with this certificate."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    return context


def behind_tls(plain: Any, context: ssl.SSLContext, half_sent: float = HALF_SENT,
               most_of_one: int = MOST_OF_ONE) -> Any:
    """Return a protocol of uvicorn that greets by TLS, and then hands over to a plain one."""
    greeted = Addresses(most_of_one)

    class TlsGate(asyncio.Protocol):
        """One connection until its handshake is done."""

        def __init__(self, **settings: Any) -> None:
            self._settings = settings
            self._early = bytearray()

        def connection_made(self, transport: Any) -> None:
            # What comes now is for the handshake, and must not be read before it begins.
            transport.pause_reading()
            self._greeting = asyncio.get_running_loop().create_task(self._greet(transport))

        async def _greet(self, transport: Any) -> None:
            address = (transport.get_extra_info("peername") or ("",))[0]
            try:
                if not greeted.come(address):
                    transport.abort()
                    return
                secured = await self._secured(transport)
            finally:
                greeted.go(address)
            if secured is None or secured.is_closing():
                transport.abort()
                return
            inner = plain(**self._settings)
            secured.set_protocol(inner)
            inner.connection_made(secured)
            if self._early:
                inner.data_received(bytes(self._early))

        async def _secured(self, transport: Any) -> Any:
            with suppress(OSError):
                return await asyncio.get_running_loop().start_tls(
                    transport, self, context, server_side=True, ssl_handshake_timeout=half_sent)

        def data_received(self, data: bytes) -> None:
            """Keep what came between the handshake and the one it is for."""
            self._early += data

    return TlsGate
