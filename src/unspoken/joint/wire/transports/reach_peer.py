"""One connection to another party: straight, through a proxy, or where it waits at a relay."""

from __future__ import annotations

from unspoken.joint.wire.credentials import Identity
from unspoken.joint.wire.relay.relay_words import Meeting, RelayAddress
from unspoken.joint.wire.transports.links import dial
from unspoken.joint.wire.transports.proxied import proxy_in_use
from unspoken.joint.wire.transports.relayed import (
    InnerTls,
    Streams,
    through_proxy,
    through_relay,
)


async def reach_peer(address: str, identity: Identity, meeting: Meeting, tls: InnerTls,
                     first: bytes = b"") -> Streams:
    """Open a connection to an address; `first` goes ahead of TLS to a node."""
    relay = RelayAddress.of(address)
    if relay is not None:
        return await through_relay(relay, identity, meeting, tls, first)
    host, _, port = address.rpartition(":")
    if proxy_in_use() is not None:
        return await through_proxy(host.strip("[]"), int(port), tls, first)
    return await dial(host.strip("[]"), int(port), tls.limit, first, ssl=tls.context,
                      ssl_handshake_timeout=tls.handshake)
