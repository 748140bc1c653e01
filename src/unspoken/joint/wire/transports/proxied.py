"""Dialling out through an HTTP proxy (CONNECT), where a network lets nothing else out.

The environment variable UNSPOKEN_PROXY names it: http://HOST:PORT, or http://USER:PASSWORD@HOST:PORT.
The proxy sees which host is dialled and how much is sent; what passes is the TLS of the study.
"""

from __future__ import annotations

import asyncio
import base64
import os
import re
from typing import TypeVar
from urllib.parse import SplitResult, unquote, urlsplit

from unspoken.errors import InputError
from unspoken.joint.joint_errors import JointError

VARIABLE = "UNSPOKEN_PROXY"
MOST_ANSWER = 1 << 14
_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})\b")
P = TypeVar("P", bound=asyncio.Protocol)


class ProxyError(JointError):
    """A proxy that does not let this party through."""


class _Answer(asyncio.Protocol):
    """The head of a proxy's answer, and what came behind it."""

    def __init__(self) -> None:
        self.came = b""
        self.whole = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        self.came += data
        if not self.whole.done() and (b"\r\n\r\n" in self.came or len(self.came) > MOST_ANSWER):
            self.whole.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.whole.done():
            self.whole.set_exception(ConnectionResetError())


def proxy_in_use() -> SplitResult | None:
    """Return the proxy that the environment names, if it names one."""
    text = os.environ.get(VARIABLE, "")
    if not text:
        return None
    proxy = urlsplit(text)
    try:
        usable = proxy.scheme == "http" and bool(proxy.hostname) and proxy.port is not None
    except ValueError:
        usable = False
    if not usable:
        # It may hold a password, so it is not repeated.
        raise InputError(f"The environment variable {VARIABLE} must be http://HOST:PORT, or "
                         "http://USER:PASSWORD@HOST:PORT. It is something else.")
    return proxy


async def connected(protocol: P, host: str, port: int) -> asyncio.Transport:
    """Open a connection to a host, through the proxy if there is one."""
    loop, proxy = asyncio.get_running_loop(), proxy_in_use()
    if proxy is None:
        return (await loop.create_connection(lambda: protocol, host, port))[0]
    transport, answer = await loop.create_connection(_Answer, proxy.hostname or "",
                                                        proxy.port or 0)
    try:
        transport.write(_request(proxy, host, port))
        await answer.whole
        head, _, rest = answer.came.partition(b"\r\n\r\n")
        _check(head, host, port)
    except BaseException:
        transport.abort()
        raise
    transport.set_protocol(protocol)
    protocol.connection_made(transport)
    if rest:
        protocol.data_received(rest)
    return transport


def _request(proxy: SplitResult, host: str, port: int) -> bytes:
    where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    lines = [f"CONNECT {where} HTTP/1.1", f"Host: {where}"]
    if proxy.username is not None:
        user = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}".encode()
        lines.append(f"Proxy-Authorization: Basic {base64.b64encode(user).decode()}")
    return "\r\n".join([*lines, "", ""]).encode()


def _check(head: bytes, host: str, port: int) -> None:
    """Raise unless the proxy let this party through; that nobody listens yet is no refusal."""
    status = _STATUS.match(head)
    code = int(status[1]) if status else 0
    if 200 <= code < 300:
        return
    if code in (502, 503, 504):
        raise ConnectionRefusedError
    raise ProxyError(f"The proxy did not open a connection to {host}:{port} (status {code}). "
                     f"Check {VARIABLE}, and whether the proxy allows CONNECT to that port.")
