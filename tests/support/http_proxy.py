"""An HTTP proxy of a test, through which parties dial out."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager


@asynccontextmanager
async def proxy(heads, status=b"200 Connection established"):
    """Serve a proxy that keeps the heads of requests, and passes bytes on."""

    async def pump(reader, writer):
        while data := await reader.read(1 << 16):
            writer.write(data)
        writer.close()

    async def accept(reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        heads.append(head)
        if not status.startswith(b"200"):
            writer.write(b"HTTP/1.1 " + status + b"\r\n\r\n")
            writer.close()
            return
        host, port = head.split()[1].rsplit(b":", 1)
        try:
            there = await asyncio.open_connection(host.decode(), int(port))
        except OSError:
            writer.write(b"HTTP/1.1 502 Bad gateway\r\n\r\n")
            writer.close()
            return
        writer.write(b"HTTP/1.1 " + status + b"\r\nVia: test\r\n\r\n")
        await asyncio.gather(pump(reader, there[1]), pump(there[0], writer),
                             return_exceptions=True)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]
