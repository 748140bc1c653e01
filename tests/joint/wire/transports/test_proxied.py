"""Parties that reach each other only through an HTTP proxy."""

from __future__ import annotations

import asyncio
import base64

import numpy as np
import pytest

from support.http_proxy import proxy
from unspoken.errors import InputError
from unspoken.joint.session.join import meet
from unspoken.joint.wire.frames import Message, Purpose
from unspoken.joint.wire.transports.limits import Limits
from unspoken.joint.wire.transports.proxied import VARIABLE, ProxyError, proxy_in_use

QUICK = Limits(limit=3, start=8)


async def talked(circle, monkeypatch, heads, status=b"200 OK", limits=QUICK):
    study, identities, sockets = circle
    async with proxy(heads, status) as port:
        monkeypatch.setenv(VARIABLE, f"http://ann:se%40cret@127.0.0.1:{port}")
        ends = await asyncio.gather(*(meet(study, identities[n], limits, sockets[n])
                                      for n in study.names), return_exceptions=True)
        try:
            if any(isinstance(end, Exception) for end in ends):
                return ends
            message = Message("data", np.arange(1000), Purpose.DISCLOSURE)
            await ends[0].send("south", message)
            return (await ends[1].receive("north")).array
        finally:
            await asyncio.gather(*(end.close() for end in ends
                                   if not isinstance(end, Exception)))


@pytest.mark.slow
def test_a_link_goes_through_the_proxy(circle, monkeypatch):
    heads = []
    came = asyncio.run(talked(circle("north", "south"), monkeypatch, heads))
    assert np.array_equal(came, np.arange(1000))
    assert heads[0].startswith(b"CONNECT 127.0.0.1:")
    assert base64.b64encode(b"ann:se@cret") in heads[0]


@pytest.mark.parametrize("status", [b"407 Proxy authentication required", b"403 Forbidden"])
def test_a_proxy_that_refuses_is_named(circle, monkeypatch, status):
    ends = asyncio.run(talked(circle("north", "south"), monkeypatch, [], status,
                              Limits(limit=1, start=1)))
    error = next(end for end in ends if isinstance(end, ProxyError))
    assert status[:3].decode() in str(error)
    assert "se@cret" not in str(error)


@pytest.mark.parametrize("text", ["proxy:3128", "https://proxy:1", "http://proxy", "http://:x"])
def test_what_is_no_proxy_is_refused_without_repeating_it(monkeypatch, text):
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(InputError, match=VARIABLE) as caught:
        proxy_in_use()
    assert text not in str(caught.value)
