"""How far a study is, for people who wait: who has answered, which attempt runs, what has passed.

While an attempt runs its ledger grows with every message. What has passed is counted there and held
against the dry run of the study, made for the number of records that its task expects; so it is an
estimate, and never shows 100% before the end.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from unspoken.errors import UnspokenError
from unspoken.joint.node.node_config import NodeConfig
from unspoken.joint.node.node_state import Kept, NodeState
from unspoken.joint.node.proposal import Proposal
from unspoken.joint.tasks.task_list import task_of

LOOK = 0.2
MESSAGE = b'"kind":"message"'


@dataclass(frozen=True)
class Progress:
    """How far a study is; `part` is the estimated part of the attempt that runs, up to 0.99."""

    attempt: int
    waiting: tuple[str, ...] = ()
    messages: int = 0
    part: float | None = None

    @property
    def text(self) -> str:
        """Return it in words."""
        if not self.attempt:
            return f"waits for {', '.join(self.waiting)}" if self.waiting else ""
        if self.waiting and self.messages:
            share = "" if self.part is None else f", about {self.part:.0%}"
            return f"attempt {self.attempt}: {self.messages} messages{share}"
        return f"attempt {self.attempt}"


def progress_of(config: NodeConfig, state: NodeState, proposal: Proposal,
                forecast: int | None = None) -> Progress:
    """Return how far a study is at this node; `forecast` is what `messages_expected` says."""
    n, _ = state.latest(proposal.id)
    if not n:
        verdicts = state.verdicts(proposal.id)
        return Progress(0, tuple(name for name in proposal.study.names if name not in verdicts))
    reports = state.reports(proposal.id, n)
    running = tuple(name for name in proposal.study.names
                    if name not in reports or reports[name].state == "running")
    ledger = config.folder / "studies" / proposal.id / f"attempt-{n}.ledger"
    count = messages_in(ledger) if running else 0
    return Progress(n, running, count, min(count / forecast, 0.99) if forecast else None)


def waited_for(config: NodeConfig, state: NodeState, proposal: Proposal,
               tell: Callable[[str], None]) -> Kept:
    """Wait until a study has ended, telling whenever it is further; return how it ended."""
    forecast, last = messages_expected(proposal, config.name), ""
    while not (kept := state.get(proposal.id)).result:
        words = progress_of(config, state, proposal, forecast).text
        if words and words != last:
            tell(f"{proposal.study.name}: {words}")
        last = words
        time.sleep(LOOK)
    tell(f"{proposal.study.name}: {kept.result}")
    return kept


def shown_on_terminal(words: str) -> None:
    """Print a line for people, where somebody is looking."""
    if sys.stderr.isatty():
        print(words, file=sys.stderr, flush=True)


def messages_in(ledger: Path) -> int:
    """Return how many messages a ledger file that still grows lists."""
    try:
        with ledger.open("rb") as lines:
            return sum(MESSAGE in line for line in lines)
    except OSError:
        return 0


def messages_expected(proposal: Proposal, name: str) -> int | None:
    """Return how many messages of one party the dry run counts; None where there is no telling."""
    try:
        ledger = task_of(proposal.study).dry_run(proposal.study).ledgers[name]
    except (UnspokenError, KeyError):
        return None
    return len(ledger.rows) or None
