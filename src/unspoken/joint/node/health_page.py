"""Health and metrics over HTTP, on loopback unless the configuration says otherwise.

GET /health and GET /metrics (Prometheus' text form), and nothing else: counts and states, no names
of studies, no values. A request has at most 8 KiB and five seconds; there is nothing to send to it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping

from unspoken.errors import InputError

MOST_BYTES = 8192
SECONDS = 5.0
Numbers = Callable[[], Mapping[str, float]]


async def serve_health(address: str, numbers: Numbers) -> asyncio.Server:
    """Answer at HOST:PORT until the server is closed."""
    host, _, port = address.rpartition(":")

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, TimeoutError, ValueError, EOFError):
            async with asyncio.timeout(SECONDS):
                line = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")[0]
                writer.write(response(line, numbers()))
                await writer.drain()
        writer.close()

    try:
        return await asyncio.start_server(answer, host.strip("[]"), int(port), limit=MOST_BYTES)
    except OSError as error:
        raise InputError(f"'health' in node.toml: nothing can listen at {address}: "
                         f"{error.strerror}.") from None


def response(line: bytes, numbers: Mapping[str, float]) -> bytes:
    """Return the answer to the first line of a request."""
    method, _, rest = line.partition(b" ")
    path = rest.partition(b" ")[0]
    if method != b"GET":
        return _http("405 Method Not Allowed", "text/plain", "Only GET is answered.\n")
    if path == b"/health":
        return _http("200 OK", "application/json", json.dumps({"status": "ok", **numbers}))
    if path == b"/metrics":
        lines = [f"unspoken_node_{name.replace(' ', '_')} {value:g}"
                 for name, value in numbers.items()]
        return _http("200 OK", "text/plain; version=0.0.4", "\n".join(lines) + "\n")
    return _http("404 Not Found", "text/plain", "There is /health and /metrics.\n")


def _http(status: str, kind: str, body: str) -> bytes:
    head = (f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body.encode())}\r\n"
            "Connection: close\r\nCache-Control: no-store\r\n\r\n")
    return (head + body).encode()
