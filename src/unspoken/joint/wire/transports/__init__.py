"""Transports: how messages travel between parties."""

from unspoken.joint.wire.transports.base import Transport
from unspoken.joint.wire.transports.limits import Limits
from unspoken.joint.wire.transports.memory import MemoryTransport, memory_transports

__all__ = ["Limits", "MemoryTransport", "Transport", "memory_transports"]
