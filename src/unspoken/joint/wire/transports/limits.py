"""How long parties wait for each other, and how much they take."""

from __future__ import annotations

from dataclasses import dataclass

from unspoken.errors import InputError, explain
from unspoken.joint.wire.frames import MAX_MESSAGE


@dataclass(frozen=True)
class Limits:
    """How long parties wait for each other, and how much they accept.

    Attributes
    ----------
    limit : float, default 10
        After a fault every other party ends within this time, in seconds.
    patience : float, default 3600
        How long a living peer may take to send its next message or to accept ours, in seconds.
    start : float, default 60
        How long to wait for every party to connect and to answer for the first time, in seconds.
    message : int
        The largest message, in bytes.
    ahead : int, default 2**28
        How many bytes of a peer are kept before the program asks for them.

    Examples
    --------
    >>> run_local(program, inputs, limits=Limits(limit=30))  # doctest: +SKIP
    """

    limit: float = 10.0
    patience: float = 3600.0
    start: float = 60.0
    message: int = MAX_MESSAGE
    ahead: int = 1 << 28

    def __post_init__(self) -> None:
        for name in ("limit", "patience", "start", "message", "ahead"):
            if not getattr(self, name) > 0:
                raise InputError(explain(f"Limits: '{name}'", "above 0", getattr(self, name)))

    @property
    def silence(self) -> float:
        """Return after which silence a peer counts as lost; the rest is for ending in time."""
        return 0.75 * self.limit

    @property
    def beat(self) -> float:
        """Return the time between two signs of life."""
        return self.limit / 10
