"""Telling somebody who is looking how far a long pass over a table has come.

Passes are deep inside of methods and engines, and whoever shows them is the command line. Nobody
hands a callback through everything in between: who wants to look says so here, and a pass asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

Step = Callable[[int], None]
"""Called with the number of rows just finished."""
Show = Callable[[str, int], AbstractContextManager[Step | None]]
"""(what is done, rows in all) -> a context that takes steps."""

_SHOW: ContextVar[Show | None] = ContextVar("show_passes", default=None)


@contextmanager
def shown_by(show: Show) -> Iterator[None]:
    """Show the passes inside."""
    token = _SHOW.set(show)
    try:
        yield
    finally:
        _SHOW.reset(token)


@contextmanager
def passing(label: str, rows: int) -> Iterator[Step]:
    """Yield what a pass over a number of rows calls; it does nothing where nobody looks."""
    show = _SHOW.get()
    context = nullcontext() if show is None else show(label, rows)
    with context as step:
        yield step if step is not None else _nothing


def _nothing(_: int) -> None:
    """Take a step that nobody sees."""
