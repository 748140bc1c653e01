"""What was asked of an audit: the same for every family of methods."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from unspoken.disclosure.adversary import Adversary
from unspoken.models.tree import Tree

Progress = Callable[[int, int], None]
"""Called with the number of finished steps and of all steps."""


@dataclass(frozen=True)
class AuditRequest:
    """See `unspoken.risk.audit`, which fills it in; a family uses what applies to it."""

    sample: Any = None
    trials: int = 100
    random_state: Any = None
    adversaries: Iterable[str | Adversary] | None = None
    radius: float = 0.02
    subspaces: int = 2
    tree: Tree | None = None
    precision: float | None = None
    progress: Progress | None = None
    shown: Any = None
    """A mined model whose decoded twin was shown to whoever has the release."""
    control: Any = None
    """A table of people who are not in the release, None if there is none."""


STEPS = 1000
"""Steps of the one bar that all stages of an audit share."""


def part_of(progress: Progress | None, start: float, end: float) -> Progress | None:
    """Return the progress of one stage, which takes the bar from one share of it to another."""
    if progress is None:
        return None

    def moved(done: int, total: int) -> None:
        progress(round(STEPS * (start + (end - start) * done / max(total, 1))), STEPS)

    return moved


def finished(progress: Progress | None) -> None:
    """Say that a stage without steps of its own is over."""
    if progress is not None:
        progress(1, 1)
