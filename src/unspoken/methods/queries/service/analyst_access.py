"""Who may ask, and how often: tokens that are stored as hashes, and buckets that refill."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping

_MOST_KEYS = 10_000
FAILURES = 5.0
"""Wrong tokens a second that one address may send."""


def new_token() -> tuple[str, str]:
    """Return a fresh token and the hash of it that goes into the policy."""
    token = secrets.token_urlsafe(32)
    return token, hash_of(token)


def hash_of(token: str) -> str:
    """Return the hash of a token. Tokens have 256 random bits: none can be found by trying."""
    return hashlib.sha256(b"unspoken token\n" + token.encode()).hexdigest()


def analyst_of(header: str, analysts: Mapping[str, str]) -> str | None:
    """Return who sent a header `Bearer TOKEN`, None for a stranger."""
    kind, _, token = header.partition(" ")
    if kind.lower() != "bearer" or not token or len(token) > 200:
        return None
    mine = hash_of(token)
    # Every hash is compared, so that the time says nothing about which one is near.
    matching = [name for name, known in analysts.items() if hmac.compare_digest(mine, known)]
    return matching[0] if matching else None


class RateLimit:
    """A number a second for each key, with a burst of twice that."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._most = max(2 * rate, 1.0)
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._guard = threading.Lock()

    def allows(self, key: str, spend: bool = True) -> bool:
        """Take one from the bucket of a key; False if it is empty."""
        with self._guard:
            moment = self._clock()
            left, since = self._left.pop(key, (self._most, moment))
            left = min(self._most, left + (moment - since) * self._rate)
            allowed = left >= 1
            self._left[key] = (left - 1 if allowed and spend else left, moment)
            while len(self._left) > _MOST_KEYS:
                self._left.popitem(last=False)
            return allowed
