"""At most one process works as the node in a folder."""

from __future__ import annotations

import os

from unspoken.errors import InputError
from unspoken.joint.node.node_config import NodeConfig
from unspoken.table.file_locks import take_lock


def hold_node(config: NodeConfig, otherwise: str = "") -> int:
    """Return a descriptor that holds the node's folder until it is closed, or the process ends."""
    lock = os.open(config.folder / "node.lock", os.O_RDWR | os.O_CREAT, 0o600)
    if not take_lock(lock, 0.0):
        os.close(lock)
        raise InputError(f"A node runs in '{config.folder}' already.{otherwise}")
    return lock
