"""Transports: how messages travel between parties."""

from unspoken.joint.wire.transports.base import Limits, Transport
from unspoken.joint.wire.transports.memory import MemoryTransport, memory_transports

__all__ = ["Limits", "MemoryTransport", "Transport", "memory_transports"]
