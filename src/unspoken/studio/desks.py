"""Whose desk it is: one on one's own machine, one for every user behind a reverse proxy.

A user's table, tries, choices and running work are on their own desk, which is still there after a
restart, and their drafts are shown to them and to officers alone. What the organisation has once is
shared by all desks: signed decisions, register, budgets, surveys, models, joint studies and the
query service.
"""

from __future__ import annotations

import threading
from typing import Any

from unspoken.errors import InputError
from unspoken.studio.background_jobs import Jobs
from unspoken.studio.desk import Dataset, Desk
from unspoken.studio.kept_desks import as_kept, kept_desk, kept_sources, put_back, same_table
from unspoken.studio.visitor import Visitor

MOST_DESKS = 100
"""Desks in memory; beyond, the one that was left longest ago is put away until its user comes."""


class Desks:
    """All desks of a studio; `first` is that of whoever has no name."""

    def __init__(self, first: Desk, alone: bool = True) -> None:
        self.first = first
        self._named: dict[str, Desk] = {}
        self._lock = threading.Lock()
        first.jobs.together = self.running
        if alone:
            # Behind a proxy this desk is nobody's: what lies on it is from the command line alone.
            self._recall(first)

    def of(self, visitor: Visitor | None) -> Desk:
        """Return the desk of somebody; a new one begins with the table of the command line."""
        if visitor is None or not visitor.name:
            return self.first
        with self._lock:
            desk = self._named.pop(visitor.name, None) or self._new(visitor.name)
            # The last that was used stands last.
            self._named[visitor.name] = desk
            self._clear_old()
            return desk

    def _new(self, name: str) -> Desk:
        desk = Desk(self.first.folder, self.first.data_root, self.first.common,
                    Jobs(self.running), name)
        if self.first.loaded:
            desk.put(self.first.dataset)
        self._recall(desk)
        return desk

    def _recall(self, desk: Desk) -> None:
        """Note what was kept of a desk; the table of the command line comes before another one."""
        kept = kept_desk(desk.folder, desk.owner)
        if kept is not None and (desk.owner or not desk.loaded
                                 or same_table(kept, desk.dataset)):
            desk.kept = kept

    def wake(self, desk: Desk) -> None:
        """Put back what was kept of a desk, once."""
        with desk.waking:
            if desk.kept is not None:
                same = desk.loaded and same_table(desk.kept, desk.dataset)
                put_back(desk, desk.kept, desk.dataset if same else None)
                desk.kept = None

    def _clear_old(self) -> None:
        *before, _ = self._named.items()
        idle = [name for name, desk in before if not desk.jobs.running()]
        for name in idle[:max(0, len(self._named) - MOST_DESKS)]:
            del self._named[name]

    def running(self) -> int:
        """Return how much work is under way on all desks."""
        return sum(len(desk.jobs.running()) for desk in (self.first, *self._named.values()))

    def tables(self, visitor: Visitor) -> dict[str, str]:
        """Return the names of the tables on the desks of others, by their users."""
        kept = {name: one.name for name, one in kept_sources(self.first.folder).items()}
        with self._lock:
            here = {name: desk.dataset.name for name, desk in self._named.items()
                    if desk.loaded and desk.kept is None}
        others = {**kept, **here}
        return {name: others[name] for name in sorted(others) if name not in ("", visitor.name)}

    def table_of(self, name: str, visitor: Visitor) -> Dataset:
        """Return the table on somebody's desk, as it is declared there."""
        if name not in self.tables(visitor):
            raise InputError("There is no table on that desk any more. Load the page again.")
        with self._lock:
            desk = self._named.get(name)
        if desk is not None and desk.loaded and desk.kept is None:
            return desk.dataset
        return as_kept(self.first, kept_sources(self.first.folder)[name])

    def close(self) -> None:
        """End what is under way on all desks."""
        for desk in (self.first, *self._named.values()):
            desk.jobs.close()


def desks_of(request: Any) -> Desks:
    """Return all desks."""
    desks: Desks = request.app.state.desks
    return desks


def desk_of(request: Any) -> Desk:
    """Return the desk of whoever asks."""
    return desks_of(request).of(request.scope["unspoken.visitor"])
