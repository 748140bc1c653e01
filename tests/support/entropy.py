"""Watching where secrets come from: uniform but predictable ones pass every statistic."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def watched_entropy() -> Iterator[list[bytes]]:
    """Yield a list of everything that the operating system's source returns meanwhile."""
    drawn: list[bytes] = []
    real = secrets.token_bytes

    def token_bytes(size=32):
        drawn.append(real(size))
        return drawn[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secrets, "token_bytes", token_bytes)
        yield drawn
