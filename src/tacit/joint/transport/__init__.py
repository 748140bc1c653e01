"""Transports: how messages travel between parties."""

from tacit.joint.transport.base import Limits, Transport
from tacit.joint.transport.memory import MemoryTransport, memory_transports

__all__ = ["Limits", "MemoryTransport", "Transport", "memory_transports"]
